import type { Automaton } from './automaton';
import { HeldBytes, plainReading, spelledReading } from './reading';
import { spellings } from './spellings';

const STARS = Buffer.from('***');

/**
 * In milliseconds: on a terminal, the first characters of a secret are held back for this time when nothing follows.
 */
const HOLD = 100;

/** A prompt may end with this number of characters of a secret, which tell little. */
const FEW = 3;

/**
 * Replaces each secret in a stream by `***`, in any spelling, and several that overlap or touch by one. Line ends after
 * a secret stay.
 */
export function streamMask(automaton: Automaton) {
  const plain = plainReading(automaton, spellings);
  const spelled = spellings.map((spelling) => spelledReading(automaton, spelling, plain));
  const readings = [plain, ...spelled];
  const held = new HeldBytes();
  /** Everything before the position `shown` was returned; `starred` if a secret was returned last. */
  let shown = 0;
  let starred = false;

  const add = (chunk: Uint8Array) => {
    held.add(chunk);
    for (const reading of readings) reading.read(held);
  };
  /** Returns bytes up to a position, or to the end of the secret that begins before it. */
  const upTo = (end: number): Uint8Array => {
    const { bytes, base } = held;
    const pieces: Uint8Array[] = [];
    const show = (to: number) => {
      if (to <= shown) return;
      pieces.push(bytes.subarray(shown - base, to - base));
      shown = to;
      starred = false;
    };
    const secrets = readings.flatMap((reading) => reading.take(end));
    for (const { from, to } of secrets.sort((a, b) => a.from - b.from)) {
      if (to <= shown) continue;
      show(from);
      if (!starred) pieces.push(STARS);
      starred = true;
      shown = to;
    }
    show(end);
    held.drop(Math.min(shown, ...spelled.map((reading) => reading.next())));
    const [only] = pieces;
    return pieces.length === 1 && only ? only : Buffer.concat(pieces);
  };
  return {
    /** Takes bytes, and returns those that cannot belong to a secret any more. */
    push: (chunk: Uint8Array) => {
      add(chunk);
      return upTo(Math.min(...readings.map((reading) => reading.undecided())));
    },
    holdsFew: () => shown < held.end && readings.every((reading) => reading.begun() <= FEW),
    /** Returns what is held back. If it does begin a secret, the rest of it is replaced. */
    release: () => upTo(held.end),
    end: () => {
      const { end } = held;
      // No escape goes on with NUL.
      add(Uint8Array.of(0));
      return upTo(end);
    },
  };
}

/** Calls `work` after that many milliseconds, unless the returned function is called before. */
export type Timer = (milliseconds: number, work: () => void) => () => void;

const systemTimer: Timer = (milliseconds, work) => {
  const timer = setTimeout(work, milliseconds);
  return () => clearTimeout(timer);
};

/**
 * Writes a stream with its secrets replaced. What may begin a secret waits for more bytes; at a terminal a few
 * characters wait only for a moment, as they may be the end of a prompt.
 */
export function maskedStream(
  automaton: Automaton,
  write: (bytes: Uint8Array) => Promise<void>,
  isTerminal: boolean,
  after = systemTimer,
) {
  const mask = streamMask(automaton);
  let written = Promise.resolve();
  let stop = () => {};
  const put = (bytes: Uint8Array) => {
    if (bytes.length > 0) written = written.then(() => write(bytes));
    return written;
  };
  return {
    take: async (chunk: Uint8Array) => {
      stop();
      await put(mask.push(chunk));
      // The next write reports a write that fails.
      if (isTerminal && mask.holdsFew())
        stop = after(HOLD, () => void put(mask.release()).catch(() => {}));
    },
    end: async () => {
      stop();
      await put(mask.end());
    },
  };
}
