import { inWords } from '../cli/in-words';
import type { NewPassphrase } from '../cli/passphrase';
import type { Entry } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import { type Item, pushItem, requestItem } from '../client/item';
import { findLink } from '../client/link';
import type { Push, SecretRequest } from '../contract/decode';
import { asCliError, CliError, failedError, phrase } from '../platform/errors';
import { scope, type Undo } from '../platform/scope';
import type { Instance } from '../profile/connect';
import { sendWithFiles } from './content';
import type { GivenToSender } from './give-to-sender';
import type { Refusal, Verdict } from './judge';

/** How a push or a request is created at an instance; `Ready` is what is sent. */
interface Creation<Ready, Made> {
  readonly kind: Item['kind'];
  /** Gives the sender what is generated; that is undone unless something was created. */
  prepare(undo: Undo): Promise<Ready>;
  send(ready: Ready, files: readonly Attachment[]): Promise<Made>;
  judge(ready: Ready, made: Made, link: string): Verdict;
  /** Keeps what opens it. */
  keep?(ready: Ready, token: string): void;
  /** Ends it again: where it has no owner, as anybody who can view it. */
  end(ready: Ready, token: string): Promise<unknown>;
}

/**
 * Prepares, sends and judges a creation. One that is not as it was asked for is ended again. The token is empty if neither
 * the response nor the link has one.
 * @throws CliError (rejected) for a refused one
 */
export function create<
  Ready extends { readonly files?: readonly Attachment[] | undefined },
  Made extends Push | SecretRequest,
>(run: Entry, { api, target }: Instance, creation: Creation<Ready, Made>) {
  const { kind } = creation;
  const item = (token: string) =>
    kind === 'push' ? pushItem(api, token) : requestItem(api, token);
  return scope(async ({ undo }) => {
    let mayExist = false;
    const ready = await creation.prepare((how) => undo(() => (mayExist ? undefined : how())));
    const sending = sendWithFiles(run, ready.files, (files) => creation.send(ready, files));
    const made = await sending.catch((error) => {
      mayExist = !(error instanceof CliError) || error.code === 'unknown';
      throw error;
    });
    mayExist = true;
    const { link, token, doubt, isElsewhere } = await findLink(
      { preview: (token) => item(token).preview() },
      target.base,
      made,
      kind,
    );
    const verdict = kept(creation.judge(ready, made, link), () => creation.keep?.(ready, token));
    if ('refuse' in verdict) {
      const refusal = await endAgain(kind, verdict, link, async () => {
        if (token === '') throw failedError(phrase('no-token-returned'));
        await creation.end(ready, token);
      });
      mayExist = refusal.remains?.expired !== true;
      throw refusal;
    }
    const warnings = [...(doubt ? [await inWords(doubt)] : []), ...verdict.warnings];
    return { ready, made, token, link, isElsewhere, warnings };
  });
}

/** 2 ms, where something is generated. */
export const toSender = () => import('./give-to-sender');

/** The passphrase; one that is to be generated is given to the sender, or told with the link. */
export async function givenPassphrase(
  passphrase: NewPassphrase,
  run: Entry,
  undo: Undo,
): Promise<{ readonly text: string | undefined; readonly told?: GivenToSender }> {
  if ('text' in passphrase) return passphrase;
  const { giveToSender, newPassphrase } = await toSender();
  const text = await newPassphrase();
  const generated = { what: 'passphrase', text, path: passphrase.generateInto } as const;
  return { text, told: await giveToSender(generated, run, undo) };
}

/** The new file that a generated passphrase goes to. */
export function fileOf(passphrase: NewPassphrase): string | undefined {
  return 'text' in passphrase ? undefined : passphrase.generateInto;
}

/** Without what opens it, nobody could read it: a failure to keep that is a refusal, too. */
function kept(verdict: Verdict, keep: () => void): Verdict {
  if ('refuse' in verdict) return verdict;
  try {
    keep();
    return verdict;
  } catch (error) {
    const { code, facts, steps } = asCliError(error);
    return { refuse: code, why: facts, steps };
  }
}

const endings = {
  push: {
    ended: 'the push was expired',
    remains: 'expiring the push FAILED, so the secret can still be read at',
    hint: 'expire it yourself: open the link and delete it, or run pwpush expire with a token',
  },
  request: {
    ended: 'it was closed',
    remains: 'closing it FAILED: it can still be answered at',
    hint: 'close it yourself with pwpush expire',
  },
};

/** Ends what is not as it was asked for, and returns the error that says so. */
async function endAgain(
  kind: Item['kind'],
  { refuse, why, steps }: Refusal,
  link: string,
  end: () => Promise<unknown>,
): Promise<CliError> {
  const words = endings[kind];
  try {
    await end();
  } catch (cause) {
    const remains = { link, expired: false };
    const facts = [why, `${words.remains} ${link}`].flat();
    return new CliError(refuse, facts, { steps: words.hint, cause, remains });
  }
  const remains = { link, expired: true };
  return new CliError(refuse, [why, words.ended].flat(), { steps, remains });
}
