import { createHmac, hash as hashOf } from 'node:crypto';
import { seal, unseal } from '../keys/primitives';
import { busy, ServiceRefusal } from '../service-errors';
import {
  findKept,
  forgetResponse,
  type KeptHead,
  keep,
  keepSpent,
  LONGEST,
  type SealedText,
} from '../store/kept-rows';
import type { StoredPush } from '../store/push-rows';
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

/** What a view has opened. */
export interface TakenView {
  /** How many views had been taken with it. */
  readonly views: number;
  /** Data keys, which open the texts and files again. */
  readonly keys: readonly Uint8Array[];
  /** Of rows whose last view it was, and whose secrets are destroyed with it. */
  readonly spent: readonly SealedText[];
}

/** Ends the work of a request in its transaction: keeps that it was done, for a client that sends it again. */
export interface Done {
  /** @throws Repeated when a copy of the request was done first */
  keep(
    sql: Sql,
    on: Pick<StoredPush, 'id' | 'expires_at' | 'expire_after_views'>,
    now: number,
    taken?: TakenView,
  ): Promise<void>;
  /**
   * Before what a repetition should not cost, and for a transaction that has found nothing to do.
   * @throws Repeated when a copy of the request has done it
   */
  check(sql: Sql, now?: number): Promise<void>;
}

/** A view that was taken with the key that the visitor has sent again. */
export interface KeptView extends KeptHead {
  readonly views: number;
  /** Opens `KeptRow.sealed`: the data keys of `TakenView`. */
  keysOf(sealed: Uint8Array): Uint8Array[];
}

/** A copy of the request was done first; what this one has done is rolled back. */
class Repeated extends Error {}

/** Of what a copy of a request has done; undefined if that is over since. */
type Again<T> = (kept: KeptHead, sealing: Uint8Array) => Promise<T | undefined>;

/**
 * Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) are done once: a repetition gets the
 * response of the first. A view is kept as the data key of what it opened, sealed with a key that is derived from the
 * `Idempotency-Key`, of which the database has a hash. Nobody who has the database and the instance key can open it.
 */
export class Once {
  constructor(private readonly options: RuleOptions) {}

  /** Runs `work`, which makes or ends a row of which `again` tells by its id. */
  make<T>(asked: Asked, again: (id: number) => Promise<T>, work: (done: Done) => Promise<T>) {
    return this.run(asked, MADE, work, ({ push_id }) => again(push_id));
  }

  /** Runs `work`, which opens texts that `again` reads again. */
  take<T>(
    asked: Asked,
    again: (kept: KeptView) => Promise<T | undefined>,
    work: (done: Done) => Promise<T>,
  ) {
    return this.run(asked, TAKEN, work, (kept, sealing) => {
      const keysOf = (sealed: Uint8Array) => split(unseal(sealing, sealed, CONTEXT));
      return again({ ...kept, views: Number(kept.views), keysOf });
    });
  }

  /** Whether that visitor has made that call with the same key. */
  async isRepeated(calling: Calling): Promise<boolean> {
    const { idempotencyKey } = calling.visitor;
    if (idempotencyKey === undefined) return false;
    const { hash, hashing } = keysOf(idempotencyKey);
    const kept = await findKept(this.options.database.sql, hash, this.options.now());
    return kept !== undefined && digestOfCall(hashing, calling).equals(callIn(kept.digest));
  }

  /** Destroys the response that is kept for the visitor's key. */
  async forget({ idempotencyKey }: Visitor): Promise<void> {
    if (idempotencyKey === undefined) return;
    const { hash } = keysOf(idempotencyKey);
    await this.options.database.transaction((sql) => forgetResponse(sql, hash), { frees: true });
  }

  private run<T>(
    asked: Asked,
    time: number,
    work: (done: Done) => Promise<T>,
    again: Again<T>,
  ): Promise<T> {
    const { idempotencyKey, kept = () => {} } = asked.visitor;
    if (idempotencyKey === undefined) return work(WITHOUT_KEY);
    const { hash, sealing, hashing } = keysOf(idempotencyKey);
    const digest = digestOf(hashing, asked);
    // In a call of its own, so that the body can be freed meanwhile.
    return this.runOnce({ hash, sealing, digest, time, kept }, work, again);
  }

