import { type Outfit, outfit } from '../../child/child-inputs';
import { childOf, type Start, startFailure } from '../../child/child-start';
import { checkWishes, type Wishes } from '../../child/child-variables';
import { type PrivateFolder, privateFolder } from '../../child/memory-folder';
import { rescueAll } from '../../child/rescue-all';
import { type Named, retrieveAll } from '../../child/retrieve-all';
import { parseReference, type Reference } from '../../client/link';
import type { Context } from '../../context';
import { findProgram } from '../../delivery/find-program';
import type { Retrieved } from '../../delivery/reception';
import { rescued } from '../../delivery/rescued';
import { safeName } from '../../delivery/safe-name';
import { ExitWith, endedBy, usageError } from '../../errors';
import { checkPassphrase, knownPassphrase } from '../../input/passphrase';
import { checkStandardInput } from '../../input/source';
import { tellFailure } from '../../report-error';
import { type Connection, connectEach } from '../../session';
import { terminal } from '../../terminal/output';
import { left, variablesSet } from '../../terminal/push-text';
import type { RunOptions } from '../run';

/** Makes sure of the program, takes the views, and runs it. */
export async function runWithSecrets(context: Context, options: RunOptions): Promise<void> {
  const words = wordsOf(options);
  checkWishes(options, options.links.length);
  checkPassphrase(options, context);
  checkStandardInput(options);
  const references = options.links.map(parseReference);
  const program = await findProgram(words[0], context);
  if ('status' in program) return notRun(words[0], program.status, context, options);
  const named = await connectAll(references, context, options);
  const passphrase = await knownPassphrase(options, context);
  const say = terminal(context, options);
  const pushes = await retrieveAll(named, passphrase, { context, options, say });
  context.asked();
  const status = await handOver(
    context,
    { ...program, words, allow: options.allow },
    pushes,
    options,
  );
  if (status !== 0) throw new ExitWith(status);
}

function wordsOf({ words, links }: RunOptions): [string, ...string[]] {
  const [name, ...args] = words;
  if (name === undefined)
    throw usageError(
      'there is no command to run',
      'it stands behind --, as in: pwpush run LINK -- ./deploy.sh',
    );
  if (links.length === 0) throw usageError('no link stands before --');
  return [name, ...args];
}

/** Runs the program; views are used, so that what it cannot be given is saved. */
async function handOver(
  context: Context,
  start: Start,
  pushes: readonly Retrieved[],
  wishes: Wishes,
): Promise<number> {
  const signal = context.takeSignals();
  let folder: PrivateFolder | undefined;
  try {
    if (wishes.file.length > 0) folder = await privateFolder(context.env);
    const given = await outfit(pushes, wishes, folder);
    await tell(given, pushes, folder);
    if (signal.aborted) throw endedBy(signal);
    return await context.runChild(childOf(start, given, context));
  } catch (error) {
    throw await rescueAll(pushes, startFailure(error, start.words[0]));
  } finally {
    await remove(folder, pushes);
  }
}

/** A client for each push. */
async function connectAll(
  references: readonly Reference[],
  context: Context,
  options: RunOptions,
): Promise<Named[]> {
  const connections = await connectEach(context, options, references);
  return references.map(({ base, token }) => ({
    api: (connections.get(base) as Connection).api,
    token,
  }));
}

/** Says in the shells' own way that there is nothing to run. */
async function notRun(
  name: string,
  status: 126 | 127,
  context: Context,
  options: RunOptions,
): Promise<never> {
  const what = status === 127 ? `there is no program "${name}"` : `${name} cannot be run`;
  const failure = usageError(what, 'nothing was sent, and no view was taken');
  await tellFailure(context, failure, options);
  throw new ExitWith(status);
}

/** Says what is left of the pushes, what of them the program does not get, and the names of what it gets. */
async function tell(
  { variables, unused }: Outfit,
  pushes: readonly Retrieved[],
  folder: PrivateFolder | undefined,
): Promise<void> {
  for (const { context, push, say } of pushes) {
    const rest = left(push);
    if (rest !== undefined) await say.remark(rest);
    if (unused.text)
      await say.warn(
        (await rescued(context, push.payload ?? '', 'text', 'the text is used nowhere', push))
          .message,
      );
    if (unused.files.length > 0)
      await say.warn(`not used: ${unused.files.map((name) => safeName(name)).join(', ')}`);
    if (folder?.inMemory === false)
      await say.note(`no memory to keep files in was found; they are in ${folder.path} meanwhile`);
  }
  if (variables.size > 0) await pushes[0]?.say.note(variablesSet(variables.keys()));
}

async function remove(
  folder: PrivateFolder | undefined,
  pushes: readonly Retrieved[],
): Promise<void> {
  try {
    folder?.remove();
  } catch {
    await pushes[0]?.say.warn(`${folder?.path} could not be removed: remove it yourself`);
  }
}
