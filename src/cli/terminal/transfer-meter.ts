import { size } from '../../contract/byte-size';
import type { Context, Output } from '../../platform/context';
import { type GlobalOptions, isCi } from '../options';
import { lineStart } from './bounded-write';
import { safe } from './safe';
import { shorten, width } from './text-width';
import { count } from './wording';

/** Shows the progress of a transfer on a terminal, after half a second. */
export interface Meter {
  /** The file with this index begins, or begins again. */
  begins(at: number, name: string, length: number | undefined): void;
  moved(bytes: number): void;
  /**
   * Erases the lines, so that something else can be written.
   * @param ended the last line has been ended, as `platform/interrupts.ts` does at a SIGINT
   */
  clear(ended?: boolean): Promise<void>;
  /** Erases the lines for good; returns a summary if any were shown. */
  ends(): Promise<string | undefined>;
}

/** Before the first drawing, and between two. */
const DELAY_MS = 500;
const INTERVAL_MS = 100;
/** The terminal echoes `^C` after the last line, and `platform/interrupts.ts` ends that line: it must not wrap. */
const WIDTH_OF_INTERRUPT = 2;

interface Transfer {
  readonly files: number;
  /** Bytes of all files, if known from the start. */
  readonly total: number | undefined;
}

/** Nothing is shown in a pipe, in CI, on a dumb terminal, or with --quiet or --json. */
export function meterFor(context: Context, options: GlobalOptions, transfer: Transfer): Meter {
  const { env, stderr } = context;
  const hidden = !stderr.isTTY || isCi(env) || env.TERM === 'dumb' || options.quiet || options.json;
  return hidden ? silent : meter(context, transfer);
}

export const silent: Meter = {
  begins: () => {},
  moved: () => {},
  clear: async () => {},
  ends: async () => undefined,
};

/** Draws when bytes move, so it needs no timer. */
export function meter(
  { stderr, now, signal }: Pick<Context, 'stderr' | 'now' | 'signal'>,
  { files, total }: Transfer,
): Meter {
  const start = now().getTime();
  const { draw, clear, ever } = drawing(stderr);
  let drawnAt = start + DELAY_MS - INTERVAL_MS;
  let over = false;
  let name = '';
  let length: number | undefined;
  let moved: number[] = [];
  let lengths: (number | undefined)[] = [];
  const inAll = () => moved.reduce((sum, one) => sum + one, 0);
  const elapsedMs = () => now().getTime() - start;
  const progress = () => {
    const movedInAll = inAll();
    const lengthInAll = total ?? sumOf(lengths, files);
    const state = {
      ...{ name, length, moved: moved.at(-1) ?? 0, file: moved.length, files },
      ...{ movedInAll, lengthInAll, elapsedMs: elapsedMs() },
    };
    return progressLines(state, stderr.columns - WIDTH_OF_INTERRUPT);
  };
  const interrupted = () => {
    over = true;
    void clear(signal.reason === 'SIGINT');
  };
  signal.addEventListener('abort', interrupted, { once: true });
  return {
    begins: (at, ofName, ofLength) => {
      name = ofName;
      length = ofLength;
      moved = [...moved.slice(0, at), 0];
      lengths = [...lengths.slice(0, at), ofLength];
    },
    moved: (bytes) => {
      moved[moved.length - 1] = (moved.at(-1) ?? 0) + bytes;
      if (over || now().getTime() - drawnAt < INTERVAL_MS) return;
      drawnAt = now().getTime();
      draw(progress());
    },
    clear,
    ends: async () => {
      over = true;
      signal.removeEventListener('abort', interrupted);
      await clear();
      return ever() ? progressSummary(moved.length, inAll(), elapsedMs()) : undefined;
    },
  };
}

/** Lines at the end of a terminal, each drawing of which replaces the one before. */
function drawing(stderr: Output) {
  let drawn = 0;
  let ever = false;
  const write = (text: string) => stderr.write(text).catch(() => {});
  return {
    ever: () => ever,
    draw: (lines: readonly string[]) => {
      void write(lineStart(stderr) + erased(drawn) + lines.join('\n'));
      drawn = lines.length;
      ever = true;
    },
    clear: async (ended = false) => {
      const lines = drawn;
      drawn = 0;
      if (lines > 0) await write(erased(ended ? lines + 1 : lines));
    },
  };
}

