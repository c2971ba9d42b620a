import type { Invocation } from '../cli/terminal/output';
import { left } from '../cli/terminal/wording';
import type { Api } from '../client/client';
import type { Push } from '../contract/decode';
import type { PartialFile, PartialFiles } from '../deliver/partial-files';
import type { Folder } from '../deliver/safe-name';
import type { KeptKey } from '../keep/request-keys';
import type { CliError } from '../platform/errors';

/** A push that was taken from an instance, or the answer to a request as one, so that it goes where a secret goes. */
export interface Taken {
  /** Its link, without the key of an encrypted push. */
  readonly link: string;
  /** Decrypted, once it is opened; its `encrypted` says whether it was encrypted. */
  readonly push: Push;
  /** As it was received. */
  readonly sealed: Push;
  /** Only of an answer. */
  readonly answer: AnswerKeys | undefined;
  /** Its files of which a part is there. */
  readonly partial: readonly PartialFile[];
  /** A key that was typed before it could be retrieved. */
  readonly typedKey?: string | undefined;
  /** Its files are all that lie beside the text: some may belong to another. */
  readonly fromFile?: boolean;
}

export interface AnswerKeys {
  /** The private key that was kept for the request. */
  readonly key: KeptKey | undefined;
  /** The public key in the link. */
  readonly publicKey: string | undefined;
}

/** A run whose results are safe. */
export interface SafeRun extends Invocation {
  readonly safe: Safe;
}

/** A push that was taken, and the means to bring it where it belongs. */
export interface Taking extends SafeRun {
  readonly taken: Taken;
  /** Opens the link of a file; decrypts it, once the push is opened. */
  readonly file: Api['openFile'];
  /** Ends decryption and downloads. */
  readonly signal: AbortSignal;
}

/** A push that was taken at an instance, with its client. */
export function takingOf(run: SafeRun, { openFile }: Pick<Api, 'openFile'>, taken: Taken): Taking {
  return { ...run, file: openFile, signal: run.context.signal, taken };
}

export function withPush<T extends Taking>(taking: T, push: Push): T {
  return { ...taking, taken: { ...taking.taken, push } };
}

/** Whether a push can be retrieved again, so that nothing of it is lost; false if that is not certain. */
export function isRetrievableAgain(push: Push): boolean {
  const { views_remaining: views, days_remaining: days, expired } = push;
  return typeof views === 'number' && views > 0 && days !== 0 && expired !== true;
}

/** Why one that cannot be retrieved again, or may not be, is lost if it is not saved now. */
export function whyGone({ push, answer }: Taken): string {
  if (answer) return 'the answer was taken';
  return push.views_remaining === 0 ? 'no view is left' : 'the push may be gone';
}

/** Says that it can; undefined if that is not certain. */
export function retrievableAgain(push: Push, now: Date): string | undefined {
  if (!isRetrievableAgain(push)) return undefined;
  return `the push can be retrieved again (${left(push, now)})`;
}

/** Where everything goes that cannot be delivered, and what a failure then says of it. */
export interface Safe {
  /** Whether a later run can go on, such as with the rest of a download. */
  readonly resumes: boolean;
  /** Saves it; never throws. */
  keep(part: Lost): Promise<void>;
  /** Saves the text while it is being opened, for the run may end then; does nothing if it is held already. */
  hold(taken: Taken): Promise<void>;
  /** Removes what is held of it. */
  release(taken: Taken): Promise<void>;
  /**
   * Makes a new folder for files that cannot be saved where they belong.
   * @throws CliError (failed) if there is no place for it
   */
  folder(): Promise<string>;
  /** Adds to a failure what became of all that was to be kept since the one before. */
  explain(failure: CliError): CliError;
}

export type Lost = LostText | LostPushes | LostFiles;

export interface LostText {
  readonly what: 'link' | 'secret' | 'text' | 'response' | 'key';
  /** How messages name it, in place of `what`. */
  readonly called?: string;
  readonly bytes: string | Uint8Array;
  /** The push it is from: if that can be retrieved again, nothing is saved. */
  readonly push?: Push | undefined;
}

/** Texts and files of pushes; of one that can be retrieved again only what is held. */
export interface LostPushes {
  readonly what: 'pushes';
  readonly takings: readonly Taking[];
  /** How many links there are, of which these are the first. */
  readonly links?: number;
}

/** Files that could not be downloaded; nothing is done if they can be retrieved again. */
export interface LostFiles {
  readonly what: 'files';
  readonly taking: Taking;
  /** Their addresses. */
  readonly missing: readonly string[];
  /** Where the others are; left out for a file that went to standard output. */
  readonly folder?: Folder;
  readonly partial?: PartialFiles | undefined;
}
