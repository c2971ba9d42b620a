import { list, text } from '../cli/declare';
import help from './help/mcp.txt?raw';
import type { McpPlan } from './mcp/serve-tools';
import { command } from './planned';

export default command({
  description: 'Let coding agents use secrets that they do not see.',
  help,
  rows: {
    root: text('--root <folder>', 'keep all files below it (default: the current folder)').names(
      'path',
    ),
    env: list('--env <name>', 'let push take this variable; repeat it for more').or([]),
    allowRun: list('--allow-run <program>', 'let run start this program; repeat it for more').or(
      [],
    ),
  },
  input: 'the protocol',
  plan: ({ root, env, allowRun, ...options }): McpPlan => ({
    root,
    allowed: { env, run: allowRun },
    options,
  }),
  run: async (entry, plan) => (await import('./mcp/serve-tools')).run(entry, plan),
});