/** Moves to the first of the lines and erases them (ECMA-48 CUU, ED). */
function erased(lines: number): string {
  return `${lines > 1 ? `\u001b[${lines - 1}A` : ''}\r\u001b[J`;
}

function sumOf(lengths: readonly (number | undefined)[], files: number): number | undefined {
  if (lengths.length < files || lengths.includes(undefined)) return undefined;
  return lengths.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

// Our own progress, not cli-progress: that has no second line for several files, wraps on narrow terminals, and runs a timer.

/** The state of a transfer of one or more files. */
export interface Progress {
  /** Of the current file. */
  readonly name: string;
  readonly moved: number;
  readonly length: number | undefined;
  /** The number of the current file, from 1. */
  readonly file: number;
  readonly files: number;
  /** Bytes of all files. */
  readonly movedInAll: number;
  readonly lengthInAll: number | undefined;
  /** Since the start. */
  readonly elapsedMs: number;
}

/**
 * A transfer as lines for a terminal of that width: one for the current file and, if there are several, one for all.
 * No line fills the last column.
 */
export function progressLines(progress: Progress, columns: number): string[] {
  const { file, files, movedInAll, lengthInAll, elapsedMs } = progress;
  const rate = rateOf(movedInAll, elapsedMs);
  const { name, moved, length } = progress;
  const lines = [{ title: safe(name), moved, length, rate }];
  if (files > 1)
    lines.push({
      title: `${file} of ${files} files`,
      moved: movedInAll,
      length: lengthInAll,
      rate,
    });
  return lines.map((one) => line(one, columns - 1));
}

/** The line at the end: `3 files, 1.2 GiB in 12 s, 102.0 MiB/s`. */
export function progressSummary(files: number, moved: number, elapsedMs: number): string {
  const seconds =
    elapsedMs < 9_950 ? (elapsedMs / 1000).toFixed(1) : String(Math.round(elapsedMs / 1000));
  const rate = `${size(rateOf(moved, elapsedMs))}/s`;
  return `${count(files, 'file')}, ${size(moved)} in ${seconds} s, ${rate}`;
}

const MIN_TITLE = 12;
const MAX_BAR = 30;

interface Line {
  readonly title: string;
  readonly moved: number;
  readonly length: number | undefined;
  /** Bytes a second. */
  readonly rate: number;
}

function line({ title, moved, length, rate }: Line, room: number): string {
  const figures = figuresOf(moved, length, rate);
  // Where there is little room, the last figures are left out first.
  while (figures.length > 1 && MIN_TITLE + 2 + width(figures.join('  ')) > room) figures.pop();
  const free = room - width(figures.join('  ')) - 2;
  const bar =
    length === undefined ? '' : barOf(moved, length, Math.min(MAX_BAR, free - 2 - MIN_TITLE));
  const forTitle = bar === '' ? free : free - bar.length - 2;
  const parts = [padded(title, forTitle), bar, ...figures].filter((part) => part !== '');
  return shorten(parts.join('  '), room);
}

function figuresOf(moved: number, length: number | undefined, rate: number): string[] {
  if (length === undefined) return [size(moved), `${size(rate)}/s`];
  const percent = length === 0 ? 100 : Math.min(100, Math.floor((moved / length) * 100));
  return [
    `${String(percent).padStart(3)}%`,
    `${size(moved)} of ${size(length)}`,
    `${size(rate)}/s`,
    ...(rate > 0 ? [`${clock((length - moved) / rate)} left`] : []),
  ];
}

const SMALLEST_BAR = 8;

function barOf(moved: number, length: number, columns: number): string {
  if (columns < SMALLEST_BAR) return '';
  const inner = columns - 2;
  const done = length === 0 ? inner : Math.min(inner, Math.floor((moved / length) * inner));
  const head = done < inner ? '>' : '';
  return `[${'='.repeat(done)}${head}${' '.repeat(inner - done - head.length)}]`;
}

/** Bytes a second. */
function rateOf(moved: number, elapsedMs: number): number {
  return elapsedMs > 0 ? Math.round((moved / elapsedMs) * 1000) : 0;
}

/** Seconds as `0:07`, `12:30`, `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown
    .map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, '0')))
    .join(':');
}

function padded(text: string, columns: number): string {
  const cut = shorten(text, Math.max(1, columns));
  return cut + ' '.repeat(Math.max(0, columns - width(cut)));
}
