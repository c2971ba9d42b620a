import type { Sql } from './sql';

/** What the database knows of itself, by name. */
export async function findFact(sql: Sql, name: string): Promise<string | undefined> {
  return (await sql<{ value: string }>`SELECT value FROM facts WHERE name = ${name}`)[0]?.value;
}

/** Keeps a fact unless there is one of that name, and answers the one that is kept. */
export async function keepFact(sql: Sql, name: string, value: string): Promise<string> {
  await sql`INSERT INTO facts (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`;
  return (await findFact(sql, name)) as string;
}
