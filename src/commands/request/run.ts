import { EventEmitter, once } from 'node:events';
import { newKeyPair, parseIdentities } from '../../age/key-files';
import { askUntil } from '../../cli/ask-until';
import { newPassphrase, readPassphrase } from '../../cli/passphrase';
import { worded } from '../../cli/report-error';
import { readSecret, type Source } from '../../cli/source';
import { type Entry, toJson } from '../../cli/terminal/output';
import { safe as printable } from '../../cli/terminal/safe';
import { expiry } from '../../cli/values';
import type { HereEvent } from '../../contract/here-event';
import type { ClosingFields } from '../../contract/lifetime';
import { deliver } from '../../deliver/deliver';
import {
  copyLink,
  drawing,
  isForPhones,
  printCreated,
  reachNote,
} from '../../deliver/deliver-link';
import { rescuePushes } from '../../deliver/download';
import { type PlacePlan, reservePlace } from '../../deliver/place';
import { describe } from '../../keep/kept';
import { RescueStore } from '../../keep/rescue-store';
import type { Context } from '../../platform/context';
import { asCliError, attempt, CliError, endedBy, phrase, usageError } from '../../platform/errors';
import { clientOf, connect, type Instance } from '../../profile/connect';
import {
  checkListening,
  type EphemeralInstance,
  LOST,
  withEphemeral,
} from '../../profile/ephemeral';
import type { ConnectedItem } from '../../profile/references';
import type { Target } from '../../profile/target';
import { openFiles } from '../../send/content';
import { createRequest } from '../../send/create';
import { type QuestionPlan, remarkClear } from '../../send/draft';
import { closing } from '../../send/expiry';
import { labelsOf } from '../../send/judge';
import { openPush } from '../../take/open-push';
import type { Retrieval } from '../../take/retrieval';
import { takeAnswer } from '../../take/retrieve';
import { DEFAULT_INTERVAL, timeLimit, waitForAnswer } from '../../take/waiting';

export interface RequestPlan extends QuestionPlan {
  readonly place: InstancePlace | EphemeralPlace;
}

interface InstancePlace {
  readonly kind: 'instance';
  readonly target: Target;
  /** `most` is in seconds. Undefined if the run does not wait for the answer. */
  readonly wait: { readonly most: number | undefined } | undefined;
}

interface EphemeralPlace {
  readonly kind: 'ephemeral';
  readonly host: string;
  readonly port: number;
  readonly output: PlacePlan;
}

/** The number of visitors that are named: the lines of more would push the link off the screen. */
const VISITORS = 20;
const PAUSE_MS = 500;

export async function run(entry: Entry, plan: RequestPlan): Promise<void> {
  const { content, limits, seal, place, result } = plan;
  if (place.kind === 'ephemeral') return serve(entry, plan, place);
  const { context } = entry;
  const { files, close } = await openFiles(content, context);
  try {
    if (seal.encryption) await remarkClear([...labelsOf(content.details), 'question'], entry.say);
    const question = await readSecret({ from: content.question, raw: false }, context, 'ask');
    const closes = limits.closes ?? (await offerExpiry(content.question, entry));
    const passphrase = await newPassphrase(seal.passphrase, context);
    context.releaseTerminal();
    const instance = await connect(entry, place);
    const draft = { plan, question, closes, files, passphrase };
    const created = await createRequest(draft, instance, entry);
    const failure = await printCreated(entry, created, result);
    if (!seal.encryption) await entry.say.note('the instance can read the answer');
    if (failure) throw failure;
    if (place.wait) await waitFor(entry, place.wait.most, instance, created.token);
  } finally {
    await close();
  }
}

/** @param most in seconds; also the longest time for one response */
async function waitFor(
  entry: Entry,
  most: number | undefined,
  { api, target }: Instance,
  token: string,
): Promise<void> {
  const limit = timeLimit(entry, most, target);
  await limit.ending('answer', async () => {
    const asking = most === undefined ? api : await clientOf(limit.entry, limit.target);
    const waiting = { interval: DEFAULT_INTERVAL, most };
    await waitForAnswer(limit.entry, waiting, { api: asking, target, token });
  });
}

/** Asks a user who typed the question for an expiry, too; Enter alone means the default of the instance. */
async function offerExpiry(
  source: Source,
  { context, say }: Entry,
): Promise<ClosingFields | undefined> {
  if (source.name !== 'prompt') return undefined;
  const prompter = await context.prompter();
  const question = "Close after, such as 6h or 1w (Enter for the instance's default):";
  return askUntil(
    async (failure) => {
      if (failure instanceof CliError) {
        const { message, hint } = worded(failure);
        await say.note(`${message}; ${hint}`);
      }
      const typed = (await prompter.text(question)).trim();
      return typed === '' ? undefined : closing(expiry(typed, 'it'), context);
    },
    (failure) => failure instanceof CliError && failure.code === 'usage',
  );
}

