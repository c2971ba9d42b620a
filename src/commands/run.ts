import { Command } from 'commander';
import { readLine } from '../cli/command-line';
import { flag, group, list } from '../cli/declare';
import { keyRows, type Options, passphraseRows } from '../cli/options';
import { checkPassphrase, knownPassphrase } from '../cli/passphrase';
import { checkStandardInput } from '../cli/source';
import { left, usedBefore, variablesSet } from '../cli/terminal/wording';
import { names } from '../cli/values';
import { readKeys } from '../open/decryption-keys';
import { isVariableName } from '../open/dotenv';
import type { ChildInputs, FileOption, MemoryFolder } from '../open/run/child-inputs';
import { safeName } from '../open/safe-name';
import { newSafe } from '../open/safekeeping';
import type { Taking } from '../open/taking';
import { tellError } from '../open/tell-error';
import { isUnsafe, isUnsafeForFile } from '../open/unsafe-variables';
import type { Context } from '../platform/context';
import { ExitWith, endedBy, failedError, usageError } from '../platform/errors';
import { findProgram } from '../platform/find-program';
import { type Session, withSession } from '../profile/session';

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
  ...passphraseRows,
  ...keyRows,
};

type RunOptions = Options<typeof rows>;

const EXAMPLES = `
Text of NAME=value lines sets those variables; for other text name one with
--as. Variables that decide what programs load and run, or that are set already,
are refused unless --allow names them. Secrets stay in memory, if the system has
a folder there, except rescue files. pwpush exits with the code of the command.

Examples:
  $ pwpush run "$LINK" --only DB_USER,DB_PASSWORD -- ./deploy.sh
  $ pwpush run "$LINK" --stdin -- docker login --username ci --password-stdin`;

export function define(context: Context): Command {
  const command = new Command('run')
    .description('Run a command with a secret in its environment. Uses a view.')
    .usage('[options] <link...> -- <command> [args...]')
    .argument('<link...>', 'links or IDs of the pushes, or last')
    .addHelpText('after', EXAMPLES);
  return withSession(command, context, rows, (session, operands: readonly string[]) => {
    const words = afterDashes(command);
    const links = operands.slice(0, Math.max(0, operands.length - words.length));
    return run(session, links, words);
  });
}

/** Parses `--file NAME` or `--file NAME=FILE`. */
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

/** Commander merges the operands before and after `--`, so look at the command line itself. */
function afterDashes({ parent }: Command): readonly string[] {
  const program = parent as Command & { readonly rawArgs: readonly string[] };
  return readLine(program, program.rawArgs).rest ?? [];
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
  const program = await findProgram(name, context);
  if ('status' in program) return notRun(session, name, program.status);
  const named = await session.connectEach(references);
  const passphrase = await knownPassphrase(options, context);
  // Loaded now: `run --help` does without.
  const { retrieveAll } = await import('../open/run/retrieve-all');
  const { childInputs, childOf, memoryFolder, startFailure } = await import(
    '../open/run/child-inputs'
  );
  const safe = newSafe(context);
  const pushes = await retrieveAll({ context, options, say, safe }, named, passphrase, keys);
  context.asked();
  context.interrupts.enter({ mode: 'own' });
  const { signal } = context;
  let folder: MemoryFolder | undefined;
  let status: number;
  let delivered: boolean;
  try {
    if (options.file.length > 0) folder = await memoryFolder(context.env);
    const inputs = await childInputs(pushes, options, folder);
    await reportInputs(session, inputs, pushes, folder);
    if (signal.aborted) throw endedBy(signal);
    const child = childOf({ ...options, ...program, words: [name, ...args] }, inputs, context);
    status = await context.runChild(child);
    // The key of an answer whose files are not used may still be needed.
    delivered = options.decrypt && inputs.unused.files.length === 0;
  } catch (error) {
    await safe.keep({ what: 'pushes', takings: pushes });
    throw safe.explain(startFailure(error, name));
  } finally {
    await remove(session, folder);
  }
  if (delivered) await forgetKeys(session, pushes);
  if (status !== 0) throw new ExitWith(status);
}

async function forgetKeys({ say }: Session, pushes: readonly Taking[]): Promise<void> {
  const keys = pushes.flatMap(({ taken }) => taken.answer?.key ?? []);
  if (keys.length === 0) return;
  const { forgetKey } = await import('../open/request-keys');
  for (const key of keys) await forgetKey(say, key);
}

/** Ends with the status of shells for a program that is not there or cannot be run. */
async function notRun(
  { context, options }: Session,
  name: string,
  status: 126 | 127,
): Promise<never> {
  const what = status === 127 ? `command not found: "${name}"` : `cannot run "${name}"`;
  const failure = usageError(what, 'nothing was sent, and no view was used');
  await tellError(context, failure, options);
  throw new ExitWith(status);
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
