import type { Sql } from './sql';

export interface OwnerRow {
  id: number;
  name: string;
}

export interface TokenRow extends OwnerRow {
  token_id: number;
  digest: Uint8Array;
  last_used_at: number | null;
}

/** Creates an owner; returns undefined when the name is taken. */
export async function insertOwner(sql: Sql, name: string, now: number) {
  const rows = await sql<OwnerRow>`
    INSERT INTO owners (name, created_at) VALUES (${name}, ${now}) ON CONFLICT (name) DO NOTHING
    RETURNING id, name`;
  return rows[0];
}

export async function findOwner(sql: Sql, name: string): Promise<OwnerRow | undefined> {
  return (await sql<OwnerRow>`SELECT id, name FROM owners WHERE name = ${name}`)[0];
}

export async function findOwnerById(sql: Sql, id: number): Promise<OwnerRow | undefined> {
  return (await sql<OwnerRow>`SELECT id, name FROM owners WHERE id = ${id}`)[0];
}

export async function insertToken(
  sql: Sql,
  ownerId: number,
  token: { selector: string; digest: Uint8Array },
  now: number,
): Promise<void> {
  await sql`
    INSERT INTO tokens (owner_id, selector, digest, created_at)
    VALUES (${ownerId}, ${token.selector}, ${token.digest}, ${now})`;
}

export function findTokens(sql: Sql, selector: string): Promise<TokenRow[]> {
  return sql<TokenRow>`
    SELECT owners.id, owners.name, tokens.id AS token_id, tokens.digest, tokens.last_used_at
    FROM tokens JOIN owners ON owners.id = tokens.owner_id
    WHERE tokens.selector = ${selector}`;
}

export async function touchToken(sql: Sql, id: number, now: number): Promise<void> {
  await sql`UPDATE tokens SET last_used_at = ${now} WHERE id = ${id}`;
}

export function listOwners(sql: Sql) {
  return sql<
    Pick<OwnerRow, 'name'> & { created_at: number; tokens: number; last_used_at: number | null }
  >`
    SELECT owners.name, owners.created_at, count(tokens.id) AS tokens,
      max(tokens.last_used_at) AS last_used_at
    FROM owners LEFT JOIN tokens ON tokens.owner_id = owners.id
    GROUP BY owners.id, owners.name, owners.created_at
    ORDER BY owners.name`;
}

export async function deleteTokens(sql: Sql, name: string): Promise<number> {
  const rows = await sql<{ id: number }>`
    DELETE FROM tokens WHERE owner_id IN (SELECT id FROM owners WHERE name = ${name})
    RETURNING id`;
  return rows.length;
}
