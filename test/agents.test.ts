import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { readLine } from '../src/cli/command-line';
import { programFor } from '../src/commands/program';
import type { Context } from '../src/platform/context';

const text = readFileSync(new URL('../docs/agents.md', import.meta.url), 'utf8');
const blocks = [...text.matchAll(/^```(json|toml)\n(.*?)^```/gms)].map(([, form, block = '']) =>
  form === 'toml' ? parse(block) : JSON.parse(block),
);

interface Server {
  readonly command: string;
  readonly args: readonly string[];
}

test('docs/agents.md has configurations that start the server', async () => {
  const keys = ['mcpServers', 'mcp_servers', 'servers'];
  expect(blocks.map((block) => Object.keys(block))).toEqual(keys.map((key) => [key]));
  const context = { version: '0.1.0', env: {} } as Context;
  for (const [at, block] of blocks.entries()) {
    const { pwpush } = block[keys[at] ?? ''] as { pwpush: Server };
    expect(pwpush.command).toBe('pwpush');
    const program = await programFor(pwpush.args, context);
    const { command, operands, options, unsure } = readLine(program, pwpush.args);
    expect([command.name(), operands, unsure]).toEqual(['mcp', [], false]);
    const known = command.options.map(({ long }) => long);
    expect(options.filter((one) => !known.includes(one))).toEqual([]);
    command.exitOverride().parseOptions([...pwpush.args.slice(1)]);
  }
});
