import { Command, CommanderError, Help } from 'commander';
import type { Context } from './context';
import { ExitWith, exitStatus, usageError } from './errors';
import { commandsFirst, globalsInShort } from './help/format-help';
import { addGlobalOptions, type GlobalOptions, globalOptions, isOn } from './options';

interface Entry {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly load: () => Promise<(context: Context) => Command>;
}

/** The words one can type. Only the one typed is loaded; a new command is one line here. */
export const commands: readonly Entry[] = [
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
    load: async () => {
      const { completionCommand } = await import('./commands/completion');
      return (context) =>
        completionCommand(context, async () => ({
          program: await wholeProgram(context),
          topics: topics.map(({ name }) => name),
        }));
    },
  },
];

interface Topic {
  readonly name: string;
  readonly load: () => Promise<string>;
}

/** What `pwpush help` tells besides; a new topic is a file in `help/` and one line here. */
export const topics: readonly Topic[] = [
  { name: 'environment', load: async () => (await import('./help/environment')).text },
  { name: 'exit-codes', load: async () => (await import('./help/exit-codes')).text },
  { name: 'ci', load: async () => (await import('./help/ci')).text },
  { name: 'security', load: async () => (await import('./help/security')).text },
];

const EXAMPLES = `
Examples:
  $ pwgen 24 1 | pwpush push --views 1
  $ pwpush get https://pwpush.example/p/abc123def456
  $ pwpush serve

\`pwpush help <command>\` shows a command's options, \`pwpush help <topic>\` more:
${topics.map(({ name }) => name).join(', ')}. Exit codes and all else: man pwpush.`;

/** Parses one command line, calls `begins`, and runs the command; rejects with what went wrong. */
export async function execute(
  argv: readonly string[],
  context: Context,
  begins: (options: GlobalOptions) => void,
): Promise<void> {
  const topic = argv[0] === 'help' && topics.find(({ name }) => name === argv[1]);
  if (topic) return context.stdout.write(await topic.load());
  const words = withoutHelpWord(argv);
  let asking = false;
  const canPrompt = () => asking && context.canPrompt();
  const program = await programFor(words, { ...context, canPrompt });
  program.hook('preAction', (_, command) => {
    const options = globalOptions(command, context.env);
    asking = mayPrompt(options, context);
    begins(options);
  });
  refuseTailed(optionWords(program, words));
  const shown: string[] = [];
  eachCommand(program, (command) => settle(command, context, (text) => shown.push(text)));
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return context.stdout.write(shown.join(''));
    if (error.code !== 'commander.help') throw misuse(error, program);
    // `pwpush profile` alone: what could have been typed is told as an error.
    await context.stderr.write(shown.join(''));
    throw new ExitWith(exitStatus.usage);
  }
}

/** The tree for a command line: the typed command alone, or the names and summaries of all. */
export async function programFor(argv: readonly string[], context: Context): Promise<Command> {
  const program = newProgram(context);
  const typed = typedCommand(program, argv);
  for (const { name, summary, load } of commands) {
    if (typed === undefined) program.addCommand(new Command(name).summary(summary));
    else if (name === typed) program.addCommand(versioned((await load())(context), context));
  }
  return program;
}

/** The tree with every command in full. */
async function wholeProgram(context: Context): Promise<Command> {
  const program = newProgram(context);
  for (const { summary, load } of commands)
    program.addCommand(versioned((await load())(context), context).summary(summary));
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
  return globalsInShort(text, help.helpWidth ?? 80);
}

/** The first word that is neither an option nor an option's value; undefined when the program's own help is asked for. */
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

/** `help` and `help push` are `--help` and `push --help`. */
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

/** The words before `--` that are options, as Commander takes them: the value of an option is none. */
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

/** Whether the value of an option is the word after it: after `-qn` it is, and `-nq` has its own. */
function takesNext(word: string, takers: ReadonlySet<unknown>): boolean {
  if (word.startsWith('--')) return takers.has(word);
  const letters = Array.from(word.slice(1));
  const taker = letters.findIndex((letter) => takers.has(`-${letter}`));
  return taker !== -1 && taker === letters.length - 1;
}

