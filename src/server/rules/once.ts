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

/** Milliseconds for which a repeated retrieval returns the same secret. A repeated creation has `LONGEST`. */
export const TAKEN = 2 * 60_000;

/** A field that must be equal in a repeated request; undefined and null are equal. */
export type Field = string | number | boolean | null | undefined;

/** Thrown when a request with the same key was done first; it rolls the transaction back. */
class Repeated extends Error {}

/** The most tries of one request. Only a kept answer whose row is gone would use them up, which should not happen. */
const MOST_TRIES = 5;

/**
 * Does `work`, or returns what `replay` finds that a request with the same key has done, also if `work` was refused: the
 * other may have taken the last view. Tries again if that has expired or was destroyed before it could be read.
 */
export async function doOrReplay<T>(
  work: () => Promise<T>,
  replay: () => Promise<T | undefined>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const done = await replay();
      if (done !== undefined) return done;
      if (!(error instanceof Repeated)) throw error;
      if (tries === MOST_TRIES) throw busy('What that request has done cannot be read.', error);
    }
  }
}

type KeyedVisitor = Visitor & { readonly idempotencyKey: string };

function hasKey(visitor: Visitor): visitor is KeyedVisitor {
  return visitor.idempotencyKey !== undefined;
}

/**
 * An HTTP request with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). It is done once; a repeated
 * one gets the answer of the first.
 */
abstract class KeyedRequest<Answer extends KeptAnswer> {
  protected readonly key: ReturnType<typeof keyOf>;

  constructor(private readonly visitor: KeyedVisitor) {
    this.key = keyOf(visitor.idempotencyKey);
  }

  /** Returns the kept answer, if there is one. @throws ServiceRefusal when the key was used for another request */
  protected abstract find(sql: Sql, now: number): Promise<Answer | undefined>;

  /** @throws Repeated when a request with the same key was done meanwhile */
  async check(sql: Sql, now: number): Promise<void> {
    if (await this.find(sql, now)) throw new Repeated();
  }

  /** Returns the kept answer and announces that it is sent again; undefined if none is kept. */
  async replay(sql: Sql, now: number): Promise<Answer | undefined> {
    const answer = await this.find(sql, now);
    if (answer) this.announce();
    return answer;
  }

  protected announce(): void {
    this.visitor.kept?.(this.key.hash);
  }
}

/** A token of scope `push` is a sender of its own: it must not get what other tokens of its owner have made. */
function senderOf({ owner }: Visitor): readonly Field[] {
  return owner?.scope === 'push' ? [owner.id, owner.maker] : [owner?.id];
}

export function keyedCall(visitor: Visitor, call: readonly string[], body: readonly Field[]) {
  return hasKey(visitor) ? new KeyedCall(visitor, call, body) : undefined;
}

/** A call that makes a row and must not make it twice. The same key with another call, user or body is refused. */
export class KeyedCall extends KeyedRequest<KeptAnswer> {
  private readonly digest: Buffer;

  constructor(visitor: KeyedVisitor, call: readonly string[], body: readonly Field[]) {
    super(visitor);
    const { secret } = this.key;
    const caller = digestOf(secret, [...call, ...senderOf(visitor)]);
    this.digest = Buffer.concat([caller, digestOf(secret, body)]);
  }

  protected async find(sql: Sql, now: number): Promise<KeptAnswer | undefined> {
    const made = await findMade(sql, this.key.hash, now);
    if (made && !this.digest.equals(made.seal)) throw reused();
    return made;
  }

  /** Whether the same visitor has made the same call with the same key, whatever its body was. */
  async isMade(sql: Sql, now: number): Promise<boolean> {
    const made = await findMade(sql, this.key.hash, now);
    return made !== undefined && this.digest.subarray(0, HALF).equals(made.seal.subarray(0, HALF));
  }

  /**
   * Stores which row the request made, in the same transaction.
   * @throws Repeated when a request with the same key was done first
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

export function keyedView(visitor: Visitor, lookup: string, body: readonly Field[] = []) {
  return hasKey(visitor) ? new KeyedView(visitor, lookup, body) : undefined;
}

/**
 * A request that may take a view of the row with that lookup. For a repeated request, the data keys that the view
 * opened are stored, sealed with a key derived from the `Idempotency-Key`. The database has only a hash of that key, so
 * the database and the instance key together cannot open a kept view.
 */
export class KeyedView extends KeyedRequest<KeptView> {
  private readonly sealing: Buffer;

  constructor(
    visitor: KeyedVisitor,
    private readonly lookup: string,
    body: readonly Field[],
  ) {
    super(visitor);
    // Another passphrase or user derives another key, which cannot open the view.
    this.sealing = digestOf(this.key.secret, [...body, ...senderOf(visitor)], KEY_BYTES);
  }

  protected async find(sql: Sql, now: number): Promise<KeptView | undefined> {
    return this.ofSame(await findView(sql, this.lookup, this.key.short, now));
  }

  /**
   * Finds the row, before the passphrase is checked, as a repeated request must not use a try.
   * @throws Repeated when a request with the same key has taken a view
   */
  async findRow(sql: Sql, now: number): Promise<StoredPush | undefined> {
    const row = await findWithView(sql, this.lookup, this.key.short, now);
    if (row?.is_kept) throw new Repeated();
    return this.ofSame(row);
  }

  async isTaken(sql: Sql, now: number): Promise<boolean> {
    return (await this.find(sql, now)) !== undefined;
  }

  async forget(database: Database): Promise<void> {
    const { lookup, key } = this;
    await database.transaction((sql) => forgetView(sql, lookup, key.short), { frees: true });
  }

  /** Returns what the audit entry of a view stores for repeated requests; `keys` are the data keys of the view. */
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

  /** Opens the data keys of a kept view. @throws ServiceRefusal when passphrase, key proof or user are not the same */
  keysOf(view: KeptView): Uint8Array[] {
    try {
      return split(unseal(this.sealing, view.seal, CONTEXT));
    } catch {
      throw reused();
    }
  }

  /** @throws ServiceRefusal when the key was used for another push */
  private ofSame<R extends Pick<StoredPush, 'lookup'>>(row: R | undefined): R | undefined {
    if (row && row.lookup !== this.lookup) throw reused();
    return row;
  }
}

const reused = () =>
  new ServiceRefusal('reused', 'That Idempotency-Key was used for another request.');
const CONTEXT = 'pwpush kept keys';

/** Derives the two hashes of a key and its secret from one SHA-512, as HKDF takes ten times as long. */
function keyOf(idempotencyKey: string) {
  const all = hashOf('sha512', `pwpush idempotency key ${idempotencyKey}`, 'hex');
  // 96 bits. The index of views has 48, to be small; they are enough to tell the views of one push apart.
  const hash = all.slice(0, 24);
  return { hash, short: Number.parseInt(hash.slice(0, 12), 16), secret: all.slice(24) };
}

const KEY_BYTES = 32;

function split(keys: Buffer): Uint8Array[] {
  const count = keys.length / KEY_BYTES;
  return Array.from({ length: count }, (_, n) => keys.subarray(n * KEY_BYTES, (n + 1) * KEY_BYTES));
}

/** Bytes of half a digest. The first half is of the call and the user, without the body. */
const HALF = 16;

/** Up to this many characters, it is faster to join all texts and hash them in one call. */
const SHORT = 4096;

/**
 * Returns the first bytes of SHA-512 of the secret, the types and lengths of all fields, and their texts. A hash
 * without the secret would let a passphrase or a payload be guessed.
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
