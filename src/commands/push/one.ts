import { refuseGenerated } from '../../cli/agent';
import { newPassphrase } from '../../cli/passphrase';
import { invocation } from '../../cli/terminal/output';
import type { Edition } from '../../contract/lifetime';
import { deliverLink } from '../../deliver/deliver-link';
import { lazy } from '../../platform/files/lazy';
import { accountOf, type Instance } from '../../profile/connect';
import type { Session } from '../../profile/session';
import { defaultsOf, NoInstance, type Target } from '../../profile/target';
import { contentSource, openFiles, readText } from '../../send/content';
import {
  beginSealing,
  clearFieldsWarning,
  createPush,
  type Draft,
  keepReceipts,
  shownPush,
} from '../../send/create-push';
import { editionOf, toldExpiry } from '../../send/expiry';
import type { Change } from './into';
import type { PushOptions } from './push-flags';
import {
  askedExpiry,
  checkPushOptions,
  encryptMode,
  fieldsOf,
  keepsReceipts,
  needsInstance,
  sealingIn,
} from './push-options';

/** Reads the secret, creates the push, checks what was granted, and prints the link. */
export async function pushOne(session: Session, options: PushOptions): Promise<void> {
  const { context, say } = session;
  checkPushOptions(options, context);
  const source = contentSource(options, context);
  const change = options.into
    ? await (await import('./into')).checkedChange(session, options)
    : undefined;
  // --here uses no instance, and no profile.
  const target = options.here ? undefined : await targetOrOffer(session, options);
  if (target === 'here') return pushOne(session, { ...options, here: true });
  const profile = target && defaultsOf(target);
  const mode = encryptMode(options, profile);
  await refuseGenerated(context, options, mode === 'words');
  if (mode) await clearFieldsWarning(say)(options.name, options.note);
  if ((options.text ?? '-') !== '-' || options.message !== undefined)
    await say.remark(
      'hint: other users of this machine can read the command line; pipe the secret in instead',
    );
  const sealing = await sealingIn(mode, options, context);
  const connected = lazy(() => session.connect());
  const edition = target ? editionOf(target.edition, connected, options.dryRun) : ownEdition;
  const told = await toldExpiry(askedExpiry(options, profile), context.now(), edition);
  if (told.shorter !== undefined) await say.warn(told.shorter);
  const attachments = await openFiles(options, context);
  try {
    const text = change ? await change.value() : await readText(session, source, options);
    const passphrase = await newPassphrase(options, context, source?.name === 'prompt');
    context.asked();
    const draft = {
      ...{ text, files: attachments?.files, passphrase, sealing },
      ...{ generated: options.generate !== undefined && !change },
      ...fieldsOf(options, profile, told.fields),
    };
    if (!target) {
      const { pushHere } = await import('./push-here');
      return await pushHere(session, options, draft, (here) =>
        create(session, async () => here, options, { draft, receipt: false, change }),
      );
    }
    if (options.dryRun) return await say.printText(await dryRun(options, target, draft));
    const receipt = keepsReceipts(options, profile);
    await create(session, connected, options, { draft, receipt, change });
  } finally {
    await attachments?.close();
  }
}

/** `--here` serves with our own service. */
const ownEdition = async (): Promise<Edition> => 'pwpush';

/** Where to push. With nothing configured, the user at a terminal can log in, or serve the push from this machine. */
async function targetOrOffer(session: Session, options: PushOptions): Promise<Target | 'here'> {
  const { context, say } = session;
  try {
    return await session.target();
  } catch (error) {
    if (!(error instanceof NoInstance)) throw error;
    const { stdin, stderr } = context;
    const watched = stdin.isTTY && stderr.isTTY && context.canPrompt();
    if (!watched || options.json || options.dryRun) throw error;
    await say.note(error.message);
    if (!needsInstance(options) && (await chooseWay(session)) === 'here') return 'here';
    const { login } = await import('../login');
    // stdout is for the link alone.
    const redirected = invocation({ ...context, stdout: stderr }, options);
    await login({ ...session, ...redirected });
    return session.target();
  }
}

async function chooseWay({ context }: Session): Promise<'login' | 'here'> {
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

interface Plan {
  readonly draft: Draft;
  readonly receipt: boolean;
  readonly change: Change | undefined;
}

async function create(
  session: Session,
  connected: () => Promise<Instance>,
  options: PushOptions,
  { draft, receipt, change }: Plan,
): Promise<void> {
  const { acceptLimits, locale } = options;
  // While the transport loads.
  const begun = beginSealing(draft);
  const instance = await connected();
  const account = accountOf(instance.target);
  const plan = { draft: begun, account, acceptLimits, locale };
  const push = () => createPush(session, instance, plan);
  const created = await (change ? change.before(instance, push) : push());
  if (options.here && !options.qr)
    await (await import('../../cli/terminal/qr')).drawServed(session, created.link);
  const failure = await deliverLink(session, options, created);
  if (receipt) await keepReceipts(session, [created]);
  if (failure) throw failure;
}

async function dryRun({ json }: PushOptions, target: Target, draft: Draft): Promise<string> {
  const { dryRunText } = await import('../../send/dry-run');
  const { request, files } = await shownPush(draft);
  return dryRunText(target, request, { json, files, encryption: draft.sealing?.mode });
}
