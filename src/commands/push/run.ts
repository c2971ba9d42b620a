import { statSync } from 'node:fs';
import { type NewPassphraseSource, newPassphrase } from '../../cli/passphrase';
import type { Content } from '../../cli/source';
import { type Entry, entryOf, toJson } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { limits } from '../../contract/api';
import { size } from '../../contract/byte-size';
import type { HereEvent } from '../../contract/here-event';
import type { Edition, Expiry } from '../../contract/lifetime';
import { isForPhones, ONLY_HERE, printCreated, reachedHere } from '../../deliver/deliver-link';
import { contextWith } from '../../platform/context';
import { CliError, phrase, usageError } from '../../platform/errors';
import { lazy } from '../../platform/files/lazy';
import { accountOf, type Instance } from '../../profile/connect';
import { checkHere, LOST, withHere } from '../../profile/here';
import type { Session } from '../../profile/session';
import type { SettingPlan } from '../../run/set-first';
import { withContent } from '../../send/content';
import {
  beginSealing,
  clearFieldsWarning,
  createPush,
  type Draft,
  keepReceipt,
  type PushDetails,
  type PushLimits,
  sealingFor,
  shownPush,
} from '../../send/create-push';
import type { SealPlan } from '../../send/encryption';
import { editionOf, isDate, sayExpiry, toldExpiry } from '../../send/expiry';

/** What to push, and how. */
export interface PushPlan {
  readonly content: Content;
  /** The text was typed where other users can read it. */
  readonly exposed: boolean;
  /** The text is generated, and JSON has the only place for it. */
  readonly generated: boolean;
  /** The command that sets the text first. */
  readonly setting: SettingPlan | undefined;
  readonly expiry: Expiry | undefined;
  /** The option that gave it, if that does not count days. */
  readonly expiryOption: string | undefined;
  /** Without the expiry, which instances take in different forms. */
  readonly limits: PushLimits;
  readonly details: PushDetails;
  readonly passphrase: NewPassphraseSource;
  /** A passphrase is asked for where the text is typed. */
  readonly offersPassphrase: boolean;
  readonly seal: SealPlan | undefined;
  /** `unknown` if nothing is configured, so that the user has to be asked. */
  readonly where: 'instance' | 'here' | 'unknown';
  /** The plan once that has changed: a new profile has defaults. */
  readonly again: () => Promise<Omit<PushPlan, 'content'>>;
  /** Where this machine serves it. */
  readonly host: string | undefined;
  readonly port: number;
  /** Whether this machine could serve it. */
  readonly servable: boolean;
  readonly acceptLimits: boolean;
  readonly locale: string | undefined;
  readonly receipt: boolean;
  /** Shows the request instead of sending it. */
  readonly dryRun: boolean;
  readonly copy: boolean;
  readonly qr: boolean;
}

/** The same for each line of a file. */
export interface EachPlan extends Omit<PushPlan, 'content'> {
  /** A path; `-` is standard input. */
  readonly lines: string;
}

/** Where nothing but this machine can reach it. */
const LOOPBACK = '127.0.0.1';

/** Reads the secret, creates the push, checks what was granted, and prints the link. */
export async function run(session: Session, plan: PushPlan): Promise<void> {
  if (plan.where === 'unknown') return run(session, await withPlace(session, plan));
  const { context, say } = session;
  const { seal, details, where } = plan;
  if (where === 'here') await checkHere(plan.host ?? LOOPBACK, plan.port);
  const setter = plan.setting && (await import('../../run/set-first'));
  const set = plan.setting && (await setter?.settingFirst(session, plan.setting));
  if (seal) await clearFieldsWarning(say)(details);
  if (plan.exposed)
    await say.remark(
      'hint: other users of this machine can read the command line; pipe the secret in instead',
    );
  // Does not repeat the text: it may be a secret after all, and standard error a log.
  if (namesFile(plan.content))
    await say.note(
      'hint: the text is the name of a file here; --file pushes the file, --from its text',
    );
  const sealing = seal && (await sealingFor(seal, session));
  const connected = lazy(() => session.connect());
  const edition = where === 'here' ? ownEdition : editionOf(session, connected, plan.dryRun);
  if (plan.dryRun) await sayExpiry(plan.expiry, 'expires', say);
  const told = await toldExpiry(plan.expiry, context.now(), edition);
  if (told.shorter !== undefined) await say.warn(told.shorter);
  const reading = { shown: set === undefined, before: async () => {} };
  await withContent(session, plan.content, reading, async ({ text, files, typed }) => {
    const passphrase = await newPassphrase(
      plan.passphrase,
      context,
      typed && plan.offersPassphrase,
    );
    context.asked();
    const draft: Draft = {
      ...{ text, files, passphrase, sealing, generated: plan.generated, details },
      limits: { ...plan.limits, ...told.fields },
    };
    if (where === 'here') return serve(session, plan, draft);
    if (plan.dryRun) return say.printText(await dryRun(session, draft));
    // While the transport loads.
    const begun = beginSealing(draft);
    const instance = await connected();
    const push = () => createAt(session, instance, plan, begun);
    const created = await (set ? set(instance, text ?? '', push) : push());
    const failure = await printCreated(session, created, plan);
    if (plan.receipt) await keepReceipt(session, created);
    if (failure) throw failure;
  });
}

