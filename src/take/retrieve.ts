import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { armorIn } from '../age/armor-in';
import { encryptedName } from '../age/manifest';
import { askUntil, TRIES } from '../cli/ask-until';
import { askPassphrase, type KnownPassphrase, noKey, notSent } from '../cli/passphrase';
import { bytesFrom, bytesOf, placeOf } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import { apiClient, type RequestApi } from '../client/client';
import { onItem } from '../client/item';
import type { Push, PushFile } from '../contract/decode';
import { describe } from '../keep/kept';
import type { KeptKey } from '../keep/request-keys';
import { RescueStore } from '../keep/rescue-store';
import type { Context } from '../platform/context';
import { attempt, CliError, failedError, phrase, usageError } from '../platform/errors';
import { briefSettings } from '../profile/connect';
import type { ConnectedItem } from '../profile/references';
import type { Target } from '../profile/target';
import type { ItemKeys } from './decryption-keys';
import { KeyProver } from './proving';
import { type AnswerKeys, type Retrieval, type Retriever, retrievalOf } from './retrieval';

/**
 * Retrieves a push, which uses a view, or the answer to a request. A given key or words mean a push, unless the link
 * names a request: the instance is not asked. Nothing is retrieved that this run certainly cannot open.
 * @throws CliError as `retrieve` and `answerKey` do; (not_found) for a request without an answer, (expired) for a
 * closed request
 */
export function retrieveFrom(
  retriever: Retriever,
  item: ConnectedItem,
  passphrase: KnownPassphrase,
  keys: ItemKeys,
): Promise<Retrieval> {
  const opensPushes = keys.decrypt && keys.text !== undefined && item.kind !== 'request';
  return onItem(opensPushes ? { ...item, kind: 'push' } : item, async ({ kind }) =>
    kind === 'push'
      ? takePush(retriever, item, passphrase, keys)
      : takeAnswer(retriever, item, passphrase, await keys.answerKey()),
  );
}

async function takePush(
  retriever: Retriever,
  { api, key: linkKey, last, target, token }: ConnectedItem,
  passphrase: KnownPassphrase,
  { text, withoutIdentity }: ItemKeys,
): Promise<Retrieval> {
  const prover = new KeyProver(retriever, { linkKey, text }, target.base);
  const proved = (sent?: string) =>
    prover.call((keyProof) => api.retrieve(token, sent, { keyProof, withoutIdentity }));
  const push = await retrieve(retriever, target, passphrase, proved).catch((error) => {
    const isOwn = last && error instanceof CliError && error.code === 'expired';
    throw isOwn ? error.with({ hints: phrase('push-own-again') }) : error;
  });
  const counted = withEarlierViews(push, target.token !== undefined);
  const link = `${target.base}/p/${token}`;
  return retrievalOf(retriever, api, { link, push: counted, linkKey, typedKey: prover.typed });
}

/**
 * @param key the private key that opens the answer
 * @throws CliError (not_found) if there is no answer yet, (expired) if the request is closed
 */
export async function takeAnswer(
  retriever: Retriever,
  item: Pick<ConnectedItem, 'api' | 'publicKey' | 'target' | 'token'>,
  passphrase: KnownPassphrase,
  key: KeptKey | undefined,
): Promise<Retrieval> {
  const { api, publicKey, target, token } = item;
  const link = `${target.base}/r/${token}`;
  const push = await retrieve(retriever, target, passphrase, (sent) =>
    readAnswer(api.requests, token, sent, link),
  );
  const answer = answerKeys(retriever, item, key);
  const fragment = publicKey === undefined ? '' : `#${publicKey}`;
  return retrievalOf(retriever, api, { link: link + fragment, push, answer });
}

export function answerKeys(
  entry: Entry,
  { publicKey, target, token }: Pick<ConnectedItem, 'publicKey' | 'target' | 'token'>,
  key: KeptKey | undefined,
): AnswerKeys {
  const state = async () => {
    const { requests } = apiClient(await briefSettings(entry, target));
    const outcome = await attempt(() => requests.preview(token));
    return outcome instanceof CliError ? undefined : outcome.state;
  };
  return { key, publicKey, state };
}

/**
 * Retrieves a push, which uses a view. If the instance requires a passphrase that no file or variable gave, a user at a
 * terminal has three tries, the prompt of `-p` included.
 * @throws CliError (expired) also if the instance returns an expired push
 */
async function retrieve(
  { context, store }: Retriever,
  target: Pick<Target, 'inUse' | 'passphraseFor'>,
  passphrase: KnownPassphrase,
  call: (passphrase?: string) => Promise<Push>,
): Promise<Push> {
  try {
    return await withPassphrase(context, passphrase, target, async (sent) =>
      readable(await call(sent)),
    );
  } catch (error) {
    if (!(error instanceof CliError) || error.unread === undefined) throw error;
    // The response may contain the secret.
    const kept = await store.keep({ part: 'response', bytes: error.unread });
    throw describe(error.with({ hints: undefined, unread: undefined }), kept);
  }
}

/**
 * Adds `earlier_views`, the number of views used before this retrieval. It is null if unknown, as always with a token:
 * the owner's retrievals use no view, and the response does not say whether the token is the owner's (docs/wire.md,
 * "What a retrieval costs").
 */
