import { isGuarded, refuseToPrint } from '../cli/agent';
import { either, flag, group, list } from '../cli/declare';
import { COMMAND_AFTER } from '../cli/help/misuse';
import { keyRows, keySources, type Options, passphraseRows, pushesRow } from '../cli/options';
import { passphraseSource } from '../cli/passphrase';
import { isVariableName, names } from '../cli/values';
import { usageError } from '../platform/errors';
import { isCi } from '../platform/surroundings';
import { itemsOf } from '../profile/references';
import type { WantedFile } from '../run/child-inputs';
import { isUnsafe, isUnsafeForFile } from '../run/unsafe-variables';
import help from './help/run.txt?raw';
import { command, type Invocation } from './planned';
import type { RunPlan } from './run/run';

const rows = {
  links: pushesRow(),
  ...group('Secret:', {
    as: list('--as <name>', 'name of the variable; repeat it for further links')
      .common()
      .or([])
      .conflicts(['stdin']),
    stdin: flag('--stdin', "pass the text to the command's standard input").common(),
    file: list('--file <name[=file]>', 'save a file in memory and set NAME to its path', fileOption)
      .common()
      .or([]),
    only: list('--only <names>', 'set only these variables, such as A,B', names)
      .common()
      .or([])
      .conflicts(['stdin', 'as']),
    allow: list('--allow <names>', 'let the secret set PATH or replace a variable', names).or([]),
  }),
  ...group('Output:', {
    mask: either('--mask', 'whether output is masked (default: CI and agents)'),
  }),
  ...passphraseRows(),
  ...keyRows(),
};

type RunOptions = Options<typeof rows>;

export default command({
  description: 'Run a command with a secret in its environment. Uses a view.',
  usage: '[options] [link...] -- <command> [args...]',
  help,
  takesCommand: true,
  rows,
  plan: planOf,
  run: async (entry, plan) => (await import('./run/run')).run(entry, plan),
});

function fileOption(value: string): WantedFile[] {
  const [, variable = '', of] = /^([^=]*)(?:=(.*))?$/s.exec(value) ?? [];
  if (isVariableName(variable) && of !== '') return [{ variable, of }];
  throw usageError(
    `--file must be NAME or NAME=FILE, not "${value}"`,
    'NAME is the variable for its path',
  );
}

async function planOf(options: RunOptions, invocation: Invocation): Promise<RunPlan> {
  const { context, command } = invocation;
  const [program, ...args] = command.rest;
  const { links } = options;
  if (program === undefined) throw usageError('no command to run', COMMAND_AFTER);
  await checkInputs(options, links.length);
  if (options.mask === false) await refuseToPrint(context, 'output that is not masked', 'mask');
  const passphrase = passphraseSource(options, context);
  const { as, stdin, file, only, allow } = options;
  const input = stdin ? 'text' : command.args.includes('-') ? 'none' : 'inherited';
  const inputs = { variables: as, input, files: file, only, allow } as const;
  return {
    items: itemsOf(invocation, options, links),
    words: [program, ...args],
    inputs,
    passphrase,
    // CI systems store the log of a job, and an agent must not see a secret.
    mask: options.mask ?? (isCi(context.env) || (await isGuarded(context))),
    keys: keySources(options),
  };
}

/** @throws CliError (usage) for names that are invalid or unsafe, and for options that do not fit the links */
async function checkInputs(
  { as, stdin, file, allow, only }: RunOptions,
  links: number,
): Promise<void> {
  const wrong = [...as, ...allow, ...only].find((name) => !isVariableName(name));
  if (wrong !== undefined) throw usageError(`"${wrong}" is not a valid variable name`);
  if (as.length > 0 && as.length !== links)
    throw usageError(`--as is required once for each link: ${links} times, not ${as.length}`);
  if (links > 1 && (stdin || file.length > 0))
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
