import { createHash, hash as hashOf } from 'node:crypto';
import { seal, unseal } from '../keys/primitives';
import { busy, ServiceRefusal } from '../service-errors';
import { type AuditEvent, recordView } from '../store/audit-rows';
import { findKept, keep, LONGEST } from '../store/kept-rows';
import * as views from '../store/kept-views';
import { findPush, findWithView, type StoredPush } from '../store/push-rows';
import type { Sql } from '../store/sql';
import type { RuleOptions, Visitor } from './access';

/** Milliseconds for which a response with a secret can be had again, and one about what was made. */
export const TAKEN = 2 * 60_000;
const MADE = LONGEST;

/** Of a request, what is compared; undefined and null are the same. */
export type Field = string | number | boolean | null | undefined;

/** A call and its target, and who makes it. */
export interface Calling {
  readonly visitor: Visitor;
  readonly call: readonly string[];
}

/** What a request asks for. Another one with the same key is refused. */
export interface Asked extends Calling {
  /** Fields that the call has, each of a valid size. */
  readonly body?: readonly Field[];
}

/** What a request that may take a view asks for. */
interface Viewing {
  readonly visitor: Visitor;
  /** Of the push or request. */
  readonly lookup: string;
  readonly body: readonly Field[];
}

/** What a view has opened. */
export interface TakenView {
  /** How many views had been taken with it. */
  readonly views: number;
  /** Data keys, which open the texts and files again. */
  readonly keys: readonly Uint8Array[];
  /** Of rows whose last view it was, and whose secrets are destroyed with it. */
  readonly spent: readonly views.SealedText[];
}

/** Of a request that makes or ends a row. */
export interface MakeOnce {
  /** For work that has found nothing to do. @throws Repeated when a copy has done it */
  check(sql: Sql, now?: number): Promise<void>;
  /**
   * Ends its transaction: keeps that it was done, for a client that sends it again.
   * @throws Repeated when a copy was done first
   */
  keep(sql: Sql, row: Pick<StoredPush, 'id'>, now: number): Promise<void>;
}

/** Of a request that may take a view. */
export interface ViewOnce {
  /**
   * The row with that lookup, before what a copy should not cost.
   * @throws Repeated when a copy has taken a view
   */
  find(sql: Sql): Promise<StoredPush | undefined>;
  /** For a view that others were taken before since the row was found. @throws Repeated when one was a copy's */
  check(sql: Sql, now?: number): Promise<void>;
  /** Whether `keep` records the view in the audit log; otherwise the caller does, who can do so earlier. */
  readonly records: boolean;
  /** Ends its transaction: keeps the view, which no copy has taken, for a client that sends it again. */
  keep(sql: Sql, of: ViewedPush, event: AuditEvent, taken: TakenView): Promise<void>;
}

type ViewedPush = Pick<StoredPush, 'id' | 'expires_at' | 'expire_after_views'>;

/** A view that was taken with the key that the visitor has sent again. */
export interface KeptView extends views.KeptViewHead {
  /**
   * Opens `sealed`: the data keys of `TakenView`.
   * @throws ServiceRefusal when the request is not the same
   */
  keysOf(sealed: Uint8Array): Uint8Array[];
}

/** A copy of the request was done first; what this one has done is rolled back. */
class Repeated extends Error {}

/**
 * Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) are done once: a repetition gets the
 * response of the first. A view is kept as the data key of what it opened, sealed with a key that is derived from the
 * `Idempotency-Key`, of which the database has a hash. Nobody who has the database and the instance key can open it.
 */
export class Once {
  constructor(private readonly options: RuleOptions) {}

