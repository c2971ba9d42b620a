import { type Argument, Command, CommanderError, Help, type Option } from 'commander';
import type { Context } from './context';
import { type CliError, ExitWith, exitStatus, usageError } from './errors';
import { commandsFirst, globalsInShort } from './help/format-help';
import { addGlobalOptions, type GlobalOptions, globalOptions, isOn } from './options';

interface CommandEntry {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly load: () => Promise<(context: Context) => Command>;
}

/** All commands. Only the one that was typed is loaded. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'push',
    summary: 'create a push, print its link',
    load: async () => (await import('./commands/push')).pushCommand,
  },
  {
    name: 'get',
    summary: 'retrieve a push (takes a view)',
    load: async () => (await import('./commands/get')).getCommand,
  },
  {
    name: 'run',
    summary: 'run a command with the secret (takes a view)',
    load: async () => (await import('./commands/run')).runCommand,
  },
  {
    name: 'preview',
    summary: "print a push's full link (takes none)",
    load: async () => (await import('./commands/preview')).previewCommand,
  },
  {
    name: 'expire',
    summary: 'expire pushes now',
    load: async () => (await import('./commands/expire')).expireCommand,
  },
  {
    name: 'list',
    summary: 'list your pushes',
    load: async () => (await import('./commands/list')).listCommand,
  },
  {
    name: 'audit',
    summary: 'who looked at a push, and when',
    load: async () => (await import('./commands/audit')).auditCommand,
  },
  {
    name: 'wait',
    summary: 'block until a push was viewed or has expired',
    load: async () => (await import('./commands/wait')).waitCommand,
  },
  {
    name: 'notify',
    summary: "have the instance e-mail a push's link",
    load: async () => (await import('./commands/notify')).notifyCommand,
  },
  {
    name: 'version',
    summary: 'this program, the instance, and what it can do',
    load: async () => (await import('./commands/version')).versionCommand,
  },
  {
    name: 'login',
    summary: 'keep an instance and a token as a profile',
    load: async () => (await import('./commands/login')).loginCommand,
  },
  {
    name: 'logout',
    summary: "forget a profile's token",
    load: async () => (await import('./commands/logout')).logoutCommand,
  },
  {
    name: 'profile',
    summary: 'list, show, use, set and remove profiles',
    load: async () => (await import('./commands/profile')).profileCommand,
  },
  {
    name: 'doctor',
    summary: 'what is wrong between here and the instance',
    load: async () => (await import('./commands/doctor')).doctorCommand,
  },
  {
    name: 'serve',
    summary: 'be an instance, on this machine',
    load: async () => (await import('./commands/serve')).serveCommand,
  },
  {
    name: 'completion',
    summary: 'print a script that completes command lines',
    load: async () => (await import('./commands/completion')).completionCommand,
  },
];

/** Topics of `pwpush help`. */
export const topics = ['environment', 'exit-codes', 'ci', 'security'] as const;

const EXAMPLES = `
Examples:
  $ pwgen 24 1 | pwpush push --views 1
  $ pwpush get https://pwpush.example/p/abc123def456
  $ pwpush serve

\`pwpush help <command>\` shows a command's options, \`pwpush help <topic>\` more:
${topics.join(', ')}. Exit codes and all else: man pwpush.`;

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
  if (topic) return context.stdout.write((await import('./help/topics')).texts[topic]);
  if (argv[0] === '__complete') return completeLine(argv.slice(1), context);
  const words = withoutHelpWord(argv);
  let asking = false;
  const canPrompt = () => asking && context.canPrompt();
  const program = await programFor(words, { ...context, canPrompt });
  program.hook('preAction', (_, command) => {
    const options = globalOptions(command, context.env);
    asking = mayPrompt(options, context);
    begins(options);
  });
  refuseJoined(optionWords(program, words));
  const shown: string[] = [];
  eachCommand(program, (command) => configure(command, context, (text) => shown.push(text)));
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return context.stdout.write(shown.join(''));
    // `pwpush profile` alone is an error: its help goes to stderr.
    await context.stderr.write(shown.join(''));
    throw new ExitWith(exitStatus.usage);
  }
}

