import { newKeyPair, parseIdentities } from '../../age/key-files';
import { checkPassphrase, readPassphrase } from '../../cli/passphrase';
import { fromHere } from '../../cli/service-io';
import { checkStandardInput } from '../../cli/source';
import { type Invocation, invocation, toJson } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { filled } from '../../cli/values';
import { apiClient } from '../../client/client';
import { withKey } from '../../client/link';
import { deliverPush } from '../../open/deliver-push';
import { openPush } from '../../open/open-push';
import { type OutputPlace, reserveOutput } from '../../open/output-place';
import { retrieve } from '../../open/retrieve';
import { newSafe } from '../../open/safekeeping';
import { readAnswer } from '../../open/take-answer';
import { type LostFiles, type LostText, type Safe, type Taking, withPush } from '../../open/taking';
import type { Context } from '../../platform/context';
import { asCliError, attempt, CliError, endedBy, usageError } from '../../platform/errors';
import { aborted } from '../../platform/files/abort';
import { askedFor } from '../../share/create';
import type { RequestOptions } from './request-flags';

/** The addresses of this machine. */
const EVERYWHERE = '0.0.0.0';
const QUESTION = 'Please enter the secret.';
/** Visitors who are named: more lines would push the link off the screen. */
const VISITORS = 20;
const PAUSE_MS = 500;

type Served = Awaited<ReturnType<typeof start>>;

/** Serves a question from the memory of this machine until it is answered, and delivers the answer. */
export async function serveQuestion(context: Context, options: RequestOptions): Promise<void> {
  const run = invocation(context, options);
  checkHereOptions(options, context);
  const passphrase = await readPassphrase(options, context, true);
  context.asked();
  const output = { ...options, files: options.allowFiles, copy: false, qr: false };
  const place = await reserveOutput(run, output, 'use --output FILE');
  const { identity, recipient } = newKeyPair();
  context.interrupts.enter({ mode: 'own' });
  const { signal: stop } = context;
  let here: Served | undefined;
  try {
    here = await start(run, options, requestOf(options, passphrase, recipient));
    if (stop.aborted) throw endedBy(stop);
    await showLink(run, options, here, withKey(`${here.base}/r/${here.token}`, recipient));
    const { notifying } = await import('../../cli/terminal/desktop');
    const served = here;
    await notifying(
      run,
      () => 'the answer is here',
      () => untilAnswered(run, served, stop),
    );
  } catch (error) {
    await place.discard?.();
    await here?.close();
    throw error;
  }
  try {
    await deliver(run, options, { here, place, identity, passphrase });
  } finally {
    await here.close();
  }
}

/** @throws CliError (usage) for passphrases from two sources */
function checkHereOptions(options: RequestOptions, context: Context): void {
  checkPassphrase(options, context);
  checkStandardInput(options);
}

function requestOf(
  { text = QUESTION, expire, allowFiles }: RequestOptions,
  passphrase: string | undefined,
  recipient: string,
): object {
  return askedFor({
    request: filled(text, 'the question'),
    public_key: recipient,
    close_after: expire?.close_after,
    response_file_attachments: allowFiles || undefined,
    passphrase,
  });
}

function start(run: Invocation, options: RequestOptions, request: object) {
  const { host = EVERYWHERE, port = 0, tlsCert, tlsKey } = options;
  const visitors = new Set<string | null>();
  return fromHere(run, ({ serveRequest }, io) =>
    serveRequest({ host, port, tlsCert, tlsKey }, io, request, (ip) => {
      if (visitors.has(ip) || visitors.size === VISITORS) return;
      visitors.add(ip);
      void run.say.note(`${safe(ip ?? 'someone')} opened the page`);
    }),
  );
}

/** On stderr, as standard output is for the answer; with --json there is room for both. */
async function showLink(
  { context, say }: Invocation,
  options: RequestOptions,
  { token, exposed }: Served,
  link: string,
): Promise<void> {
  if (exposed)
    await say.warn(
      'plain http: someone who changes the page on its way can read the answer; see --tls-cert',
    );
  if (!options.qr)
    await (await import('../../cli/terminal/qr')).drawServed({ context, options, say }, link);
  if (options.json) await say.printText(`${toJson({ url_token: token, html_url: link })}\n`);
  else if (context.stderr.closed)
    throw usageError('cannot show the link: standard error is closed');
  else await say.announce(link);
  if (options.copy) {
    const { copyLink } = await import('../../share/deliver-link');
    await copyLink({ context, options, say }, link);
  }
  if (options.qr) await (await import('../../cli/terminal/qr')).drawQr(say, link);
}

