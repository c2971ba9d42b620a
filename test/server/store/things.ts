import { type Database, plain, type Sql } from '../../../src/server/store/sql';

export const createThings = ({ sql, dialect }: Database) =>
  sql(plain(`CREATE TABLE things (name TEXT PRIMARY KEY, data ${dialect.blob}, at BIGINT)`));

export const add = (sql: Sql, name: string) =>
  sql<{ name: string }>`INSERT INTO things (name, at) VALUES (${name}, 0) RETURNING name`;

export const namesIn = async ({ sql }: Pick<Database, 'sql'>) =>
  (await sql<{ name: string }>`SELECT name FROM things ORDER BY name`).map(({ name }) => name);
