import { limits } from '../api/contract';
import { Refusal } from './refusal';
import * as audit from './store/audit';
import { findSecret, type PushRow } from './store/pushes';
import type { Database } from './store/sql';
import type { Vault } from './vault';

const MINUTE = 60_000;

export interface Unlocking {
  readonly database: Database;
  readonly vault: Vault;
  /** Milliseconds. */
  readonly now: () => number;
}

/**
 * The key that the passphrase gives, where the push has one and is active. Throws a `Refusal` when it is missing or
 * wrong, both of which the audit log keeps, and when there were too many tries.
 */
export async function unlock(
  { database, vault, now }: Unlocking,
  push: PushRow,
  visitor: audit.Origin,
  passphrase: string,
): Promise<Uint8Array | undefined> {
  if (!push.protected || push.expired_at !== null) return undefined;
  const secret = await findSecret(database.sql, push.id);
  if (!secret) return undefined;
  if (passphrase !== '') {
    const succeeded = await claimTry(database, push.id, now());
    const key = await vault.checkPassphrase(push.url_token, secret, passphrase);
    if (key) await succeeded();
    if (key) return key;
  }
  await audit.recordEvent(database.sql, push.id, 'failed_passphrase', visitor, now());
  throw new Refusal('passphrase', passphrase === '' ? needed : wrong);
}

const needed = 'This push needs a passphrase: send it as the `passphrase` parameter.';
const wrong = 'That passphrase is wrong: send the right one as the `passphrase` parameter.';

/**
 * Counts a try before it is made, so that simultaneous ones cannot slip through; in the database, so that all
 * processes count together. Call what it answers when the passphrase was right: such a try is not counted.
 */
async function claimTry(
  database: Database,
  pushId: number,
  now: number,
): Promise<() => Promise<void>> {
  const id = await database.transaction(async (sql) => {
    const tries = await audit.listTries(sql, pushId, now - MINUTE);
    const oldest = tries.at(-limits.passphraseTriesPerMinute);
    if (oldest !== undefined) throw tooMany(oldest + MINUTE - now);
    return audit.insertTry(sql, pushId, now);
  });
  return () => audit.deleteTry(database.sql, id);
}

function tooMany(wait: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil(wait / 1000));
  return new Refusal('too_many', 'Too many passphrase tries. Try again later.', { retryAfter });
}
