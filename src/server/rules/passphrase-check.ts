import { hasAtMost, limits } from '../../contract/api';
import { Semaphore, type Waiter } from '../queues';
import { ServiceRefusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import { findSecret, lockPush, type PushRow } from '../store/push-rows';
import { type RuleOptions, type Visitor, viewsAsOwner, whatIs } from './access';

export const PASSPHRASE_CHARACTERS = 1024;

const MINUTE = 60_000;

/** The most attempts at one push that wait for the current check: of all clients, and of one client. */
const WAITING = 32;
const WAITING_OF_CLIENT = 4;

/** A key is a URL token with a mark for owners. Services in one process share the map, as they share the CPU. */
const semaphores = new Map<string, Semaphore>();

/** Checks passphrases. Limits the attempts at each push, with one limit for its owner and one for all others. */
export class PassphraseCheck {
  constructor(private readonly options: RuleOptions) {}

  /**
   * Returns the key derived from the passphrase; undefined when the push has no passphrase, or has expired.
   * @throws ServiceRefusal when the passphrase is missing or wrong, which is recorded, or after too many attempts
   */
  async keyOf(
    push: PushRow,
    visitor: Visitor,
    passphrase: string,
  ): Promise<Uint8Array | undefined> {
    const { database, vault, events } = this.options;
    const failure = { pushId: push.id, kind: 'failed_passphrase', from: visitor } as const;
    if (!push.protected || push.expired_at !== null) return undefined;
    const secret = await findSecret(database.sql, push.id);
    if (!secret) return undefined;
    if (passphrase === '') {
      await recordFailure(this.options, { ...failure, count: 0 });
      throw new ServiceRefusal('passphrase', MISSING, { what: whatIs(push) });
    }
    // Keeps no reference to the payload, which may be large, while the attempt waits.
    const { salt, cost, verifier, key_id } = secret;
    const record = { salt, cost, verifier, key_id };
    const own = viewsAsOwner(push, visitor);
    const possible = possiblePassphrase(passphrase);
    const { key, left } = await oneAtATime(`${push.url_token} ${own}`, visitor, async () => {
      const tries = { pushId: push.id, whose: own ? 'owner' : 'others' } as const;
      const { left, takeBack } = await countTry(this.options, tries, TOO_MANY);
      let counts = false;
      try {
        const key = possible && (await vault.checkPassphrase(push, record, possible, visitor));
        counts = !key;
        return { key, left };
      } finally {
        if (!counts) await takeBack();
      }
    });
    if (key) return key;
    events.wrongPassphrase(visitor.ip);
    await recordFailure(this.options, failure);
    throw new ServiceRefusal('passphrase', WRONG, { triesLeft: left, what: whatIs(push) });
  }
}

const MISSING = 'A passphrase is required: send it as the `passphrase` parameter.';
const WRONG = 'That passphrase is wrong: send the right one as the `passphrase` parameter.';
const TOO_MANY = 'Too many passphrase attempts. Try again later.';

/** Undefined for a passphrase over the limit: hashing one of megabytes would take several times its size in memory. */
export function possiblePassphrase(passphrase: string): string | undefined {
  return hasAtMost(passphrase, PASSPHRASE_CHARACTERS) ? passphrase : undefined;
}

/** Runs attempts at one push one after the other, so that simultaneous correct attempts do not reach the limit. */
async function oneAtATime<T>(whose: string, waiter: Waiter, work: () => Promise<T>): Promise<T> {
  const semaphore = semaphores.get(whose) ?? new Semaphore(1, WAITING, WAITING_OF_CLIENT);
  semaphores.set(whose, semaphore);
  try {
    return await semaphore.run(work, waiter);
  } finally {
    if (semaphore.idle) semaphores.delete(whose);
  }
}

/** Records a failure in a transaction of its own, as the transaction of the refused request is rolled back. */
export function recordFailure(
  { database, maxFailures, now }: RuleOptions,
  failure: Omit<audit.AuditEvent, 'at'>,
): Promise<void> {
  const event = { ...failure, at: now() };
  return database.transaction((sql) => audit.recordRepeated(sql, event, maxFailures));
}

/**
 * Counts a try in the database before it is made, so that neither simultaneous tries nor several processes exceed the
 * limit. Returns how many tries are `left`, and `takeBack`, which removes a try that succeeded or was not checked.
 * @throws ServiceRefusal with `message` after too many tries
 */
export async function countTry(
  { database, now: clock }: Pick<RuleOptions, 'database' | 'now'>,
  tries: audit.Tries,
  message: string,
) {
  const now = clock();
  const { id, left } = await database.transaction(async (sql) => {
    await lockPush(sql, tries.pushId);
    const earlier = await audit.listTries(sql, tries, now - MINUTE, now + MINUTE);
    const oldest = earlier.at(-limits.passphraseTriesPerMinute);
    if (oldest !== undefined) {
      const retryAfter = Math.max(1, Math.ceil((oldest + MINUTE - now) / 1000));
      throw new ServiceRefusal('too_many', message, { retryAfter });
    }
    const left = limits.passphraseTriesPerMinute - earlier.length - 1;
    return { id: await audit.insertTry(sql, tries, now), left };
  });
  return { left, takeBack: () => audit.deleteTry(database.sql, tries, now, id) };
}
