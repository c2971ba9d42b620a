import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import { isOwn, type RuleOptions, type Visitor } from './access';
import { countTry } from './passphrase-check';

/** What is stored of a proof. It has 128 bits: a plain hash does. */
export function hashOfProof(proof: string): string {
  return createHash('sha256').update(proof).digest('base64url');
}

/** Lets nobody but the owner retrieve a push with a proof of its key without that proof (docs/encryption.md). */
export class ProofCheck {
  constructor(private readonly options: RuleOptions) {}

  /**
   * A right proof passes always. Wrong ones are limited, as each is written down; they cannot be guessed.
   * @throws Refusal when it is missing or wrong, both of which the audit log records, and after too many wrong ones
   */
  async check(push: PushRow, visitor: Visitor): Promise<void> {
    const { key_proof: expected, key_salt } = push;
    if (expected === null || push.expired_at !== null || isOwn(push, visitor)) return;
    const { keyProof: given = '' } = visitor;
    if (timingSafeEqual(Buffer.from(hashOfProof(given)), Buffer.from(expected))) return;
    if (given !== '') await countTry(this.options, { pushId: push.id, whose: 'key' }, TOO_MANY);
    const { database, maxFailures, now, events } = this.options;
    const failure = { pushId: push.id, kind: 'failed_view', from: visitor, at: now() } as const;
    const count = given === '' ? 0 : 1;
    await audit.recordRepeated(database.sql, { ...failure, count }, maxFailures);
    events.missed();
    const message = key_salt === null ? LINK[count] : WORDS[count];
    throw new Refusal('incomplete', message, { keySalt: key_salt ?? undefined });
  }
}

const TOO_MANY = 'Too many wrong keys. Try again later.';

/** Missing, and wrong. */
const LINK = [
  'The end of this link is missing: ask for the whole link. No view was used.',
  'The end of this link is wrong: ask for the whole link. No view was used.',
] as const;
const WORDS = [
  'This link opens with key words: ask the sender for them. No view was used.',
  'The key words are wrong: ask the sender for them. No view was used.',
] as const;