/** Prints the completions of a command line; a failure prints nothing, in the middle of what somebody types. */
async function completeLine(line: readonly string[], context: Context): Promise<void> {
  try {
    const [{ complete }, program] = await Promise.all([
      import('./completion/complete'),
      programFor(line.slice(0, -1), context),
    ]);
    await context.stdout.write(complete(program, line, topics, context));
  } catch {
    throw new ExitWith(exitStatus.failed);
  }
}

/** The tree for a command line: the typed command alone, or the names and summaries of all. */
export async function programFor(argv: readonly string[], context: Context): Promise<Command> {
  const program = newProgram(context);
  const typed = typedCommand(program, argv);
  for (const { name, summary, load } of commands) {
    if (typed === undefined || typed === 'help')
      program.addCommand(new Command(name).summary(summary));
    else if (name === typed) program.addCommand(versioned((await load())(context), context));
  }
  return program;
}

function newProgram(context: Context): Command {
  const program = addGlobalOptions(new Command('pwpush'))
    .description('Hand over a secret as a link that stops working.')
    .usage('[options] <command>')
    .helpCommand(false)
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES)
    .action(() => {
      if (program.args.length === 0) program.help();
      throw unknownCommand(program.args[0] ?? '');
    })
    .allowExcessArguments();
  return versioned(program, context);
}

/** Commander's own layout, arranged. */
function formatHelp(command: Command, help: Help): string {
  const text = Help.prototype.formatHelp.call(help, command, help);
  if (command.parent === null) return commandsFirst(text);
  return globalsInShort(text, (names) => help.boxWrap(names, (help.helpWidth ?? 80) - 2));
}

/** The first word that is neither an option nor the value of one; undefined if the help of the program is wanted. */
function typedCommand(program: Command, argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (!word.startsWith('-')) return word;
    if (word === '-h' || word === '--help') return undefined;
    const option = program.options.find(({ long, short }) => word === long || word === short);
    if (option?.required) at++;
  }
  return undefined;
}

/** Turns `help` and `help push` into `--help` and `push --help`. */
function withoutHelpWord(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'help') return argv;
  const word = argv[1];
  if (word !== undefined && !word.startsWith('-') && !commands.some(({ name }) => name === word))
    throw unknownCommand(word, topics);
  return [...argv.slice(1), '--help'];
}

/** Nothing prompts with `--no-input`, `PWPUSH_NO_INPUT`, or in CI. */
function mayPrompt({ input }: GlobalOptions, { env }: Context): boolean {
  return input && !isOn(env.PWPUSH_NO_INPUT) && !isOn(env.CI);
}

/** The options before `--`, as Commander reads them: the value of an option is not one. */
export function optionWords(program: Command, argv: readonly string[]): readonly string[] {
  const takers = new Set<string | undefined>();
  eachCommand(program, ({ options }) => {
    for (const { required, short, long } of options) if (required) takers.add(short).add(long);
  });
  const found: string[] = [];
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const word = argv[at] ?? '';
    if (!word.startsWith('-')) continue;
    found.push(word);
    if (takesNext(word, takers)) at++;
  }
  return found;
}

/** Whether the next word is the value of an option: it is for `-qn`, whereas `-nq` has its own. */
function takesNext(word: string, takers: ReadonlySet<unknown>): boolean {
  if (word.startsWith('--')) return takers.has(word);
  const letters = Array.from(word.slice(1));
  const taker = letters.findIndex((letter) => takers.has(`-${letter}`));
  return taker !== -1 && taker === letters.length - 1;
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
    one.optionsGroup('Global options:').version(version, '-V, --version', 'print the version'),
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
    .configureHelp({ showGlobalOptions: false, subcommandTerm, formatHelp, optionDescription })
    .configureOutput({
      writeOut: show,
      writeErr: show,
      outputError: () => {},
      getOutHelpWidth: () => Math.min(context.stdout.columns, 100),
      getOutHasColors: () => false,
    });
}

