import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Place, place } from '../helpers/run';

let here: Place;
let data: string[];
beforeEach(() => {
  here = place();
  data = ['--data', here.file('data')];
});
afterEach(() => here.close());

const TOKEN = /^pwp_[\w-]{43}\n$/;

test('add prints a new token, once; list tells who has how many', async () => {
  const first = await here.run('serve', 'token', 'add', 'alice', ...data);
  const second = await here.run('serve', ...data, 'token', 'add', 'alice');
  await here.run('serve', 'token', 'add', 'bob', ...data);
  expect([first, second]).toEqual(
    [first, second].map(() => ({ code: 0, stdout: expect.stringMatching(TOKEN), stderr: '' })),
  );
  expect(first.stdout).not.toBe(second.stdout);
  expect(await here.run('serve', 'token', 'list', ...data)).toEqual({
    code: 0,
    stdout: 'alice\t2\t2026-08-20T11:06:45.000Z\t\nbob\t1\t2026-08-20T11:06:45.000Z\t\n',
    stderr: '',
  });
});

test('list is an array with --json, a table on a terminal', async () => {
  await here.run('serve', 'token', 'add', 'alice', ...data);
  const rows = JSON.parse((await here.run('serve', 'token', 'list', '--json', ...data)).stdout);
  const shown = here.under({ terminals: ['stdout'], env: { NO_COLOR: '1' } });
  expect([rows, (await shown.run('serve', 'token', 'list', ...data)).stdout]).toEqual([
    [{ name: 'alice', tokens: 1, created_at: '2026-08-20T11:06:45.000Z', last_used_at: null }],
    'NAME   TOKENS  CREATED   LAST USED\nalice       1  just now  never\n',
  ]);
});

test('revoke takes all of a user’s tokens', async () => {
  await here.run('serve', 'token', 'add', 'alice', ...data);
  await here.run('serve', 'token', 'add', 'alice', ...data);
  expect([
    await here.run('serve', 'token', 'revoke', 'alice', ...data),
    await here.run('serve', 'token', 'revoke', 'alice', ...data),
  ]).toEqual([
    { code: 0, stdout: 'alice: 2 revoked\n', stderr: '' },
    {
      code: 2,
      stdout: '',
      stderr:
        'pwpush: no user "alice" with a token\nhint: list users and tokens with pwpush serve token list\n',
    },
  ]);
});

test('--json of add and revoke', async () => {
  const added = JSON.parse(
    (await here.run('serve', 'token', 'add', 'alice', '--json', ...data)).stdout,
  );
  const revoked = await here.run('serve', 'token', 'revoke', 'alice', '--json', ...data);
  expect([added.name, `${added.token}\n`, revoked.stdout]).toEqual([
    'alice',
    expect.stringMatching(TOKEN),
    '{"name":"alice","revoked":1}\n',
  ]);
});

test('a data folder that cannot be one is told, not thrown', async () => {
  writeFileSync(here.file('data'), '');
  expect(await here.run('serve', 'token', 'list', ...data)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      `pwpush: the data in "${here.file('data')}" cannot be opened (EEXIST)\n` +
      'hint: choose a folder of your own with --data\n',
  });
});

test.each([
  [['serve', '--host', ''], '--host must not be empty'],
  [['serve', '--tls-cert', '', '--tls-key', ''], '--tls-cert must not be empty'],
  [['serve', '--data=', 'token', 'list'], '--data must not be empty'],
  [['serve', 'token', 'list', '--database='], '--database must not be empty'],
  [['serve', '--port', '65536'], '--port must be a number from 0 to 65535, not "65536"'],
  [['serve', '--max-days', '0'], '--max-days must be a whole number of 1 or more, not "0"'],
  [['serve', 'token', 'add'], 'missing NAME'],
])('%j is bad usage', async (argv, message) => {
  const { code, stderr } = await here.run(...argv);
  expect([code, stderr.split('\n')[0]]).toEqual([2, `pwpush: ${message}`]);
});
