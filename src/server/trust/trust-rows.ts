import type { TrustSummary } from '../../contract/api';
import { first, hasRows, type Sql } from '../store/sql';

/** An issuer of identity tokens, and what one must claim to get a token of `user`. */
export interface Trust extends Omit<TrustSummary, 'created_at' | 'tokens'> {
  readonly id: number;
  readonly owner_id: number;
  /** When the user was created. */
  readonly since: number;
  /** Is in the tokens that the trust gives, and in what these make. */
  readonly maker: string;
  readonly created_at: number;
}

/** Lists trusts with their owners, oldest first. */
export async function listTrusts(sql: Sql): Promise<Trust[]> {
  const rows = await sql<Omit<Trust, 'claims'> & { readonly claims: string }>`
    SELECT trusts.*, owners.name AS user, owners.created_at AS since
    FROM trusts JOIN owners ON owners.id = owner_id ORDER BY trusts.id`;
  return rows.map((row) => ({
    ...row,
    claims: JSON.parse(row.claims),
    private_issuer: Boolean(row.private_issuer),
  }));
}

/** Returns up to two audiences of trusts, each once: enough to tell whether they differ. */
export function listAudiences(sql: Sql, ofService: string | null) {
  return sql<Pick<Trust, 'audience'>>`
    SELECT DISTINCT COALESCE(audience, ${ofService}) AS audience FROM trusts LIMIT 2`;
}

/** Creates a trust; returns false when its name is taken. */
export function insertTrust(sql: Sql, row: Omit<Trust, 'id' | 'user' | 'since'>): Promise<boolean> {
  return hasRows(sql`
    INSERT INTO trusts (name, issuer, audience, claims, owner_id, scope, lifetime, private_issuer,
      maker, created_at)
    VALUES (${row.name}, ${row.issuer}, ${row.audience}, ${JSON.stringify(row.claims)},
      ${row.owner_id}, ${row.scope}, ${row.lifetime}, ${row.private_issuer ? 1 : 0}, ${row.maker},
      ${row.created_at})
    ON CONFLICT (name) DO NOTHING RETURNING id`);
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
