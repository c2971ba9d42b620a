// cli-table3 is not used: it has no elastic columns, no pages that share widths, and no tab-separated output.
import { isGuarded } from '../agent';
import { type Entry, type Look, type Style, type Terminal, toJson } from './output';
import { forLog, safe } from './safe';
import { shorten, width, wrap } from './text-width';

export interface Column<Row> {
  readonly title: string;
  readonly shown: (row: Row, look: Look) => string;
  /** In columns: a longer cell is cut before a column is left out. */
  readonly elastic?: number;
  /** In columns: where `optional` has the title, longer cells are cut to this, and the column stays. */
  readonly least?: number;
  readonly right?: boolean;
  /** In columns: left out where all its cells are empty. */
  readonly rare?: boolean;
  /** Colour of a cell, which only repeats what the words say. */
  readonly style?: (row: Row) => Style | undefined;
}

export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  /** Titles of the columns that a narrow terminal leaves out, or cuts, after empty ones, the first one first. */
  readonly optional?: readonly string[];
  readonly fields: (row: Row) => readonly string[];
}

const GAP = 2;
const MIN_ELASTIC = 8;
/** The most columns of a terminal for a value that is not elastic: IDs fit, but an instance may send anything. */
const MAX_RIGID = 48;

/** Prints pages as they arrive, as a JSON array, a table on a terminal, or lines, and returns the number of rows. */
export async function printRows<Row>(
  pages: AsyncIterable<Row[]> | Iterable<Row[]>,
  listing: Listing<Row>,
  { context, say }: Entry,
): Promise<number> {
  const { stdout } = context;
  const { json: isJson } = say.manner;
  const text = tables(listing, await say.look());
  let printed = 0;
  // `[` is written with the first page, so that a listing that fails at once leaves stdout empty.
  const guarded = isJson && (await isGuarded(context));
  const json = (rows: Row[]) =>
    (printed === 0 ? '[' : ',\n') + rows.map((row) => toJson(row, guarded)).join(',\n');
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    await stdout.write(isJson ? json(rows) : forLog(text(rows), context.env));
    printed += rows.length;
  }
  if (isJson) await stdout.write(printed === 0 ? '[]\n' : ']\n');
  return printed;
}

interface Listed {
  readonly printed: number;
  readonly page: number;
  readonly more: boolean;
  readonly total?: number;
  readonly limited?: boolean;
}

export async function reportEnd(
  say: Terminal,
  what: string,
  { printed, page, more, total, limited = false }: Listed,
): Promise<void> {
  const where = page === 1 ? '' : ` on page ${page}`;
  if (printed === 0) return say.note(`no ${what}${where}`);
  if (more && page === 1) {
    const showing = `showing ${printed}${total === undefined ? '' : ` of ${total}`}`;
    return say.remark(limited ? showing : `${showing}; use --all for more`);
  }
  const noun = printed === 1 ? what.replace(/(?<=sh)es$|s$/, '') : what;
  await say.remark(`${printed} ${noun}${where}`);
}

/**
 * On a terminal, rows are aligned under their titles and no wider than the terminal; a pipe gets tab-separated lines
 * without titles. Control characters of the cells are made visible in both, so that columns stay intact.
 */
export function table<Row>(rows: readonly Row[], listing: Listing<Row>, look: Look): string {
  return tables(listing, look)(rows);
}

/** Returns a function that formats pages. The first has the titles; later ones keep its widths while cells fit. */
export function tables<Row>(listing: Listing<Row>, look: Look): (rows: readonly Row[]) => string {
  let before: readonly PlacedColumn<Row>[] | undefined;
  return (rows) => {
    if (!look.tty)
      return rows.map((row) => `${listing.fields(row).map(safe).join('\t')}\n`).join('');
    const all = (before ?? listing.columns)
      .map((column) => placed(column, rows, look))
      .filter(({ rare, cells }) => !rare || cells.some((cell) => cell !== ''));
    const columns = narrowed(before ? all : affordable(all, listing, look.columns), look.columns);
    const lines = rows.map((row, index) =>
      columns.map((column) => {
        const style = column.style?.(row);
        return padded(column, column.cells[index] ?? '', (cell) =>
          style && cell !== '' ? look.paint(style, cell) : cell,
        );
      }),
    );
    const titles = columns.map((column) => padded(column, column.title));
    const head = before ? '' : `${look.paint('bold', lineOf(titles))}\n`;
    before = columns;
    return head + lines.map((line) => `${lineOf(line)}\n`).join('');
  };
}

