import { Command } from 'commander';
import { type CommandEntry, commandEntry, globalEntries } from '../cli/command-tree';
import { addOutputOptions, optionsOf } from '../cli/options';
import { commandList, type ListedCommand } from '../cli/terminal/listings';
import { invocation } from '../cli/terminal/output';
import { table } from '../cli/terminal/table';
import type { Context } from '../platform/context';
import { exitStatus } from '../platform/errors';

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
      const program = await whole();
      const all = program.commands.map(commandEntry);
      const value = { ...(await frame(program, context)), commands: all };
      await say.print(value, (look) => table(all.flatMap(listed), commandList, look));
    });
  return addOutputOptions(command);
}

/** What is true of all commands. */
async function frame(program: Command, { version }: Context) {
  const { meanings, texts } = await import('../cli/help/topics');
  const failures = Object.entries(exitStatus).map(([name, status]) => ({
    status,
    name,
    meaning: meanings[name as keyof typeof exitStatus],
  }));
  return {
    name: program.name(),
    version,
    description: program.description(),
    options: globalEntries(program),
    exit_codes: [{ status: 0, name: 'ok', meaning: 'success' }, ...failures],
    topics: Object.entries(texts).map(([name, text]) => ({ name, title: text.split('\n', 1)[0] })),
  };
}

/** A command and those below it, by the words that one types. */
function listed({ name, summary, commands }: CommandEntry): ListedCommand[] {
  const below = commands.flatMap(listed);
  return [
    { words: name, summary },
    ...below.map((one) => ({ ...one, words: `${name} ${one.words}` })),
  ];
}
