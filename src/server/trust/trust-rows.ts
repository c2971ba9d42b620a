import type { Scope } from '../../contract/api';
import { first, type Sql } from '../store/sql';

export interface TrustRow {
  id: number;
  name: string;
  issuer: string;
  audience: string | null;
  /** A JSON object of texts. */
  claims: string;
  owner_id: number;
  scope: Scope;
  /** In seconds. */
  lifetime: number;
  private_issuer: 0 | 1;
  /** Is in the tokens that the trust gives, and in what these make. */
  maker: string;
  created_at: number;
}

export type OwnedTrust = TrustRow & {
  owner_name: string /** When its owner was created. */;
  since: number;
};

/** Lists trusts with their owners, oldest first. */
export function listTrusts(sql: Sql): Promise<OwnedTrust[]> {
  return sql<OwnedTrust>`
    SELECT trusts.*, owners.name AS owner_name, owners.created_at AS since
    FROM trusts JOIN owners ON owners.id = owner_id ORDER BY trusts.id`;
}

/** Creates a trust; returns false when its name is taken. */
export async function insertTrust(sql: Sql, row: Omit<TrustRow, 'id'>): Promise<boolean> {
  const made = await sql`
    INSERT INTO trusts (name, issuer, audience, claims, owner_id, scope, lifetime, private_issuer,
      maker, created_at)
    VALUES (${row.name}, ${row.issuer}, ${row.audience}, ${row.claims}, ${row.owner_id},
      ${row.scope}, ${row.lifetime}, ${row.private_issuer}, ${row.maker}, ${row.created_at})
    ON CONFLICT (name) DO NOTHING RETURNING id`;
  return made.length > 0;
}

/** Counts the tokens of trusts that are valid, by the id of the trust. */
export function countGiven(sql: Sql, now: number) {
  return sql<{ trust_id: number; tokens: number }>`
    SELECT trust_id, COUNT(*) AS tokens FROM tokens
    WHERE trust_id IS NOT NULL AND ends_at > ${now} GROUP BY trust_id`;
}

/** Deletes a trust and the tokens that it gave; returns how many of these were valid, undefined without such a trust. */
export async function deleteTrust(sql: Sql, name: string, now: number) {
  // The change of a unique column makes PostgreSQL keep new tokens out, which refer to the row, until it is gone.
  const trust = await first(sql<{ id: number }>`
    UPDATE trusts SET name = name || ' (removed)' WHERE name = ${name} RETURNING id`);
  if (!trust) return undefined;
  const given = await sql<{ ends_at: number }>`
    DELETE FROM tokens WHERE trust_id = ${trust.id} RETURNING ends_at`;
  await sql`DELETE FROM trusts WHERE id = ${trust.id}`;
  return given.filter(({ ends_at }) => ends_at > now).length;
}
