import type { NewPassphrase } from '../cli/passphrase';
import type { Invocation } from '../cli/terminal/output';
import type { Attachment } from '../client/form';
import type { NewPush, Notification } from '../contract/api';
import type { Undo } from '../platform/scope';
import type { EncryptMode, Seal } from './encryption';

/** How a push is encrypted. */
export interface Sealing {
  readonly mode: EncryptMode;
  readonly seal: Seal;
  /** A new file for the words; else they are shown on stderr. */
  readonly wordsFile?: string | undefined;
}

/** What a push is made of. */
export interface Draft {
  /** The text, or the message that goes with the files. */
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  readonly passphrase: NewPassphrase;
  readonly sealing: Sealing | undefined;
  /** Whether the text was generated: only JSON has room for it beside the link. */
  readonly generated: boolean;
  /** Its kind, and when and how it opens. */
  readonly limits: Omit<NewPush, 'payload' | 'passphrase' | keyof PushDetails>;
  readonly details: PushDetails;
}

/** What the instance keeps for the sender, and whom it tells. */
type PushDetails = Pick<NewPush, 'name' | 'note' | keyof Notification>;

/** A push to be sent: encrypted, if it is to be. */
export interface ReadyPush {
  readonly request: NewPush;
  readonly files: readonly Attachment[] | undefined;
  readonly mode: EncryptMode | undefined;
  /** The key that goes into the link. */
  readonly linkKey: string | undefined;
  /** The secret, if it was generated. */
  readonly generated: string | undefined;
}

/** Begins to encrypt a draft: a key is stretched on another thread. */
export function beginSealing(draft: Draft): Draft {
  const { sealing } = draft;
  if (!sealing) return draft;
  const sealed = sealing.seal(draft);
  sealed.catch(() => {});
  return { ...draft, sealing: { ...sealing, seal: () => sealed } };
}

/**
 * Encrypts a draft, and gives the sender what is generated for it.
 * @throws CliError (usage) if that is not possible
 */
export async function preparePush(draft: Draft, run: Invocation, undo: Undo): Promise<ReadyPush> {
  const { text, sealing } = draft;
  const sealed = await sealing?.seal(draft);
  const key = sealed?.key;
  if (sealing?.mode === 'words' && key !== undefined) {
    const { giveToSender } = await import('./give-to-sender');
    await giveToSender({ what: 'key', text: key, path: sealing.wordsFile }, run, undo);
  }
  const passphrase = await givenPassphrase(draft.passphrase, run, undo);
  return {
    request: requestOf(draft, sealed ? sealed.payload : text, passphrase),
    files: sealed ? sealed.files : draft.files,
    mode: sealing?.mode,
    linkKey: sealing?.mode === 'link' ? key : undefined,
    generated: draft.generated ? text : undefined,
  };
}

/** The passphrase; one that is to be generated is given to the sender. */
export async function givenPassphrase(
  passphrase: NewPassphrase,
  run: Invocation,
  undo: Undo,
): Promise<string | undefined> {
  if ('text' in passphrase) return passphrase.text;
  const { giveToSender, newPassphrase } = await import('./give-to-sender');
  const text = await newPassphrase();
  await giveToSender({ what: 'passphrase', text, path: passphrase.generateInto }, run, undo);
  return text;
}

/** The draft as `--dry-run` shows it: with a key that is thrown away, and nothing is given to anybody. */
export async function shownPush(draft: Draft): Promise<Pick<ReadyPush, 'request' | 'files'>> {
  const sealed = await draft.sealing?.seal(draft);
  const passphrase = 'text' in draft.passphrase ? draft.passphrase.text : '';
  const payload = sealed ? sealed.payload : draft.text;
  return {
    request: requestOf(draft, payload, passphrase),
    files: sealed ? sealed.files : draft.files,
  };
}

/** Contains only what was asked for; the instance has defaults for the rest. */
function requestOf(
  { limits, details }: Draft,
  payload: string | undefined,
  passphrase: string | undefined,
): NewPush {
  return {
    ...(payload === undefined ? {} : { payload }),
    ...limits,
    ...(passphrase === undefined ? {} : { passphrase }),
    ...details,
  };
}
