import { knownPassphrase, type PassphraseSource } from '../../cli/passphrase';
import type { Entry } from '../../cli/terminal/output';
import { count, left, usedBefore } from '../../cli/terminal/wording';
import type { Push } from '../../contract/decode';
import { deliverPush } from '../../deliver/deliver-push';
import { lostPush } from '../../deliver/lost';
import { type Place, type PlacePlan, reservePlace } from '../../deliver/place';
import type { BegunDownload } from '../../keep/interrupted-download';
import { newSafe } from '../../keep/safekeeping';
import { asCliError, type CliError } from '../../platform/errors';
import type { Named, NamedItem, Session } from '../../profile/session';
import {
  type DecryptionKeys,
  type KeySources,
  type PushKeys,
  readKeys,
} from '../../take/decryption-keys';
import { openPush } from '../../take/open-push';
import { retrieveFrom, stateOf } from '../../take/retrieve';
import { takeSaved } from '../../take/saved-ciphertext';
import { type SafeRun, type Taken, type Taking, takingOf, withPush } from '../../take/taking';

/** 9 ms, with what parses private keys. */
const requestKeys = () => import('../../keep/request-keys');

/** What to open, with which keys, and where it goes. */
export interface GetPlan {
  readonly from:
    | { readonly push: Named }
    /** What an interrupted run kept; the link may give its key. */
    | { readonly kept: string; readonly push: Named | undefined }
    /** A file that was saved; the link may give its key. */
    | { readonly file: string; readonly push: Named | undefined };
  readonly keys: KeySources;
  readonly passphrase: PassphraseSource;
  readonly place: PlacePlan;
  /** The user named the place. */
  readonly placed: boolean;
  readonly files: boolean;
}

/** Reserves the place, uses the view, and writes the push there or to a rescue file. */
export async function run(session: Session, plan: GetPlan): Promise<void> {
  const { from } = plan;
  if ('file' in from) return getSaved(session, plan, from.file, from.push);
  if ('kept' in from) return finish(session, plan, from.kept, from.push);
  const { context } = session;
  const keys = await readKeys(plan.keys, context);
  const named = await session.connectTo(from.push);
  const passphrase = await knownPassphrase(plan.passphrase, context);
  const place = await reserve(session, plan.place, plan.files);
  const run = safeRun(session, plan);
  const taking = await orDiscard(place, async () => {
    const sealed = await retrieveFrom(run, named, passphrase, keys);
    return opened(sealed, keysFor(named, keys, place), plan.files);
  });
  const failure = await delivered(session, taking, place, plan.files);
  if (failure) throw failure;
  await place.finish?.(taking);
  await forgetKey(session, taking, plan);
}

/** Finishes what an interrupted run has begun: without its text, which was delivered then. */
async function finish(session: Session, plan: GetPlan, path: string, push?: Named): Promise<void> {
  const { context } = session;
  const { claimKeptDownload } = await import('../../keep/interrupted-download');
  const kept = claimKeptDownload(path, context, push?.token);
  try {
    const keys = await readKeys(plan.keys, context);
    const named = await session.connectTo(push ?? session.reference(kept.link));
    // Where that run saved files, unless the command line says where.
    const wanted: PlacePlan =
      plan.placed || !kept.folder ? plan.place : { to: 'rest', force: false, folder: kept.folder };
    const place = await reserve(session, wanted, plan.files, true);
    const run = safeRun(session, plan);
    const taking = await orDiscard(place, async () => {
      const sealed = await resumed(run, named, kept);
      const whole = await opened(sealed, keysFor(named, keys, place), plan.files);
      return withPush(whole, kept.rest(whole.taken.push));
    });
    const failure = await delivered(session, taking, place, plan.files);
    // A failure that names another such file replaced this one.
    if (!failure || failure.remains?.saved_to !== undefined) kept.remove();
    if (failure) throw failure;
    await forgetKey(session, taking, plan);
  } finally {
    kept.release();
  }
}

