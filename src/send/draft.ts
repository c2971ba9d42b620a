import { type NewPassphrase, type NewPassphraseSource, newPassphrase } from '../cli/passphrase';
import type { Content, Source } from '../cli/source';
import type { Entry, Terminal } from '../cli/terminal/output';
import { checkEncryptable } from '../cli/values';
import type { Attachment } from '../client/form';
import type { NewPush, Notification } from '../contract/api';
import { definedFields } from '../contract/json';
import type { ClosingFields, Expiry, ExpiryFields } from '../contract/lifetime';
import { payloadFault } from '../contract/payload-fault';
import { usageError } from '../platform/errors';
import { openFiles, readText } from './content';
import type { SealedContent, SealPlan } from './encryption';
import { type EditionFinder, grantableExpiry } from './expiry';

export interface DraftPlan {
  readonly content: Content & {
    readonly details: PushDetails;
    /** The text was typed where other users can read it. */
    readonly isExposed?: boolean;
    /** The text is the name of a file on this machine. */
    readonly isFileName?: boolean;
    /** A command gets the text, and standard input. */
    readonly isForCommand?: boolean;
  };
  readonly limits: {
    readonly expiry: Expiry | undefined;
    /** The user typed the expiry by this option, which does not count days. */
    readonly expiryOption: string | undefined;
    /** The expiry is not among the fields, as instances take it in different forms. */
    readonly fields: PushLimits;
    /** The push stays even if its limits are looser than these. */
    readonly accept: boolean;
  };
  readonly seal: {
    readonly passphrase: NewPassphraseSource | { readonly text: string | undefined };
    /** A user who types the text is asked for a passphrase, too. */
    readonly offersPassphrase: boolean;
    readonly encryption: SealPlan | undefined;
  };
  readonly result: {
    readonly locale: string | undefined;
    /** The text is generated, and only the JSON output shows it. */
    readonly generated: boolean;
    readonly copy: boolean;
    readonly qr: boolean;
    readonly receipt: boolean;
  };
}

export type PushLimits = Omit<NewPush, 'payload' | 'passphrase' | keyof PushDetails>;

/** The instance keeps the labels for the sender, and sends e-mail to the addresses. */
export type PushDetails = Pick<NewPush, 'name' | 'note' | keyof Notification>;

/** All that the plan names is read, and its files are open. */
export interface Draft {
  readonly plan: DraftPlan;
  /** The text, or the message that is sent with the files. */
  readonly text: string | undefined;
  readonly files: readonly Attachment[] | undefined;
  readonly expiry: ExpiryFields;
  readonly passphrase: NewPassphrase;
  /** Not awaited, as a key is stretched on another thread while the transport loads. */
  readonly sealed: Promise<SealedContent> | undefined;
  close(): Promise<void>;
}

/**
 * Reads what a plan names, and begins to encrypt it. An expiry or an encrypted kind that the instance does not have is
 * refused before anything is typed.
 * @param plan its public keys are read already
 * @param edition finds the edition of the instance if something depends on it
 * @throws CliError (usage) for what cannot be read or sent; no file is left open then
 */
export async function draftOf(
  plan: DraftPlan,
  entry: Entry,
  edition: EditionFinder,
): Promise<Draft> {
  const { content, limits, seal } = plan;
  const { encryption } = seal;
  const { kind = 'text' } = limits.fields;
  if (encryption && (kind === 'url' || kind === 'qr')) checkEncryptable(kind, await edition(true));
  const expiry = await grantableExpiry(limits.expiry, entry, edition);
  const { files, close } = await openFiles(content, entry.context);
  try {
    const text = await readText(content, entry, undefined, !content.isForCommand);
    const fault = encryption && payloadFault(kind, text ?? '');
    if (fault !== undefined) throw usageError(`the text ${fault}`);
    const isTyped = 'text' in content && content.text.from.name === 'prompt';
    const passphrase =
      'text' in seal.passphrase
        ? seal.passphrase
        : await newPassphrase(seal.passphrase, entry.context, isTyped && seal.offersPassphrase);
    entry.context.releaseTerminal();
    const sealed =
      encryption && sealing().then((module) => module.seal(encryption, { text, files }));
    sealed?.catch(() => {});
    return { plan, text, files, expiry, passphrase, sealed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const sealing = () => import('./encryption');

/**
 * Returns the body of the HTTP request, encrypted if the plan says so.
 * @param passphrase without it, a passphrase that is yet to be generated is an empty one
 */
export async function requestOf(
  { plan, text, files, expiry, sealed, ...draft }: Draft,
  passphrase = 'text' in draft.passphrase ? draft.passphrase.text : '',
): Promise<Pick<Draft, 'files'> & { readonly request: NewPush }> {
  const { limits, content } = plan;
  const encrypted = await sealed;
  const { payload, proof } = encrypted ?? { payload: text };
  const protection = { passphrase, ...content.details, ...proof };
  return {
    request: definedFields({ payload, ...limits.fields, ...expiry, ...protection }),
    files: encrypted ? encrypted.files : files,
  };
}

/** Replaces files with public keys by the keys in them, so that the files are read once. */
export async function readKeys(seal: DraftPlan['seal'], entry: Entry): Promise<DraftPlan['seal']> {
  const { encryption } = seal;
  if (encryption?.mode !== 'keys') return seal;
  const { readRecipients } = await sealing();
  return { ...seal, encryption: await readRecipients(encryption, entry) };
}

/** Tells a person at a terminal what of an encrypted push or request is not encrypted. */
export async function remarkClear(clear: readonly string[], say: Terminal): Promise<void> {
  if (clear.length === 0) return;
  const [is, it] = clear.length === 1 ? ['is', 'it'] : ['are', 'them'];
  await say.remark(
    `the ${clear.join(' and the ')} ${is} not encrypted: the instance can read ${it}`,
  );
}

export interface QuestionPlan {
  readonly content: {
    readonly question: Source;
    readonly files: readonly string[] | undefined;
    readonly details: PushDetails;
  };
  readonly limits: {
    /** Undefined to ask a person who types the question. */
    readonly closes: ClosingFields | undefined;
    /** The user typed the time of closing as a date. */
    readonly byDate: boolean;
    readonly takesFiles: boolean;
    /** The request stays even if its limits are looser than these. */
    readonly accept: boolean;
  };
  readonly seal: {
    readonly passphrase: NewPassphraseSource;
    /** Undefined if the answer is not encrypted. Without a file, the private key is saved in the state folder. */
    readonly encryption: { readonly identityFile: string | undefined } | undefined;
  };
  readonly result: Pick<DraftPlan['result'], 'locale' | 'copy' | 'qr'>;
}

export interface RequestDraft {
  readonly plan: QuestionPlan;
  readonly question: string;
  readonly closes: ClosingFields | undefined;
  readonly files?: readonly Attachment[] | undefined;
  readonly passphrase: NewPassphrase;
  /** The answer is encrypted to this public key, whose private key is in memory. */
  readonly recipient?: string;
}
