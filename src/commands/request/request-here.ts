import { EventEmitter, once } from 'node:events';
import { newKeyPair, parseIdentities } from '../../age/key-files';
import { checkPassphrase, readPassphrase } from '../../cli/passphrase';
import { checkStandardInput } from '../../cli/source';
import { type Invocation, invocation, toJson } from '../../cli/terminal/output';
import { safe as printable } from '../../cli/terminal/safe';
import { filled } from '../../cli/values';
import type { HereEvent } from '../../contract/here-event';
import { copyLink } from '../../deliver/deliver-link';
import { deliverPush } from '../../deliver/deliver-push';
import { keepPushes, lostPush } from '../../deliver/download';
import { type OutputOptions, reserveOutput } from '../../deliver/output-place';
import { type LostRest, type LostText, newSafe, type Safe } from '../../keep/safekeeping';
import type { Context } from '../../platform/context';
import { asCliError, attempt, CliError, endedBy, usageError } from '../../platform/errors';
import { type HereInstance, LOST, withHere } from '../../profile/here';
import { createRequest } from '../../send/create-request';
import { openPush } from '../../take/open-push';
import { retrieveFrom } from '../../take/retrieve';
import { type Taking, withPush } from '../../take/taking';
import type { RequestOptions } from './request-flags';
import { fieldsOf } from './run-request';

/** The addresses of this machine. */
const EVERYWHERE = '0.0.0.0';
const QUESTION = 'Please enter the secret.';
/** Visitors who are named: more lines would push the link off the screen. */
const VISITORS = 20;
const PAUSE_MS = 500;

/** Asks from the memory of this machine: serves the question until it is answered, and delivers the answer. */
export async function requestHere(context: Context, options: RequestOptions): Promise<void> {
  const { text = QUESTION, expire, host = EVERYWHERE, port = 0 } = options;
  const run = invocation(context, options);
  checkPassphrase(options, context);
  checkStandardInput(options);
  const fields = fieldsOf(filled(text, 'the question'), expire, options);
  const passphrase = await readPassphrase(options, context, true);
  context.asked();
  const output = { ...options, files: options.allowFiles, copy: false, qr: false };
  const place = await reserveOutput(run, output, 'use --output FILE');
  const { identity, recipient } = newKeyPair();
  const settings = { kind: 'request', host, port } as const;
  const { signal } = context;
  const moments = new EventEmitter();
  const delivered = once(moments, 'delivered');
  let isDelivering = false;
  try {
    await withHere(run, settings, reporter(run, delivered), async (here) => {
      const { token, link } = await createRequest(run, here, {
        ...{ fields, files: undefined, passphrase: { text: passphrase } },
        newKey: () => ({ recipient, keep: () => {}, remove: () => {} }),
        ...{ account: undefined, acceptLimits: false, locale: options.locale },
      });
      if (here.exposed)
        await run.say.warn(
          'plain http: someone who changes the page on its way can read the answer',
        );
      await showLink(run, options, token, link);
      await run.say.remark('waiting for an answer … (Ctrl-C ends it)');
      if ((await here.ended()) === 0) throw new CliError('expired', 'nobody answered in time');
      const opened = await openAnswer(run, here, token, { output, identity, passphrase });
      isDelivering = true;
      const failure = await deliverPush({ ...opened, signal, options: output, place }, true);
      if (failure) throw signal.aborted ? failure.with({ code: endedBy(signal).code }) : failure;
      moments.emit('delivered');
      await here.settled();
    });
  } catch (error) {
    if (!isDelivering) await place.discard?.();
    throw error;
  }
}

/** @param delivered resolves when nothing but a lost response keeps the instance up */
function reporter({ say }: Invocation, delivered: Promise<unknown>): (event: HereEvent) => void {
  const visitors = new Set<string | null>();
  return ({ event, ip }) => {
    const someone = printable(ip ?? 'someone');
    if (event === 'lost') void delivered.then(() => say.warn(`${someone} ${LOST}`));
    if (event !== 'opened' || visitors.has(ip) || visitors.size === VISITORS) return;
    visitors.add(ip);
    void say.note(`${someone} opened the page`);
  };
}

