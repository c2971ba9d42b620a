import type { Entry, Terminal } from '../../cli/terminal/output';
import { lazy } from '../../contract/lazy';
import { printCreated } from '../../deliver/deliver-link';
import { connect, type Instance } from '../../profile/connect';
import type { Target } from '../../profile/target';
import type { Setter, SettingPlan } from '../../run/set-first';
import { type CreatedPush, createPush, keepReceipts } from '../../send/create';
import { type Draft, type DraftPlan, draftOf, readKeys, remarkClear } from '../../send/draft';
import { type EditionFinder, editionOf, reportExpiry } from '../../send/expiry';
import { labelsOf } from '../../send/judge';

export interface PushPlan extends DraftPlan {
  readonly place: {
    readonly kind: 'instance';
    readonly target: Target;
    readonly setting: SettingPlan | undefined;
    readonly dryRun: boolean;
  };
}

export async function run(entry: Entry, plan: PushPlan): Promise<void> {
  const { place, result } = plan;
  const setter = place.setting && (await (await settingFirst()).findSetter(entry, place.setting));
  const connected = lazy(() => connect(entry, place));
  const edition = editionOf(place.target, connected, place.dryRun);
  const draft = await prepare(plan, entry, edition);
  try {
    if (place.dryRun) return await show(draft, place.target, entry.say);
    const instance = await connected();
    const created = setter
      ? await setAndCreate(setter, draft, instance, entry)
      : await createPush(draft, instance, entry);
    const failure = await printCreated(entry, created, result);
    if (result.receipt) await keepReceipts(entry, [created]);
    if (failure) throw failure;
  } finally {
    await draft.close();
  }
}

/** Few pushes need this module. */
const settingFirst = () => import('../../run/set-first');

export async function prepare(
  plan: DraftPlan,
  entry: Entry,
  edition: EditionFinder,
): Promise<Draft> {
  const { content, seal } = plan;
  const { say } = entry;
  if (seal.encryption) await remarkClear(labelsOf(content.details), say);
  if (content.isExposed)
    await say.remark(
      'hint: other users of this machine can read the command line; pipe the secret in instead',
    );
  // The text is not repeated: it may be a secret after all, and standard error a log.
  if (content.isFileName)
    await say.note(
      'hint: the text is the name of a file here; --file pushes the file, --from its text',
    );
  return draftOf({ ...plan, seal: await readKeys(seal, entry) }, entry, edition);
}

async function show(draft: Draft, target: Target, say: Terminal): Promise<void> {
  const { dryRunText } = await import('./dry-run');
  await reportExpiry(draft.plan.limits.expiry, 'expires', say);
  await say.printText(await dryRunText(draft, target, say.manner.json));
}

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
    // The instance may return the secret, but only the command may get it.
    const { payload: _secret, ...object } = created.object;
    return { ...created, object };
  } catch (error) {
    throw await secret.lost(error);
  }
}