async function serve(entry: Entry, plan: RequestPlan, place: EphemeralPlace): Promise<void> {
  const { context } = entry;
  const { host, port } = place;
  const wanted = { files: plan.limits.takesFiles, instead: 'output-unseen' } as const;
  const output = await reservePlace(entry, place.output, wanted);
  const moments = new EventEmitter();
  const report = reporter(entry, once(moments, 'delivered'));
  let answer: Retrieval | undefined;
  try {
    await checkListening(host, port);
    const passphrase = await readPassphrase(plan.seal.passphrase, context, true);
    context.releaseTerminal();
    const settings = { kind: 'request', host, port } as const;
    await withEphemeral(entry, settings, report, async (instance) => {
      answer = await askAt(instance, entry, plan, passphrase);
      const failure = await deliver(answer, output, true);
      if (failure)
        throw context.signal.aborted
          ? failure.with({ code: endedBy(context.signal).code })
          : failure;
      moments.emit('delivered');
      await instance.settled();
    });
  } catch (error) {
    if (!answer) await output.discard();
    throw error;
  }
}

async function askAt(
  instance: EphemeralInstance,
  entry: Entry,
  plan: RequestPlan,
  passphrase: string | undefined,
): Promise<Retrieval> {
  const { content, limits } = plan;
  const { identity, recipient } = newKeyPair();
  const question = await readSecret({ from: content.question, raw: false }, entry.context, 'ask');
  const { closes } = limits;
  const draft = { plan, question, closes, passphrase: { text: passphrase }, recipient };
  const { token, link } = await createRequest(draft, instance, entry);
  await showLink(entry, plan.result, { token, link, exposed: instance.exposed });
  if ((await instance.ended()) === 0) throw new CliError('expired', phrase('nobody-answered'));
  return openAnswer(entry, { ...instance, token }, { identity, passphrase });
}

/** @param delivered resolves once the answer is delivered; a lost response is reported only after that */
function reporter(
  { context, say }: Entry,
  delivered: Promise<unknown>,
): (event: HereEvent) => void {
  const visitors = new Set<string | null>();
  return ({ event, ip }) => {
    const someone = printable(ip ?? 'someone');
    if (event === 'lost')
      void delivered.then(() => {
        context.happened?.({ event });
        return say.warn(`${someone} ${LOST}`);
      });
    if (event !== 'opened' || visitors.has(ip) || visitors.size === VISITORS) return;
    visitors.add(ip);
    void say.note(`${someone} opened the page`);
  };
}

/** Prints the link on stderr, because stdout is for the answer. With --json, stdout has both. */
async function showLink(
  entry: Entry,
  { copy, qr }: RequestPlan['result'],
  { token, link, exposed }: { token: string; link: string; exposed: boolean },
): Promise<void> {
  const { context, say } = entry;
  const after = qr ? reachNote(link) : [];
  const below = [link, ...after, exposed ? `warning: ${EXPOSED}` : WAITING];
  // A terminal of 24 lines has no room for WAITING and the warning below a QR code.
  if (exposed) await say.remark(WAITING);
  if (qr || isForPhones(entry, link)) await (await drawing()).drawQr(entry, link, below);
  if (say.manner.json) await say.printText(`${toJson({ url_token: token, html_url: link })}\n`);
  else if (context.happened) context.happened({ event: 'link', link });
  else if (context.stderr.closed)
    throw usageError('cannot show the link: standard error is closed');
  else await say.announce(link);
  for (const line of after) await say.remark(line);
  if (copy) await copyLink(entry, link);
  if (exposed) await say.warn(EXPOSED);
  else await say.remark(WAITING);
}

const EXPOSED = 'plain http: someone who changes the page on its way can read the answer';
const WAITING = 'waiting for an answer … (Ctrl-C ends it)';

/** Decrypts the answer. If that fails, saves it, because it is only in the memory of this run. */
async function openAnswer(
  { context, say }: Entry,
  item: Pick<ConnectedItem, 'api' | 'target' | 'token'>,
  { identity, passphrase }: { identity: string; passphrase: string | undefined },
): Promise<Retrieval> {
  const bytes = `${identity}\n`;
  const store = new RescueStore(context, 'now', context.stdout);
  const key = { identities: parseIdentities(identity), recipient: undefined, path: undefined };
  const known = { text: passphrase, typed: false, byOption: true };
  const taken = await whenFree(context, () =>
    takeAnswer({ context, say, store }, item, known, key),
  );
  // Ctrl-C ends the delivery, but not the rescue after it; a second Ctrl-C ends the run.
  const sealed = { ...taken, signal: new AbortController().signal };
  try {
    const opened = await openPush(sealed, { identities: [], decrypt: true, inClear: 'warn' });
    return { ...opened, signal: context.signal, ephemeral: { sealed, key: bytes } };
  } catch (error) {
    const failure = asCliError(error);
    const kept = await rescuePushes([sealed]);
    // Saves the key, which is only in memory, unless it does not fit the answer.
    if (failure.code !== 'passphrase') kept.push(await store.keep({ part: 'key', bytes }));
    throw describe(failure, ...kept);
  }
}

/** Repeats `work` while the service is busy, because the answer is only in the memory of this run. */
async function whenFree<T>({ sleep }: Context, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const outcome = await attempt(work);
    if (!(outcome instanceof CliError)) return outcome;
    if (outcome.code !== 'rate_limited' && outcome.status !== 503) throw outcome;
    await sleep(PAUSE_MS);
  }
}
