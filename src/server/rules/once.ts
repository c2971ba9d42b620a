import { createHash, hash as hashOf } from 'node:crypto';
import { seal, unseal } from '../keys/primitives';
import { busy, ServiceRefusal } from '../service-errors';
import {
  findMade,
  findView,
  forgetView,
  type KeptAnswer,
  type KeptView,
  type KeptViewRow,
  keepMade,
  LONGEST,
} from '../store/kept-rows';
import { findWithView, type StoredPush } from '../store/push-rows';
import type { Database, Sql } from '../store/sql';
import type { Visitor } from './access';

/** Milliseconds for which a response with a secret can be had again; one about what was made, for `LONGEST`. */
export const TAKEN = 2 * 60_000;

/** A field of a request that is compared with that of a copy; undefined and null are the same. */
export type Field = string | number | boolean | null | undefined;

/** A copy of the request was done first; what this one has done is rolled back. */
class Repeated extends Error {}

/** Tries that are enough for whatever ends meanwhile. An answer that is kept of a row that is gone, which no rule leaves, ends them. */
const MOST_TRIES = 5;

/**
 * Returns when the work is to be tried again: a copy was done first, and its time has ended since, or what it was answered was
 * destroyed.
 * @param tries the number of tries so far
 * @throws the error of work that failed for another reason; ServiceRefusal after many tries
 */
export function retryOrThrow(error: unknown, tries: number): void {
  if (!(error instanceof Repeated)) throw error;
  if (tries === MOST_TRIES) throw busy('What that request has done cannot be read.');
}

type KeyedVisitor = Visitor & { readonly idempotencyKey: string };

function hasKey(visitor: Visitor): visitor is KeyedVisitor {
  return visitor.idempotencyKey !== undefined;
}

/**
 * A request with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), which is done once: a copy gets the answer
 * of the first.
 */
abstract class KeyedRequest<Answer extends KeptAnswer> {
  protected readonly key: ReturnType<typeof keyOf>;

  constructor(private readonly visitor: KeyedVisitor) {
    this.key = keyOf(visitor.idempotencyKey);
  }

  /** The answer to a copy. @throws ServiceRefusal when the key was used for another request */
  protected abstract find(sql: Sql, now: number): Promise<Answer | undefined>;

  /** For work that has found nothing to do. @throws Repeated when a copy has done it */
  async check(sql: Sql, now: number): Promise<void> {
    if (await this.find(sql, now)) throw new Repeated();
  }

  /** The answer to a copy, which is sent to the client again. */
  async replay(sql: Sql, now: number): Promise<Answer | undefined> {
    const answer = await this.find(sql, now);
    if (answer) this.announce();
    return answer;
  }

  protected announce(): void {
    this.visitor.kept?.(this.key.hash);
  }
}

/** Undefined for a visitor without an `Idempotency-Key`. */
export function keyedCall(visitor: Visitor, call: readonly string[], body: readonly Field[]) {
  return hasKey(visitor) ? new KeyedCall(visitor, call, body) : undefined;
}

/** A request that makes something. Another call, user or body with the same key is refused. */
export class KeyedCall extends KeyedRequest<KeptAnswer> {
  private readonly digest: Buffer;

  /** @param body fields that the call has, each of a valid size */
  constructor(visitor: KeyedVisitor, call: readonly string[], body: readonly Field[]) {
    super(visitor);
    const { secret } = this.key;
    const caller = digestOf(secret, [...call, visitor.owner?.id]);
    this.digest = Buffer.concat([caller, digestOf(secret, body)]);
  }

  protected async find(sql: Sql, now: number): Promise<KeptAnswer | undefined> {
    const made = await findMade(sql, this.key.hash, now);
    if (made && !this.digest.equals(made.seal)) throw reused();
    return made;
  }

  /** Whether that visitor has made that call with the same key, with any body. */
  async isMade(sql: Sql, now: number): Promise<boolean> {
    const made = await findMade(sql, this.key.hash, now);
    return made !== undefined && this.digest.subarray(0, HALF).equals(made.seal.subarray(0, HALF));
  }

  /**
   * Keeps what was made, in its transaction.
   * @throws Repeated when a copy was done first
   */
  async keep(sql: Sql, { id }: Pick<StoredPush, 'id'>, now: number): Promise<void> {
    this.announce();
    const row = {
      key_hash: this.key.hash,
      push_id: id,
      digest: this.digest,
      kept_at: now,
      until: now + LONGEST,
    };
    if (!(await keepMade(sql, row))) throw new Repeated();
  }
}

