import type { auditKinds } from '../../api/contract';
import type { Page } from './pushes';
import type { Sql } from './sql';

export interface AuditRow {
  kind: (typeof auditKinds)[number];
  ip: string | null;
  user_agent: string | null;
  referrer: string | null;
  created_at: number;
}

/** Where a request came from, as far as it says. */
export interface Origin {
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly referrer: string | null;
}

export async function recordEvent(
  sql: Sql,
  pushId: number,
  kind: (typeof auditKinds)[number],
  from: Origin,
  at: number,
): Promise<void> {
  await sql`
    INSERT INTO audit (push_id, kind, ip, user_agent, referrer, created_at)
    VALUES (${pushId}, ${kind}, ${from.ip}, ${from.userAgent}, ${from.referrer}, ${at})`;
}

/** What happened to a push, oldest first: the newest events are the last of the last page. */
export function listEvents(sql: Sql, pushId: number, page: Page): Promise<AuditRow[]> {
  return sql<AuditRow>`
    SELECT kind, ip, user_agent, referrer, created_at FROM audit
    WHERE push_id = ${pushId}
    ORDER BY created_at, id
    LIMIT ${page.rows} OFFSET ${(page.number - 1) * page.rows}`;
}

/** Times of the passphrase tries after `since` and before `until`, oldest first. */
export async function listTries(
  sql: Sql,
  pushId: number,
  since: number,
  until: number,
): Promise<number[]> {
  const rows = await sql<{ tried_at: number }>`
    SELECT tried_at FROM tries WHERE push_id = ${pushId} AND tried_at > ${since} AND tried_at < ${until}
    ORDER BY tried_at`;
  return rows.map((row) => row.tried_at);
}

/** Notes a try and answers its id. */
export async function insertTry(sql: Sql, pushId: number, at: number): Promise<number> {
  const rows = await sql<{ id: number }>`
    INSERT INTO tries (push_id, tried_at) VALUES (${pushId}, ${at}) RETURNING id`;
  return (rows[0] as { id: number }).id;
}

export async function deleteTry(sql: Sql, id: number): Promise<void> {
  await sql`DELETE FROM tries WHERE id = ${id}`;
}

export async function deleteTriesBefore(sql: Sql, before: number): Promise<void> {
  await sql`DELETE FROM tries WHERE tried_at <= ${before}`;
}

/** Deletes what a clock that was ahead has left. */
export async function deleteTriesAfter(sql: Sql, after: number): Promise<void> {
  await sql`DELETE FROM tries WHERE tried_at >= ${after}`;
}
