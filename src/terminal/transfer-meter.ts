import type { Context } from '../context';
import { type GlobalOptions, isCi } from '../options';
import { lineStart } from './bounded-write';
import { progressLines, progressSummary } from './progress';

/** Shows how far a transfer is, on a terminal, once it takes over half a second. */
export interface Meter {
  /** The file at this place begins, perhaps anew. */
  begins(at: number, name: string, length: number | undefined): void;
  moved(bytes: number): void;
  /** Takes the lines away, for something else to be written. */
  clear(): Promise<void>;
  /** The same at the end, after which nothing is shown; returns what is to be said then, if anything was shown. */
  ends(): Promise<string | undefined>;
}

const SILENT = 500;
const BETWEEN = 100;
/** The terminal echoes `^C` after the last line, and `system.ts` ends that line: it must not wrap. */
const WIDTH_OF_INTERRUPT = 2;

interface Shown {
  readonly files: number;
  /** Bytes in all, where they are known from the start. */
  readonly total: number | undefined;
}

/** Nothing is shown in a pipe, in CI, on a dumb terminal, or with --quiet or --json. */
export function meterFor(context: Context, options: GlobalOptions, shown: Shown): Meter {
  const { env, stderr } = context;
  const hidden = !stderr.isTTY || isCi(env) || env.TERM === 'dumb' || options.quiet || options.json;
  return hidden ? silent : meter(context, shown);
}

const silent: Meter = {
  begins: () => {},
  moved: () => {},
  clear: async () => {},
  ends: async () => undefined,
};

/** Draws when something moves, so that it needs no timer of its own. */
export function meter(
  { stderr, now, signal }: Pick<Context, 'stderr' | 'now' | 'signal'>,
  { files, total }: Shown,
): Meter {
  const start = now().getTime();
  let drawnAt = start + SILENT - BETWEEN;
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
    void write(lineStart(stderr) + wiped(drawn) + lines.join('\n'));
    drawn = lines.length;
    ever = true;
  };
  const clear = async () => {
    const lines = drawn;
    drawn = 0;
    if (lines > 0) await write(wiped(lines));
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
      if (over || now().getTime() - drawnAt < BETWEEN) return;
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

/** Back to the first of so many lines, and all of them erased (ECMA-48 CUU, ED). */
function wiped(lines: number): string {
  return `${lines > 1 ? `\u001b[${lines - 1}A` : ''}\r\u001b[J`;
}

function sumOf(lengths: readonly (number | undefined)[], files: number): number | undefined {
  if (lengths.length < files || lengths.includes(undefined)) return undefined;
  return lengths.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}
