import { timingSafeEqual } from 'node:crypto';
import { proofAt } from '../../age/key-proof';
import { node } from '../../age/node-primitives';
import { derive, seal, unseal } from '../keys/primitives';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { type RuleOptions, type Visitor, viewsAsOwner } from './access';
import { countTry, recordFailure } from './passphrase-check';

interface Proof {
  readonly keyProof: string;
  /** The service's addresses as of the creation. A later request may name those of an attacker who relays it. */
  readonly bases: readonly string[];
}

/**
 * Seals a proof with a key derived from the token of the link. The database has the token only encrypted, so that the
 * database alone is not enough to prove the key.
 */
export function sealProof(urlToken: string, proof: Proof): string {
  return seal(keyOf(urlToken), JSON.stringify(proof), CONTEXT).toString('base64url');
}

function unsealProof(urlToken: string, sealed: string): Proof {
  return JSON.parse(unseal(keyOf(urlToken), Buffer.from(sealed, 'base64url'), CONTEXT).toString());
}

const CONTEXT = 'pwpush key proof';
const keyOf = (urlToken: string) => derive(Buffer.from(urlToken), CONTEXT);

/** Requires a proof of the key from everybody but the owner, for pushes created with one (docs/encryption.md). */
export class ProofCheck {
  constructor(private readonly options: RuleOptions) {}

  /**
   * A right proof always passes. Wrong proofs are limited only because each one is recorded; a proof cannot be guessed.
   * @throws ServiceRefusal when the proof is missing or wrong, which the audit log records, or after too many tries
   */
  async check(push: PushRow, visitor: Visitor): Promise<void> {
    if (push.expired_at !== null || viewsAsOwner(push, visitor) || this.isProved(push, visitor))
      return;
    const { key_salt } = push;
    const count = visitor.keyProof ? 1 : 0;
    if (count) await countTry(this.options, { pushId: push.id, whose: 'key' }, TOO_MANY);
    const failure = { pushId: push.id, kind: 'failed_view', from: visitor, count } as const;
    await recordFailure(this.options, failure);
    this.options.events.missed();
    const opensAt = this.elsewhere(push, visitor);
    const message = opensAt
      ? `This link opens at ${opensAt} only: open it there. No view was used.`
      : (key_salt === null ? LINK : WORDS)[count];
    throw new ServiceRefusal('incomplete', message, { keySalt: key_salt ?? undefined, opensAt });
  }

  /** Whether a visitor has proved the key at an address of this instance; true if the push requires no proof. */
  isProved({ url_token, key_proof }: PushRow, { keyProof: sent = '' }: Visitor): boolean {
    if (key_proof === null) return true;
    const { keyProof, bases } = unsealProof(url_token, key_proof);
    const { publicUrl } = this.options;
    const known = publicUrl === undefined ? bases : [publicUrl, ...bases];
    return isProvedAt(known, keyProof, sent);
  }

  /** Returns the address at which the link opens if the visitor proved the key at another address of this service. */
  private elsewhere({ url_token, key_proof }: PushRow, visitor: Visitor): string | undefined {
    const { keyProof: sent = '', bases: called = [] } = visitor;
    const { keyProof, bases } = unsealProof(url_token, key_proof as string);
    return isProvedAt(called, keyProof, sent) ? (this.options.publicUrl ?? bases[0]) : undefined;
  }
}

/** Whether a proof was made for one of `bases`, or for its https form, as a proxy may redirect browsers to https. */
function isProvedAt(bases: readonly string[], keyProof: string, sent: string): boolean {
  const all = bases.flatMap((base) => [base, secured(base)]);
  return all.some((base) => isEqual(sent, proofAt(node, keyProof, base)));
}

/** Changes http to https, and leaves out port 443 as browsers do. */
function secured(base: string): string {
  return base.replace(/^http:(\/\/[^/]*?)(?::443)?(?=\/|$)/, 'https:$1');
}

/** Compares in constant time, against timing attacks. */
export function isEqual(sent: string, expected: string): boolean {
  const [sentBytes, expectedBytes] = [Buffer.from(sent), Buffer.from(expected)];
  return sentBytes.length === expectedBytes.length && timingSafeEqual(sentBytes, expectedBytes);
}

const TOO_MANY = 'Too many wrong keys. Try again later.';

/** The first message of each is for a missing key, the second for a wrong one. */
const LINK = [
  'The end of this link is missing: ask for the whole link. No view was used.',
  'The end of this link is wrong: ask for the whole link. No view was used.',
] as const;
const WORDS = [
  'This link opens with key words: ask the sender for them. No view was used.',
  'The key words are wrong: ask the sender for them. No view was used.',
] as const;
