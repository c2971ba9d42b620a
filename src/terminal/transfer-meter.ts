import type { Context } from '../context';
import { type GlobalOptions, isCi } from '../options';
import { lineStart } from './bounded-write';
import { progressLines, progressSummary } from './progress';

/** Shows the progress of a transfer on a terminal, after half a second. */
export interface Meter {
  /** The file with this index begins, or begins again. */
  begins(at: number, name: string, length: number | undefined): void;
  moved(bytes: number): void;
  /** Erases the lines, so that something else can be written. */
  clear(): Promise<void>;
  /** Erases the lines for good; returns a summary if any were shown. */
  ends(): Promise<string | undefined>;
}

/** Milliseconds before the first drawing, and between two. */
const DELAY = 500;
const INTERVAL = 100;
/** The terminal echoes `^C` after the last line, and `system/process.ts` ends that line: it must not wrap. */
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

const silent: Meter = {
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
  let drawnAt = start + DELAY - INTERVAL;
  let drawn = 0;
  let ever = false;
  let over = false;
  let name = '';
  let length: number | undefined;
  let moved: number[] = [];
  let lengths: (number | undefined)[] = [];
  const inAll = () => moved.reduce((sum, one) => sum + one, 0);
  const elapsed = () => now().getTime() - start;
  const write = (text: string) => stderr.write(text).catch(() => {});
  const draw = () => {
    const lines = progressLines(
      {
        name,
        length,
        moved: moved.at(-1) ?? 0,
        file: moved.length,
        files,
        movedInAll: inAll(),
        lengthInAll: total ?? sumOf(lengths, files),
        elapsed: elapsed(),
      },
      stderr.columns - WIDTH_OF_INTERRUPT,
    );
    void write(lineStart(stderr) + erased(drawn) + lines.join('\n'));
    drawn = lines.length;
    ever = true;
  };
  const clear = async () => {
    const lines = drawn;
    drawn = 0;
    if (lines > 0) await write(erased(lines));
  };
  const interrupted = () => {
    over = true;
    if (drawn > 0 && signal.reason === 'SIGINT') drawn++;
    void clear();
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
      if (over || now().getTime() - drawnAt < INTERVAL) return;
      drawnAt = now().getTime();
      draw();
    },
    clear,
    ends: async () => {
      over = true;
      signal.removeEventListener('abort', interrupted);
      await clear();
      return ever ? progressSummary(moved.length, inAll(), elapsed()) : undefined;
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