function withEarlierViews(push: Push, hasToken: boolean): Push {
  const { expire_after_views: granted, views_remaining: remaining } = push;
  const earlier =
    !hasToken && typeof granted === 'number' && typeof remaining === 'number'
      ? granted - remaining - 1
      : -1;
  return { ...push, earlier_views: earlier < 0 ? null : earlier };
}

/**
 * Runs `work`, and asks for a passphrase as `retrieve` does. The passphrase of the environment goes only to its own
 * instance; one that an option named also goes to another, once that asks for a passphrase.
 */
export async function withPassphrase<T>(
  context: Context,
  known: KnownPassphrase,
  { inUse, passphraseFor: owner }: Pick<Target, 'inUse' | 'passphraseFor'>,
  work: (passphrase: string | undefined) => Promise<T>,
): Promise<T> {
  const { text, typed, byOption } = known;
  const isForeign = owner !== undefined;
  const withheld = isForeign && text !== undefined && !byOption ? notSent(owner) : undefined;
  const sendable = withheld ? undefined : text;
  if (sendable !== undefined && !inUse) await noKey(sendable);
  const mayAsk = context.canPrompt() && (typed || sendable === undefined);
  let [sent, next] = isForeign ? [undefined, sendable] : [sendable];
  return askUntil(
    async (failure) => {
      if (failure && next === undefined) {
        const question = sent === undefined ? withheld?.question : 'Wrong passphrase, try again:';
        next = await noKey(await askPassphrase(context, false, question));
        if (typed) known.text = next;
      }
      if (failure) [sent, next] = [next, undefined];
      return work(sent);
    },
    (failure) => isPassphraseRefused(failure) && (next !== undefined || mayAsk),
    typed && !isForeign ? TRIES : 1 + TRIES,
  ).catch((error) => {
    if (!isForeign || sent !== undefined || !isPassphraseRefused(error)) throw error;
    const facts = withheld ? [...error.facts, withheld.fact] : error.facts;
    throw error.with({ facts, hints: phrase('give-passphrase-there') });
  });
}

function isPassphraseRefused(failure: unknown): failure is CliError {
  return failure instanceof CliError && failure.code === 'passphrase' && failure.status === 401;
}

/** The response for an expired push is 200 without a payload (docs/wire.md, "Endpoints"). */
function readable(push: Push): Push {
  const files = (push.files ?? []).length > 0;
  if (files || push.payload) return push;
  if (push.expired === true) {
    throw new CliError('expired', phrase('push-expired'), {
      hints: phrase('ask-for-new-push'),
    });
  }
  if (typeof push.payload === 'string') return push;
  throw failedError(phrase('push-without-text'));
}

/** Returns the answer as a push, so that it is delivered like one. */
async function readAnswer(
  requests: Pick<RequestApi, 'read'>,
  token: string,
  passphrase: string | undefined,
  link: string,
): Promise<Push> {
  // `views_remaining` is dropped, as the instance does not say whether an answer can be read again.
  const { response, views_remaining: _, ...request } = await requests.read(token, passphrase);
  if (response || (request.files ?? []).length > 0) return { ...request, payload: response ?? '' };
  if (request.state === 'ready')
    throw new CliError('forbidden', phrase('owners-answer'), {
      hints: phrase('log-in-as-requester'),
    });
  if (request.state === 'closed')
    throw new CliError('expired', phrase('request-closed'), {
      hints: phrase('look-why-closed', link),
    });
  throw new CliError('not_found', phrase('no-answer-yet'), {
    hints: phrase('wait-for-answer'),
  });
}

/**
 * Makes a push of a text that an earlier run saved; if it is encrypted, with the files in its folder.
 * @throws CliError (usage) if it cannot be read, or is not a text
 */
export async function takeSaved(
  { context, say }: Entry,
  path: string,
  linkKey: string | undefined,
): Promise<Retrieval> {
  const payload = (await bytesOf(path, context, 'encrypted text')).toString('utf8');
  if (/^\{"link":/.test(payload))
    throw usageError(`"${path}" is a download to finish`, phrase('resume', path));
  if (/^age-encryption\.org\//.test(payload))
    throw usageError(
      `${placeOf(path)} is a single encrypted file`,
      'open the text that it came with, secret.age or secret.txt in the same folder, or use age -d',
    );
  const files = armorIn(payload) && path !== '-' ? filesIn(dirname(path)) : [];
  const push = { payload, files } as Partial<Push> as Push;
  const store = new RescueStore(context, 'nothing');
  const openFile = async (file: string) => ({
    length: statSync(file).size,
    body: bytesFrom(file, context),
  });
  return retrievalOf(
    { context, say, store },
    { openFile },
    { link: '', push, linkKey, fromFile: true },
  );
}

/** Finds files by the names of encrypted files, which `get --no-decrypt` and rescues keep. */
function filesIn(folder: string): PushFile[] {
  const files: PushFile[] = [];
  for (let index = 0; ; index++) {
    const filename = encryptedName(index);
    const url = join(folder, filename);
    if (!statSync(url, { throwIfNoEntry: false })?.isFile()) return files;
    files.push({ filename, url });
  }
}