export type Pair = readonly [string, string] | false;

/** Formats names and values: on a terminal in two columns, with long values folded; in a pipe, with a tab. */
export function pairs(rows: readonly Pair[], look: Look): string {
  const lines = rows.flatMap((row) => (row ? [[safe(row[0]), safe(row[1])] as const] : []));
  const wide = Math.min(MAX_RIGID, widest(lines.map(([name]) => name)));
  const line = ([name, value]: readonly [string, string]) => {
    if (!look.tty) return `${name}\t${value}`;
    const space = ' '.repeat(Math.max(0, wide - width(name)) + GAP);
    return besideName(look.paint('bold', name) + space, wide + GAP, [value], look.columns);
  };
  return lines.map((pair) => `${line(pair)}\n`).join('');
}

/**
 * Puts texts beside a name, or below it if a word, such as a link, is wider than the room beside it.
 * @param name with spaces up to `indent`
 */
export function besideName(
  name: string,
  indent: number,
  texts: readonly string[],
  columns: number,
): string {
  const lines = texts.flatMap((text) => wrap(text, columns - indent));
  if (widest(lines) <= columns - indent)
    return `${name}${lines.join(`\n${' '.repeat(indent)}`)}`.trimEnd();
  const below = texts.flatMap((text) => wrap(text, columns - GAP));
  return [name.trimEnd(), ...below.map((line) => ' '.repeat(GAP) + line)].join('\n');
}

interface PlacedColumn<Row> extends Column<Row> {
  readonly width: number;
  readonly cells: readonly string[];
}

/** @param column gets no narrower if it was placed on an earlier page */
function placed<Row>(
  column: Column<Row> & Partial<PlacedColumn<Row>>,
  rows: readonly Row[],
  look: Look,
): PlacedColumn<Row> {
  const cells = rows.map((row) => safe(column.shown(row, look)));
  const wide = Math.max(column.width ?? width(column.title), widest(cells));
  return {
    ...column,
    cells,
    width: column.elastic === undefined ? Math.min(wide, MAX_RIGID) : wide,
  };
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, width(text)), 0);
}

/** Leaves out empty columns, then leaves out or cuts the optional ones, until the others fit. */
function affordable<Row>(
  columns: readonly PlacedColumn<Row>[],
  { optional = [] }: Listing<Row>,
  room: number,
): readonly PlacedColumn<Row>[] {
  const empty = columns.filter(({ cells }) => cells.every((cell) => cell === ''));
  let kept = columns;
  for (const title of [...empty.map((column) => column.title), ...optional]) {
    if (total(kept.map(({ width, elastic = width }) => Math.min(width, elastic))) <= room) break;
    kept = kept.flatMap((column) => {
      if (column.title !== title) return [column];
      return column.least === undefined ? [] : [{ ...column, elastic: column.least }];
    });
  }
  return kept;
}

/** Gives all elastic columns the same limit, by which the lines fit. */
function narrowed<Row>(
  columns: readonly PlacedColumn<Row>[],
  room: number,
): readonly PlacedColumn<Row>[] {
  const within = (limit: number) =>
    columns.map(({ width, elastic }) => (elastic === undefined ? width : Math.min(width, limit)));
  let limit = room;
  while (limit > MIN_ELASTIC && total(within(limit)) > room) limit--;
  const widths = within(limit);
  return columns.map((column, index) => ({ ...column, width: widths[index] ?? column.width }));
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, cell) => sum + cell, GAP * (widths.length - 1));
}

const lineOf = (cells: readonly string[]) => cells.join(' '.repeat(GAP)).trimEnd();

function padded(
  column: PlacedColumn<never>,
  text: string,
  paint: (cell: string) => string = (cell) => cell,
): string {
  const cell = shorten(text, column.width);
  const space = ' '.repeat(Math.max(0, column.width - width(cell)));
  return column.right ? space + paint(cell) : paint(cell) + space;
}
