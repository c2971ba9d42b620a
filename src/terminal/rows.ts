import { limits } from '../api/contract';
import type { Context } from '../context';
import type { GlobalOptions } from '../options';
import { lookOf } from './look';
import { type Terminal, toJson } from './output';
import { type Column, tables } from './table';

/**
 * Says where there is nothing to list, of a later page only that this one is empty; and below a full first page that
 * there may be more.
 * @param last page that was asked for
 */
export async function tellEnd(
  say: Terminal,
  printed: number,
  what: string,
  page: number | undefined,
  last: number,
): Promise<void> {
  if (printed === 0)
    await say.note((page ?? 1) === 1 ? `no ${what}` : `no ${what} on page ${page}`);
  else if (last === 1 && printed >= limits.rowsPerPage)
    await say.remark(`${printed} of at least ${printed}, --all for the rest`);
}

/**
 * Prints pages of rows as they come: a JSON array with `--json`, a table on a terminal, lines in a pipe.
 * @returns how many rows there were
 */
export async function printRows<Row>(
  pages: AsyncIterable<Row[]>,
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
    await stdout.write(options.json ? json(rows) : text(rows));
    printed += rows.length;
  }
  if (options.json) await stdout.write(printed === 0 ? '[]\n' : ']\n');
  return printed;
}
