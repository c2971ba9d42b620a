import type { Entry } from '../cli/terminal/output';
import type { Api } from '../client/client';
import type { Push } from '../contract/decode';
import type { DownloadFile, PartialFile } from '../keep/interrupted-download';
import type { KeptKey } from '../keep/request-keys';
import type { RescueStore } from '../keep/rescue-store';

export interface Retriever extends Entry {
  readonly store: RescueStore;
}

export interface AnswerKeys {
  readonly key: KeptKey | undefined;
  readonly publicKey: string | undefined;
  /** Asks the instance for the state of the request, for a few seconds; undefined if it does not tell. */
  readonly state: () => Promise<unknown>;
}

export interface Retrieval extends Retriever {
  /** The link without the key of an encrypted push. */
  readonly link: string;
  /** The push, which `openPush` decrypts; its `encrypted` says whether it was encrypted. */
  readonly push: Push;
  readonly sealed: Push;
  readonly answer?: AnswerKeys | undefined;
  readonly partial?: readonly PartialFile[];
  /** Set for an interrupted download. */
  readonly kept?: DownloadFile | undefined;
  /** The key in the link, which may be damaged. */
  readonly linkKey?: string | undefined;
  /** The key that a person typed to retrieve the push. */
  readonly typedKey?: string | undefined;
  /** The push is from a file: the files beside it may belong to another push. */
  readonly fromFile?: boolean;
  /** Set for an answer that only this run has, in memory, with its private key. */
  readonly ephemeral?: { readonly sealed: Retrieval; readonly key: string } | undefined;
  readonly openFile: Api['openFile'];
  /** Aborts decryption and downloads. */
  readonly signal: AbortSignal;
}

export function retrievalOf(
  { context, say, store }: Retriever,
  { openFile }: Pick<Api, 'openFile'>,
  { push, ...details }: Omit<Retrieval, keyof Retriever | 'sealed' | 'openFile' | 'signal'>,
): Retrieval {
  return { ...details, context, say, store, push, sealed: push, openFile, signal: context.signal };
}
