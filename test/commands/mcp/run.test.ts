import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { eachInstance } from '../../helpers/instance';
import { type Connected, SECRET, serving } from '../../helpers/mcp';

const here = eachInstance({
  env: { PATH: process.env.PATH, DB_PASSWORD: `operator-${SECRET}`, PWPUSH_STATE: SECRET },
});
let server: Connected;
beforeEach(async () => {
  const allowed = ['sh', 'env', 'no-such-program'].flatMap((name) => ['--allow-run', name]);
  server = await serving(here, ['--env', 'DB_PASSWORD', '--debug', ...allowed]);
});

const pushed = (payload = SECRET) => here.push({ payload }, here.admin.PWPUSH_TOKEN);

test('a program that prints its environment tells neither the secret nor what is the operator’s', async () => {
  const link = await pushed();
  const told = await server.call('run', { link, command: ['env'], as: 'TOKEN_OF_LINK' });
  expect(told).toMatch(/^exit code 0\n\nstandard output:\n/);
  expect(told).toContain('TOKEN_OF_LINK=***');
  expect(told).not.toMatch(/DB_PASSWORD|PWPUSH_TOKEN|PWPUSH_STATE=/);
});

test.each([
  ['a variable', () => ['operator-marker-Xq7', 'pLw2vT9']],
  ['the token', () => [here.admin.PWPUSH_TOKEN.slice(0, 9), here.admin.PWPUSH_TOKEN.slice(9)]],
])('%s that a program reads from the server is masked', async (_, parts) => {
  const line = 'echo "$1$2"; printf %s "$1$2" | base64 >&2';
  const command = ['sh', '-c', line, 'sh', ...parts()];
  const told = await server.call('run', { link: await pushed('another one'), as: 'A', command });
  expect(told).toMatch(/output:\n\*\*\*\n+standard error:\n\*\*\*/);
  expect(server.transcript.join('\n')).not.toContain(here.admin.PWPUSH_TOKEN);
});

test('of a long output the end is told', async () => {
  const line = 'i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done';
  const link = await pushed();
  const told = await server.call('run', { link, as: 'A', command: ['sh', '-c', line] });
  expect(told).toContain('standard output, its last 16384 bytes:');
  expect(told).toMatch(/line 2999\n$/);
});

test('its standard input is empty, and not the protocol', async () => {
  const link = await pushed();
  const command = ['sh', '-c', 'cat; echo end'];
  expect(await server.call('run', { link, as: 'A', command })).toContain('output:\nend\n');
});

test.each([
  [['ls'], 'the operator has not allowed the program "ls"'],
  [['/bin/sh'], 'has not allowed'],
  [['sh ', '-c', 'id'], 'has not allowed'],
  [['no-such-program'], 'command not found'],
  [['sh', 'a\0b'], 'contains NUL'],
  ['sh', 'command: Invalid input: expected array'],
])('%j is refused before a view is used', async (command, why) => {
  const link = await pushed();
  expect(await server.call('run', { link, command, as: 'A' })).toContain(why);
  expect(here.asked).toEqual([]);
});

test('a program is found by its name alone, unless another has that name', async () => {
  const paths = ['one/env', 'two/env', '/bin/echo'];
  const { call } = await serving(
    here,
    paths.flatMap((path) => ['--allow-run', path]),
  );
  const run = async (name: string) => call('run', { link: await pushed(), command: [name], as: 'A' });
  expect(await run('echo')).toMatch(/^exit code 0\n/);
  expect(await run('env')).toContain('use one that is allowed: one/env, two/env, /bin/echo; or ask');
});

test('a program is the one that was found at the start, in a folder with an absolute path', async () => {
  const [bin, cloned] = [here.file('bin'), here.file('cloned')];
  for (const folder of [bin, cloned]) mkdirSync(folder);
  writeFileSync(join(cloned, 'env'), '#!/bin/sh\necho planted', { mode: 0o755 });
  const PATH = `${relative('.', cloned)}:${bin}:${process.env.PATH}`;
  const { call } = await serving(here, ['--allow-run', 'env'], { conditions: { env: { PATH } } });
  writeFileSync(join(bin, 'env'), '#!/bin/sh\necho planted', { mode: 0o755 });
  const told = await call('run', { link: await pushed(), command: ['env'], as: 'A' });
  expect(told).toContain('A=***');
});

test('variables that decide what is loaded and run are refused', async () => {
  const link = await pushed();
  for (const as of ['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'AI_AGENT', '--file', 'a b', ''])
    expect(await server.call('run', { link, command: ['env'], as })).toMatch(/^! /);
  expect(here.asked).toEqual([]);
});

test('a start with programs that have a way to a shell warns of them', async () => {
  const loose = 'bash /usr/bin/python3.12 C:\\bin\\PSQL.EXE git vim less ssh tar'.split(' ');
  const words = [...loose, './deploy.sh', 'migrate'].flatMap((name) => ['--allow-run', name]);
  const { stderr } = await (await serving(here, words)).close();
  expect(stderr).toContain(
    `warning: --allow-run: ${loose.slice(0, -1).join(', ')} and tar can start other programs, or print a secret in any form`,
  );
});
