import { ServiceError } from '../service-errors';
import { type Database, first, plain, type Sql } from './sql';

/**
 * The row of the table `moved`, which data has only while no service may use it. Of data and its copy, at most one is
 * without it at any moment.
 */
export interface Mark {
  /** Whether the data was copied to `place`, or is a copy of the data there that is not finished. */
  readonly role: 'moved' | 'unfinished';
  readonly place: string;
}

export async function markOf(
  { catalog, sql: own }: Pick<Database, 'catalog' | 'sql'>,
  sql: Sql = own,
): Promise<Mark | undefined> {
  const tables = await sql<{ name: string }>(plain(catalog.tables));
  if (!tables.some(({ name }) => name === 'moved')) return undefined;
  return first(sql<Mark>`SELECT role, place FROM moved`);
}

export async function mark(sql: Sql, { role, place }: Mark): Promise<void> {
  await sql`CREATE TABLE moved (role TEXT NOT NULL, place TEXT NOT NULL)`;
  await sql`INSERT INTO moved (role, place) VALUES (${role}, ${place})`;
}

export async function unmark(sql: Sql): Promise<void> {
  await sql`DROP TABLE moved`;
}

export function markError({ role, place }: Mark): ServiceError {
  if (role === 'moved')
    return new ServiceError(`the data was moved to ${place}`, {
      hint: 'start the service there; if nothing uses the copy, pwpush serve copy --reopen takes the move back',
      code: 'usage',
    });
  return new ServiceError(`the copy of the data from ${place} is not finished`, {
    hint: 'run pwpush serve copy again, which starts over',
    code: 'usage',
  });
}