/** On stderr, as standard output is for the answer; with --json there is room for both. */
async function showLink(
  run: Invocation,
  { copy, json, qr }: RequestOptions,
  token: string,
  link: string,
): Promise<void> {
  const { context, say } = run;
  const { drawQr, drawServed } = await import('../../cli/terminal/qr');
  if (!qr) await drawServed(run, link);
  if (json) await say.printText(`${toJson({ url_token: token, html_url: link })}\n`);
  else if (context.stderr.closed)
    throw usageError('cannot show the link: standard error is closed');
  else await say.announce(link);
  if (copy) await copyLink(run, link);
  if (qr) await drawQr(say, link);
}

interface Receiving {
  readonly output: OutputOptions;
  readonly identity: string;
  readonly passphrase: string | undefined;
}

const NO_KEYS = {
  ...{ text: undefined, identities: [], decrypt: true },
  ...{ givenBy: undefined, linkKey: undefined },
};

/** Takes and decrypts the answer; what cannot be decrypted is saved, as it is in the memory of this run alone. */
async function openAnswer(
  { context, say }: Invocation,
  here: HereInstance,
  token: string,
  { output, identity, passphrase }: Receiving,
): Promise<Taking> {
  const { api, target } = here;
  const key: LostText = { what: 'key', bytes: `${identity}\n` };
  const safe = newSafe(context, false);
  const held = { identities: parseIdentities(identity), recipient: undefined, path: undefined };
  const named = { api, target, token, base: target.base, kind: 'request', held } as const;
  const known = { text: passphrase, typed: false };
  const taken = await whenFree(context, () =>
    retrieveFrom({ context, options: output, say, safe }, named, known, NO_KEYS),
  );
  // Ctrl-C ends the delivery, and not what saves the rest then; a second one ends the run.
  const sealed = { ...taken, signal: new AbortController().signal };
  try {
    const opened = await openPush(sealed, NO_KEYS);
    return { ...opened, safe: answerSafe(sealed, opened, key) };
  } catch (error) {
    const failure = asCliError(error);
    await safe.keep(lostPush(sealed));
    // The key was never on the disk. One that does not fit opens nothing.
    if (failure.code !== 'passphrase') await safe.keep(key);
    throw safe.explain(failure);
  }
}

/** An answer that a busy service does not give is asked for again: it is in the memory of this run alone. */
async function whenFree<T>({ sleep }: Context, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const outcome = await attempt(work);
    if (!(outcome instanceof CliError)) return outcome;
    if (outcome.status !== 429 && outcome.status !== 503) throw outcome;
    await sleep(PAUSE_MS);
  }
}

/**
 * A safe that fetches the files again which could not be saved, as no later run can: decrypted, or as they are if that fails,
 * with the key.
 */
function answerSafe(sealed: Taking, opened: Taking, key: LostText): Safe {
  const { safe } = sealed;
  const keepFiles = async ({ download: { saved } }: LostRest) => {
    const damaged: string[] = [];
    const whole: string[] = [];
    for (const { url } of sealed.taken.push.files ?? [])
      if (!saved.includes(url)) ((await canBeRead(opened, url)) ? whole : damaged).push(url);
    await keepPushes(safe, [withFiles(opened, whole), withFiles(sealed, damaged)].flat());
    if (damaged.length > 0) await safe.keep(key);
  };
  return {
    ...safe,
    keep: (part) => (part.what === 'rest' ? keepFiles(part) : safe.keep(part)),
  };
}

/** The files of an answer with these addresses, without its text; nothing if there are none. */
function withFiles(taking: Taking, urls: readonly string[]): Taking[] {
  const { push } = taking.taken;
  const files = push.files?.filter(({ url }) => urls.includes(url)) ?? [];
  return files.length === 0 ? [] : [withPush(taking, { ...push, payload: '', files })];
}

/** Whether the file arrived as it was encrypted. */
async function canBeRead({ file }: Taking, url: string): Promise<boolean> {
  const outcome = await attempt(async () => {
    const { body } = await file(url);
    for await (const _ of body);
  });
  return !(outcome instanceof CliError);
}
