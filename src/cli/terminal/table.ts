// Our own table, not cli-table3: that has no elastic columns, no pages that share widths, and no tab-separated output.
import type { Context } from '../../platform/context';
import type { GlobalOptions } from '../options';
import { type Look, lookOf, type Style, type Terminal, toJson } from './output';
import { forLog, safe } from './safe';
import { shorten, width } from './text-width';

export interface Column<Row> {
  readonly title: string;
  /** The cell for a terminal. */
  readonly shown: (row: Row, look: Look) => string;
  /** The cell, or cells, for a program, in full; left out, it is `shown`. */
  readonly exact?: (row: Row, look: Look) => string | readonly string[];
  /** May be cut when the terminal is narrow. */
  readonly elastic?: boolean;
  readonly right?: boolean;
  /** A colour that repeats what the words say. */
  readonly style?: (row: Row) => Style | undefined;
}

const GAP = 2;
const MIN_ELASTIC = 8;
/** Tokens, times, kinds and addresses are shorter; what an instance sends need not be. */
const MAX_RIGID = 48;

/**
 * Prints pages of rows as they arrive: a JSON array with `--json`, a table on a terminal, lines in a pipe.
 * @returns how many rows there were
 */
export async function printRows<Row>(
  pages: AsyncIterable<Row[]> | Iterable<Row[]>,
  columns: readonly Column<Row>[],
  context: Context,
  options: GlobalOptions,
): Promise<number> {
  const { stdout } = context;
  const look = await lookOf(stdout, context.env, context.now(), options.color);
  const text = tables(columns, look);
  let printed = 0;
  // The bracket waits for the first page, so that a listing that fails at once leaves stdout empty.
  const json = (rows: Row[]) => `${printed === 0 ? '[' : ',\n'}${rows.map(toJson).join(',\n')}`;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    await stdout.write(options.json ? json(rows) : forLog(text(rows), context.env));
    printed += rows.length;
  }
  if (options.json) await stdout.write(printed === 0 ? '[]\n' : ']\n');
  return printed;
}

/** Says that nothing was listed, or after a first page that there is more. */
export async function tellEnd(
  say: Terminal,
  what: string,
  { printed, page, more }: { printed: number; page: number; more: boolean },
): Promise<void> {
  if (printed === 0) await say.note(page === 1 ? `no ${what}` : `no ${what} on page ${page}`);
  else if (more && page === 1) await say.remark(`showing ${printed}; use --all for more`);
}

/**
 * Rows for a terminal, aligned under their titles and no wider than it; for a pipe, tab-separated lines
 * without titles. Control characters of the cells are made visible in both, so that columns stay intact.
 */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  look: Look,
): string {
  return tables(columns, look)(rows);
}

/** The same page by page: titles come once, and columns keep their widths while later cells fit. */
export function tables<Row>(
  columns: readonly Column<Row>[],
  look: Look,
): (rows: readonly Row[]) => string {
  let widths: readonly number[] | undefined;
  return (rows) => {
    if (!look.tty) return tabbed(rows, columns, look);
    const page = aligned(rows, columns, look, widths);
    widths = page.widths;
    return page.text;
  };
}

/** A name and its value; false for one that is left out. */
export type Pair = readonly [string, string] | false;

/** One `name value` a line: two columns on a terminal, separated by a tab in a pipe. */
export function pairs(rows: readonly Pair[], look: Look): string {
  const lines = rows.flatMap((row) => (row ? [[safe(row[0]), safe(row[1])] as const] : []));
  const wide = Math.min(MAX_RIGID, widest(lines.map(([name]) => name)));
  const line = ([name, value]: readonly [string, string]) => {
    if (!look.tty) return `${name}\t${value}`;
    const space = ' '.repeat(Math.max(0, wide - width(name)) + GAP);
    return (look.paint('bold', name) + space + value).trimEnd();
  };
  return lines.map((one) => `${line(one)}\n`).join('');
}

function tabbed<Row>(rows: readonly Row[], columns: readonly Column<Row>[], look: Look): string {
  const line = (row: Row) =>
    columns
      .flatMap(({ shown, exact }) => (exact ?? shown)(row, look))
      .map(safe)
      .join('\t');
  return rows.map((row) => `${line(row)}\n`).join('');
}

function aligned<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  look: Look,
  before: readonly number[] | undefined,
): { readonly text: string; readonly widths: readonly number[] } {
  const cells = rows.map((row) => columns.map(({ shown }) => safe(shown(row, look))));
  const widths = squeeze(
    columns.map((column, at) =>
      Math.max(before?.[at] ?? width(column.title), widest(cells.map((line) => line[at] ?? ''))),
    ),
    columns,
    look.columns,
  );
  const line = (texts: readonly string[], row?: Row) =>
    texts
      .map((text, at) => {
        const { right = false, style } = columns[at] ?? {};
        const colour = row && style?.(row);
        const paint = (cut: string) => (colour && cut !== '' ? look.paint(colour, cut) : cut);
        return pad(text, widths[at] ?? 0, right, paint);
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const head = before ? '' : `${look.paint('bold', line(columns.map(({ title }) => title)))}\n`;
  const text = head + cells.map((texts, at) => `${line(texts, rows[at])}\n`).join('');
  return { text, widths };
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, width(text)), 0);
}

/** Narrows the elastic columns, widest first, until the lines fit; other columns have a limit. */
function squeeze<Row>(widths: number[], columns: readonly Column<Row>[], room: number): number[] {
  const result = widths.map((one, at) => (columns[at]?.elastic ? one : Math.min(one, MAX_RIGID)));
  let over = result.reduce((sum, one) => sum + one, GAP * (columns.length - 1)) - room;
  while (over > 0) {
    const widest = columns.reduce(
      (best, column, at) =>
        column.elastic && (best < 0 || (result[at] ?? 0) > (result[best] ?? 0)) ? at : best,
      -1,
    );
    if (widest < 0 || (result[widest] ?? 0) <= MIN_ELASTIC) break;
    result[widest] = (result[widest] ?? 0) - 1;
    over--;
  }
  return result;
}

function pad(
  text: string,
  columns: number,
  right: boolean,
  paint: (cut: string) => string,
): string {
  const cut = shorten(text, columns);
  const space = ' '.repeat(Math.max(0, columns - width(cut)));
  return right ? space + paint(cut) : paint(cut) + space;
}
