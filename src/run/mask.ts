import type { Automaton } from './automaton';
import { HeldBytes, plainReading, spelledReading } from './reading';
import { spellings } from './spellings';

const STARS = Buffer.from('***');

/** In milliseconds: on a terminal, what may be the beginning of a secret is printed if nothing follows in this time. */
const HOLD = 100;

/** Up to this many characters of a secret are printed after `HOLD`: they tell little, and may be a prompt's end. */
const FEW = 3;

/**
 * Replaces each secret in a stream by `***`, in any spelling. Secrets that overlap or touch become one `***`. Line ends
 * after a secret stay.
 */
export function streamMask(automaton: Automaton) {
  const plain = plainReading(automaton, spellings);
  const spelled = spellings.map((spelling) => spelledReading(automaton, spelling, plain));
  const readings = [plain, ...spelled];
  const held = new HeldBytes();
  /** All bytes before `shown` were returned, as they are or masked; `starred` is true if the last were masked. */
  let shown = 0;
  let starred = false;

  const add = (chunk: Uint8Array) => {
    held.add(chunk);
    for (const reading of readings) reading.read(held);
  };
  /** Returns the masked bytes up to position `end`, or to the end of a secret that begins before `end`. */
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
    /** Takes bytes. Returns all bytes that cannot belong to a secret any more, masked. */
    push: (chunk: Uint8Array) => {
      add(chunk);
      return upTo(Math.min(...readings.map((reading) => reading.undecided())));
    },
    holdsFew: () => shown < held.end && readings.every((reading) => reading.begun() <= FEW),
    /** Returns the bytes that are held back. If they do begin a secret, the rest of the secret is still masked. */
    release: () => upTo(held.end),
    end: () => {
      const { end } = held;
      // NUL completes an escape at the end, since no escape goes on with it.
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
 * Writes a stream with its secrets masked. Bytes that may begin a secret wait for more bytes; on a terminal, up to
 * `FEW` wait only for `HOLD`, as they may be the end of a prompt.
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
      // If this write fails, the next call of `put` rejects.
      if (isTerminal && mask.holdsFew())
        stop = after(HOLD, () => void put(mask.release()).catch(() => {}));
    },
    end: async () => {
      stop();
      await put(mask.end());
    },
  };
}