/** Undefined for a visitor without an `Idempotency-Key`. */
export function keyedView(visitor: Visitor, lookup: string, body: readonly Field[] = []) {
  return hasKey(visitor) ? new KeyedView(visitor, lookup, body) : undefined;
}

/**
 * A request that may take a view of the row with that lookup. A view is kept as the data keys of what it opened, sealed with a
 * key that is derived from the `Idempotency-Key`, of which the database has a hash. Nobody who has the database and the instance
 * key can open it.
 */
export class KeyedView extends KeyedRequest<KeptView> {
  private readonly sealing: Buffer;

  constructor(
    visitor: KeyedVisitor,
    private readonly lookup: string,
    body: readonly Field[],
  ) {
    super(visitor);
    // Another passphrase, or another user, opens nothing.
    this.sealing = digestOf(this.key.secret, [...body, visitor.owner?.id], KEY_BYTES);
  }

  protected async find(sql: Sql, now: number): Promise<KeptView | undefined> {
    return this.ofSame(await findView(sql, this.lookup, this.key.short, now));
  }

  /**
   * The row, before what a copy should not cost.
   * @throws Repeated when a copy has taken a view
   */
  async findRow(sql: Sql, now: number): Promise<StoredPush | undefined> {
    const row = await findWithView(sql, this.lookup, this.key.short, now);
    if (row?.is_kept) throw new Repeated();
    return this.ofSame(row);
  }

  /** Whether a view was taken with the key. */
  async isTaken(sql: Sql, now: number): Promise<boolean> {
    return (await this.find(sql, now)) !== undefined;
  }

  /** Destroys the view that is kept for the key. */
  async forget(database: Database): Promise<void> {
    const { lookup, key } = this;
    await database.transaction((sql) => forgetView(sql, lookup, key.short), { frees: true });
  }

  /** What the audit log has of a view at that time, which no copy has taken, and which opened with these data keys. */
  keep(
    keys: readonly Uint8Array[],
    { views, expires_at }: Pick<StoredPush, 'views' | 'expires_at'>,
    now: number,
  ): KeptViewRow {
    this.announce();
    return {
      key_hash: this.key.short,
      sealed: seal(this.sealing, Buffer.concat(keys), CONTEXT),
      views,
      until: Math.min(now + TAKEN, expires_at),
    };
  }

  /**
   * The data keys of a kept view.
   * @throws ServiceRefusal when the request is not the same
   */
  keysOf(view: KeptView): Uint8Array[] {
    try {
      return split(unseal(this.sealing, view.seal, CONTEXT));
    } catch {
      throw reused();
    }
  }

  /** Refuses what was found of another push, of which a view is asked for with the same key. */
  private ofSame<R extends Pick<StoredPush, 'lookup'>>(row: R | undefined): R | undefined {
    if (row && row.lookup !== this.lookup) throw reused();
    return row;
  }
}

const reused = () =>
  new ServiceRefusal('reused', 'That Idempotency-Key was used for another request.');
const CONTEXT = 'pwpush kept keys';

/** Both hashes of a key and the secret in it are parts of one SHA-512, as HKDF takes ten times as long. */
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

/** Bytes of half a digest: the half of the call is also compared alone. */
const HALF = 16;

/** Characters up to which hashing a copy of all at once takes less time. */
const SHORT = 4096;

/**
 * The first bytes of SHA-512 of a secret, of the types and lengths of all fields, and of their bytes. With the secret, as a
 * passphrase or a payload could be guessed from a plain hash.
 */
function digestOf(secret: string, fields: readonly Field[], bytes = HALF): Buffer {
  const texts = fields.map((field) => `${field ?? ''}`);
  const heads = fields.map((field, index) => {
    const type = field === null ? 'undefined' : typeof field;
    return `${type} ${Buffer.byteLength(texts[index] as string)}`;
  });
  const head = `${secret} ${heads.join(' ')}\n`;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= SHORT) return hashOf('sha512', head + texts.join(''), 'buffer').subarray(0, bytes);
  const hash = createHash('sha512').update(head);
  // Texts are hashed one by one, as a body may be large.
  for (const text of texts) hash.update(text);
  return hash.digest().subarray(0, bytes);
}
