import { type KnownPassphrase, knownPassphrase, type PassphraseSource } from '../../cli/passphrase';
import type { Entry } from '../../cli/terminal/output';
import { left, usedBefore, variablesSet } from '../../cli/terminal/wording';
import { rescuePushes } from '../../deliver/download';
import { safeName } from '../../deliver/safe-name';
import { describe } from '../../keep/kept';
import { forgetKey } from '../../keep/request-keys';
import { RescueStore } from '../../keep/rescue-store';
import { asCliError, ExitWith, endedBy, failedError, phrase } from '../../platform/errors';
import { connectEach } from '../../profile/connect';
import type { ConnectedItem, LocatedItem } from '../../profile/references';
import {
  type ChildInputs,
  childInputs,
  childOf,
  type InputPlan,
  type MemoryFolder,
  memoryFolder,
  startFailure,
} from '../../run/child-inputs';
import { commandProgram } from '../../run/command-program';
import { type MaskedOutput, maskedInputs } from '../../run/mask-output';
import { type ItemKeys, type KeySources, keysOf, readKeys } from '../../take/decryption-keys';
import { openPush } from '../../take/open-push';
import type { Retrieval, Retriever } from '../../take/retrieval';
import { retrieveFrom } from '../../take/retrieve';

export interface RunPlan {
  readonly items: readonly LocatedItem[];
  readonly words: readonly [string, ...string[]];
  readonly inputs: InputPlan;
  readonly mask: boolean;
  readonly keys: KeySources;
  readonly passphrase: PassphraseSource;
}

export async function run(entry: Entry, plan: RunPlan): Promise<void> {
  const { context, say } = entry;
  const { inputs: wanted, words } = plan;
  const [name] = words;
  const keys = await readKeys(plan.keys, context);
  const file = await commandProgram(entry, name, 'nothing was sent, and no view was used');
  const items = await connectEach(entry, plan.items);
  const passphrase = await knownPassphrase(plan.passphrase, context);
  const retriever = { context, say, store: new RescueStore(context) };
  const openings: Opening[] = [];
  for (const item of items) openings.push({ item, keys: await keysOf(context, item, keys) });
  const pushes = await retrieveAll(retriever, openings, passphrase);
  context.releaseTerminal();
  context.interrupts.enter({ mode: 'own' });
  const { signal } = context;
  let folder: MemoryFolder | undefined;
  let status: number;
  let delivered: boolean;
  let masked: MaskedOutput | undefined;
  try {
    if (wanted.files.length > 0) folder = memoryFolder(context.env);
    const inputs = await childInputs(pushes, wanted, folder);
    await reportInputs(entry, inputs, pushes, folder);
    if (plan.mask) masked = await maskedInputs(entry, inputs);
    if (signal.aborted) throw endedBy(signal);
    const child = childOf({ file, words, allow: wanted.allow }, inputs, context);
    status = await context.runChild({ ...child, output: masked?.output });
    // If some files of an answer were not used, its key is still needed to decrypt them later.
    delivered = plan.keys.decrypt && inputs.unused.files.length === 0;
  } catch (error) {
    throw describe(startFailure(error, name), ...(await rescuePushes(pushes)));
  } finally {
    await remove(entry, folder);
  }
  const unwritten = await masked?.end();
  for (const { answer } of delivered ? pushes : [])
    if (answer) await forgetKey(say, answer.key, answer.state);
  if (status !== 0) throw new ExitWith(status);
  if (unwritten) throw unwritten;
}

interface Opening {
  readonly item: ConnectedItem;
  readonly keys: ItemKeys;
}

/** @throws CliError if a push fails; the error says where the pushes before it were saved */
async function retrieveAll(
  retriever: Retriever,
  openings: readonly Opening[],
  passphrase: KnownPassphrase,
): Promise<Retrieval[]> {
  const { context } = retriever;
  const pushes: Retrieval[] = [];
  for (const [index, { item, keys }] of openings.entries()) {
    try {
      const sealed = await retrieveFrom(retriever, item, passphrase, keys);
      pushes[index] = sealed;
      pushes[index] = await openPush(sealed, { ...keys, inClear: 'refuse' });
    } catch (error) {
      if (pushes.length === 0) throw error;
      const failed = asCliError(error);
      const ended = context.signal.aborted ? endedBy(context.signal) : failed;
      const failure =
        ended === failed || failed.outlastsInterrupt
          ? failed.with({ code: ended.code, subject: `link ${index + 1}` })
          : failed.with({ code: ended.code, facts: ended.facts, hints: [] });
      const kept = await rescuePushes(pushes, openings.length);
      throw describe(failure.and(phrase('nothing-started')), ...kept);
    }
  }
  return pushes;
}

async function reportInputs(
  { context, say }: Entry,
  { variables, unused }: ChildInputs,
  pushes: readonly Retrieval[],
  folder: MemoryFolder | undefined,
): Promise<void> {
  for (const { answer, push, store } of pushes) {
    for (const text of answer ? [] : [left(push, context.now()), usedBefore(push)])
      if (text !== undefined) await say.remark(text);
    if (!unused.text) continue;
    const text = { part: 'text', bytes: push.payload ?? '', push } as const;
    await say.warn(await store.rescue(failedError(phrase('text-unused')), text));
  }
  if (unused.files.length > 0)
    await say.warn(`unused files: ${unused.files.map((name) => safeName(name)).join(', ')}`);
  if (folder?.inMemory === false)
    await say.note(
      `no in-memory folder found; until the command ends, files are in "${folder.path}"`,
    );
  if (variables.size > 0) await say.note(variablesSet(variables.keys()));
}

async function remove({ say }: Entry, folder: MemoryFolder | undefined): Promise<void> {
  try {
    folder?.remove();
  } catch {
    await say.warn(`cannot remove "${folder?.path}": remove it yourself`);
  }
}