async function untilAnswered({ say }: Invocation, here: Served, stop: AbortSignal): Promise<void> {
  await say.remark('waiting for an answer … (Ctrl-C ends it)');
  const answered = await Promise.race([here.ended, aborted(stop)]);
  if (answered === undefined) throw endedBy(stop);
  if (!answered) throw new CliError('expired', 'nobody answered in time');
}

interface Received {
  readonly here: Served;
  readonly place: OutputPlace;
  /** The private key. */
  readonly identity: string;
  readonly passphrase: string | undefined;
}

/** As `get` delivers an answer; what cannot be delivered is saved, as it is in the memory of this run alone. */
async function deliver(
  { context, say }: Invocation,
  options: RequestOptions,
  { here, place, identity, passphrase }: Received,
): Promise<void> {
  const api = apiClient({
    base: here.base,
    userAgent: `pwpush/${context.version}`,
    send: here.ask,
    now: context.now,
    sleep: context.sleep,
  });
  const known = { text: passphrase, typed: false };
  const read = (token: string, given?: string) => readAnswer(api.requests, token, given);
  const key: LostText = { what: 'key', bytes: `${identity}\n` };
  const safe = answerSafe(context, key, api.openFile);
  const push = await whenFree(context, () =>
    retrieve({ context, safe }, { retrieve: read }, here.token, known),
  );
  const identities = parseIdentities(identity);
  const answer = {
    key: { identities, recipient: undefined, path: undefined },
    publicKey: undefined,
  };
  const link = `${here.base}/r/${here.token}`;
  const output = { ...options, files: options.allowFiles, copy: false, qr: false };
  const sealed: Taking = {
    ...{ context, options: output, say, safe, file: api.openFile },
    // Ctrl-C ends the delivery, and not what saves the rest then; a second one ends the run.
    signal: new AbortController().signal,
    taken: { link, push, sealed: push, answer, partial: [] },
  };
  const none = {
    text: undefined,
    identities: [],
    decrypt: true,
    givenBy: undefined,
    linkKey: undefined,
  };
  const opened = await openPush(sealed, none).catch(async (error) => {
    await place.discard?.();
    const failure = asCliError(error);
    await safe.keep({ what: 'pushes', takings: [sealed] });
    // The key was never on the disk. One that does not fit opens nothing.
    if (failure.code !== 'passphrase') await safe.keep(key);
    throw safe.explain(failure);
  });
  const { signal } = context;
  const failure = await deliverPush({ ...opened, signal, options: output, place }, true);
  if (!failure) return;
  throw signal.aborted ? failure.with({ code: endedBy(signal).code }) : failure;
}

/**
 * A safe that fetches the files again which could not be saved, as no later run can: decrypted, or as they are if that fails,
 * with the key.
 */
function answerSafe(context: Context, key: LostText, sealedFile: Taking['file']): Safe {
  const safe = newSafe(context, false);
  const keepFiles = async ({ missing, taking }: LostFiles) => {
    const opened = { ...taking, signal: new AbortController().signal };
    const damaged: string[] = [];
    for (const url of missing) if (!(await canBeRead(opened, url))) damaged.push(url);
    const whole = missing.filter((url) => !damaged.includes(url));
    const sealed = { ...withPush(opened, taking.taken.sealed), file: sealedFile };
    const takings = [withFiles(opened, whole), withFiles(sealed, damaged)].flat();
    await safe.keep({ what: 'pushes', takings });
    if (damaged.length > 0) await safe.keep(key);
  };
  return {
    ...safe,
    keep: (part) => (part.what === 'files' ? keepFiles(part) : safe.keep(part)),
  };
}

/** An answer that a busy service does not give is asked for again: it is in the memory of this run alone. */
async function whenFree<T>(context: Context, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const outcome = await attempt(work);
    if (!(outcome instanceof CliError)) return outcome;
    if (outcome.status !== 429 && outcome.status !== 503) throw outcome;
    await context.sleep(PAUSE_MS);
  }
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
