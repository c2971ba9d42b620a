import { Command, CommanderError } from 'commander';
import { agentMarker } from '../cli/agent';
import { type CommandLine, readLine, withIds } from '../cli/command-line';
import { lineage } from '../cli/declare';
import { layoutOf, texts } from '../cli/help/help-layout';
import { checkChoices, misuse, unknownSubcommand, unknownWord } from '../cli/help/misuse';
import { addGlobalOptions, GLOBAL, type GlobalOptions, globalOptions, isOn } from '../cli/options';
import { reflowed } from '../cli/terminal/bounded-write';
import type { Context } from '../platform/context';
import { ExitWith, exitStatus, usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { whyGuarded } from '../profile/guard';

type Load = () => Promise<{
  readonly define: (context: Context) => Command;
  /** What its help says after the options. */
  readonly help: string;
}>;

/** A command: name, one line for the list of them, the file, and another name that people try. */
type Entry = readonly [name: string, summary: string, load: Load, alias?: string];

/** All commands, in the groups of the help. */
const table: Readonly<Record<string, readonly Entry[]>> = {
  'Share:': [
    ['push', 'push a secret and print its link', () => import('./push')],
    ['generate', 'print a new password or passphrase', () => import('./generate')],
  ],
  'Open:': [
    ['get', 'get a secret (uses a view)', () => import('./get')],
    ['run', 'run a command with a secret (uses a view)', () => import('./run')],
  ],
  'Ask:': [
    ['request', 'ask someone for a secret', () => import('./request')],
    ['respond', 'answer a request', () => import('./respond')],
  ],
  'Manage:': [
    ['list', 'list your pushes or requests', () => import('./list'), 'ls'],
    ['show', 'show views and days left (uses no view)', () => import('./show')],
    ['preview', "print a push's full link (uses no view)", () => import('./preview')],
    ['expire', 'expire pushes now', () => import('./expire'), 'rm'],
    ['audit', 'show who opened a push, and when', () => import('./audit')],
    ['wait', 'wait until a push is viewed or expires', () => import('./wait')],
    ['notify', "e-mail a push's link from the instance", () => import('./notify')],
  ],
  'Set up:': [
    ['login', 'log in to an instance and save it as a profile', () => import('./login')],
    ['logout', 'remove the token of a profile', () => import('./logout')],
    ['profile', 'list, show, change and remove profiles', () => import('./profile')],
    ['doctor', 'diagnose configuration and connection', () => import('./doctor')],
    ['version', 'show the version of pwpush and of the instance', () => import('./version')],
    ['completion', 'print a shell completion script', () => import('./completion')],
  ],
  'Serve:': [
    ['serve', 'run a Password Pusher server on this machine', () => import('./serve')],
    ['mcp', 'serve tools by which agents use secrets unseen', () => import('./mcp')],
  ],
};

const LAST_GROUP = Object.keys(table).at(-1);

export const commands = Object.entries(table).flatMap(([group, entries]) =>
  entries.map(([name, summary, load, alias]) => ({ group, name, summary, load, alias })),
);

const isCalled = ({ name, alias }: (typeof commands)[number], word: string) =>
  name === word || alias === word;

const names = commands.map(({ name }) => name);

export const topics = Object.keys(texts) as (keyof typeof texts)[];

const DESCRIPTION = 'Share a password, key or file as a link that expires after N views or N days.';

const INTRODUCTION = `${DESCRIPTION}

Push a secret and print its link:
  $ pwgen 24 1 | pwpush push --views 1
Get a secret, which uses a view:
  $ pwpush get https://pwpush.example/p/abc123def456
Run a Password Pusher server on this machine:
  $ pwpush serve

pwpush help lists all commands, options and topics.
`;

const MORE = `
pwpush help <command> shows the options of a command, pwpush help <topic> more:
${topics.join(', ')}. pwpush help --json describes all commands for
programs. The manual is man pwpush.`;

/**
 * Parses a command line, calls `begins` with its options, and runs the command.
 *
 * @throws what the command throws; CliError (usage) or ExitWith for a line that cannot be parsed
 */
export async function execute(
  argv: readonly string[],
  context: Context,
  begins: (options: GlobalOptions) => void,
): Promise<void> {
  const topic = argv[0] === 'help' && topics.find((name) => name === argv[1]);
  const show = (text: string) => context.stdout.write(reflowed(text, context.stdout));
  if (topic) return show((await texts[topic]()).default);
  if (argv[0] === '__complete') return completeLine(argv.slice(1), context);
  const typed = withoutHelpWord(argv);
  let asking = false;
  let guard: Context['guard'];
  const canPrompt = () => asking && context.canPrompt();
  // With its getters, which listen for signals and load modules: help needs neither.
  const own = Object.defineProperties({} as Context, {
    ...Object.getOwnPropertyDescriptors(context),
    canPrompt: { value: canPrompt, enumerable: true },
    guard: { value: async () => guard?.(), enumerable: true },
  });
  const program = await programFor(typed, own);
  const words = withIds(program, typed);
  program.hook('preAction', (_, command) => {
    const options = globalOptions(command, context.env);
    asking = mayPrompt(options, context);
    const reveals = lineage(command).some((one) => one.getOptionValue('reveal') === true);
    guard = reveals ? undefined : lazy(() => whyGuarded(context, options.profile));
    begins(options);
  });
  const line = readLine(program, words);
  checkCommand(line);
  if (argv[0] === 'help' && argv.length > 2 && line.operands.length > 0)
    throw usageError('help is for one command at a time', 'pwpush help COMMAND');
  refuseJoined(line.options);
  if (argv[0] === 'help' && line.command === program && line.options.includes('--json'))
    return printWhole(context);
  const shown: string[] = [];
  eachCommand(program, (command) => configure(command, context, (text) => shown.push(text)));
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return show(shown.join(''));
    // `pwpush profile` alone is an error: its help goes to stderr.
    await context.stderr.write(reflowed(shown.join(''), context.stderr));
    throw new ExitWith(exitStatus.usage);
  }
}