  private async runOnce<T>(
    known: Known,
    work: (done: Done) => Promise<T>,
    again: Again<T>,
    tries = 1,
  ): Promise<T> {
    const { hash, sealing, digest, time, kept: tell } = known;
    const { database, now } = this.options;
    const repeat = async () => {
      const kept = await findKept(database.sql, hash, now());
      if (!kept) return undefined;
      if (!digest.equals(kept.digest)) throw new ServiceRefusal('reused', REUSED);
      tell(hash);
      return again(kept, sealing);
    };
    try {
      return await work({
        async keep(sql, { id, expires_at }, now, taken) {
          const sealed = taken ? seal(sealing, Buffer.concat(taken.keys), CONTEXT) : null;
          const until = Math.min(now + time, taken ? expires_at : Infinity);
          const views = taken?.views ?? null;
          tell(hash);
          const row = { key_hash: hash, push_id: id, digest, sealed, views, kept_at: now, until };
          const spent = taken?.spent.map((text) => keepSpent(sql, id, text, true)) ?? [];
          const [isFirst] = await Promise.all([keep(sql, row), ...spent]);
          if (!isFirst) throw new Repeated();
        },
        async check(sql, at = now()) {
          if (await findKept(sql, hash, at)) throw new Repeated();
        },
      });
    } catch (error) {
      // Also for a refusal: of what is answered or used up, this may have been what used it.
      const result = await repeat();
      if (result !== undefined) return result;
      if (!(error instanceof Repeated)) throw error;
      if (tries === MOST_TRIES) throw busy('What that request has done cannot be read.');
      // The copy's time has ended since, or what it was answered was destroyed.
      return this.runOnce(known, work, again, tries + 1);
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

/** Enough for whatever ends meanwhile; not for what is kept of a row that is gone, which no rule leaves. */
const MOST_TRIES = 5;

const REUSED = 'That Idempotency-Key was used for another request.';
const CONTEXT = 'pwpush kept keys';

const WITHOUT_KEY: Done = {
  async keep(sql, { id, expire_after_views }, _now, taken) {
    // Who has taken one of the other views may ask again for what the last one destroys.
    if (taken && expire_after_views > 1)
      await Promise.all(taken.spent.map((text) => keepSpent(sql, id, text, false)));
  },
  async check() {},
};

/** One for each use, from one SHA-512, as HKDF takes ten times as long. The hash opens nothing. */
function keysOf(idempotencyKey: string) {
  const all = hashOf('sha512', `pwpush idempotency key ${idempotencyKey}`, 'buffer');
  return {
    // Short: each is at another place of the index, whose pages are what a busy service writes most.
    hash: all.toString('base64url', 0, 16),
    sealing: all.subarray(16, 48),
    hashing: all.subarray(48),
  };
}

const KEY_BYTES = 32;

function split(keys: Buffer): Uint8Array[] {
  const count = keys.length / KEY_BYTES;
  return Array.from({ length: count }, (_, n) => keys.subarray(n * KEY_BYTES, (n + 1) * KEY_BYTES));
}

/** Of the call and of the body, 16 bytes each, so that the call can be compared alone. */
function digestOf(key: Uint8Array, asked: Asked): Buffer {
  return Buffer.concat([digestOfCall(key, asked), digestOfFields(key, asked.body ?? [])]);
}

const HALF = 16;

function callIn(digest: Uint8Array): Uint8Array {
  return digest.subarray(0, HALF);
}

function digestOfCall(key: Uint8Array, { visitor, call }: Calling): Buffer {
  return digestOfFields(key, [...call, visitor.owner?.id]);
}

/**
 * Of all fields their types and lengths, then their bytes (HMAC-SHA-256, the first half). With a key, as a passphrase or a
 * payload could be guessed from a plain hash.
 */
function digestOfFields(key: Uint8Array, fields: readonly Field[]): Buffer {
  const texts = fields.map((field) => `${field ?? ''}`);
  const heads = fields.map((field, at) => {
    const type = field === null ? 'undefined' : typeof field;
    return `${type} ${Buffer.byteLength(texts[at] as string)}`;
  });
  const hmac = createHmac('sha256', key).update(`${heads.join(' ')}\n`);
  // Each by itself, as a body may be large.
  for (const text of texts) if (text !== '') hmac.update(text);
  return hmac.digest().subarray(0, HALF);
}
