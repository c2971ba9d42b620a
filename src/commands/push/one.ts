import { offerPassphrase, readPassphrase } from '../../cli/passphrase';
import { readSecret, type Source } from '../../cli/source';
import { invocation } from '../../cli/terminal/output';
import type { Edition } from '../../contract/lifetime';
import { CliError } from '../../platform/errors';
import { lazy } from '../../platform/files/lazy';
import { pruneReceipts } from '../../profile/receipts';
import { accountOf, type Instance, type Session } from '../../profile/session';
import { NoInstance, type Target } from '../../profile/target';
import { contentSource, openFiles } from '../../share/content';
import { deliverLink } from '../../share/deliver-link';
import { editionOf, toldExpiry } from '../../share/expiry';
import {
  askedExpiry,
  checkPushOptions,
  encryptMode,
  instanceOnly,
  type PushOptions,
} from './push-options';
import { type Draft, readyPush, shownPush } from './ready';
import { acceptPush, clearFieldsWarning, keepReceipt, keepsReceipts } from './result';

/** Reads the secret, creates the push, checks what was granted, and prints the link. */
export async function pushOne(session: Session, options: PushOptions): Promise<void> {
  const { context, say } = session;
  checkPushOptions(options, context);
  const source = contentSource(options, context);
  // --here uses no instance, and no profile.
  const target = options.here ? undefined : await targetOrOffer(session, options);
  if (target === 'here') return pushOne(session, { ...options, here: true });
  const mode = encryptMode(options, target?.defaults);
  if (mode) await clearFieldsWarning(say)(options);
  if ((options.text ?? '-') !== '-' || options.message !== undefined)
    await say.remark(
      'hint: other users of this machine can read the command line; pipe the secret in instead',
    );
  const seal =
    mode && (await (await import('../../share/encryption')).sealerFor(mode, options, context));
  const connected = lazy(() => session.connect());
  const edition = target ? editionOf(target.edition, connected, options.dryRun) : ownEdition;
  const told = await toldExpiry(askedExpiry(options, target?.defaults), context.now(), edition);
  if (told.shorter !== undefined) await say.warn(told.shorter);
  const attachments = await openFiles(options, context);
  try {
    const text = source ? await readSecret(source, options, context) : options.message;
    if (source?.name === 'generate') await say.remark(`generated: ${text}`);
    const passphrase = await passphraseFor(session, options, source);
    context.asked();
    const files = attachments?.files;
    const expiry = told.fields;
    const draft = { text, files, passphrase, mode, seal, profile: target?.defaults, expiry };
    if (!target) {
      const { pushHere } = await import('./here');
      return await pushHere(session, options, draft);
    }
    if (!options.dryRun) return await create(session, connected, options, draft);
    await say.printText(await dryRun(options, target, draft));
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
    if (instanceOnly(options) === undefined && (await chooseWay(session)) === 'here') return 'here';
    const { login } = await import('../login');
    // stdout is for the link alone.
    const redirected = invocation({ ...context, stdout: stderr }, options);
    await login({ ...session, ...redirected }, options);
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

/** Offers a passphrase if the secret is typed and no option says anything about one. */
function passphraseFor(
  { context }: Session,
  options: PushOptions,
  source: Source | undefined,
): Promise<string | undefined> {
  const named =
    options.passphrase ||
    options.generatePassphrase ||
    options.passphraseFile !== undefined ||
    options.passphraseEnv !== undefined;
  if (source?.name === 'prompt' && !named) return offerPassphrase(context);
  return readPassphrase(options, context, true);
}

/** Encrypts the push if it is to be, and creates it. */
async function create(
  session: Session,
  connected: () => Promise<Instance>,
  options: PushOptions,
  draft: Draft,
): Promise<void> {
  const { context } = session;
  // A key is stretched on another thread while the transport loads.
  const sealing = draft.seal?.(draft);
  sealing?.catch(() => {});
  const instance = await connected();
  const account = await accountOf(instance);
  const ready = await readyPush({ ...draft, seal: sealing && (() => sealing) }, options, context);
  const { request, files, linkKey } = ready;
  const started = context.now();
  const creating = files
    ? (await import('../../share/attachments')).sendFiles(session, files, (metered) =>
        instance.api.create(request, metered, account),
      )
    : instance.api.create(request, [], account);
  const created = await creating.catch(async (error) => {
    await ready.withdraw(error);
    if (!(error instanceof CliError)) throw error;
    const { unanswered } = await import('./unanswered');
    throw await unanswered(session, request, started, error, { account, key: linkKey });
  });
  const result = await acceptPush(instance, options, { ...ready, account }, created);
  const failure = await deliverLink(session, options, result);
  if (keepsReceipts(options, draft.profile)) {
    await keepReceipt(session, result);
    await pruneReceipts(context, context.now());
  }
  if (failure) throw failure;
}

async function dryRun(options: PushOptions, target: Target, draft: Draft): Promise<string> {
  const { dryRunText } = await import('../../share/dry-run');
  const { request, files } = await shownPush(draft, options);
  const headers = Object.keys((await target.headers?.()) ?? {});
  const { json } = options;
  return dryRunText(target, request, { json, headers, files, encryption: draft.mode });
}
