import { keyProof, proofAt } from '../age/key-proof';
import { isLinkKey } from '../age/link-key';
import { node, scrypt } from '../age/node-primitives';
import { inWords } from '../cli/in-words';
import { CliError } from '../platform/errors';
import type { PushKeys } from './decryption-keys';
import type { SafeRun } from './taking';
import { ASKED, askForKey, type GivenKey, givenKey } from './typed-key';

const prover = { primitives: node, scrypt };

type Work<T> = (proof: string | undefined) => Promise<T>;

/**
 * Calls an instance with a proof of a push's key, if it wants one. It is made of link keys and words of the list only:
 * any other text could be guessed from what an instance makes of it.
 */
export class KeyProver {
  /** What a person typed that was proved. */
  typed: string | undefined;
  /** The last proof, unless the instance refused it. */
  private proof: string | undefined;

  constructor(
    private readonly run: Pick<SafeRun, 'context' | 'say'>,
    private readonly keys: Pick<PushKeys, 'linkKey' | 'text'>,
    /** The address of the instance, at which alone the proof counts. */
    private readonly base: string,
  ) {}

  /**
   * Calls `work` with a proof, and again with others as long as the instance refuses them. Asks at a terminal, unless an
   * option or a variable gave a key.
   * @param refused of a call without a proof
   * @throws CliError (passphrase) without the right key
   */
  async call<T>(work: Work<T>, refused?: CliError): Promise<T> {
    const { context, say } = this.run;
    const { linkKey, text } = this.keys;
    const given = [linkKey, text].filter((key) => key !== undefined);
    const known = given.find(isLinkKey);
    const first = this.proof ?? (known && (await this.proofOf(known, undefined)));
    let outcome = refused ?? (await this.attempt(work, first));
    if (!(outcome instanceof CliError)) return outcome();
    const keys = await Promise.all(given.map(givenKey));
    for (const key of keys) {
      const proof = await this.proofOfGiven(key, outcome);
      if (proof === undefined || proof === first) continue;
      outcome = await this.attempt(work, proof);
      if (!(outcome instanceof CliError)) return outcome();
    }
    const failure = refusal(outcome, keys);
    const isRight = outcome.wantsProof?.elsewhere;
    if (isRight || text !== undefined || !context.canPrompt()) throw failure;
    await say.note(given.length > 0 ? await inWords(failure) : ASKED);
    return (await this.ask(work, outcome))();
  }

  private ask<T>(work: Work<T>, refused: CliError): Promise<() => T> {
    return askForKey(this.run.context, async (key, typed) => {
      const proof = key && (await this.proofOfGiven(key, refused));
      const outcome = proof === undefined ? refused : await this.attempt(work, proof);
      if (outcome instanceof CliError) return refusal(outcome, key ? [key] : []);
      this.typed = typed;
      return outcome;
    });
  }

  private async proofOfGiven(
    { passphrases: [key], complaint }: GivenKey,
    { wantsProof }: CliError,
  ): Promise<string | undefined> {
    return key === undefined || complaint !== '' ? undefined : this.proofOf(key, wantsProof?.salt);
  }

  private async proofOf(key: string, salt: string | undefined): Promise<string | undefined> {
    const secret = await keyProof(prover, key, salt);
    return secret && proofAt(node, secret, this.base);
  }

  /** What came of `work`, an error included, unless that refuses the proof. */
  private async attempt<T>(
    work: Work<T>,
    proof: string | undefined,
  ): Promise<CliError | (() => T)> {
    const outcome = await work(proof).then(
      (result) => () => result,
      (error: unknown) =>
        error instanceof CliError && error.wantsProof
          ? error
          : () => {
              throw error;
            },
    );
    if (!(outcome instanceof CliError)) this.proof = proof;
    return outcome;
  }
}

function refusal(outcome: CliError, keys: readonly GivenKey[]): CliError {
  const complaint = keys.findLast((key) => key.complaint !== '')?.complaint;
  if (complaint === undefined || outcome.wantsProof?.sent) return outcome;
  return outcome.with({
    facts: `the key is damaged${complaint}`,
    steps: 'compare it with what the sender gave you',
  });
}