  /** Runs `work`, which makes or ends a row of which `again` tells by its id. */
  make<T>(asked: Asked, again: (id: number) => Promise<T>, work: (done: MakeOnce) => Promise<T>) {
    const { visitor, body = [] } = asked;
    if (visitor.idempotencyKey === undefined) return work(WITHOUT_KEY);
    const { hash, secret } = keyOf(visitor.idempotencyKey);
    const digest = Buffer.concat([callOf(secret, asked), digestOf(secret, body)]);
    const tell = () => visitor.kept?.(hash);
    // Its closures do not hold the body, so that it can be freed meanwhile.
    return this.run({
      find: (sql, at) => findKept(sql, hash, at),
      again(row) {
        if (!digest.equals(row.digest)) throw reused();
        tell();
        return again(row.push_id);
      },
      work: (check) =>
        work({
          check,
          async keep(sql, { id }, now) {
            tell();
            const row = { key_hash: hash, push_id: id, digest, kept_at: now, until: now + MADE };
            if (!(await keep(sql, row))) throw new Repeated();
          },
        }),
    });
  }

  /** Runs `work`, which may take a view of the row with that `lookup`, of which `again` reads again what it opened. */
  take<T>(
    { visitor, lookup, body }: Viewing,
    again: (view: KeptView) => Promise<T | undefined>,
    work: (done: ViewOnce) => Promise<T>,
  ) {
    if (visitor.idempotencyKey === undefined)
      return work({ ...WITHOUT_KEY, records: false, find: (sql) => findPush(sql, lookup) });
    const { now } = this.options;
    const { hash, short, secret } = keyOf(visitor.idempotencyKey);
    // So that another passphrase, or another user, opens nothing.
    const sealing = digestOf(secret, [...body, visitor.owner?.id], KEY_BYTES);
    const keysOf = (sealed: Uint8Array) => {
      try {
        return split(unseal(sealing, sealed, CONTEXT));
      } catch {
        throw reused();
      }
    };
    const tell = () => visitor.kept?.(hash);
    return this.run({
      find: async (sql, at) => ofSame(lookup, await views.findView(sql, lookup, short, at)),
      again(view) {
        tell();
        return again({ ...view, keysOf });
      },
      work: (check) =>
        work({
          check,
          async find(sql) {
            const row = await findWithView(sql, lookup, short, now());
            if (row?.is_kept) throw new Repeated();
            return ofSame(lookup, row);
          },
          records: true,
          async keep(sql, { id, expires_at }, event, taken) {
            tell();
            const kept = {
              key_hash: short,
              sealed: seal(sealing, Buffer.concat(taken.keys), CONTEXT),
              views: taken.views,
              until: Math.min(event.at + TAKEN, expires_at),
            };
            await Promise.all([
              recordView(sql, event, kept),
              ...taken.spent.map((text) => views.keepSpent(sql, id, text, true)),
            ]);
          },
        }),
    });
  }

  /** Whether that visitor has made that call with the same key. */
  async isMade(calling: Calling): Promise<boolean> {
    const { idempotencyKey } = calling.visitor;
    if (idempotencyKey === undefined) return false;
    const { hash, secret } = keyOf(idempotencyKey);
    const row = await findKept(this.options.database.sql, hash, this.options.now());
    return row !== undefined && callOf(secret, calling).equals(row.digest.subarray(0, HALF));
  }

  /** Whether a view of the row with that `lookup` was taken with the visitor's key. */
  async isTaken({ idempotencyKey }: Visitor, lookup: string): Promise<boolean> {
    if (idempotencyKey === undefined) return false;
    const { database, now } = this.options;
    const view = await views.findView(database.sql, lookup, keyOf(idempotencyKey).short, now());
    return ofSame(lookup, view) !== undefined;
  }

  /** Destroys the view of that row which is kept for the visitor's key. */
  async forget({ idempotencyKey }: Visitor, lookup: string): Promise<void> {
    if (idempotencyKey === undefined) return;
    const { short } = keyOf(idempotencyKey);
    const forget = (sql: Sql) => views.forgetView(sql, lookup, short);
    await this.options.database.transaction(forget, { frees: true });
  }

