import type { Automaton } from './automaton';
import { plainReading, spelledReading } from './reading';
import { spellings } from './spellings';

/** Stands for each secret. */
const STARS = Buffer.from('***');

/** How long the first characters of a secret are held back on a terminal when nothing follows, in milliseconds. */
const HOLD = 100;

/** How many characters these are: a prompt may end with them, and they tell little. */
const FEW = 3;

/**
 * Replaces each secret in a stream by `***`, in whatever spelling it is there, and several that overlap or touch by one. Line
 * ends after a secret stay. Positions count the bytes of the stream.
 */
export function streamMask(automaton: Automaton) {
  const plain = plainReading(automaton, spellings);
  const spelled = spellings.map((spelling) => spelledReading(automaton, spelling));
  const readings = [plain, ...spelled];
  const held = heldBytes();
  /** What is before it was returned. */
  let shown = 0;
  /** The last that was returned was a secret. */
  let starred = false;

  const read = () => {
    const stretch = { bytes: held.bytes, base: held.base, end: held.end() };
    const found = plain.read(stretch);
    for (const one of spelled) one.read(stretch, found);
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
    for (const { from, to } of readings.flatMap((one) => one.take(end)).sort(byBegin)) {
      if (to <= shown) continue;
      show(from);
      if (!starred) pieces.push(STARS);
      starred = true;
      shown = to;
    }
    show(end);
    held.drop(Math.min(shown, ...spelled.map((one) => one.next())));
    const [only] = pieces;
    return pieces.length === 1 && only ? only : Buffer.concat(pieces);
  };
  return {
    /** Takes bytes, and returns those that are decided: no secret that has begun in them is open. */
    push: (chunk: Uint8Array) => {
      held.add(chunk);
      read();
      return upTo(Math.min(...readings.map((one) => one.undecided())));
    },
    /** Whether nothing is held back but the first characters of secrets. */
    holdsFew: () => shown < held.end() && readings.every((one) => one.begun() <= FEW),
    /** Returns what is held back. If it does begin a secret, the rest of it is replaced. */
    release: () => upTo(held.end()),
    /** Nothing follows: returns what is held back. */
    end: () => {
      const end = held.end();
      // No escape goes on with it.
      held.add(Uint8Array.of(0));
      read();
      return upTo(end);
    },
  };
}

const byBegin = (one: { from: number }, other: { from: number }) => one.from - other.from;

/** The bytes of a stream that are still needed. Many small ones are not copied again and again. */
function heldBytes() {
  let store = new Uint8Array(0);
  let bytes: Uint8Array = store;
  let base = 0;
  return {
    get bytes() {
      return bytes;
    },
    /** The position of the first one. */
    get base() {
      return base;
    },
    end: () => base + bytes.length,
    add: (more: Uint8Array) => {
      if (bytes.length === 0) {
        bytes = more;
        return;
      }
      const length = bytes.length + more.length;
      if (bytes.buffer !== store.buffer || bytes.byteOffset + length > store.length) {
        store = new Uint8Array(2 * length);
        store.set(bytes);
        bytes = store.subarray(0, bytes.length);
      }
      store.set(more, bytes.byteOffset + bytes.length);
      bytes = store.subarray(bytes.byteOffset, bytes.byteOffset + length);
    },
    /** Those before a position are not needed any more. */
    drop: (to: number) => {
      const rest = bytes.subarray(to - base);
      bytes = bytes.buffer === store.buffer ? rest : rest.slice();
      base = to;
    },
  };
}

/** Calls `work` after that many milliseconds, unless what it returns is called before. */
export type Timer = (milliseconds: number, work: () => void) => () => void;

const systemTimer: Timer = (milliseconds, work) => {
  const timer = setTimeout(work, milliseconds);
  return () => clearTimeout(timer);
};

/**
 * Writes a stream with its secrets replaced. What may begin one waits for more bytes. For a person at a terminal a few
 * characters do not wait for long: they may be the end of a prompt.
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
    /** Rejects when `write` did. */
    take: async (chunk: Uint8Array) => {
      stop();
      await put(mask.push(chunk));
      // A write that fails is reported by the next one.
      if (isTerminal && mask.holdsFew())
        stop = after(HOLD, () => void put(mask.release()).catch(() => {}));
    },
    /** Nothing follows. */
    end: async () => {
      stop();
      await put(mask.end());
    },
  };
}
