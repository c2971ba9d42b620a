import { Command } from 'commander';
import { list, text } from '../cli/declare';
import { withOptions } from '../cli/options';
import type { Context } from '../platform/context';

export { default as help } from './help/mcp.txt?raw';

const rows = {
  root: text('--root <folder>', 'keep all files below it (default: the current folder)'),
  env: list('--env <name>', 'let push take this variable; repeat it for more').or([]),
  allowRun: list('--allow-run <program>', 'let run start this program; repeat it for more').or([]),
};

export function define(context: Context): Command {
  const command = new Command('mcp').description(
    'Serve tools by which agents use secrets that they do not see.',
  );
  return withOptions(command, context, rows, async (options) => {
    const { serveTools } = await import('./mcp/serve-tools');
    await serveTools(context, options);
  });
}
