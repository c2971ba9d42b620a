import { checkInput, checkOptions, linksOf } from '../cli/check-options';
import type { Command } from '../cli/command';
import { declare, type Rows } from '../cli/declare';
import {
  addGlobals,
  type Closed,
  lineRows,
  type Options,
  optionsOf,
  outputRows,
} from '../cli/options';
import type { Entry } from '../cli/terminal/output';
import { unknownVariables } from '../cli/variables';
import type { Context } from '../platform/context';

export interface Prepared {
  readonly plan: unknown;
  run(): Promise<void>;
}

export interface CommandObject<R = Rows> {
  readonly rows: R;
  /** Only set for a subcommand: the table in program.ts has the summaries of the other commands. */
  readonly summary?: string;
  readonly alias?: string;
  /** By default, this is the summary as a sentence. */
  readonly description?: string;
  readonly usage?: string;
  /** The help shows this text after the options. */
  readonly help?: string;
  /** If true, the words after `--` are a command to run; if a string, only with the option of this name. */
  readonly takesCommand?: boolean | string;
  /** Names what the command reads from standard input, whatever its options are. */
  readonly input?: string;
  /** The global options; by default those of the parent command, or else all. */
  readonly globals?: Rows | undefined;
  readonly commands?: Readonly<Record<string, CommandObject>>;
  /**
   * Missing for a command that only has subcommands.
   * @throws CliError (usage)
   */
  prepare?(command: Command, context: Context): Promise<Prepared>;
}

export interface Invocation extends Entry {
  readonly command: Command;
}

export interface Planned<R, Plan> extends Omit<CommandObject<R>, 'prepare'> {
  /**
   * Decides everything that depends on options and on the defaults of the profile; starts nothing.
   * @throws CliError (usage)
   */
  plan(options: Options<R>, invocation: Invocation): Plan | Promise<Plan>;
  /** Imports the modules that only a run needs, so that the help is printed without them. */
  run(entry: Entry, plan: Plan): Promise<void>;
}

export function command<R extends Rows & Closed<R>, Plan>(
  planned: Planned<R, Plan>,
): CommandObject {
  const { rows, input } = planned;
  return {
    ...planned,
    prepare: async (command, context) => {
      const typed = optionsOf(command, context.env, rows);
      const all = lineRows(rows);
      checkOptions(all, typed, context.stdin, input);
      const options = { ...typed, ...(await linksOf(all, typed, command, context)) };
      const { entryOf } = await import('../cli/terminal/output');
      const entry = entryOf(context, options);
      // A command with the options for printing alone uses no instance.
      const unknown = planned.globals === outputRows ? [] : unknownVariables(entry);
      for (const warning of unknown) await entry.say.warn(warning);
      const plan = await planned.plan(options, { ...entry, command });
      // Options are checked before what a pipe has, which takes time.
      const unread = command.takesCommand() ? '' : await checkInput(all, typed, context.stdin);
      const run = async () => {
        await planned.run(entry, plan);
        if (unread) await entry.say.warn(unread);
      };
      return { plan, run };
    },
  };
}

/** Declares a command and its subcommands. `act` receives the command that a parsed line prepares. */
export function define(
  parser: Command,
  object: CommandObject,
  context: Context,
  act: (prepared: Prepared) => void = () => {},
): void {
  const { usage, takesCommand, commands = {}, prepare, globals } = object;
  const sentence = `${parser.summary().replace(/^./, (letter) => letter.toUpperCase())}.`;
  parser.manual = object.help ?? '';
  parser
    .description(object.description ?? sentence)
    .helpCommand(false)
    // Commander would take the `c` of `-pc` for the optional value of `-p`.
    .combineFlagAndOptionalValue(false);
  if (takesCommand)
    parser.takesCommand = () =>
      takesCommand === true || parser.getOptionValue(`${takesCommand}`) === true;
  if (usage !== undefined) parser.usage(usage);
  for (const [word, below] of Object.entries(commands)) {
    const child = parser.command(word).summary(below.summary ?? '');
    if (below.alias !== undefined) child.alias(below.alias);
    define(child, { globals, ...below }, context, act);
  }
  addGlobals(declare(parser, object.rows), globals);
  if (prepare) parser.action(async () => act(await prepare(parser, context)));
}
