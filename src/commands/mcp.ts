import { Command } from 'commander';
import { list, text } from '../cli/declare';
import { withOptions } from '../cli/options';
import type { Context } from '../platform/context';

const rows = {
  root: text('--root <folder>', 'keep all files below it (default: the current folder)'),
  env: list('--env <name>', 'let push take this variable; repeat it for more').or([]),
  allowRun: list('--allow-run <program>', 'let run start this program; repeat it for more').or([]),
};

const EXAMPLES = `
A client, such as a coding agent, starts it and speaks the Model Context
Protocol on its standard input and output. Tools: push, ask, run, save, wait,
expire, show, audit, list. None takes a secret, and none returns one.

Examples:
  $ claude mcp add pwpush -- pwpush mcp --allow-run psql
  $ pwpush mcp --root ./secrets --env DB_PASSWORD --profile work`;

export function define(context: Context): Command {
  const command = new Command('mcp')
    .description('Serve tools by which agents use secrets that they do not see.')
    .addHelpText('after', EXAMPLES);
  return withOptions(command, context, rows, async (options) => {
    const { serveTools } = await import('./mcp/serve-tools');
    await serveTools(context, options);
  });
}
