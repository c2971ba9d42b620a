import { Command } from 'commander';
import { agentMarker } from '../cli/agent';
import { afterDashes } from '../cli/command-line';
import { either, flag, group, list } from '../cli/declare';
import { isCi, keyRows, type Options, passphraseRows } from '../cli/options';
import { checkPassphrase, knownPassphrase } from '../cli/passphrase';
import { checkStandardInput } from '../cli/source';
import { left, usedBefore, variablesSet } from '../cli/terminal/wording';
import { names } from '../cli/values';
import { keepPushes } from '../deliver/download';
import { safeName } from '../deliver/safe-name';
import { newSafe } from '../keep/safekeeping';
import type { Context } from '../platform/context';
import { ExitWith, endedBy, failedError, usageError } from '../platform/errors';
import { type Session, withSession } from '../profile/session';
import type { ChildInputs, FileOption, MemoryFolder } from '../run/child-inputs';
import { commandProgram } from '../run/command-program';
import { isVariableName } from '../run/dotenv';
import type { MaskedOutput } from '../run/mask-output';
import { isUnsafe, isUnsafeForFile } from '../run/unsafe-variables';
import { readKeys } from '../take/decryption-keys';
import type { Taking } from '../take/taking';

export { default as help } from './help/run.txt?raw';

const rows = {
  ...group('Secret:', {
    as: list('--as <name>', 'name of the variable; repeat it for further links')
      .or([])
      .conflicts(['stdin']),
    stdin: flag('--stdin', "pass the text to the command's standard input"),
    file: list(
      '--file <name[=file]>',
      'save a file in memory and set NAME to its path',
      fileOption,
    ).or([]),
    only: list('--only <names>', 'set only these variables, such as A,B', names)
      .or([])
      .conflicts(['stdin', 'as']),
    allow: list('--allow <names>', 'let the secret set PATH or replace a variable', names).or([]),
  }),
  ...group('Output:', {
    mask: either(
      '--mask',
      'mask secrets in output (default: in CI, for agents)',
      'do not mask secrets in output',
    ),
  }),
  ...passphraseRows,
  ...keyRows,
};

type RunOptions = Options<typeof rows>;

export function define(context: Context): Command {
  const command = new Command('run')
    .description('Run a command with a secret in its environment. Uses a view.')
    .usage('[options] <link...> -- <command> [args...]')
    .argument('<link...>', 'links or IDs of the pushes, or last');
  return withSession(command, context, rows, (session, operands: readonly string[]) => {
    const words = afterDashes(command);
    const links = operands.slice(0, Math.max(0, operands.length - words.length));
    return run(session, links, words);
  });
}

function fileOption(value: string): FileOption[] {
  const [, variable = '', of] = /^([^=]*)(?:=(.*))?$/s.exec(value) ?? [];
  if (isVariableName(variable) && of !== '') return [{ variable, of }];
  throw usageError(
    `--file must be NAME or NAME=FILE, not "${value}"`,
    'NAME is the variable for its path',
  );
}

/** @throws CliError (usage) for names that are invalid or unsafe, and for options that do not fit the links */
function checkChildOptions(
  { as, stdin, file, allow, only }: RunOptions,
  links: readonly string[],
): void {
  const wrong = [...as, ...allow, ...only].find((name) => !isVariableName(name));
  if (wrong !== undefined) throw usageError(`"${wrong}" is not a valid variable name`);
  if (as.length > 0 && as.length !== links.length)
    throw usageError(
      `--as is required once for each link: ${links.length} times, not ${as.length}`,
    );
  if (links.length > 1 && (stdin || file.length > 0))
    throw usageError(`${stdin ? '--stdin' : '--file'} works with one link only`);
  const refused = [
    ...[...as, ...only].filter(isUnsafe),
    ...file.map(({ variable }) => variable).filter(isUnsafeForFile),
  ].find((name) => !allow.includes(name));
  if (refused !== undefined)
    throw usageError(
      `${refused} would change what is loaded and run`,
      `to allow it, use --allow ${refused}`,
    );
}

