import { askUntil, TRIES } from '../cli/ask-until';
import { askPassphrase, type KnownPassphrase, noKey } from '../cli/passphrase';
import { shellWord } from '../cli/values';
import type { Api, RequestApi } from '../client/client';
import { onItem } from '../client/item';
import type { Push } from '../contract/decode';
import type { Context } from '../platform/context';
import { attempt, CliError, failedError, phrase } from '../platform/errors';
import type { Target } from '../profile/target';
import type { DecryptionKeys, PushKeys } from './decryption-keys';
import { type AnswerKeys, type Retrievable, type SafeRun, type Taking, takingOf } from './taking';

/**
 * Retrieves a push, which uses a view, or takes the answer to a request. Where a key or words are given it is a push,
 * unless the link says otherwise: the instance is not asked.
 * @throws CliError as `retrieve` does; (not_found) for a request without an answer, (expired) for a closed one
 */
export function retrieveFrom(
  run: SafeRun,
  named: Retrievable,
  passphrase: KnownPassphrase,
  keys: Pick<DecryptionKeys, 'text' | 'decrypt'>,
): Promise<Taking> {
  const { api, token, target } = named;
  const opensPushes = keys.decrypt && keys.text !== undefined && named.kind !== 'request';
  const found = (push: Push, link: string, answer?: AnswerKeys, typedKey?: string) =>
    takingOf(run, api, { link, push, sealed: push, answer, partial: [], typedKey });
  return onItem(opensPushes ? { ...named, kind: 'push' } : named, async ({ kind }) => {
    if (kind === 'push') {
      const prover = await proving(run, { linkKey: named.key, text: keys.text }, target);
      const proved = (token: string, given?: string) =>
        prover.call((proof) => api.retrieve(token, given, proof));
      const push = await retrieve(run, { retrieve: proved }, named, passphrase).catch((error) => {
        const own = named.last && error instanceof CliError && error.code === 'expired';
        throw own ? error.with({ steps: 'it was yours: push the secret again' }) : error;
      });
      const counted = withEarlierViews(push, target.token !== undefined);
      return found(counted, `${target.base}/p/${token}`, undefined, prover.typed());
    }
    // 9 ms, with what parses private keys.
    const { keptKey, keyForAnswer } = await import('../keep/request-keys');
    const key = named.held ?? keptKey(run.context, named);
    const link = `${target.base}/r/${token}`;
    const read = (_: string, given?: string) => readAnswer(api.requests, token, given, link);
    const push = await retrieve(run, { retrieve: read }, named, passphrase);
    const { publicKey } = named;
    const fragment = publicKey === undefined ? '' : `#${publicKey}`;
    const kept = key ?? keyForAnswer(run.context, named, push.public_key);
    return found(push, link + fragment, { key: kept, publicKey });
  });
}

/** Calls an instance with a proof of the key. What makes it is loaded if there is a key, or the instance wants one. */
export async function proving(
  run: Pick<SafeRun, 'context' | 'say'>,
  known: Pick<PushKeys, 'linkKey' | 'text'>,
  { base }: Pick<Target, 'base'>,
) {
  const load = async () => new (await import('./proving')).KeyProver(run, known, base);
  let prover = (known.linkKey ?? known.text) === undefined ? undefined : await load();
  return {
    async call<T>(work: (proof?: string) => Promise<T>): Promise<T> {
      if (prover) return prover.call(work);
      const outcome = await attempt(work);
      if (!(outcome instanceof CliError)) return outcome;
      if (outcome.wantsProof === undefined) throw outcome;
      prover = await load();
      return prover.call(work, outcome);
    },
    /** The key that was typed, if it was asked for. */
    typed: () => prover?.typed,
  };
}

/**
 * Retrieves a push, which uses a view. If the instance requires a passphrase and the user can be asked, it prompts, unless
 * a file or variable gave the passphrase: three tries, the first of which is that of `-p`.
 * @throws CliError (expired) also for the response of an expired push
 */
export async function retrieve(
  { context, safe }: Pick<SafeRun, 'context' | 'safe'>,
  api: Pick<Api, 'retrieve'>,
  { token, target }: Pick<Retrievable, 'token' | 'target'>,
  passphrase: KnownPassphrase,
): Promise<Push> {
  try {
    return await withPassphrase(context, passphrase, target, async (given) =>
      readable(await api.retrieve(token, given)),
    );
  } catch (error) {
    if (!(error instanceof CliError) || error.unread === undefined) throw error;
    // An unusable response may contain the secret.
    await safe.keep({ what: 'response', bytes: error.unread });
    throw safe.explain(error.with({ steps: undefined, unread: undefined }));
  }
}

