import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { wholeProgram } from '../src/commands/program';
import { kinds } from '../src/contract/api';
import type { Context } from '../src/platform/context';
import { exitStatus } from '../src/platform/errors';
import { settings } from '../src/profile/settings';
import { index, jsonFaults, published, schemaNames } from './helpers/schemas';

const root = join(import.meta.dirname, '..');
const PUSH = { url_token: 'abc123def456', html_url: 'https://pw.test/p/abc123def456' };

describe('the index', () => {
  test('has a schema for every command that prints JSON', async () => {
    const program = await wholeProgram({ version: '', env: {} } as Context);
    const leaves = ({ commands }: Command, above: string): string[] =>
      commands.flatMap((one) => {
        const words = `${above}${one.name()}`;
        const below = leaves(one, `${words} `);
        return below.length === 0 || one.name() === 'serve' ? [words, ...below] : below;
      });
    const silent = ['completion', 'mcp', 'run'];
    const named = new Set(index.stdout.map(({ command }) => command));
    const printing = leaves(program, '').filter((words) => !silent.includes(words));
    expect([...named].sort()).toEqual([...printing, 'help'].sort());
  });

  test('names every schema but the parts of others, and none besides', () => {
    const named = [...index.stdout.flatMap(({ schemas }) => schemas), ...index.stderr];
    const parts = ['event.1.json', 'parts.1.json'];
    expect([...new Set([...named, ...parts])].sort()).toEqual([...schemaNames].sort());
    for (const name of schemaNames) expect(name).toMatch(/^[a-z-]+\.\d+\.json$/);
  });

  test('names schemas that docs/json.md explains', () => {
    const page = readFileSync(join(root, 'docs/json.md'), 'utf8');
    const own = schemaNames.filter((name) => name !== 'parts.1.json');
    expect(own.filter((name) => !page.includes(`](schemas/${name})`))).toEqual([]);
  });

  test('has the settings of a profile', () => {
    const { properties } = published()('profile.1.json').schema as { properties: object };
    const expected = [...Object.keys(settings), 'profile', 'current'];
    expect(Object.keys(properties).sort()).toEqual(expected.sort());
  });

  test('has the codes of errors', () => {
    const error = published()('error.1.json');
    for (const code of Object.keys(exitStatus)) expect(error({ error: { code, message: 'x' } }), code).toBe(true);
    expect(error({ error: { code: 'other', message: 'x' } })).toBe(false);
  });
});

test('docs/openapi.json has the kinds of a push', () => {
  const document = readFileSync(join(root, 'docs/openapi.json'), 'utf8');
  const listed = [...document.matchAll(/"enum": (\[[^\]]*"url"[^\]]*\])/g)].map(([, words = '']): string[] =>
    JSON.parse(words),
  );
  const ofTexts = kinds.filter((kind) => kind !== 'file');
  const known = [`${kinds}`, `${ofTexts}`];
  expect(listed.filter((words) => !known.includes(`${words}`))).toEqual([]);
  expect(listed.length).toBeGreaterThan(2);
});

test('a schema allows unknown fields of an instance, but none of ours', () => {
  const push = published()('push.1.json');
  expect(push({ ...PUSH, encrypted: false, color: 'red' })).toBe(true);
  expect(push({ ...PUSH, color: 'red' })).toBe(false);
  expect(published()('generate.1.json')({ payload: 'x', color: 'red' })).toBe(false);
});

// What is as the schemas say, all other tests print.
test.each([
  ['an undeclared field', 'push x --json', { ...PUSH, encrypted: false, color: 'red' }],
  ['a missing field', 'get x --json', {}],
  ['an undeclared field in a list', '--json ls', [{ ...PUSH, color: 'red' }]],
  ['a field of another type', 'list requests --json', [{ encrypted: 1 }]],
])('the tests refuse %s', async (_, line, value) => {
  const printed = { argv: line.split(' '), code: 0 };
  expect(await jsonFaults({ ...printed, stdout: JSON.stringify(value) })).not.toEqual([]);
  expect(await jsonFaults({ ...printed, stderr: '{"notice":{}}\n' })).not.toEqual([]);
});

test('the examples of docs/json.md that are whole are as the schemas say', async () => {
  const page = readFileSync(join(root, 'docs/json.md'), 'utf8');
  const examples = [...page.matchAll(/^```sh\n(.*?)\n```\n\n```json\n(.*?)^```/gms)].filter(
    ([, line = '']) => !/\| jq/.test(line),
  );
  for (const [, line = '', value = ''] of examples) {
    const words = line.replace(/^.*?pwpush /, '').match(/"[^"]*"|\S+/g) ?? [];
    const stream = words.at(-1) === '2>&1' ? 'stderr' : 'stdout';
    const printed = `${JSON.stringify(JSON.parse(value))}\n`;
    expect(await jsonFaults({ argv: words, code: 0, [stream]: printed }), line).toEqual([]);
  }
  expect(examples.length).toBeGreaterThan(8);
});