  private async run<T, K>(how: Doing<T, K>, tries = 1): Promise<T> {
    const { database, now } = this.options;
    try {
      return await how.work(async (sql, at = now()) => {
        if (await how.find(sql, at)) throw new Repeated();
      });
    } catch (error) {
      // Also for a refusal: of what is answered or used up, this may have been what used it.
      const found = await how.find(database.sql, now());
      const result = found && (await how.again(found));
      if (result !== undefined) return result;
      if (!(error instanceof Repeated)) throw error;
      if (tries === MOST_TRIES) throw busy('What that request has done cannot be read.');
      // The copy's time has ended since, or what it was answered was destroyed.
      return this.run(how, tries + 1);
    }
  }
}

/** How a request is done once. */
interface Doing<T, K> {
  /** What a copy has left. */
  readonly find: (sql: Sql, now: number) => Promise<K | undefined>;
  /** The response to that copy; undefined if what it was answered is over since. */
  readonly again: (found: K) => Promise<T | undefined>;
  readonly work: (check: MakeOnce['check']) => Promise<T>;
}

/** Enough for whatever ends meanwhile; not for what is kept of a row that is gone, which no rule leaves. */
const MOST_TRIES = 5;

const reused = () =>
  new ServiceRefusal('reused', 'That Idempotency-Key was used for another request.');
const CONTEXT = 'pwpush kept keys';

const WITHOUT_KEY = {
  async check() {},
  async keep(sql: Sql, { id, expire_after_views }: ViewedPush, _: unknown, taken?: TakenView) {
    // Who has taken one of the other views may ask again for what the last one destroys.
    if (taken && expire_after_views > 1)
      await Promise.all(taken.spent.map((text) => views.keepSpent(sql, id, text, false)));
  },
};

/** What was found of that push; what was found of another one, whose view is asked for with the same key, refuses this. */
function ofSame<R extends Pick<StoredPush, 'lookup'>>(lookup: string, found: R | undefined) {
  if (found && found.lookup !== lookup) throw reused();
  return found;
}

/** From one SHA-512, as HKDF takes ten times as long. */
function keyOf(idempotencyKey: string) {
  const all = hashOf('sha512', `pwpush idempotency key ${idempotencyKey}`, 'hex');
  // 96 bits, of which 48 are enough among the views of one push: what an index has is written again and again.
  const hash = all.slice(0, 24);
  return { hash, short: Number.parseInt(hash.slice(0, 12), 16), secret: all.slice(24) };
}

const KEY_BYTES = 32;

function split(keys: Buffer): Uint8Array[] {
  const count = keys.length / KEY_BYTES;
  return Array.from({ length: count }, (_, n) => keys.subarray(n * KEY_BYTES, (n + 1) * KEY_BYTES));
}

/** Half of a digest: that of the call is compared alone. */
const HALF = 16;

function callOf(secret: string, { visitor, call }: Calling): Buffer {
  return digestOf(secret, [...call, visitor.owner?.id]);
}

/** Characters up to which hashing a copy of all at once takes less time. */
const SHORT = 4096;

/**
 * The first bytes of SHA-512 of a secret, of the types and lengths of all fields, and of their bytes. With the secret, as a
 * passphrase or a payload could be guessed from a plain hash.
 */
function digestOf(secret: string, fields: readonly Field[], bytes = HALF): Buffer {
  const texts = fields.map((field) => `${field ?? ''}`);
  const heads = fields.map((field, at) => {
    const type = field === null ? 'undefined' : typeof field;
    return `${type} ${Buffer.byteLength(texts[at] as string)}`;
  });
  const head = `${secret} ${heads.join(' ')}\n`;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= SHORT) return hashOf('sha512', head + texts.join(''), 'buffer').subarray(0, bytes);
  const hash = createHash('sha512').update(head);
  // Each by itself, as a body may be large.
  for (const text of texts) hash.update(text);
  return hash.digest().subarray(0, bytes);
}
