import { ServiceError } from '../service-errors';
import schema from './schema-1.sql?raw';
import { type Database, type Dialect, plain } from './sql';

/** One entry per release. Never edit an entry after its release. Braces enclose what differs between the databases. */
const migrations = [schema];

const statementsOf = (migration: string, dialect: Dialect): string[] =>
  migration
    .replaceAll(/\{(\w+)\}/g, (_, name: keyof Dialect) => dialect[name])
    .split(/;\n(?:\n|$)/)
    .filter(Boolean);

/**
 * Migrates the database to the current schema.
 * @throws ServiceError when a later version has migrated it
 */
export async function migrate(database: Database): Promise<void> {
  await database.exclusively(async (sql) => {
    await sql`CREATE TABLE IF NOT EXISTS migrations (id BIGINT PRIMARY KEY)`;
    const rows = await sql<{ done: number }>`SELECT count(*) AS done FROM migrations`;
    const done = Number(rows[0]?.done);
    if (done > migrations.length) throw new ServiceError('the data was written by a later version');
    for (const [index, statements] of migrations.entries()) {
      if (index < done) continue;
      for (const text of statementsOf(statements, database.dialect)) await sql(plain(text));
      await sql`INSERT INTO migrations (id) VALUES (${index})`;
    }
  });
}
