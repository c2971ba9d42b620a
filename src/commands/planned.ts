import { checkOptions } from '../cli/check-options';
import type { Command } from '../cli/command';
import { declare, type Rows } from '../cli/declare';
import { addGlobals, type Closed, lineRows, type Options, optionsOf } from '../cli/options';
import type { Entry } from '../cli/terminal/output';
import type { Context } from '../platform/context';

export interface Prepared {
  readonly plan: unknown;
  run(): Promise<void>;
}

export interface CommandObject<R = Rows> {
  readonly rows: R;
  /** A command below another one has its summary here; the table of the program has the others. */
  readonly summary?: string;
  readonly alias?: string;
  /** The summary as a sentence, by default. */
  readonly description?: string;
  readonly usage?: string;
  /** The help has this text after the options. */
  readonly help?: string;
  /** The words after `--` are a command to run; if this names an option, only with that option. */
  readonly takesCommand?: boolean | string;
  /** The command reads this from standard input, whatever its options are. */
  readonly input?: string;
  /** Those of the command above it, by default, and else all global options. */
  readonly globals?: Rows | undefined;
  /** Options that are not typed, also those of the commands below, have the values of variables that this word names. */
  readonly variableWord?: string | undefined;
  readonly commands?: Readonly<Record<string, CommandObject>>;
  /**
   * Missing for a command that only has others below it.
   * @throws CliError (usage)
   */
  prepare?(command: Command, context: Context, variableWord?: string): Promise<Prepared>;
}

export interface Invocation extends Entry {
  readonly command: Command;
}

export interface Planned<R, Plan> extends Omit<CommandObject<R>, 'prepare'> {
  /**
   * Decides everything about options, and merges the defaults of the profile; starts nothing.
   * @throws CliError (usage)
   */
  plan(options: Options<R>, invocation: Invocation): Plan | Promise<Plan>;
  /** Loads modules that only a run needs: printing the help does not. */
  run(entry: Entry, plan: Plan): Promise<void>;
}

export function command<R extends Rows & Closed<R>, Plan>(
  planned: Planned<R, Plan>,
): CommandObject {
  const { rows, input } = planned;
  return {
    ...planned,
    prepare: async (command, context, variableWord) => {
      const options = optionsOf(command, context.env, rows, variableWord);
      checkOptions(lineRows(rows), options, context.stdin, input);
      const { entryOf } = await import('../cli/terminal/output');
      const entry = entryOf(context, options);
      const plan = await planned.plan(options, { ...entry, command });
      return { plan, run: () => planned.run(entry, plan) };
    },
  };
}

/** Declares a command and those below it. `act` gets what was made of a line. */
export function define(
  parser: Command,
  object: CommandObject,
  context: Context,
  act: (prepared: Prepared) => void = () => {},
): void {
  const { usage, takesCommand, commands = {}, prepare, globals, variableWord } = object;
  const sentence = `${parser.summary().replace(/^./, (letter) => letter.toUpperCase())}.`;
  parser.manual = object.help ?? '';
  parser
    .description(object.description ?? sentence)
    .helpCommand(false)
    // `-pc` stays `-p -c`.
    .combineFlagAndOptionalValue(false);
  if (takesCommand)
    parser.takesCommand = () =>
      takesCommand === true || parser.getOptionValue(`${takesCommand}`) === true;
  if (usage !== undefined) parser.usage(usage);
  for (const [word, below] of Object.entries(commands)) {
    const child = parser.command(word).summary(below.summary ?? '');
    if (below.alias !== undefined) child.alias(below.alias);
    define(child, { globals, variableWord, ...below }, context, act);
  }
  addGlobals(declare(parser, object.rows), globals);
  if (prepare) parser.action(async () => act(await prepare(parser, context, variableWord)));
}