/** Without a long list of choices, which is in the text below the options. */
function optionDescription(option: Option): string {
  const { argChoices = [], description } = option;
  return argChoices.length > 10 ? description : Help.prototype.optionDescription(option);
}

/** Name and arguments only: every command takes options. */
function subcommandTerm(command: Command): string {
  const words = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  return [command.name(), ...words].join(' ');
}

/** Replaces Commander's check of choices, whose message has the option's flags and no suggestion. */
function checkChoices(name: string, one: Option | Argument): void {
  const { argChoices } = one;
  if (argChoices === undefined) return;
  one.argParser((word: string) => {
    if (argChoices.includes(word)) return word;
    const near = nearest(argChoices, word);
    throw usageError(
      `${name} is one of ${argChoices.join(', ')}, not "${word}"`,
      near && `did you mean ${near}?`,
    );
  });
}

/** An error of Commander's parser as one of ours. */
function misuse(error: CommanderError, command: Command): CliError {
  const message = error.message.replace(/^error: /, '').replace(/\.$/, '');
  const quoted = /'(.*)'/s.exec(message)?.[1] ?? '';
  if (error.code === 'commander.unknownOption') return unknownOption(quoted, command);
  const names = command.commands.map((one) => one.name());
  const near = error.code === 'commander.unknownCommand' ? nearest(names, quoted) : undefined;
  return usageError(message, near ? `did you mean ${near}?` : 'see --help');
}

/** Options of tools like this one that would show a secret to other users. */
const SECRETS = /^--(?:api-?key|pass(?:word)?|secret|token)$/;

/** Names the option only: a value joined to it may be a secret. */
function unknownOption(typed: string, command: Command): CliError {
  const [name = ''] = /^(?:--[^=']+|-[^-])/.exec(typed) ?? [];
  const options = optionsOf(command);
  // Commander treats a value for a switch as an unknown option.
  if (typed.startsWith(`${name}=`) && options.some(({ long }) => long === name))
    return usageError(`${name} takes no value`, 'see --help');
  const message = `unknown option '${name}'`;
  if (SECRETS.test(name))
    return usageError(
      message,
      'no option takes a secret or a token, since other users can read options: it is piped in, typed, or in a file or variable; see --help',
    );
  const names = options.flatMap(({ long, hidden }) => (long && !hidden ? [long.slice(2)] : []));
  const near = name.startsWith('--') ? nearest(names, name.slice(2)) : undefined;
  return usageError(message, near ? `did you mean --${near}?` : 'see --help');
}

/** Those of the command and of the ones above it. */
function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
}

function unknownCommand(word: string, besides: readonly string[] = []): CliError {
  const names = [...commands.map(({ name }) => name), ...besides];
  const near = nearest(names, word);
  return usageError(
    `there is no command "${word}"`,
    near ? `did you mean ${near}?` : `commands: ${names.join(', ')}`,
  );
}

/** The closest name, if few letters of the word are wrong: one in three, two at most. */
function nearest(names: readonly string[], word: string): string | undefined {
  const most = Math.min(2, Math.max(1, Math.floor(word.length / 3)));
  const near = names.map((name) => ({ name, edits: distance(name, word) }));
  return near.sort((one, other) => one.edits - other.edits).find(({ edits }) => edits <= most)
    ?.name;
}

/**
 * Edits that turn one word into another (Damerau-Levenshtein, optimal string alignment). Our own,
 * because fastest-levenshtein counts two swapped letters, the most common slip, as two edits.
 */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  const cell = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= from.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= to.length; j++) {
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      rows[i]?.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1),
          swapped ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return cell(from.length, to.length);
}
