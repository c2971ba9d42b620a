import { size } from '../../contract/byte-size';
import type { Entry } from './output';
import { safe } from './safe';
import { type StatusLine, statusLine } from './status-line';
import { shorten, width } from './text-width';
import { count, span } from './wording';

export interface Meter extends Omit<StatusLine, 'draw'> {
  /** Called again for a file whose download cannot be resumed. */
  begins(index: number, name: string, length: number | undefined): void;
  moved(bytes: number): void;
}

const DELAY_MS = 500;
const INTERVAL_MS = 100;

export const silent: Meter = {
  begins: () => {},
  moved: () => {},
  clear: async () => {},
  ends: async () => {},
};

/** Draws only when bytes move, which needs no timer; draws nothing without a status line. */
export function meterFor(entry: Entry, files: number): Meter {
  const { now } = entry.context;
  const status = statusLine(entry);
  if (!status) return silent;
  let drawnAt = now().getTime() + DELAY_MS - INTERVAL_MS;
  let begun = 0;
  let file: Progress = { name: '', number: 1, files, moved: 0, length: undefined, elapsedMs: 0 };
  return {
    begins: (index, name, length) => {
      begun = now().getTime();
      file = { name, number: index + 1, files, moved: 0, length, elapsedMs: 0 };
    },
    moved: (bytes) => {
      const time = now().getTime();
      file = { ...file, moved: file.moved + bytes, elapsedMs: time - begun };
      if (time - drawnAt < INTERVAL_MS) return;
      drawnAt = time;
      status.draw((columns) => progressLine(file, columns));
    },
    clear: status.clear,
    ends: status.ends,
  };
}

export interface Progress {
  readonly name: string;
  readonly number: number;
  readonly files: number;
  readonly moved: number;
  readonly length: number | undefined;
  readonly elapsedMs: number;
}

const MIN_NAME = 12;

/**
 * Returns a line that is shorter than `columns`, such as
 * `b.bin  2 of 3 files  25%  30.0 MiB of 120.0 MiB  10.0 MiB/s  9 s left`.
 */
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
  const text = figures.filter((figure) => figure !== undefined).join('  ');
  const room = columns - 1;
  const title = shorten(safe(name), Math.max(MIN_NAME, room - width(text) - 2));
  return shorten(`${title}  ${text}`, room);
}
