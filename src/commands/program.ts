import { CommanderError } from 'commander';
import { Command, reach } from '../cli/command';
import { laidOut, layoutOf, topics, topicText } from '../cli/help/help-layout';
import { misuse, unknownSubcommand, unknownWord } from '../cli/help/misuse';
import { addGlobals, GLOBAL, type GlobalOptions, globalOptions, mannerOf } from '../cli/options';
import { lazy } from '../contract/lazy';
import { type Context, contextWith } from '../platform/context';
import { ExitWith, exitStatus, usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { isOn, isUnattended } from '../platform/surroundings';
import { findFolder } from '../profile/folders';
import { whyGuarded } from '../profile/guard';
import { type CommandObject, define, type Prepared } from './planned';

const load = import.meta.glob<CommandObject>(['./*.ts', '!./planned.ts', '!./program.ts'], {
  import: 'default',
});

/** `name` is also the name of the command's file. `alias` is another name that people try. */
type CommandEntry = readonly [name: string, summary: string, alias?: string];

const table: Readonly<Record<string, readonly CommandEntry[]>> = {
  'Share:': [
    ['push', 'push a secret as a link'],
    ['generate', 'print a new password'],
  ],
  'Open:': [
    ['get', 'get a secret'],
    ['run', 'give a command a secret'],
  ],
  'Ask:': [
    ['request', 'ask someone for a secret', 'ask'],
    ['respond', 'answer a request', 'answer'],
  ],
  'Manage:': [
    ['list', 'list pushes or requests', 'ls'],
    ['preview', 'show views and days left'],
    ['expire', 'expire pushes now', 'rm'],
    ['audit', 'show who opened a push'],
    ['wait', 'wait for the first view'],
  ],
  'Set up:': [
    ['login', 'log in to an instance'],
    ['logout', 'remove a saved token'],
    ['profile', 'manage saved instances'],
    ['doctor', 'find out what is wrong'],
    ['version', 'show versions, features'],
    ['completion', 'print a completion script'],
  ],
  'Serve:': [
    ['serve', 'run your own instance'],
    ['mcp', 'let agents use secrets'],
  ],
};

export const commands = Object.entries(table).flatMap(([group, entries]) =>
  entries.map(([name, summary, alias]) => ({ group, name, summary, alias })),
);

const DESCRIPTION = 'Share a password, key or file as a link that expires after N views or N days.';

const MORE = `Only get and run use a view of a push.
Aliases: ask (request), answer (respond), ls (list), rm (expire).
Global options, such as --profile, --url and --json: see pwpush help options.

pwpush help <command> shows the options of a command, pwpush help <topic> more:
${topics.join(', ')}. pwpush help --json describes all commands for
programs. The manual is man pwpush.`;

/**
 * Calls `begins` with the global options of the command line before the command runs.
 * @throws what `prepared` or the command throws
 */
export async function execute(
  argv: readonly string[],
  context: Context,
  begins: (options: GlobalOptions) => void,
): Promise<void> {
  if (argv[0] === '__complete') return completeLine(argv.slice(1), context);
  await (await prepared(argv, context, begins))?.run();
}

/**
 * Calls `begins` with the global options of the command line.
 * @returns undefined if the line only asked for help, which was printed
 * @throws CliError (usage) or ExitWith for a line that cannot be parsed
 */
export async function prepared(
  argv: readonly string[],
  context: Context,
  begins: (options: GlobalOptions) => void,
): Promise<Prepared | undefined> {
  let made: Prepared | undefined;
  let asking = false;
  let guard: Context['guard'];
  const own = contextWith(context, {
    canPrompt: () => asking && context.canPrompt(),
    guard: async () => guard?.(),
  });
  const shown: string[] = [];
  const show = (text: string) => shown.push(text);
  const program = programFor(argv[0], own);
  program.hook('preAction', (_, action) => {
    const command = action as Command;
    const options = globalOptions(command, context.env);
    for (const kind of ['config', 'state'] as const) findFolder(kind, context);
    asking = mayPrompt(options, context);
    guard = options.reveal ? undefined : lazy(() => whyGuarded(context, options.profile));
    begins(options);
  });
  program.hook('preSubcommand', async (_, subcommand) => {
    await loaded(subcommand as Command, own, (line) => {
      made = line;
    });
    eachCommand(subcommand as Command, (below) => configure(below, context, show));
  });
  configure(program, context, show);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const output = error.exitCode === 0 ? context.stdout : context.stderr;
    await output.write(shown.join(''));
    // `pwpush serve token` prints its help, but fails without a subcommand.
    if (error.exitCode !== 0) throw new ExitWith(exitStatus.usage);
  }
  return made;
}

