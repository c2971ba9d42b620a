// Our own progress, not cli-progress: that has no second line for several files, wraps on narrow terminals, and runs a timer.
import { size } from '../byte-size';
import { safe } from './safe';
import { shorten, width } from './text-width';
import { count } from './time';

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
  /** Milliseconds since the start. */
  readonly elapsed: number;
}

/**
 * A transfer as lines for a terminal of that width: one for the current file and, if there are several, one for all.
 * No line fills the last column.
 */
export function progressLines(progress: Progress, columns: number): string[] {
  const { file, files, movedInAll, lengthInAll, elapsed } = progress;
  const rate = rateOf(movedInAll, elapsed);
  const { name, moved, length } = progress;
  const lines = [line(safe(name), moved, length, rate, columns)];
  if (files > 1)
    lines.push(line(`${file} of ${files} files`, movedInAll, lengthInAll, rate, columns));
  return lines;
}

/** The line at the end: `3 files, 1.2 GiB in 12 s, 102.0 MiB/s`. */
export function progressSummary(files: number, moved: number, elapsed: number): string {
  const seconds =
    elapsed < 9_950 ? (elapsed / 1000).toFixed(1) : String(Math.round(elapsed / 1000));
  const rate = `${size(rateOf(moved, elapsed))}/s`;
  return `${count(files, 'file')}, ${size(moved)} in ${seconds} s, ${rate}`;
}

const MIN_TITLE = 12;
const MAX_BAR = 30;

function line(
  title: string,
  moved: number,
  length: number | undefined,
  rate: number,
  columns: number,
): string {
  const room = columns - 1;
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
  const left = rate > 0 ? `${clock((length - moved) / rate)} left` : '';
  return [
    `${String(percent).padStart(3)}%`,
    `${size(moved)} of ${size(length)}`,
    `${size(rate)}/s`,
    ...(left === '' ? [] : [left]),
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
function rateOf(moved: number, elapsed: number): number {
  return elapsed > 0 ? Math.round((moved / elapsed) * 1000) : 0;
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
