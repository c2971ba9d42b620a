import { Command } from 'commander';
import { type CommandEntry, programEntry } from '../cli/command-tree';
import { addOutputOptions, optionsOf } from '../cli/options';
import { commandList, type ListedCommand } from '../cli/terminal/listings';
import { invocation } from '../cli/terminal/output';
import { table } from '../cli/terminal/table';
import type { Context } from '../platform/context';

const EXAMPLES = `
With --json also arguments, options with their types and defaults, topics of
help, and exit codes. Contacts no instance.

Examples:
  $ pwpush commands
  $ pwpush commands --json | jq '.commands[] | select(.name == "push").options'`;

/** @param whole the tree of all commands */
export function define(context: Context, whole: () => Promise<Command>): Command {
  const command = new Command('commands')
    .description('List all commands; with --json, describe them for programs.')
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const { say } = invocation(context, optionsOf(command, context.env, {}));
      const value = programEntry(await whole(), context.version);
      await say.print(value, (look) => table(value.commands.flatMap(listed), commandList, look));
    });
  return addOutputOptions(command);
}

/** A command and those below it, by the words that one types. */
function listed({ name, summary, commands }: CommandEntry): ListedCommand[] {
  const below = commands.flatMap(listed);
  return [
    { words: name, summary },
    ...below.map((one) => ({ ...one, words: `${name} ${one.words}` })),
  ];
}
