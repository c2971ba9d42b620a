import type { Command } from '../cli/command';
import { list, text } from '../cli/declare';
import { globalWords, type Options } from '../cli/options';
import type { Context } from '../platform/context';
import type { McpPlan } from './mcp/serve-tools';
import { type Perform, planned } from './planned';

export { default as help } from './help/mcp.txt?raw';

export const rows = {
  root: text('--root <folder>', 'keep all files below it (default: the current folder)'),
  env: list('--env <name>', 'let push take this variable; repeat it for more').or([]),
  allowRun: list('--allow-run <program>', 'let run start this program; repeat it for more').or([]),
};

export function define(command: Command, context: Context, perform?: Perform): void {
  command.description('Let coding agents use secrets that they do not see.');
  const asked = (options: Options<typeof rows>): McpPlan => {
    const { root, env, allowRun } = options;
    return { root, allowed: { env, run: allowRun }, words: globalWords(options) };
  };
  const journey = () => import('./mcp/serve-tools');
  planned(command, context, { rows, asked, journey, unnamedInput: () => 'the protocol' }, perform);
}
