import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { wholeProgram } from '../src/commands/program';
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
    const [word = '', ...words] = pwpush.args;
    const command = (await wholeProgram(context)).below(word);
    expect(command?.name()).toBe('mcp');
    expect(command?.exitOverride().parseOptions(words)).toEqual({ operands: [], unknown: [] });
  }
});
