import { timingSafeEqual } from 'node:crypto';
import { proofAt } from '../../age/key-proof';
import { node } from '../../age/node-primitives';
import { derive, seal, unseal } from '../keys/primitives';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { isOwn, type RuleOptions, type Visitor } from './access';
import { countTry, recordFailure } from './passphrase-check';

/** What readers of a push have to prove, and at which addresses besides the public one. */
interface Proof {
  readonly keyProof: string;
  /** The addresses of the creation: that of a later request may be that of someone who relays it. */
  readonly bases: readonly string[];
}

/**
 * What is stored of a proof: sealed with a key that is derived from the token of the link, so that nobody can prove anything
 * who has the database alone.
 */
export function sealProof(urlToken: string, proof: Proof): string {
  return seal(keyOf(urlToken), JSON.stringify(proof), CONTEXT).toString('base64url');
}

function unsealProof(urlToken: string, sealed: string): Proof {
  return JSON.parse(unseal(keyOf(urlToken), Buffer.from(sealed, 'base64url'), CONTEXT).toString());
}

const CONTEXT = 'pwpush key proof';
const keyOf = (urlToken: string) => derive(Buffer.from(urlToken), CONTEXT);

/** Lets nobody but the owner retrieve a push with a proof of its key without that proof (docs/encryption.md). */
export class ProofCheck {
  constructor(private readonly options: RuleOptions) {}

  /**
   * A right proof passes always. Wrong ones are limited, as each is written down; they cannot be guessed.
   * @throws ServiceRefusal when it is missing or wrong, both of which the audit log records, and after too many wrong ones
   */
  async check(push: PushRow, visitor: Visitor): Promise<void> {
    if (push.expired_at !== null || isOwn(push, visitor) || this.isProved(push, visitor)) return;
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

  /** Whether a visitor has proved the key at an address of this instance; of a push without a proof, always. */
  isProved({ url_token, key_proof }: PushRow, { keyProof: sent = '' }: Visitor): boolean {
    if (key_proof === null) return true;
    const { keyProof, bases } = unsealProof(url_token, key_proof);
    const { publicUrl } = this.options;
    const known = publicUrl === undefined ? bases : [publicUrl, ...bases];
    return isProvedAt(known, keyProof, sent);
  }

  /** The address at which the link opens, for a visitor who proved the key at another address of this service. */
  private elsewhere({ url_token, key_proof }: PushRow, visitor: Visitor): string | undefined {
    const { keyProof: sent = '', bases: called = [] } = visitor;
    const { keyProof, bases } = unsealProof(url_token, key_proof as string);
    return isProvedAt(called, keyProof, sent) ? (this.options.publicUrl ?? bases[0]) : undefined;
  }
}

/** Whether a proof was made for one of these addresses. A proxy may send browsers from http to https. */
function isProvedAt(bases: readonly string[], keyProof: string, sent: string): boolean {
  const all = bases.flatMap((base) => [base, secured(base)]);
  return all.some((base) => isEqual(sent, proofAt(node, keyProof, base)));
}

/** An address with https, without the port that is then the default one, as browsers have it. */
function secured(base: string): string {
  return base.replace(/^http:(\/\/[^/]*?)(?::443)?(?=\/|$)/, 'https:$1');
}

/** Compares in a time that tells nothing of where the texts differ. */
export function isEqual(sent: string, expected: string): boolean {
  const [sentBytes, expectedBytes] = [Buffer.from(sent), Buffer.from(expected)];
  return sentBytes.length === expectedBytes.length && timingSafeEqual(sentBytes, expectedBytes);
}

const TOO_MANY = 'Too many wrong keys. Try again later.';

/** The messages for a key that is missing, and for a wrong one. */
const LINK = [
  'The end of this link is missing: ask for the whole link. No view was used.',
  'The end of this link is wrong: ask for the whole link. No view was used.',
] as const;
const WORDS = [
  'This link opens with key words: ask the sender for them. No view was used.',
  'The key words are wrong: ask the sender for them. No view was used.',
] as const;
