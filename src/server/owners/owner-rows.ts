import type { Scope, TokenSummary } from '../../contract/api';
import { DAY_MS } from '../../contract/lifetime';
import { first, hasRows, onRows, type Sql, TEXT } from '../store/sql';

export interface OwnerRow {
  id: number;
  name: string;
}

interface TokenRow {
  selector: string;
  owner_id: number;
  label: string;
  scope: Scope;
  /** What the token creates has this text; a token that replaces it, and all tokens of a trust, have the same. */
  maker: string;
  digest: Uint8Array;
  created_at: number;
  last_used_at: number | null;
  ends_at: number | null;
  /** The end that a replaced token would have had; else that of `ends_at`. */
  given_end: number | null;
  /** The selector of the token that this one replaces. */
  replaces: string | null;
  trust_id: number | null;
  subject: string | null;
}

export type NewToken = Omit<TokenRow, 'last_used_at' | 'given_end'>;
/** A token with its owner, and with the name of the trust that gave it. */
export type OwnedToken = OwnerRow &
  Omit<TokenRow, 'owner_id' | 'label' | 'created_at' | 'given_end' | 'trust_id'> &
  Pick<TokenSummary, 'trust'>;
type HeldToken = Pick<TokenRow, 'selector' | 'digest' | 'ends_at'>;
type NoToken = { readonly [C in keyof HeldToken]: null };
type Times = Pick<TokenRow, 'created_at' | 'last_used_at' | 'ends_at'>;
type ListedToken = Omit<TokenSummary, keyof Times | 'expires_at'> & Times;

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
export function insertToken(sql: Sql, row: NewToken): Promise<boolean> {
  return hasRows(sql`
    INSERT INTO tokens (selector, owner_id, label, scope, maker, digest, created_at, ends_at,
      given_end, replaces, trust_id, subject)
    VALUES (${row.selector}, ${row.owner_id}, ${row.label}, ${row.scope}, ${row.maker},
      ${row.digest}, ${row.created_at}, ${row.ends_at}, ${row.ends_at}, ${row.replaces},
      ${row.trust_id}, ${row.subject})
    ON CONFLICT (selector) DO NOTHING RETURNING selector`);
}

const tokenSearch = onRows<OwnedToken>(
  { wanted: TEXT },
  `SELECT owners.id, owners.name, selector, digest, tokens.scope, tokens.maker, last_used_at,
     ends_at, replaces, subject, trusts.name AS trust
   FROM input JOIN tokens ON selector = wanted JOIN owners ON owners.id = tokens.owner_id
     LEFT JOIN trusts ON trusts.id = trust_id`,
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

/**
 * Lets a valid token that no trust gave end then, unless it ends earlier, and locks its row; returns what a token in its
 * place has, whose end is the one that it was given.
 */
export function endToken(sql: Sql, selector: string, end: number, now: number) {
  return first(sql<Pick<NewToken, 'owner_id' | 'label' | 'scope' | 'maker' | 'ends_at'>>`
    UPDATE tokens SET ends_at = CASE WHEN ends_at < ${end} THEN ends_at ELSE ${end} END
    WHERE selector = ${selector} AND (ends_at IS NULL OR ends_at > ${now}) AND trust_id IS NULL
    RETURNING owner_id, label, scope, maker, given_end AS ends_at`);
}

/** Finds the token that replaces `selector`; returns its selector. */
export async function findSuccessor(sql: Sql, selector: string): Promise<string | undefined> {
  const rows = await sql<{ selector: string }>`
    SELECT selector FROM tokens WHERE replaces = ${selector}`;
  return rows[0]?.selector;
}

/** Lists tokens that have not ended, with one row for all of a trust. */
export function listTokens(sql: Sql, now: number): Promise<ListedToken[]> {
  return sql<ListedToken>`
    SELECT COALESCE('trust:' || trusts.name, selector) AS id, owners.name, trusts.name AS trust,
      max(label) AS label, max(tokens.scope) AS scope, count(*) AS tokens,
      max(tokens.created_at) AS created_at, max(last_used_at) AS last_used_at,
      max(ends_at) AS ends_at
    FROM tokens JOIN owners ON owners.id = tokens.owner_id LEFT JOIN trusts ON trusts.id = trust_id
    WHERE ends_at IS NULL OR ends_at > ${now}
    GROUP BY 1, owners.name, trusts.name
    ORDER BY owners.name, created_at, id`;
}

/** Lists the names of the trusts that give tokens of the owner. */
export async function listTrustsOf(sql: Sql, name: string): Promise<string[]> {
  const rows = await sql<{ name: string }>`
    SELECT trusts.name FROM trusts JOIN owners ON owners.id = owner_id
    WHERE owners.name = ${name} ORDER BY trusts.id`;
  return rows.map((row) => row.name);
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

/**
 * Deletes tokens some time after their end, until which a refusal says when that was. A token that was replaced, which
 * ended before its time, is deleted at once.
 */
export async function deleteEnded(sql: Sql, now: number): Promise<void> {
  await sql`
    DELETE FROM tokens
    WHERE ends_at <= ${now} AND (ends_at <= ${now - 90 * DAY_MS} OR given_end IS NULL
      OR given_end > ends_at OR (trust_id IS NOT NULL AND ends_at <= ${now - DAY_MS}))`;
}
