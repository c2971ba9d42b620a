import type { Context } from '../context';
import type { GlobalOptions } from '../options';
import { type Terminal, toJson } from './output';
import { forLog } from './safe';
import { lookOf } from './style';
import { type Column, tables } from './table';

/** Says that there is nothing to list, or on this page; and below a first page that there is more. */
export async function tellEnd(
  say: Terminal,
  printed: number,
  what: string,
  page: number,
  more: boolean,
): Promise<void> {
  if (printed === 0) await say.note(page === 1 ? `no ${what}` : `no ${what} on page ${page}`);
  else if (more && page === 1) await say.remark(`showing ${printed}; use --all for more`);
}

/**
 * Prints pages of rows as they come: a JSON array with `--json`, a table on a terminal, lines in a pipe.
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
