import { isLinkKey } from '../age/link-key';
import type { Entry } from '../cli/terminal/output';
import { CliError, phrase } from '../platform/errors';
import type { DecryptionKeys } from './decryption-keys';
import type { Retrieval } from './retrieval';
import type { CandidateKey } from './typed-key';

/** Only a given key, or an instance that requires a proof of one, needs the module. */
const typedKeys = () => import('./typed-key');

type Work<T> = (proof: string | undefined) => Promise<T>;

/**
 * Calls an instance with a proof of a push's key, if the instance requires one. Proofs are made of link keys and words
 * of the list only: an instance could guess any other text from its proof.
 */
export class KeyProver {
  /** The key that a person typed last: the right one, once `call` has returned. */
  typed: string | undefined;
  /** The last proof, unless the instance refused it. */
  private proof: string | undefined;

  constructor(
    private readonly entry: Entry,
    private readonly keys: Pick<Retrieval, 'linkKey'> & Pick<DecryptionKeys, 'text'>,
    /** The proof counts for the instance at this address alone. */
    private readonly base: string,
  ) {}

  /**
   * Calls `work` with a proof, and again with others as long as the instance refuses them. Asks for a key at a
   * terminal, unless an option or a variable gave one.
   * @throws CliError (passphrase) without the right key
   */
  async call<T>(work: Work<T>): Promise<T> {
    const { context, say } = this.entry;
    const { linkKey, text } = this.keys;
    const texts = [linkKey, text].filter((key) => key !== undefined);
    const known = texts.find(isLinkKey);
    const first = this.proof ?? (known && (await this.proofOf(known)));
    let outcome = await this.attempt(work, first);
    if (!(outcome instanceof CliError)) return outcome.value;
    const { ASKED, askForKey, candidateKey } = await typedKeys();
    const keys = await Promise.all(texts.map(candidateKey));
    for (const key of keys) {
      const proof = await this.proofOfGiven(key, outcome);
      if (proof === undefined || proof === first) continue;
      outcome = await this.attempt(work, proof);
      if (!(outcome instanceof CliError)) return outcome.value;
    }
    const refused = outcome;
    const failure = refusal(refused, keys);
    if (refused.wantsProof?.elsewhere || text !== undefined || !context.canPrompt()) throw failure;
    await say.note(texts.length > 0 ? failure : ASKED);
    const open = async (key: CandidateKey | undefined, typed: string) => {
      // Kept over a failure: an instance may accept the proof, and then require a passphrase.
      this.typed = typed;
      const proof = key && (await this.proofOfGiven(key, refused));
      const opened = proof === undefined ? refused : await this.attempt(work, proof);
      if (opened instanceof CliError) return refusal(opened, key ? [key] : []);
      return opened;
    };
    return (await askForKey(context, open, ({ wantsProof }) => wantsProof !== undefined)).value;
  }

  private async proofOfGiven(
    { passphrases: [key], complaint }: CandidateKey,
    { wantsProof }: CliError,
  ): Promise<string | undefined> {
    return key === undefined || complaint !== '' ? undefined : this.proofOf(key, wantsProof?.salt);
  }

  private async proofOf(key: string, salt?: string): Promise<string | undefined> {
    const { proofOf } = await typedKeys();
    return proofOf(key, salt, this.base);
  }

  private async attempt<T>(
    work: Work<T>,
    proof: string | undefined,
  ): Promise<CliError | { readonly value: T }> {
    try {
      const value = await work(proof);
      this.proof = proof;
      return { value };
    } catch (error) {
      if (error instanceof CliError && error.wantsProof) return error;
      this.proof = proof;
      throw error;
    }
  }
}

function refusal(outcome: CliError, keys: readonly CandidateKey[]): CliError {
  const complaint = keys.findLast((key) => key.complaint !== '')?.complaint;
  if (complaint === undefined || outcome.wantsProof?.sent) return outcome;
  return outcome.with({
    facts: phrase('key-damaged', complaint),
    hints: phrase('compare-key'),
  });
}
