import type { Entry } from '../cli/terminal/output';
import type { Api } from '../client/client';
import type { Push } from '../contract/decode';
import type { PartialFile } from '../keep/interrupted-download';
import type { KeptKey } from '../keep/request-keys';
import type { RescueStore } from '../keep/rescue-store';

export interface Retriever extends Entry {
  readonly store: RescueStore;
}

export interface AnswerKeys {
  readonly key: KeptKey | undefined;
  readonly publicKey: string | undefined;
  /** Asks the instance for a few seconds what became of the request; undefined if it does not say so. */
  readonly state: () => Promise<unknown>;
}

export interface Retrieval extends Retriever {
  /** The link lacks the key of an encrypted push. */
  readonly link: string;
  /** The push is decrypted once it is opened; its `encrypted` says whether it was encrypted. */
  readonly push: Push;
  readonly sealed: Push;
  readonly answer?: AnswerKeys | undefined;
  readonly partial?: readonly PartialFile[];
  /** The key in the link may be damaged. */
  readonly linkKey?: string | undefined;
  /** A key was typed before the push could be retrieved. */
  readonly typedKey?: string | undefined;
  /** The push is from a file: the files beside it may belong to another push. */
  readonly fromFile?: boolean;
  /** The answer is in the memory of this run alone, as is its private key. */
  readonly ephemeral?: { readonly sealed: Retrieval; readonly key: string } | undefined;
  readonly openFile: Api['openFile'];
  /** Ends decryption and downloads. */
  readonly signal: AbortSignal;
}

export function retrievalOf(
  { context, say, store }: Retriever,
  { openFile }: Pick<Api, 'openFile'>,
  { push, ...details }: Omit<Retrieval, keyof Retriever | 'sealed' | 'openFile' | 'signal'>,
): Retrieval {
  return { ...details, context, say, store, push, sealed: push, openFile, signal: context.signal };
}

export function withPush(retrieval: Retrieval, push: Push): Retrieval {
  return { ...retrieval, push };
}