/** A token that begins with a dash must not pass for `-h` or `-V` with something behind it. */
function refuseTailed(words: readonly string[]): void {
  const tailed = words.find((word) => /^-[hV]./.test(word));
  if (tailed === undefined) return;
  throw usageError(
    `${tailed.slice(0, 2)} takes nothing behind it`,
    'what begins with a dash and is no option is given behind --',
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

/** Commander neither writes nor exits by itself. */
function settle(command: Command, context: Context, show: (text: string) => void): void {
  command
    .exitOverride()
    .configureHelp({
      showGlobalOptions: false,
      subcommandTerm,
      formatHelp,
    })
    .configureOutput({
      writeOut: show,
      writeErr: show,
      outputError: () => {},
      getOutHelpWidth: () => Math.min(context.stdout.columns, 100),
      getOutHasColors: () => false,
    });
}

/** Name and arguments only: every command takes options. */
function subcommandTerm(command: Command): string {
  const words = command.registeredArguments.map((one) =>
    one.required ? `<${one.name()}>` : `[${one.name()}]`,
  );
  return [command.name(), ...words].join(' ');
}

/** How Commander refuses a word that is none of those it may be. */
const CHOICE =
  /^error: (?:option '(?:-., )?(?<option>--[\w-]+)[^']*' argument '(?<given>.*)' is invalid|command-argument value '(?<typed>.*)' is invalid for argument '(?<argument>.*)')\. Allowed choices are (?<choices>.*)\.$/s;

/** What Commander says, as one of our errors: without its prefix, its suggestion as the hint. */
function misuse(error: CommanderError, program: Command): Error {
  const choice = CHOICE.exec(error.message)?.groups;
  if (choice) {
    const { option, argument, typed, given, choices = '' } = choice;
    const word = typed ?? given ?? '';
    const near = nearest(choices.split(', '), word);
    return usageError(
      `${option ?? argument} is one of ${choices}, not "${word}"`,
      near && `did you mean ${near}?`,
    );
  }
  const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const unknown = UNKNOWN.exec(error.message)?.groups;
  if (unknown) {
    const { name = '', value } = unknown;
    if (value && isSwitch(program, name)) return usageError(`${name} takes no value`, 'see --help');
    return unknownOption(name, suggestion);
  }
  return usageError(first.replace(/\.$/, ''), hintOf(suggestion));
}

/** An option that there is none of; what stands behind its name may be a secret. */
const UNKNOWN = /^error: unknown option '(?<name>--[^=']+|-[^-])(?<value>=)?/;

/** Options that tools of this kind have, and that would lead a secret past other users' eyes. */
const SECRETS = /^--(?:api-?key|pass(?:word)?|secret|token)$/;

/** Commander takes a switch with a value for an option that there is none of. */
function isSwitch(program: Command, name: string): boolean {
  let found = false;
  eachCommand(program, ({ options }) => {
    found ||= options.some((one) => one.long === name && one.isBoolean());
  });
  return found;
}

function unknownOption(name: string, suggestion: string | undefined): Error {
  const hint = SECRETS.test(name)
    ? 'no option takes a secret or a token, since other users can read options: it is piped in, typed, or in a file or variable; see --help'
    : hintOf(suggestion);
  return usageError(`unknown option '${name}'`, hint);
}

function hintOf(suggestion = ''): string {
  const near = /\(Did you mean (.*)\?\)/.exec(suggestion)?.[1];
  return near === undefined ? 'see --help' : `did you mean ${near}?`;
}

function unknownCommand(word: string, besides: readonly Topic[] = []): Error {
  const names = [...commands, ...besides].map(({ name }) => name);
  const near = nearest(names, word);
  return usageError(
    `there is no command "${word}"`,
    near ? `did you mean ${near}?` : `commands: ${names.join(', ')}`,
  );
}

/** The name that was meant, as far as few letters of the word are wrong: one of three, two at most. */
function nearest(names: readonly string[], word: string): string | undefined {
  const most = Math.min(2, Math.max(1, Math.floor(word.length / 3)));
  const near = names.map((name) => ({ name, edits: distance(name, word) }));
  return near.sort((one, other) => one.edits - other.edits).find(({ edits }) => edits <= most)
    ?.name;
}

/** Edits that turn one word into another (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
