import { size } from '../../contract/byte-size';
import { isCi } from '../values';
import { lineStart } from './bounded-write';
import type { Invocation } from './output';
import { safe } from './safe';
import { shorten, width } from './text-width';
import { count, span } from './wording';

/** Shows the progress of a transfer on a line of the terminal, after half a second. */
export interface Meter {
  /** The file with this index begins, or begins again. */
  begins(at: number, name: string, length: number | undefined): void;
  moved(bytes: number): void;
  /**
   * Erases the line, so that something else can be written.
   * @param ended it has been ended, as `platform/interrupts.ts` does at a SIGINT
   */
  clear(ended?: boolean): Promise<void>;
  ends(): Promise<void>;
}

/** Before the first drawing, and between two. */
const DELAY_MS = 500;
const INTERVAL_MS = 100;
/** The terminal echoes `^C` after the line, and `platform/interrupts.ts` ends it: it must not wrap. */
const WIDTH_OF_INTERRUPT = 2;
/** Moves to the beginning of the line and erases it (ECMA-48 ED). */
const ERASE = '\r\u001b[J';

export const silent: Meter = {
  begins: () => {},
  moved: () => {},
  clear: async () => {},
  ends: async () => {},
};

/** Draws when bytes move, so it needs no timer; nothing in a pipe, in CI, on a dumb terminal, or with --quiet or --json. */
export function meterFor({ context, say }: Invocation, files: number): Meter {
  const { env, stderr, now, signal } = context;
  const { quiet, json } = say.manner;
  if (!stderr.isTTY || isCi(env) || env.TERM === 'dumb' || quiet || json) return silent;
  let drawnAt = now().getTime() + DELAY_MS - INTERVAL_MS;
  let drawn = false;
  let over = false;
  let begun = 0;
  let file: Progress = { name: '', number: 1, files, moved: 0, length: undefined, elapsedMs: 0 };
  const write = (text: string) => stderr.write(text).catch(() => {});
  const clear = async (ended = false) => {
    if (!drawn) return;
    drawn = false;
    await write(ended ? `\u001b[1A${ERASE}` : ERASE);
  };
  const interrupted = () => {
    over = true;
    void clear(signal.reason === 'SIGINT');
  };
  signal.addEventListener('abort', interrupted, { once: true });
  return {
    begins: (at, name, length) => {
      begun = now().getTime();
      file = { name, number: at + 1, files, moved: 0, length, elapsedMs: 0 };
    },
    moved: (bytes) => {
      const time = now().getTime();
      file = { ...file, moved: file.moved + bytes, elapsedMs: time - begun };
      if (over || time - drawnAt < INTERVAL_MS) return;
      drawnAt = time;
      drawn = true;
      const line = progressLine(file, stderr.columns - WIDTH_OF_INTERRUPT);
      void write(lineStart(stderr) + ERASE + line);
    },
    clear,
    ends: async () => {
      over = true;
      signal.removeEventListener('abort', interrupted);
      await clear();
    },
  };
}

export interface Progress {
  readonly name: string;
  /** Of how many files it is which, from 1. */
  readonly number: number;
  readonly files: number;
  readonly moved: number;
  readonly length: number | undefined;
  /** Since it began. */
  readonly elapsedMs: number;
}

const MIN_NAME = 12;

/** `b.bin  2 of 3 files  25%  30.0 MiB of 120.0 MiB  10.0 MiB/s  9 s left`, in less than `columns`; what does not fit is cut. */
export function progressLine(
  { name, number, files, moved, length, elapsedMs }: Progress,
  columns: number,
): string {
  const rate = elapsedMs > 0 ? Math.round((moved / elapsedMs) * 1000) : 0;
  const rest = length === undefined ? 0 : Math.max(0, length - moved);
  const figures = [
    files > 1 ? `${number} of ${count(files, 'file')}` : undefined,
    length ? `${Math.min(100, Math.floor((moved / length) * 100))}%` : undefined,
    length === undefined ? size(moved) : `${size(moved)} of ${size(length)}`,
    `${size(rate)}/s`,
    rest > 0 && rate > 0 ? `${span((rest / rate) * 1000)} left` : undefined,
  ];
  const told = figures.filter((figure) => figure !== undefined).join('  ');
  const room = columns - 1;
  const title = shorten(safe(name), Math.max(MIN_NAME, room - width(told) - 2));
  return shorten(`${title}  ${told}`, room);
}
