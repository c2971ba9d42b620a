import { knownPassphrase, type PassphraseSource } from '../../cli/passphrase';
import type { Entry } from '../../cli/terminal/output';
import { count, left, usedBefore } from '../../cli/terminal/wording';
import type { Push } from '../../contract/decode';
import { deliver } from '../../deliver/deliver';
import { type PlacePlan, reservePlace } from '../../deliver/place';
import type { BegunDownload } from '../../keep/interrupted-download';
import { describe } from '../../keep/kept';
import { requestKeys } from '../../keep/load-request-keys';
import { RescueStore } from '../../keep/rescue-store';
import { asCliError } from '../../platform/errors';
import { connect } from '../../profile/connect';
import {
  type ConnectedItem,
  type ItemReference,
  itemAt,
  type LocatedItem,
  referenceOf,
} from '../../profile/references';
import type { Sources } from '../../profile/target';
import { type DecryptionKeys, type KeySources, keysOf, readKeys } from '../../take/decryption-keys';
import { openPush } from '../../take/open-push';
import { type Retrieval, type Retriever, retrievalOf } from '../../take/retrieval';
import { answerKeys, retrieveFrom, takeSaved } from '../../take/retrieve';

export interface GetPlan {
  readonly from:
    | { readonly push: LocatedItem }
    | KeptOrigin
    /** `file` is a saved text; the link `push` may contain its key. */
    | { readonly file: string; readonly push: ItemReference | undefined };
  readonly keys: KeySources;
  readonly passphrase: PassphraseSource;
  readonly place: PlacePlan;
  readonly placed: boolean;
  readonly files: boolean;
}

/** An interrupted run saved the file `kept`; the link `push` may contain its key. */
interface KeptOrigin {
  readonly kept: string;
  readonly push: ItemReference | undefined;
  readonly sources: Sources;
}

interface PushSource {
  retrieve(): Promise<Retrieval>;
  /** The interrupted download that this run resumes; its text was delivered before. */
  readonly kept?: BegunDownload;
}

export async function run(entry: Entry, plan: GetPlan): Promise<void> {
  const { context, say } = entry;
  const { from, passphrase, place } = plan;
  const keys = await readKeys(plan.keys, context);
  if ('file' in from) {
    const saved = await takeSaved(entry, from.file, from.push?.key);
    return get(entry, plan, keys, { retrieve: async () => saved });
  }
  // A secret that cannot be saved is printed on standard output, unless that is the log of a job.
  const stdout = place.to === 'job' ? undefined : context.stdout;
  const retriever = { context, say, store: new RescueStore(context, 'for-later', stdout) };
  if ('kept' in from) return resume(retriever, plan, keys, from);
  const item = await connect(entry, from.push);
  const known = await knownPassphrase(passphrase, context);
  const retrieve = async () =>
    retrieveFrom(retriever, item, known, await keysOf(context, item, keys));
  return get(entry, plan, keys, { retrieve });
}

async function resume(
  retriever: Retriever,
  plan: GetPlan,
  keys: DecryptionKeys,
  { kept: path, push, sources }: KeptOrigin,
): Promise<void> {
  const { context } = retriever;
  const { claimKeptDownload } = await import('../../keep/interrupted-download');
  const kept = claimKeptDownload(path, context, push?.token);
  try {
    const reference = push ?? referenceOf(kept.link, context);
    const item = await connect(retriever, itemAt(sources, reference));
    await get(retriever, plan, keys, { retrieve: () => resumed(retriever, item, kept), kept });
  } finally {
    kept.file.release();
  }
}

async function get(
  entry: Entry,
  plan: GetPlan,
  keys: DecryptionKeys,
  { retrieve, kept }: PushSource,
): Promise<void> {
  const { context } = entry;
  const wanted: PlacePlan =
    kept?.folder && !plan.placed ? { to: 'rest', force: false, folder: kept.folder } : plan.place;
  const { files } = plan;
  const place = await reservePlace(entry, wanted, {
    files,
    onlyFiles: kept !== undefined,
    instead: 'get-unseen',
  });
  const opening = { ...keys, ...(wanted.to === 'job' && { inClear: 'refuse' as const }) };
  let retrieval: Retrieval;
  try {
    retrieval = await opened(await retrieve(), opening, files);
  } catch (error) {
    await place.discard();
    throw error;
  }
  if (kept) retrieval = { ...retrieval, push: kept.rest(retrieval.push) };
  context.releaseTerminal();
  // If stdout and stderr share a pipe, a note after the text could be taken for a part of it.
  if (!context.stdout.isTTY) await noteRest(retrieval, files);
  const failure = await deliver(retrieval, place, files);
  if (context.stdout.isTTY) await noteRest(retrieval, files);
  if (failure) throw failure;
  await place.text?.finish?.(retrieval);
  await forgetKey(retrieval, plan);
}

async function resumed(
  retriever: Retriever,
  item: ConnectedItem,
  { answer, file, link, partial, push }: BegunDownload,
): Promise<Retrieval> {
  const { api, key: linkKey } = item;
  const details = { link, linkKey, partial, kept: file };
  if (!answer)
    return retrievalOf(retriever, api, { ...details, push: { ...push, earlier_views: null } });
  const { keyForAnswer } = await requestKeys();
  const key = keyForAnswer(retriever.context, item, push.public_key);
  return retrievalOf(retriever, api, {
    ...details,
    push,
    answer: answerKeys(retriever, item, key),
  });
}

/** Decrypts a push. If that fails, saves it encrypted, with its files if `withFiles` is true. */
async function opened(
  sealed: Retrieval,
  keys: DecryptionKeys,
  withFiles: boolean,
): Promise<Retrieval> {
  try {
    return await openPush(sealed, keys);
  } catch (error) {
    const { rescuePushes } = await import('../../deliver/download');
    const wanted = withFiles ? sealed : { ...sealed, push: { ...sealed.push, files: [] } };
    throw describe(asCliError(error), ...(await rescuePushes([wanted])));
  }
}

async function noteRest(
  { answer, context, fromFile, push, say }: Retrieval,
  withFiles: boolean,
): Promise<void> {
  const files = push.files?.length ?? 0;
  if (files > 0 && !withFiles && !fromFile)
    await say.remark(`${count(files, 'file')} not downloaded${answer ? '' : costOfMore(push)}`);
  const rest = answer
    ? ['answer deleted from the instance; the request is closed']
    : [left(push, context.now()), usedBefore(push)];
  for (const text of rest) if (text !== undefined) await say.remark(text);
}

/** The owner of a push uses no view, but the response does not say whether the user is the owner. */
function costOfMore({ views_remaining: left, earlier_views: earlier }: Push): string {
  if (left === 0) return '';
  return `: another get uses a view${typeof earlier === 'number' ? '' : ', unless the push is yours'}`;
}

async function forgetKey({ answer, push, say }: Retrieval, plan: GetPlan): Promise<void> {
  const unopened = !plan.keys.decrypt || (!plan.files && push.files?.length);
  if (!answer || unopened) return;
  const { forgetKey } = await requestKeys();
  await forgetKey(say, answer.key, answer.state);
}
