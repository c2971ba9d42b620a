import type { Entry } from '../cli/terminal/output';
import type { Api } from '../client/client';
import type { Reference } from '../client/link';
import type { Push } from '../contract/decode';
import type { PartialFile } from '../keep/interrupted-download';
import type { KeptKey } from '../keep/request-keys';
import type { Safe } from '../keep/safekeeping';
import type { Target } from '../profile/target';

/** A push that was taken from an instance, or the answer to a request as one, so that it goes where a secret goes. */
export interface Taken {
  /** Its link, without the key of an encrypted push. */
  readonly link: string;
  /** Decrypted, once it is opened; its `encrypted` says whether it was encrypted. */
  readonly push: Push;
  /** As it was received. */
  readonly sealed: Push;
  readonly answer: AnswerKeys | undefined;
  /** Its files of which a part is there. */
  readonly partial: readonly PartialFile[];
  /** A key that was typed before it could be retrieved. */
  readonly typedKey?: string | undefined;
  /** Its files are all that lie beside the text: some may belong to another. */
  readonly fromFile?: boolean;
}

/** What a user named, at its instance. */
export interface Retrievable extends Reference {
  readonly api: Api;
  readonly target: Target;
  /** Of a push that was made on this machine. */
  readonly last?: object;
  /** The private key of a request, if it is in memory alone. */
  readonly held?: KeptKey;
}

export interface AnswerKeys {
  /** The private key that was kept for the request. */
  readonly key: KeptKey | undefined;
  /** The public key in the link. */
  readonly publicKey: string | undefined;
  /** Asks the instance what became of the request. */
  readonly state: () => Promise<unknown>;
}

export interface SafeRun extends Entry {
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

export function takingOf(run: SafeRun, { openFile }: Pick<Api, 'openFile'>, taken: Taken): Taking {
  return { ...run, file: openFile, signal: run.context.signal, taken };
}

export function withPush<T extends Taking>(taking: T, push: Push): T {
  return { ...taking, taken: { ...taking.taken, push } };
}
