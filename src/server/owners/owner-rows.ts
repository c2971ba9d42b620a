import { first, hasRows, onRows, type Sql, TEXT } from '../store/sql';

export interface OwnerRow {
  id: number;
  name: string;
}

interface TokenRow {
  selector: string;
  label: string;
  digest: Uint8Array;
  created_at: number;
  last_used_at: number | null;
  ends_at: number | null;
  /** The selector of the token that this one replaces. */
  replaces: string | null;
}

export type NewToken = Pick<TokenRow, 'selector' | 'label' | 'digest' | 'replaces'>;
export type OwnedToken = OwnerRow &
  Pick<TokenRow, 'selector' | 'digest' | 'last_used_at' | 'ends_at' | 'replaces'>;
type HeldToken = Pick<TokenRow, 'selector' | 'digest' | 'ends_at'>;
type NoToken = { readonly [C in keyof HeldToken]: null };
export type ListedToken = Pick<OwnerRow, 'name'> & Omit<TokenRow, 'digest' | 'replaces'>;

/** Creates an owner; returns undefined when the name is taken. */
export function insertOwner(sql: Sql, name: string, now: number) {
  return first(sql<OwnerRow>`
    INSERT INTO owners (name, created_at) VALUES (${name}, ${now}) ON CONFLICT (name) DO NOTHING
    RETURNING id, name`);
}

export function findOwner(sql: Sql, name: string): Promise<OwnerRow | undefined> {
  return first(sql<OwnerRow>`SELECT id, name FROM owners WHERE name = ${name}`);
}

export function findOwnerById(sql: Sql, id: number): Promise<OwnerRow | undefined> {
  return first(sql<OwnerRow>`SELECT id, name FROM owners WHERE id = ${id}`);
}

export function hasOwner(sql: Sql): Promise<boolean> {
  return hasRows(sql`SELECT id FROM owners LIMIT 1`);
}

/** Creates a token; returns false when its selector is taken. */
export function insertToken(
  sql: Sql,
  ownerId: number,
  { selector, digest, label, replaces }: NewToken,
  now: number,
): Promise<boolean> {
  return hasRows(sql`
    INSERT INTO tokens (selector, owner_id, label, scope, maker, digest, created_at, replaces)
    VALUES (${selector}, ${ownerId}, ${label}, 'all', ${selector}, ${digest}, ${now}, ${replaces})
    ON CONFLICT (selector) DO NOTHING RETURNING selector`);
}

const tokenSearch = onRows<OwnedToken>(
  { wanted: TEXT },
  `SELECT owners.id, owners.name, selector, digest, last_used_at, ends_at, replaces
   FROM input JOIN tokens ON selector = wanted JOIN owners ON owners.id = owner_id`,
  'selector',
);

export function findToken(sql: Sql, selector: string): Promise<OwnedToken | undefined> {
  return tokenSearch(sql, { wanted: selector });
}

export async function touchToken(sql: Sql, selector: string, now: number): Promise<void> {
  await sql`UPDATE tokens SET last_used_at = ${now} WHERE selector = ${selector}`;
}

/** Stores the first use of a token that replaces another one, and deletes the replaced token. */
export async function succeedToken(
  sql: Sql,
  selector: string,
  replaced: string,
  now: number,
): Promise<void> {
  await sql`
    UPDATE tokens SET last_used_at = ${now}, replaces = NULL WHERE selector = ${selector}`;
  await sql`DELETE FROM tokens WHERE selector = ${replaced}`;
}

/** Sets the end of a token that has not ended, and locks its row; returns its owner and its label. */
export function endToken(sql: Sql, selector: string, end: number, now: number) {
  return first(sql<{ owner_id: number; label: string }>`
    UPDATE tokens SET ends_at = ${end}
    WHERE selector = ${selector} AND (ends_at IS NULL OR ends_at > ${now})
    RETURNING owner_id, label`);
}

/** Finds the token that replaces `selector`; returns its selector. */
export async function findSuccessor(sql: Sql, selector: string): Promise<string | undefined> {
  const rows = await sql<{ selector: string }>`
    SELECT selector FROM tokens WHERE replaces = ${selector}`;
  return rows[0]?.selector;
}

export function listTokens(sql: Sql, now: number): Promise<ListedToken[]> {
  return sql<ListedToken>`
    SELECT tokens.selector, owners.name, tokens.label, tokens.created_at, tokens.last_used_at,
      tokens.ends_at
    FROM tokens JOIN owners ON owners.id = tokens.owner_id
    WHERE tokens.ends_at IS NULL OR tokens.ends_at > ${now}
    ORDER BY owners.name, tokens.created_at, tokens.selector`;
}

/** Lists all owners with their tokens, also those that have ended; an owner without tokens has one row of nulls. */
export function listHeld(sql: Sql) {
  return sql<Pick<OwnerRow, 'name'> & { since: number } & (HeldToken | NoToken)>`
    SELECT owners.name, owners.created_at AS since, selector, digest, ends_at
    FROM owners LEFT JOIN tokens ON owner_id = owners.id
    ORDER BY owners.name, tokens.created_at, selector`;
}

export async function deleteToken(sql: Sql, selector: string): Promise<OwnerRow | undefined> {
  const rows = await sql<{ owner_id: number }>`
    DELETE FROM tokens WHERE selector = ${selector} RETURNING owner_id`;
  return rows[0] && findOwnerById(sql, rows[0].owner_id);
}

export async function deleteTokensOf(sql: Sql, name: string): Promise<number> {
  const rows = await sql`
    DELETE FROM tokens WHERE owner_id IN (SELECT id FROM owners WHERE name = ${name})
    RETURNING selector`;
  return rows.length;
}

export async function deleteEnded(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM tokens WHERE ends_at <= ${now}`;
}
