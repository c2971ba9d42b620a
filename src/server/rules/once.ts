import { createHmac } from 'node:crypto';
import { derive, seal, unseal } from '../keys/primitives';
import { ServiceRefusal } from '../service-errors';
import { findKept, forgetResponse, type KeptRow, keep, LONGEST } from '../store/kept-rows';
import type { PushRow, StoredPush } from '../store/push-rows';
import type { Sql } from '../store/sql';
import type { RuleOptions, Visitor } from './access';

/** Milliseconds for which a response with a secret can be had again, and one about what was made. */
export const TAKEN = 2 * 60_000;
const MADE = LONGEST;

/** What a request asks for. Another one with the same key is refused. */
export interface Asked {
  readonly visitor: Visitor;
  /** The call and its target. */
  readonly call: readonly string[];
  /** Of any type that JSON has. */
  readonly body?: unknown;
  /** Receives the bytes of memory that a kept response takes. */
  readonly reserve?: ((bytes: number) => void) | undefined;
}

/** Ends the work of a request in its transaction: keeps that it was done, for a client that sends it again. */
export interface Done<T> {
  /** @throws Repeated when a copy of the request was done first */
  keep(sql: Sql, on: Pick<StoredPush, 'id' | 'expires_at'>, now: number, result?: T): Promise<void>;
  /**
   * For a transaction that has found nothing to do.
   * @throws Repeated when a copy of the request has done it
   */
  check(sql: Sql, now: number): Promise<void>;
}

/** A copy of the request was done first; what this one has done is rolled back. */
class Repeated extends Error {}

/**
 * Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) are done once: a repetition gets the
 * response of the first. Nobody who has the database and the instance key can open a response that is kept: it is sealed
 * with a key that is derived from the `Idempotency-Key`, of which the database has a hash.
 */
export class Once {
  constructor(private readonly options: RuleOptions) {}

  /** Runs `work`, which makes or ends a row of which `again` tells by its id. */
  make<T>(asked: Asked, again: (id: number) => Promise<T>, work: (done: Done<T>) => Promise<T>) {
    return this.run(asked, MADE, work, ({ push_id }) => again(push_id));
  }

  /** Runs `work`, whose result, with a secret, is kept as it is. */
  take<T>(asked: Asked, work: (done: Done<T>) => Promise<T>) {
    const { reserve } = asked;
    return this.run(asked, TAKEN, work, async ({ sealed }, key) => {
      reserve?.(2 * (sealed?.length ?? 0));
      return JSON.parse(unseal(key, sealed as Uint8Array, CONTEXT).toString());
    });
  }

  /** Whether a request with the visitor's key has been done. */
  async isRepeated({ idempotencyKey }: Visitor): Promise<boolean> {
    if (idempotencyKey === undefined) return false;
    const { hash } = keysOf(idempotencyKey);
    return (await findKept(this.options.database.sql, hash, this.options.now())) !== undefined;
  }

  /** Destroys the response that is kept for the visitor's key. */
  async forget({ idempotencyKey }: Visitor): Promise<void> {
    if (idempotencyKey === undefined) return;
    await forgetResponse(this.options.database.sql, keysOf(idempotencyKey).hash);
  }

  private run<T>(
    asked: Asked,
    time: number,
    work: (done: Done<T>) => Promise<T>,
    again: (row: KeptRow, key: Uint8Array) => Promise<T>,
  ): Promise<T> {
    const { idempotencyKey, kept = () => {} } = asked.visitor;
    if (idempotencyKey === undefined) return work({ keep: nothing, check: nothing });
    const { hash, sealing, hashing } = keysOf(idempotencyKey);
    const digest = digestOf(hashing, asked);
    // In a call of its own, so that the body can be freed meanwhile.
    return this.runOnce({ hash, sealing, digest, time, kept }, work, again);
  }

  private async runOnce<T>(
    known: Known,
    work: (done: Done<T>) => Promise<T>,
    again: (row: KeptRow, key: Uint8Array) => Promise<T>,
  ): Promise<T> {
    const { hash, sealing, digest, time, kept: tell } = known;
    const { database, now } = this.options;
    try {
      return await work({
        async keep(sql, { id, expires_at }, now, result) {
          const sealed = result === undefined ? null : seal(sealing, jsonOf(result), CONTEXT);
          const until = Math.min(now + time, result === undefined ? Infinity : expires_at);
          const row = { key_hash: hash, push_id: id, digest, sealed, kept_at: now, until };
          tell(hash);
          if (!(await keep(sql, row))) throw new Repeated();
        },
        async check(sql, now) {
          if (await findKept(sql, hash, now)) throw new Repeated();
        },
      });
    } catch (error) {
      // Also for a refusal: of what is answered or used up, this may have been what used it.
      const kept = await findKept(database.sql, hash, now());
      // The copy's time has ended since, or what it was answered was destroyed.
      if (!kept && error instanceof Repeated) return this.runOnce(known, work, again);
      if (!kept) throw error;
      if (!digest.equals(kept.digest)) throw new ServiceRefusal('reused', REUSED);
      tell(hash);
      return again(kept, sealing);
    }
  }
}

/** What is known of a request that is to be done once. */
interface Known {
  readonly hash: string;
  readonly sealing: Uint8Array;
  readonly digest: Buffer;
  /** Milliseconds for which it can be repeated. */
  readonly time: number;
  /** `Visitor.kept` */
  readonly kept: (key: string) => void;
}

const REUSED = 'That Idempotency-Key was used for another request.';
const CONTEXT = 'pwpush kept response';

const nothing = async () => {};

/** One for each use. The hash opens nothing. */
function keysOf(idempotencyKey: string) {
  const all = derive(Buffer.from(idempotencyKey), 'pwpush idempotency key', 80);
  return {
    // Short: each is at another place of the index, whose pages are what a busy service writes most.
    hash: all.toString('base64url', 0, 16),
    sealing: all.subarray(16, 48),
    hashing: all.subarray(48),
  };
}

/** With a key, as a passphrase or a payload could be guessed from a plain hash. */
function digestOf(key: Uint8Array, { visitor, call, body = null }: Asked): Buffer {
  const whole = JSON.stringify([call, visitor.owner?.id ?? null, body]);
  return createHmac('sha256', key).update(whole).digest();
}

/** Without the sealed tokens of rows, which responses do not have. */
function jsonOf(result: unknown): string {
  const left: keyof PushRow = 'sealed_token';
  return JSON.stringify(result, (name, value) => (name === left ? undefined : value));
}
