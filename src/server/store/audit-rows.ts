import { type KeptViewRow, viewColumns } from './kept-rows';
import type { RowPage } from './listing-rows';
import { lockPush } from './push-rows';
import { BIGINT, insertionOf, onRows, type Sql, TEXT } from './sql';

/** Kinds of Password Pusher and, from `request_view` on, of requests for secrets, which only this service has. */
type AuditKind =
  | 'creation'
  | 'view'
  | 'failed_view'
  | 'expire'
  | 'failed_passphrase'
  | 'owner_view'
  | 'request_view'
  | 'response'
  | 'failed_response'
  | 'response_view'
  | 'close';

export interface AuditRow {
  kind: AuditKind;
  ip: string | null;
  user_agent: string | null;
  referrer: string | null;
  /** The name of the trust that gave the token, and the subject that it was given for; null for another token. */
  trust: string | null;
  subject: string | null;
  /** Number of events that this entry represents; 0 for HTTP requests that only lacked the passphrase or the key. */
  count: number;
  created_at: number;
  /** Time of the last event; null for a single event. */
  updated_at: number | null;
}

const NOBODY: Origin = { ip: null, userAgent: null, referrer: null };

/** Where an HTTP request came from; null for unknown values. */
export interface Origin {
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly referrer: string | null;
  readonly owner?: Readonly<Pick<AuditRow, 'trust' | 'subject'>> | undefined;
}

/** An event of a push, `at` in milliseconds. */
export interface AuditEvent {
  readonly pushId: number;
  readonly kind: AuditRow['kind'];
  readonly from: Origin;
  readonly at: number;
  /** 1 if left out; 0 for an HTTP request without passphrase or key, which is recorded but is not a wrong try. */
  readonly count?: 0 | 1;
}

const originColumns = { ip: TEXT, user_agent: TEXT, referrer: TEXT, trust: TEXT, subject: TEXT };
const columns = {
  push_id: BIGINT,
  kind: TEXT,
  ...originColumns,
  created_at: BIGINT,
  count: BIGINT,
};

const recording = insertionOf('audit', columns);
const keeping = insertionOf('audit', { ...columns, ...viewColumns });

export async function recordEvent(
  sql: Sql,
  { pushId: push_id, kind, from, at: created_at, count = 1 }: AuditEvent,
  kept?: KeptViewRow,
): Promise<void> {
  const row = { push_id, kind, ...originOf(from), created_at, count };
  await (kept ? keeping(sql, { ...row, ...kept }) : recording(sql, row));
}

function originOf({ ip, userAgent: user_agent, referrer, owner }: Origin) {
  const { trust = null, subject = null } = owner ?? {};
  return { ip, user_agent, referrer, trust, subject };
}

/**
 * Records an event that has no limit, such as a failure or a view by the owner, in one entry with others of the same kind and origin. Needs a
 * transaction: the first event locks the push, so that each of many at once finds those before it. Once a push has
 * `most` such entries, events of new origins share one entry without origin.
 */
export async function recordRepeated(sql: Sql, event: AuditEvent, most: number): Promise<void> {
  if (await addToEntry(sql, event)) return;
  await lockPush(sql, event.pushId);
  if (await addToEntry(sql, event)) return;
  if ((await countRepeated(sql, event.pushId)) < most) return recordEvent(sql, event);
  const shared = { ...event, from: NOBODY };
  if (!(await addToEntry(sql, shared))) await recordEvent(sql, shared);
}

/** SQLite and PostgreSQL use the index `audit_repeated` only for the condition that the index has. */
const REPEATED =
  "kind IN ('failed_view', 'failed_passphrase', 'request_view', 'owner_view', 'failed_response')";

// There is one such entry at most, because `recordRepeated` locks the push before it makes one.
const adding = onRows<{ push_id: number }>(
  { push: BIGINT, what: TEXT, ...originColumns, at: BIGINT, added: BIGINT },
  `UPDATE audit SET count = count + added, updated_at = at FROM input
   WHERE push_id = push AND kind = what AND ${REPEATED}
     AND ${Object.keys(originColumns)
       .map((name) => `audit.${name} IS NOT DISTINCT FROM input.${name}`)
       .join(' AND ')}
   RETURNING push_id`,
  'push_id',
);

/** Returns false when there is no entry of that kind and origin. */
async function addToEntry(sql: Sql, { pushId: push, kind: what, from, at, count = 1 }: AuditEvent) {
  const row = { push, what, ...originOf(from), at, added: count };
  return (await adding(sql, row)) !== undefined;
}

const counting = onRows<{ entries: number }>(
  { push: BIGINT },
  `SELECT push, (SELECT count(*) FROM audit WHERE push_id = push AND ${REPEATED}) AS entries
   FROM input`,
  'push',
);

async function countRepeated(sql: Sql, push: number): Promise<number> {
  return Number((await counting(sql, { push }))?.entries);
}

export function listEvents(sql: Sql, pushId: number, page: RowPage): Promise<AuditRow[]> {
  return sql<AuditRow>`
    SELECT kind, ip, user_agent, referrer, trust, subject, count, created_at, updated_at FROM audit
    WHERE push_id = ${pushId}
    ORDER BY created_at, id
    LIMIT ${page.rows} OFFSET ${(page.number - 1) * page.rows}`;
}

/** Tries at a push: passphrases of its owner, passphrases of others, or key proofs of others. */
export interface Tries {
  readonly pushId: number;
  readonly whose: 'owner' | 'others' | 'key';
}

export async function listTries(sql: Sql, { pushId, whose }: Tries, since: number, until: number) {
  const rows = await sql<{ tried_at: number }>`
    SELECT tried_at FROM tries
    WHERE push_id = ${pushId} AND whose = ${whose} AND tried_at > ${since} AND tried_at < ${until}
    ORDER BY tried_at`;
  return rows.map((row) => row.tried_at);
}

export async function insertTry(sql: Sql, { pushId, whose }: Tries, at: number): Promise<number> {
  const rows = await sql<{ id: number }>`
    INSERT INTO tries (push_id, whose, tried_at) VALUES (${pushId}, ${whose}, ${at}) RETURNING id`;
  return (rows[0] as { id: number }).id;
}

/** Compares all columns, so that only exactly the inserted try is deleted. */
export async function deleteTry(sql: Sql, { pushId, whose }: Tries, at: number, id: number) {
  await sql`
    DELETE FROM tries
    WHERE id = ${id} AND push_id = ${pushId} AND whose = ${whose} AND tried_at = ${at}`;
}

/** Deletes tries from `until` on, too, which were recorded while the clock was ahead. */
export async function deleteTries(sql: Sql, since: number, until: number): Promise<void> {
  await sql`DELETE FROM tries WHERE tried_at <= ${since} OR tried_at >= ${until}`;
}