/** Whether the text was typed, and is the name of a file. */
function namesFile(content: Content): boolean {
  if (!('text' in content) || content.text.from.name !== 'text') return false;
  const { value } = content.text.from;
  try {
    return /^\S+$/.test(value) && statSync(value).isFile();
  } catch {
    return false;
  }
}

/** `--here` serves with our own service. */
const ownEdition = async (): Promise<Edition> => 'pwpush';

function createAt(session: Entry, instance: Instance, plan: PushPlan, draft: Draft) {
  const { acceptLimits, locale, expiryOption } = plan;
  const account = accountOf(instance.target);
  const byDate = isDate(plan.expiry);
  return createPush(session, instance, {
    ...{ draft, account, acceptLimits, locale, expiryOption, byDate },
  });
}

async function dryRun({ target, say }: Session, draft: Draft): Promise<string> {
  const { dryRunText } = await import('../../send/dry-run');
  const { json } = say.manner;
  const { request, files } = await shownPush(draft);
  return dryRunText(target(), request, { json, files, encryption: draft.sealing?.mode });
}

/** With nothing configured, the user can log in, or serve the push from this machine. */
async function withPlace(session: Session, plan: PushPlan): Promise<PushPlan> {
  const { context, say } = session;
  await say.note('no instance is configured (to run your own: pwpush serve, in another terminal)');
  if (plan.servable && (await chooseWay(session)) === 'here')
    return { ...plan, where: 'here', receipt: false };
  const { login } = await import('../login');
  // stdout is for the link alone.
  const redirected = contextWith(context, { stdout: context.stderr });
  const sources = session.sources();
  await login(entryOf(redirected, say.manner), { address: undefined, keyring: false, sources });
  return { ...plan, ...(await plan.again()) };
}

async function chooseWay({ context }: Entry): Promise<'login' | 'here'> {
  const prompter = await context.prompter();
  return prompter.choose('How do you want to share this push?', [
    { name: 'log in to an instance and push there', short: 'on an instance', value: 'login' },
    {
      name: 'serve it from this machine until it is viewed (--here)',
      short: 'from this machine',
      value: 'here',
    },
  ]);
}

/**
 * Serves a push from the memory of this machine until all its views are taken, it expires, or a signal ends it: then it is
 * gone.
 * @throws CliError (expired) if nobody has viewed it
 */
async function serve(session: Entry, plan: PushPlan, draft: Draft): Promise<void> {
  const { context, say } = session;
  const { host, port, qr } = plan;
  refuseLarge(draft);
  const files = draft.files?.length ?? 0;
  const report = (event: HereEvent) => {
    const at = context.now().toISOString();
    if (say.manner.json) void say.printText(`${toJson({ ...event, at })}\n`).catch(() => {});
    else
      void say[event.event === 'lost' ? 'warn' : 'note'](
        eventText(event, draft.limits.expire_after_views ?? 1, files),
      );
  };
  const settings = { kind: 'push', host: host ?? LOOPBACK, port, files } as const;
  await withHere(session, settings, report, async (here) => {
    const made = await createAt(session, here, plan, draft);
    const created = here.exposed ? { ...made, warnings: [...made.warnings, openly(draft)] } : made;
    const last = [
      ...(host === undefined
        ? [`${ONLY_HERE} (--host 0.0.0.0: the whole LAN)`]
        : reachedHere(created.link)),
      'waiting for a view … (Ctrl-C expires the push)',
    ];
    const shown = { copy: plan.copy, qr: qr || isForPhones(session, created.link) };
    const failure = await printCreated(session, created, shown, last);
    if (failure) throw failure;
    const views = await here.ended().catch(async (stopped) => {
      await say.note('the push was expired');
      throw stopped;
    });
    if (views === 0) throw new CliError('expired', phrase('no-view'));
    await here.settled();
  });
}

/** What plain http means on the way to the recipient. */
function openly({ sealing }: Draft): string {
  const onTheWay = 'plain http: anyone on the way could';
  return sealing
    ? `${onTheWay} change the page, which decrypts`
    : `${onTheWay} read it; safer with --encrypt`;
}

/** Before it is read: encrypting it would take seconds first. */
function refuseLarge({ files = [] }: Draft): void {
  const large = files.find((file) => file.size > limits.bytesPerFile);
  if (large)
    throw usageError(
      `${large.name} is ${size(large.size)}; the limit is ${size(limits.bytesPerFile)} a file`,
      'pwpush serve --max-file-size has another limit',
    );
}

/** One line for a person who watches: `10.0.0.7 viewed it: 1 of 3`. */
function eventText({ event, ip, count = 0 }: HereEvent, views: number, files: number): string {
  const what = {
    opened: 'opened the page',
    viewed: `viewed it: ${count} of ${views}`,
    passphrase: 'entered no passphrase or a wrong one',
    fetched: files === 1 ? 'downloaded the file' : 'downloaded a file',
    deleted: 'deleted it',
    expired: 'the push has expired',
    lost: LOST,
  }[event];
  return event === 'expired' ? what : `${safe(ip ?? 'someone')} ${what}`;
}
