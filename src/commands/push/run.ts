import { type Entry, type Terminal, toJson } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { limits } from '../../contract/api';
import { size } from '../../contract/byte-size';
import type { HereEvent } from '../../contract/here-event';
import { isForPhones, ONLY_HERE, printCreated, reachedHere } from '../../deliver/deliver-link';
import { CliError, phrase, usageError } from '../../platform/errors';
import { lazy } from '../../platform/files/lazy';
import { connect, type Instance } from '../../profile/connect';
import { checkHere, failureHere, type HereInstance, LOST, startHere } from '../../profile/here';
import type { Target } from '../../profile/target';
import type { Setter, SettingPlan } from '../../run/set-first';
import { type CreatedPush, createPush, keepReceipt } from '../../send/create';
import { type Draft, type DraftPlan, draftOf, readKeys, warnOfClear } from '../../send/draft';
import { editionOf, sayExpiry } from '../../send/expiry';

/** What to push, how, where, and what is shown of it. */
export interface PushPlan extends DraftPlan {
  readonly place: InstancePlace | HerePlace;
}

interface InstancePlace {
  readonly at: 'instance';
  readonly target: Target;
  /** The command that sets the text first. */
  readonly setting: SettingPlan | undefined;
  /** Shows the request instead of sending it. */
  readonly dryRun: boolean;
}

interface HerePlace {
  readonly at: 'here';
  readonly host: string | undefined;
  readonly port: number;
}

/** Reads the secret, creates the push, checks what was granted, and prints the link. */
export async function run(entry: Entry, plan: PushPlan): Promise<void> {
  const { place, result } = plan;
  if (place.at === 'here') return serve(entry, plan, place);
  const setter = place.setting && (await (await settingFirst()).findSetter(entry, place.setting));
  const connected = lazy(() => connect(entry, place));
  const edition = editionOf(place.target, connected, place.dryRun);
  const draft = await prepared(plan, entry, edition);
  try {
    if (place.dryRun) return await show(draft, place.target, entry.say);
    const instance = await connected();
    const created = setter
      ? await setAndCreate(setter, draft, instance, entry)
      : await createPush(draft, instance, entry);
    const failure = await printCreated(entry, created, result);
    if (result.receipt) await keepReceipt(entry, created);
    if (failure) throw failure;
  } finally {
    await draft.close();
  }
}

/** What sets a secret before it is pushed, which few pushes need. */
const settingFirst = () => import('../../run/set-first');

/** Says what the sender may want to change, and reads what is to be pushed. */
async function prepared(
  plan: DraftPlan,
  entry: Entry,
  edition: Parameters<typeof draftOf>[2],
): Promise<Draft> {
  const { content, seal } = plan;
  const { say } = entry;
  if (seal.encryption) await warnOfClear(content.details, say);
  if (content.isExposed)
    await say.remark(
      'hint: other users of this machine can read the command line; pipe the secret in instead',
    );
  // Does not repeat the text: it may be a secret after all, and standard error a log.
  if (content.isFileName)
    await say.note(
      'hint: the text is the name of a file here; --file pushes the file, --from its text',
    );
  return draftOf({ ...plan, seal: await readKeys(seal, entry) }, entry, edition);
}

/** Prints the request of a dry run. */
async function show(draft: Draft, target: Target, say: Terminal): Promise<void> {
  const { dryRunText } = await import('./dry-run');
  await sayExpiry(draft.plan.limits.expiry, 'expires', say);
  await say.printText(await dryRunText(draft, target, say.manner.json));
}

/** Has the command set the secret, and creates the push if it succeeded. */
async function setAndCreate(
  setter: Setter,
  draft: Draft,
  instance: Instance,
  entry: Entry,
): Promise<CreatedPush> {
  const { setFirst } = await settingFirst();
  const secret = await setFirst(entry, setter, instance, draft.text ?? '');
  try {
    const created = await createPush(draft, instance, entry);
    // The instance, too, may return the secret.
    const { payload: _secret, ...object } = created.object;
    return { ...created, object };
  } catch (error) {
    throw await secret.lost(error);
  }
}

/** Where nothing but this machine can reach it. */
const LOOPBACK = '127.0.0.1';

/**
 * Serves a push from the memory of this machine until all its views are taken, it expires, or a signal ends it: then it is
 * gone.
 * @throws CliError (expired) if nobody has viewed it
 */
async function serve(entry: Entry, plan: DraftPlan, place: HerePlace): Promise<void> {
  const { host = LOOPBACK, port } = place;
  await checkHere(host, port);
  const draft = await prepared(plan, entry, async () => 'pwpush');
  let here: HereInstance | undefined;
  try {
    refuseLarge(draft);
    const settings = { kind: 'push', host, port, files: draft.files?.length ?? 0 } as const;
    here = await startHere(entry, settings, reporter(draft, entry));
    const made = await createPush(draft, here, entry);
    const created = here.exposed ? { ...made, warnings: [...made.warnings, openly(plan)] } : made;
    const reached =
      place.host === undefined
        ? [`${ONLY_HERE} (--host 0.0.0.0: the whole LAN)`]
        : reachedHere(created.link);
    const last = [...reached, 'waiting for a view … (Ctrl-C expires the push)'];
    const { copy, qr } = plan.result;
    const shown = { copy, qr: qr || isForPhones(entry, created.link) };
    const failure = await printCreated(entry, created, shown, last);
    if (failure) throw failure;
    const views = await here.ended().catch(async (stopped) => {
      await entry.say.note('the push was expired');
      throw stopped;
    });
    if (views === 0) throw new CliError('expired', phrase('no-view'));
    await here.settled();
  } catch (error) {
    throw failureHere(error);
  } finally {
    await here?.close();
    await draft.close();
  }
}

/** Says what visitors do. */
function reporter({ files = [], plan }: Draft, { context, say }: Entry) {
  return (event: HereEvent): void => {
    const at = context.now().toISOString();
    if (say.manner.json) void say.printText(`${toJson({ ...event, at })}\n`).catch(() => {});
    else {
      const views = plan.limits.fields.expire_after_views ?? 1;
      void say[event.event === 'lost' ? 'warn' : 'note'](eventText(event, views, files.length));
    }
  };
}

/** What plain http means on the way to the recipient. */
function openly({ seal }: DraftPlan): string {
  const onTheWay = 'plain http: anyone on the way could';
  return seal.encryption
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