/**
 * Adds `earlier_views`, the number of views used before this retrieval; null if unknown, as always with a token: the
 * owner's retrievals use no view, and the response does not say whose the token is (docs/wire.md, "What a retrieval
 * costs").
 * @param owned whether a token was sent
 */
function withEarlierViews(push: Push, owned: boolean): Push {
  const { expire_after_views: granted, views_remaining: remaining } = push;
  const earlier =
    !owned && typeof granted === 'number' && typeof remaining === 'number'
      ? granted - remaining - 1
      : -1;
  return { ...push, earlier_views: earlier < 0 ? null : earlier };
}

/**
 * Does what may need a passphrase; asks for it as `retrieve` does. The passphrase of the environment goes to its instance
 * alone. To another one goes what an option named, once that instance asks for a passphrase.
 */
export async function withPassphrase<T>(
  context: Context,
  known: KnownPassphrase,
  { passphraseFor: owner }: Pick<Target, 'passphraseFor'>,
  work: (passphrase: string | undefined) => Promise<T>,
): Promise<T> {
  const { text, typed, byOption } = known;
  let sent = owner === undefined ? text : undefined;
  /** For another instance, once it asks. */
  let unsent = owner !== undefined && byOption ? text : undefined;
  const isWithheld = owner !== undefined && text !== undefined && !byOption;
  const mayAsk = context.canPrompt() && (typed || (sent ?? unsent) === undefined);
  const ask = async () => {
    const first = isWithheld ? `Passphrase (${isFor(owner)}; or --passphrase-file):` : undefined;
    const question = sent === undefined ? first : 'Wrong passphrase, try again:';
    const answer = await noKey(await askPassphrase(context, false, question));
    if (typed) known.text = answer;
    return answer;
  };
  return askUntil(
    async (failure) => {
      if (failure) {
        sent = unsent ?? (await ask());
        unsent = undefined;
      }
      return work(sent);
    },
    (failure) => isPassphraseRefused(failure) && (unsent !== undefined || mayAsk),
    typed && owner === undefined ? TRIES : 1 + TRIES,
  ).catch((error) => {
    if (owner === undefined || sent !== undefined || !isPassphraseRefused(error)) throw error;
    const refused = isWithheld ? error.and(isFor(owner)) : error;
    throw refused.with({ steps: phrase('give-passphrase-there') });
  });
}

const isFor = (owner: string) => `PWPUSH_PASSPHRASE is for ${owner}`;

function isPassphraseRefused(failure: unknown): failure is CliError {
  return failure instanceof CliError && failure.code === 'passphrase' && failure.status === 401;
}

/** The response for an expired push is 200 without a payload (docs/wire.md, "Endpoints"). */
function readable(push: Push): Push {
  const files = (push.files ?? []).length > 0;
  if (files || push.payload) return push;
  if (push.expired === true) {
    throw new CliError('expired', 'the push has expired', {
      steps: 'ask the sender for a new one',
    });
  }
  if (typeof push.payload === 'string') return push;
  throw failedError('the instance returned a push without a text');
}

/**
 * Takes the answer to a request, as a push, so that it goes where a secret goes.
 * @param link of the request, for a hint
 * @throws CliError (not_found) if it is not there yet, (expired) if the request is closed
 */
async function readAnswer(
  requests: Pick<RequestApi, 'read'>,
  token: string,
  passphrase: string | undefined,
  link?: string,
): Promise<Push> {
  // An instance does not say whether an answer can be read again: a field of pushes must not say so either.
  const { response, views_remaining: _, ...request } = await requests.read(token, passphrase);
  if (response || (request.files ?? []).length > 0) return { ...request, payload: response ?? '' };
  if (request.state === 'ready')
    throw new CliError('forbidden', 'only the owner of the request can take its answer', {
      steps: 'log in as its owner with pwpush login',
    });
  if (request.state === 'closed')
    throw new CliError('expired', 'the request is closed', {
      steps: {
        text: 'it was read already, closed, or not answered in time; the audit log says which',
        command: link && `pwpush audit ${shellWord(link)}`,
      },
    });
  throw new CliError('not_found', 'the request has no answer yet', {
    steps: 'wait for it with pwpush wait',
  });
}