/** Writes what a file has to the place; a link may give its key. */
async function getSaved(session: Entry, plan: GetPlan, path: string, push?: Named): Promise<void> {
  const keys = { ...(await readKeys(plan.keys, session.context)), linkKey: push?.key };
  const saved = await takeSaved(session, path);
  const place = await reserve(session, plan.place, plan.files);
  const taking = await orDiscard(place, () => openPush(saved, keys));
  session.context.asked();
  const failure = await deliverPush({ ...taking, place }, plan.files);
  if (failure) throw failure;
  await place.finish?.(taking);
}

/** Standard output takes a secret that can go nowhere else, except where it is the log of a job. */
function safeRun({ context, say }: Entry, { place }: GetPlan): SafeRun {
  const stdout = place.to === 'job' ? undefined : context.stdout;
  return { context, say, safe: newSafe(context, true, stdout) };
}

const reserve = (session: Entry, place: PlacePlan, files: boolean, onlyFiles = false) =>
  reservePlace(session, place, { files, onlyFiles, instead: 'get-unseen' });

async function orDiscard<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await place.discard();
    throw error;
  }
}

const keysFor = ({ key }: Named, keys: DecryptionKeys, { plan }: Place): PushKeys => ({
  ...keys,
  linkKey: key,
  strict: plan.to === 'job',
});

async function delivered(
  session: Entry,
  taking: Taking,
  place: Place,
  files: boolean,
): Promise<CliError | undefined> {
  const { context } = session;
  context.asked();
  // Before a text in a pipe: after it, stdout and stderr could run together in the same place.
  if (!context.stdout.isTTY) await noteRest(session, taking.taken, files);
  const failure = await deliverPush({ ...taking, place }, files);
  if (context.stdout.isTTY) await noteRest(session, taking.taken, files);
  return failure;
}

/** Takes what an interrupted run kept as if it had been retrieved now. */
async function resumed(
  run: SafeRun,
  named: NamedItem,
  { answer, link, partial, push }: BegunDownload,
): Promise<Taking> {
  const found = { link, partial, push, sealed: push };
  if (!answer) {
    const taken = { ...found, push: { ...push, earlier_views: null }, answer: undefined };
    return takingOf(run, named.api, taken);
  }
  const { keyForAnswer } = await requestKeys();
  const key = keyForAnswer(run.context, named, push.public_key);
  const answerKeys = { key, publicKey: named.publicKey, state: () => stateOf(run, named) };
  return takingOf(run, named.api, { ...found, answer: answerKeys });
}

/** Decrypts it; if that fails it is saved as it is, with its files unless they are not wanted. */
async function opened(sealed: Taking, keys: PushKeys, withFiles: boolean): Promise<Taking> {
  try {
    return await openPush(sealed, keys);
  } catch (error) {
    const { push } = sealed.taken;
    const taking = withFiles ? sealed : withPush(sealed, { ...push, files: [] });
    await sealed.safe.keep(lostPush(taking));
    throw sealed.safe.explain(asCliError(error));
  }
}

/** Says what of the push is left at the instance, and how many views were used before. */
async function noteRest({ context, say }: Entry, { push, answer }: Taken, withFiles: boolean) {
  const files = push.files?.length ?? 0;
  if (files > 0 && !withFiles)
    await say.remark(`${count(files, 'file')} not downloaded${answer ? '' : costOfMore(push)}`);
  const rest = answer
    ? ['answer deleted from the instance; the request is closed']
    : [left(push, context.now()), usedBefore(push)];
  for (const text of rest) if (text !== undefined) await say.remark(text);
}

/** Whether to get a push again uses a view: not for its owner, whom its response does not name. */
function costOfMore({ views_remaining: left, earlier_views: earlier }: Push): string {
  if (left === 0) return '';
  return `: another get uses a view${typeof earlier === 'number' ? '' : ', unless the push is yours'}`;
}

/** Removes the key of an answer that was delivered whole. */
async function forgetKey({ say }: Entry, { taken }: Taking, plan: GetPlan): Promise<void> {
  const { answer, push } = taken;
  const unopened = !plan.keys.decrypt || (!plan.files && push.files?.length);
  if (!answer || unopened) return;
  const { forgetKey } = await requestKeys();
  await forgetKey(say, answer.key, answer.state);
}
