import type { Attachment } from '../../client/form';
import type { NewPush } from '../../contract/api';
import type { ExpiryFields } from '../../contract/lifetime';
import type { Context, Profile } from '../../platform/context';
import type { EncryptMode, Seal } from '../../share/encryption';
import type { Withdraw } from '../../share/give-to-sender';
import { type PushOptions, requestOf } from './push-options';

/** What a push is made of. */
export interface Draft {
  /** The text, or the message that goes with the files. */
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  readonly passphrase: string | undefined;
  readonly mode: EncryptMode | undefined;
  readonly seal: Seal | undefined;
  readonly profile: Profile | undefined;
  readonly expiry: ExpiryFields;
}

/** A push to be sent: encrypted, if it is to be. */
export interface ReadyPush {
  readonly request: NewPush;
  readonly files: readonly Attachment[] | undefined;
  readonly mode: EncryptMode | undefined;
  /** The key that goes into the link. */
  readonly linkKey: string | undefined;
  /** The secret, if it was generated: only JSON has room for it beside the link. */
  readonly generated: string | undefined;
  /** Takes back what was given to the sender. */
  readonly withdraw: Withdraw;
}

/**
 * Encrypts a draft, and gives the sender what is generated for it.
 * @throws CliError (usage) if that is not possible
 */
export async function readyPush(
  draft: Draft,
  options: PushOptions,
  context: Context,
): Promise<ReadyPush> {
  const { text, mode } = draft;
  const sealed = await draft.seal?.(draft);
  const given: Withdraw[] = [];
  const withdraw = async (failure: unknown) => {
    for (const one of given) await one(failure);
  };
  const give = async (what: 'passphrase' | 'key', text: string, path: string | undefined) => {
    const { giveToSender } = await import('../../share/give-to-sender');
    given.push(await giveToSender({ what, text, path }, context, options));
    return text;
  };
  let { passphrase } = draft;
  try {
    if (mode === 'words' && sealed?.key !== undefined)
      await give('key', sealed.key, options.keyOut);
    if (options.generatePassphrase) {
      const { newPassphrase } = await import('../../share/give-to-sender');
      passphrase = await give('passphrase', await newPassphrase(), options.passphraseOut);
    }
  } catch (error) {
    await withdraw(error);
    throw error;
  }
  return {
    request: requestOf(sealed ? sealed.payload : text, passphrase, options, draft),
    files: sealed ? sealed.files : draft.files,
    mode,
    linkKey: mode === 'link' ? sealed?.key : undefined,
    generated: options.generate === undefined ? undefined : text,
    withdraw,
  };
}

/** The draft as `--dry-run` shows it: with a key that is thrown away, and nothing is given to anybody. */
export async function shownPush(
  draft: Draft,
  options: PushOptions,
): Promise<Pick<ReadyPush, 'request' | 'files'>> {
  const sealed = await draft.seal?.(draft);
  const passphrase = options.generatePassphrase ? '' : draft.passphrase;
  const payload = sealed ? sealed.payload : draft.text;
  const files = sealed ? sealed.files : draft.files;
  return { request: requestOf(payload, passphrase, options, draft), files };
}