/** Prints the tree of all commands as JSON, for programs that run this one. */
async function printWhole(context: Context): Promise<void> {
  const [{ programEntry }, { toJson }] = await Promise.all([
    import('../cli/command-tree'),
    import('../cli/terminal/output'),
  ]);
  const program = await programEntry(await wholeProgram(context), context.version);
  await context.stdout.write(`${toJson(program)}\n`);
}

/** Prints the completions of a command line; a failure prints nothing, in the middle of what someone types. */
async function completeLine(line: readonly string[], context: Context): Promise<void> {
  try {
    const [{ complete }, program] = await Promise.all([
      import('./completion/complete'),
      programFor(line.slice(0, -1), context),
    ]);
    await context.stdout.write(await complete(program, line, topics, context));
  } catch {
    throw new ExitWith(exitStatus.failed);
  }
}

/** The tree for a command line: the typed command alone, or the names and summaries of all. */
export async function programFor(argv: readonly string[], context: Context): Promise<Command> {
  const program = newProgram(context);
  const typed = firstWord(readLine(program, argv));
  const all = typed === undefined || typed === 'help';
  for (const one of commands) {
    if (all) program.addCommand(new Command(one.name).summary(one.summary).helpGroup(one.group));
    else if (isCalled(one, typed)) program.addCommand(await defined(one, context));
  }
  return program;
}

/** The tree of all commands, with their options. */
export async function wholeProgram(context: Context): Promise<Command> {
  const program = newProgram(context);
  for (const one of commands) program.addCommand(await defined(one, context));
  return program;
}

async function defined(entry: (typeof commands)[number], context: Context): Promise<Command> {
  const { load, summary, group, alias } = entry;
  const { define, help } = await load();
  const command = versioned(define(context), context);
  command.summary(summary).helpGroup(group).addHelpText('after', `\n${help.trimEnd()}`);
  return alias ? command.alias(alias) : command;
}

function newProgram(context: Context): Command {
  const program: Command = addGlobalOptions(new Command('pwpush'))
    .description(DESCRIPTION)
    .usage('[options] <command>')
    .helpCommand(false)
    .enablePositionalOptions()
    .addHelpText('after', MORE)
    .action(() => context.stdout.write(reflowed(INTRODUCTION, context.stdout)))
    .allowExcessArguments();
  return versioned(program, context);
}

/** The first word, if it is sure to be one. */
function firstWord({ operands, unsure, rest = [] }: CommandLine): string | undefined {
  return unsure ? undefined : [...operands, ...rest][0];
}

/** Refuses an unknown command, also before `--help`, for which Commander would print the help of the command above. */
function checkCommand(line: CommandLine): void {
  const { command } = line;
  const word = firstWord(line);
  if (word === undefined) return;
  if (!command.parent) throw unknownWord(word, names);
  if (command.commands.length > 0) throw unknownSubcommand(word, command);
}

/** Turns `help` and `help push` into `--help` and `push --help`. */
function withoutHelpWord(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'help') return argv;
  if (argv[1] === 'help') return ['--help'];
  const word = argv[1];
  const known = word?.startsWith('-') || commands.some((one) => isCalled(one, word ?? ''));
  if (word !== undefined && !known) throw unknownWord(word, [...names, ...topics]);
  return [...argv.slice(1), '--help'];
}

/** Nothing prompts with `--no-input`, `PWPUSH_NO_INPUT`, in CI, or where an agent runs us, whom a prompt would keep waiting. */
function mayPrompt({ input }: GlobalOptions, { env }: Context): boolean {
  const wanted = input && !isOn(env.PWPUSH_NO_INPUT) && !isOn(env.CI);
  return wanted && agentMarker(env) === undefined;
}

/** Refuses `-hxyz`, so that a token that begins with a dash is not taken for `-h` or `-V`. */
function refuseJoined(words: readonly string[]): void {
  const joined = words.find((word) => /^-[hV]./.test(word));
  if (joined === undefined) return;
  throw usageError(
    `${joined.slice(0, 2)} takes no value`,
    'put -- before an argument that begins with a dash',
  );
}

/** The command and those below it with `--version`. */
function versioned(command: Command, { version }: Context): Command {
  eachCommand(command, (one) =>
    one.optionsGroup(GLOBAL).version(version, '-V, --version', 'print the version'),
  );
  return command;
}

function eachCommand(command: Command, work: (command: Command) => void): void {
  work(command);
  for (const one of command.commands) eachCommand(one, work);
}

/** Makes Commander throw instead of write and exit; it throws its own errors only for help and version. */
function configure(command: Command, context: Context, show: (text: string) => void): void {
  for (const option of command.options) checkChoices(option.long ?? '', option);
  for (const argument of command.registeredArguments) checkChoices(argument.name(), argument);
  command
    .exitOverride((error) => {
      throw error.exitCode === 0 || error.code === 'commander.help'
        ? error
        : misuse(error, command);
    })
    .showSuggestionAfterError(false)
    .configureHelp(layoutOf(command, LAST_GROUP))
    .configureOutput({
      writeOut: show,
      writeErr: show,
      outputError: () => {},
      getOutHelpWidth: () => Math.min(context.stdout.columns, 100),
      getOutHasColors: () => false,
    });
}
