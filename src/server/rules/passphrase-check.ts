import { limits } from '../../contract';
import type { Vault } from '../keys/vault';
import { Refusal } from '../refusal';
import * as audit from '../store/audit-rows';
import { findSecret, lockPush, type PushRow } from '../store/push-rows';
import type { Database } from '../store/sql';
import type { Tally } from './events';
import type { Visitor } from './pushes';
import { Line, type Waiter } from './semaphore';

const MINUTE = 60_000;

/** How many tries at one push may wait for the one being made, and how many of one client's. */
const WAITING = 32;
const WAITING_OF_CLIENT = 4;

export interface Unlocking {
  readonly database: Database;
  readonly vault: Vault;
  /** Milliseconds. */
  readonly now: () => number;
  readonly tally: Tally;
  /** Failures that the log of a push has entries of their own for. */
  readonly maxFailures: number;
}

/**
 * The key that the passphrase gives, where the push has one and is active. Throws a `Refusal` when it is missing or
 * wrong, both of which the audit log keeps, and when there were too many tries.
 */
export async function unlock(
  { database, vault, now, tally, maxFailures }: Unlocking,
  push: PushRow,
  visitor: Visitor,
  passphrase: string,
): Promise<Uint8Array | undefined> {
  if (!push.protected || push.expired_at !== null) return undefined;
  const secret = await findSecret(database.sql, push.id);
  if (!secret) return undefined;
  // Without the payload, which may be large: it would be held for as long as the try waits.
  const { salt, cost, verifier, key_id } = secret;
  const verified = { salt, cost, verifier, key_id };
  let triesLeft: number | undefined;
  if (passphrase !== '') {
    const { key, left } = await oneByOne(push.url_token, visitor, async () => {
      const { left, takeBack } = await claimTry(database, push.id, now());
      let counts = false;
      try {
        const key = await vault.checkPassphrase(push, verified, passphrase, visitor);
        counts = !key;
        return { key, left };
      } finally {
        if (!counts) await takeBack();
      }
    });
    if (key) return key;
    tally.wrongPassphrase();
    triesLeft = left;
  }
  const { sql } = database;
  await audit.recordFailure(sql, push.id, 'failed_passphrase', visitor, now(), maxFailures);
  if (triesLeft === undefined) throw new Refusal('passphrase', needed);
  throw new Refusal('passphrase', wrong, { triesLeft });
}

const needed = 'This push needs a passphrase: send it as the `passphrase` parameter.';
const wrong = 'That passphrase is wrong: send the right one as the `passphrase` parameter.';

const lines = new Map<string, Line>();

/** Tries at one push wait for each other, so that right ones that come together are not taken for many tries. */
async function oneByOne<T>(urlToken: string, waiter: Waiter, work: () => Promise<T>): Promise<T> {
  const line = lines.get(urlToken) ?? new Line(1, WAITING, WAITING_OF_CLIENT);
  lines.set(urlToken, line);
  try {
    return await line.pass(work, waiter);
  } finally {
    if (line.idle) lines.delete(urlToken);
  }
}

/**
 * Counts a try before it is made, so that simultaneous ones cannot slip through; in the database, so that all
 * processes count together. Answers how many are left, and what to call when the passphrase was right, or not looked
 * at: such a try is not counted.
 */
async function claimTry(
  database: Database,
  pushId: number,
  now: number,
): Promise<{ left: number; takeBack: () => Promise<void> }> {
  const { id, left } = await database.transaction(async (sql) => {
    await lockPush(sql, pushId);
    const tries = await audit.listTries(sql, pushId, now - MINUTE, now + MINUTE);
    const oldest = tries.at(-limits.passphraseTriesPerMinute);
    if (oldest !== undefined) throw tooMany(oldest + MINUTE - now);
    const left = limits.passphraseTriesPerMinute - tries.length - 1;
    return { id: await audit.insertTry(sql, pushId, now), left };
  });
  return { left, takeBack: () => audit.deleteTry(database.sql, id) };
}

function tooMany(wait: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil(wait / 1000));
  return new Refusal('too_many', 'Too many passphrase attempts. Try again later.', { retryAfter });
}