/** Finds the program, takes the views, and runs it with its arguments. */
async function run(
  session: Session<RunOptions>,
  links: readonly string[],
  [name, ...args]: readonly string[],
): Promise<void> {
  const { context, options, say } = session;
  if (name === undefined)
    throw usageError(
      'no command to run',
      'put it after --, for example: pwpush run LINK -- ./deploy.sh',
    );
  if (links.length === 0) throw usageError('no link before --');
  checkChildOptions(options, links);
  checkPassphrase(options, context);
  checkStandardInput(options);
  const keys = await readKeys(options, context);
  const references = await Promise.all(links.map(session.reference));
  const file = await commandProgram(session, name, 'nothing was sent, and no view was used');
  const named = await session.connectEach(references);
  const passphrase = await knownPassphrase(options, context);
  const { retrieveAll } = await import('../run/retrieve-all');
  const { childInputs, childOf, memoryFolder, startFailure } = await import('../run/child-inputs');
  const safe = newSafe(context);
  const pushes = await retrieveAll({ context, options, say, safe }, named, passphrase, keys);
  context.asked();
  context.interrupts.enter({ mode: 'own' });
  const { signal } = context;
  let folder: MemoryFolder | undefined;
  let status: number;
  let delivered: boolean;
  let masked: MaskedOutput | undefined;
  try {
    if (options.file.length > 0) folder = memoryFolder(context.env);
    const inputs = await childInputs(pushes, options, folder);
    await reportInputs(session, inputs, pushes, folder);
    masked = await maskedBy(session, inputs);
    if (signal.aborted) throw endedBy(signal);
    const child = childOf({ ...options, file, words: [name, ...args] }, inputs, context);
    status = await context.runChild({ ...child, output: masked?.output });
    // The key of an answer whose files are not used may still be needed.
    delivered = options.decrypt && inputs.unused.files.length === 0;
  } catch (error) {
    await keepPushes(safe, pushes);
    throw safe.explain(startFailure(error, name));
  } finally {
    await remove(session, folder);
  }
  const unwritten = await masked?.end();
  if (delivered) await forgetKeys(session, pushes);
  if (status !== 0) throw new ExitWith(status);
  if (unwritten) throw unwritten;
}

/** Masks the output if that is wanted, or if it is likely to be kept: in CI, and where a coding agent runs us. */
async function maskedBy(
  session: Session<RunOptions>,
  inputs: ChildInputs,
): Promise<MaskedOutput | undefined> {
  const { context, options, say } = session;
  const { env } = context;
  if (!(options.mask ?? (isCi(env) || agentMarker(env) !== undefined))) return undefined;
  const { maskedOutput, secretsOf } = await import('../run/mask-output');
  const { secrets, unread } = await secretsOf(inputs);
  if (unread.length > 0)
    await say.warn(`not masked: files that are not text, or over 1 MiB, in ${unread.join(', ')}`);
  return maskedOutput(session, secrets, context);
}

async function forgetKeys({ say }: Session, pushes: readonly Taking[]): Promise<void> {
  const keys = pushes.flatMap(({ taken }) => taken.answer?.key ?? []);
  if (keys.length === 0) return;
  const { forgetKey } = await import('../keep/request-keys');
  for (const key of keys) await forgetKey(say, key);
}

/** Says what is left and was used of the pushes, what of them the program does not get, and the names of its variables. */
async function reportInputs(
  { context, say }: Session,
  { variables, unused }: ChildInputs,
  pushes: readonly Taking[],
  folder: MemoryFolder | undefined,
): Promise<void> {
  for (const { safe, taken } of pushes) {
    const { push, answer } = taken;
    for (const text of answer ? [] : [left(push, context.now()), usedBefore(push)])
      if (text !== undefined) await say.remark(text);
    if (!unused.text) continue;
    await safe.keep({ what: 'text', bytes: push.payload ?? '', push });
    await say.warn(safe.explain(failedError('the text is not used')).message);
  }
  if (unused.files.length > 0)
    await say.warn(`unused files: ${unused.files.map((name) => safeName(name)).join(', ')}`);
  if (folder?.inMemory === false)
    await say.note(
      `no in-memory folder found; until the command ends, files are in "${folder.path}"`,
    );
  if (variables.size > 0) await say.note(variablesSet(variables.keys()));
}

async function remove({ say }: Session, folder: MemoryFolder | undefined): Promise<void> {
  try {
    folder?.remove();
  } catch {
    await say.warn(`cannot remove "${folder?.path}": remove it yourself`);
  }
}
