import type { TokenSummary } from '../../contract/api';
import type { Database, Sql } from '../store/sql';
import { deleteToken, endToken, listHeld } from './owner-rows';

/** What became of the tokens that are valid in an older copy of a database. */
export interface CarriedTokens {
  /** Those that were revoked or replaced since, and are not valid in the copy any more. */
  readonly revoked: Pick<TokenSummary, 'id' | 'name'>[];
  /** Those of which the newer database cannot tell whether they were revoked. */
  readonly unchecked: Pick<TokenSummary, 'id' | 'name'>[];
}

/**
 * Ends in a copy of a database the tokens that were revoked or replaced since the copy was made, by what the database
 * has now. Users are never deleted, so a database without a user, who is known by name and time, did not come from the
 * copy and tells nothing of the user's tokens: new data must not count as the revocation of all tokens.
 * @param newer reads the newer database; undefined if it is missing or damaged
 */
export async function carryRevocations(copy: Database, newer: Sql | undefined, now: number) {
  // A database that is damaged, or has another schema, tells nothing.
  const held = newer ? await listHeld(newer).catch(() => []) : [];
  const users = new Set(held.map(userOf));
  const ends = new Map(held.map(({ digest, ends_at }) => [digest && hex(digest), ends_at]));
  return copy.transaction(async (sql) => {
    const carried: CarriedTokens = { revoked: [], unchecked: [] };
    for (const row of await listHeld(sql)) {
      const { selector: id, name } = row;
      if (id === null || (row.ends_at !== null && row.ends_at <= now)) continue;
      const end = ends.get(hex(row.digest));
      if (!users.has(userOf(row))) carried.unchecked.push({ id, name });
      else if (end === undefined || (end !== null && end <= now)) {
        await deleteToken(sql, id);
        carried.revoked.push({ id, name });
      } else if (end !== null) await endToken(sql, id, end, now);
    }
    return carried;
  });
}

const userOf = ({ name, since }: { readonly name: string; readonly since: number }) =>
  `${since} ${name}`;

const hex = (digest: Uint8Array) => Buffer.from(digest).toString('hex');
