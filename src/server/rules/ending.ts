import type { OpenPush } from '../../contract/api';
import type { Links } from '../keys/keyring';
import { findOwner } from '../owners/owner-rows';
import { ServiceError } from '../service-errors';
import { type Origin, recordEvent } from '../store/audit-rows';
import { endFiles } from '../store/file-rows';
import { forgetViews } from '../store/kept-rows';
import { ALL, listOpen } from '../store/listing-rows';
import { type Counts, endPush, findById, findPush, type StoredPush } from '../store/push-rows';
import type { Database, Sql } from '../store/sql';

/** Ends a row, then its answer: all writers lock them in this order. Returns undefined if the row had ended. */
export async function endRecord(sql: Sql, id: number, at: number, deleted: 0 | 1) {
  const ended = await endPush(sql, id, at, deleted);
  if (ended?.answer_id != null) await endPush(sql, ended.answer_id, at, deleted);
  return ended;
}

/**
 * Ends an overdue row, or one that `by`, who may end it, wants to end. If the row had ended, ends its files and kept views
 * for `by`. Returns what ended; undefined for nothing.
 */
export async function endNow(sql: Sql, row: StoredPush, now: number, by: Origin | undefined) {
  if (row.expired_at !== null || row.expires_at <= now) {
    if (await endRecord(sql, row.id, row.expires_at, 0)) return 'time';
  } else if (by && (await endRecord(sql, row.id, now, 1))) {
    const kind = row.kind === 'request' ? 'close' : 'expire';
    await recordEvent(sql, { pushId: row.id, kind, from: by, at: now });
    return 'deleted';
  }
  if (by) await forgetViews(sql, row.id);
  return by && (await endFiles(sql, row.answer_id ?? row.id)) ? 'files' : undefined;
}

/** The audit log has no field for who ended a push. Nobody else has a user agent without an address. */
const OPERATOR: Origin = { ip: null, userAgent: 'operator (pwpush serve)', referrer: null };

/** Rows that end at the same time share a commit, which takes longer than the rest; each may have 1 MiB of text. */
const AT_ONCE = 8;

/** What the operator of a service may do with the pushes and requests of all users, also while the service runs. */
export class Operator {
  /** @param links requires the instance key, which nothing else here does */
  constructor(
    private readonly database: Database,
    private readonly now: () => Date,
    private readonly links: () => Promise<Links>,
  ) {}

  /**
   * Lists what is open in pages, oldest first.
   * @throws ServiceError when there is no such user
   */
  async *open(user?: string): AsyncGenerator<OpenPush[]> {
    const { sql } = this.database;
    const owner = user === undefined ? undefined : await findOwner(sql, user);
    if (user !== undefined && !owner)
      throw new ServiceError(`no user "${user}"`, { code: 'not_found' });
    for (let after = 0; ; ) {
      const rows = await listOpen(sql, { ownerId: owner?.id ?? ALL, after }, this.now().getTime());
      const last = rows.at(-1);
      if (!last) return;
      yield rows.map((row) => ({
        ...row,
        created_at: new Date(row.created_at).toISOString(),
        expires_at: new Date(row.expires_at).toISOString(),
      }));
      after = last.id;
    }
  }

  /** @throws ServiceError when there is no such user */
  async countOpen(user: string): Promise<Counts> {
    const counts = { pushes: 0, requests: 0 };
    for await (const rows of this.open(user)) for (const row of rows) counts[kindOf(row)] += 1;
    return counts;
  }

  /**
   * Ends all that a user has open, and returns how many that were.
   * @throws ServiceError when there is no such user
   */
  async expireOf(user: string): Promise<Counts> {
    const counts = { pushes: 0, requests: 0 };
    for await (const rows of this.open(user))
      for (let first = 0; first < rows.length; first += AT_ONCE) {
        const some = rows.slice(first, first + AT_ONCE).map(({ id }) => this.expire(id));
        for (const ended of await Promise.all(some))
          if (ended && ended !== 'nothing') counts[ended] += 1;
      }
    return counts;
  }

  /**
   * Returns the ID of the push or request with the link token; undefined for an unknown one.
   * @throws ServiceError when the key file lacks the instance key
   */
  async idOf(urlToken: string): Promise<number | undefined> {
    const lookup = (await this.links()).lookup(urlToken);
    return (await findPush(this.database.sql, lookup))?.id;
  }

  /**
   * Ends a push or request as its owner could: the secret is destroyed, and the next sweep of a service deletes the
   * files. Returns what was open; undefined for an unknown ID.
   */
  expire(id: number): Promise<keyof Counts | 'nothing' | undefined> {
    const end = async (sql: Sql) => {
      const row = await findById(sql, id);
      if (!row || row.kind === 'answer') return undefined;
      const ended = await endNow(sql, row, this.now().getTime(), OPERATOR);
      return ended === 'deleted' ? kindOf(row) : 'nothing';
    };
    return this.database.transaction(end, { frees: true });
  }
}

const kindOf = ({ kind }: { readonly kind: string }) =>
  kind === 'request' ? 'requests' : 'pushes';
