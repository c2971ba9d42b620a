import { limits } from '../../contract/api';
import { Refusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import { lockPush } from '../store/push-rows';
import type { RuleOptions } from './access';

const MINUTE = 60_000;

/**
 * Counts a try before it is made, in the database, so that neither simultaneous tries nor several processes exceed the
 * limit. Returns how many are left, and what uncounts one that succeeded or was not checked.
 * @throws Refusal with that message after too many
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
      throw new Refusal('too_many', message, { retryAfter });
    }
    const left = limits.passphraseTriesPerMinute - earlier.length - 1;
    return { id: await audit.insertTry(sql, tries, now), left };
  });
  return { left, takeBack: () => audit.deleteTry(database.sql, id) };
}
