import type { Automaton } from './automaton';

/** Stands for each secret. */
const STARS = Buffer.from('***');

/** How long bytes that may begin a secret are held back when nothing follows, in milliseconds. */
const HOLD = 100;

/** Replaces each secret in a stream by `***`, and several that overlap or touch by one. */
export function streamMask({ table, rows, step, depth, match }: Automaton) {
  let state = 0;
  let held: Uint8Array = new Uint8Array(0);
  /** Secrets in what is held back, in order, with something between them. */
  let spans: { readonly from: number; readonly to: number }[] = [];
  /** The last that was returned was a secret. */
  let starred = false;

  const found = (begin: number, to: number) => {
    // Its first bytes may have been returned.
    let from = Math.max(0, begin);
    for (let last = spans.at(-1); last && last.to >= from; last = spans.at(-1)) {
      from = Math.min(from, last.from);
      spans.pop();
    }
    spans.push({ from, to });
  };
  /** Returns bytes up to `end`, or to the end of the secret that begins before it. */
  const decided = (bytes: Uint8Array, end: number): Uint8Array => {
    const pieces: Uint8Array[] = [];
    let at = 0;
    const upTo = (to: number) => {
      if (to <= at) return;
      pieces.push(bytes.subarray(at, to));
      at = to;
      starred = false;
    };
    const done = spans.filter(({ from }) => from <= end);
    for (const { from, to } of done) {
      upTo(from);
      if (!starred) pieces.push(STARS);
      starred = true;
      at = to;
    }
    upTo(end);
    spans = spans.slice(done.length).map(({ from, to }) => ({ from: from - at, to: to - at }));
    held = bytes.slice(at);
    const [only] = pieces;
    return pieces.length === 1 && only ? only : Buffer.concat(pieces);
  };
  return {
    /** Takes bytes, and returns those that are decided: no secret that has begun in them is open. */
    push: (chunk: Uint8Array) => {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      let now = state;
      for (let at = held.length; at < bytes.length; at++) {
        const byte = bytes[at] as number;
        now = now < rows ? (table[256 * now + byte] as number) : step(now, byte);
        const length = match[now] as number;
        if (length > 0) found(at + 1 - length, at + 1);
      }
      state = now;
      return decided(bytes, Math.max(0, bytes.length - (depth[now] as number)));
    },
    /** Returns the bytes that are not decided. If they do begin a secret, the rest of it is replaced. */
    release: () => decided(held, held.length),
    /** Whether there are any. */
    get holds() {
      return held.length > 0;
    },
  };
}

/** Calls `work` after that many milliseconds, unless what it returns is called before. */
export type Timer = (milliseconds: number, work: () => void) => () => void;

const systemTimer: Timer = (milliseconds, work) => {
  const timer = setTimeout(work, milliseconds);
  return () => clearTimeout(timer);
};

/** Writes a stream with its secrets replaced. What may begin one waits for more bytes, but not for long. */
export function maskedStream(
  automaton: Automaton,
  write: (bytes: Uint8Array) => Promise<void>,
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
      if (mask.holds) stop = after(HOLD, () => void put(mask.release()).catch(() => {}));
    },
    /** Nothing follows. */
    end: async () => {
      stop();
      await put(mask.release());
    },
  };
}