async function help(program: Command, words: readonly string[], context: Context): Promise<void> {
  const { stdout } = context;
  const [word, ...more] = words;
  const topic = topics.find((name) => name === word);
  if (topic) return stdout.write(laidOut(await topicText(topic), stdout.columns));
  if (word === undefined && mannerOf(program.below('help') ?? program, context.env).json) {
    const { programJson } = await import('../cli/command-tree');
    return stdout.write(await programJson(await wholeProgram(context), context.version));
  }
  if (word === undefined || word === 'help') return stdout.write(helpOf(program, context));
  const typed = program.below(word);
  if (!typed) throw unknownWord(word, [...program.words(), ...topics]);
  await loaded(typed, context);
  let command: Command = typed;
  for (const below of more) {
    const next: Command | undefined = command.below(below);
    if (!next && command.commands.length > 0) throw unknownSubcommand(below, command);
    if (!next) throw usageError('help is for one command at a time', 'pwpush help COMMAND');
    command = next;
  }
  await stdout.write(helpOf(command, context));
}

function helpOf(command: Command, context: Context): string {
  const shown: string[] = [];
  configure(command, context, (text) => shown.push(text));
  command.helpsWithAll = true;
  command.outputHelp();
  return shown.join('');
}

/** A failure prints nothing, because the user is still typing the line. */
async function completeLine(line: readonly string[], context: Context): Promise<void> {
  try {
    const { complete } = await import('./completion/complete');
    const program = withHelp(newProgram(context), context);
    const load = (command: Command) => loaded(command, context);
    await context.stdout.write(await complete(program, line, load, context));
  } catch {
    throw new ExitWith(exitStatus.failed);
  }
}

/** Returns the command that a line means, and its options for printing, even if the line cannot be parsed. */
export async function reached(argv: readonly string[], context: Context) {
  const program = withHelp(newProgram(context), context);
  const end = await reach(program, argv, (command) => loaded(command, context));
  return { ...end, options: mannerOf(end.command, context.env) };
}

export async function wholeProgram(context: Context): Promise<Command> {
  const program = newProgram(context);
  for (const command of program.commands) await loaded(command, context);
  return program;
}

async function loaded(
  command: Command,
  context: Context,
  act?: (line: Prepared) => void,
): Promise<void> {
  const file = load[`./${command.name()}.ts`];
  // Subcommands and `help` are declared already.
  if (!file || command.parent?.parent) return;
  define(command, await file(), context, act);
  versioned(command, context);
}

/** Declares only the command that the first word names, because declaring all takes longer. */
function programFor(word: string | undefined, context: Context): Command {
  const typed = commands.filter(({ name, alias }) => word === name || word === alias);
  return word !== undefined && typed.length > 0
    ? newProgram(context, typed)
    : withHelp(newProgram(context), context);
}

function newProgram(context: Context, declared = commands): Command {
  const program = new Command('pwpush');
  addGlobals(program)
    .description(DESCRIPTION)
    .usage('[options] <command>')
    .helpCommand(false)
    .action(async () => {
      const { whereYouAre } = await import('./help/where-you-are');
      const text = await whereYouAre(globalOptions(program, context.env), context, DESCRIPTION);
      await context.stdout.write(laidOut(text, context.stdout.columns));
    });
  program.manual = MORE;
  versioned(program, context);
  for (const { name, summary, group, alias } of declared) {
    const command = program.command(name).summary(summary).helpGroup(group);
    if (alias !== undefined) command.alias(alias);
  }
  return program;
}

function withHelp(program: Command, context: Context): Command {
  const helping = program.command('help', { hidden: true });
  helping.argument('[word...]', 'command or topic');
  addGlobals(versioned(helping, context)).action((words: readonly string[]) =>
    help(program, words, context),
  );
  return program;
}

function mayPrompt({ input }: GlobalOptions, { env }: Context): boolean {
  return input && !isOn(readVariable(env, 'PWPUSH_NO_INPUT')) && !isUnattended(env);
}

function versioned(command: Command, { version }: Context): Command {
  eachCommand(command, (below) =>
    below.optionsGroup(GLOBAL).version(version, '-V, --version', 'print the version'),
  );
  return command;
}

function eachCommand(command: Command, work: (command: Command) => void): void {
  work(command);
  for (const child of command.commands) eachCommand(child, work);
}

/** Makes Commander throw instead of writing and exiting: for help and version its own error, else a `misuse`. */
function configure(command: Command, context: Context, show: (text: string) => void): void {
  command
    .exitOverride((error) => {
      throw error.exitCode === 0 || error.code === 'commander.help'
        ? error
        : misuse(error, command);
    })
    .showSuggestionAfterError(false)
    .configureHelp(layoutOf(command))
    .configureOutput({
      writeOut: show,
      writeErr: show,
      outputError: () => {},
      getOutHelpWidth: () => context.stdout.columns,
      getOutHasColors: () => false,
    });
}
