import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance({ columns: 80 });
});
afterEach(() => here.close());

const asAdmin = (terminals: ('stdout' | 'stderr')[] = []) =>
  here.under({ env: { ...here.admin, NO_COLOR: '1' }, terminals });

/** Pushes of the owner, a minute apart, the last one first. */
async function pushes(count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let at = 0; at < count; at++) {
    tokens.unshift(await here.push({ payload: 'x', name: `n${at}` }, here.service.adminToken));
    here.service.clock.advance(60_000);
  }
  return tokens;
}

const names = (stdout: string) => stdout.split('\n').map((line) => line.split('\t')[1]);
const numbered = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, at) => `n${from - at}`);

describe('in a pipe', () => {
  test('a push is a line of cells between tabs, times in ISO 8601', async () => {
    const plain = await here.push({ payload: 'x' }, here.service.adminToken);
    here.service.clock.advance(1000);
    const other = await here.push(
      {
        payload: 'x',
        passphrase: 'horse',
        name: 'two\nlines\t\u001b[31m',
        expire_after_days: 3,
        expire_after_views: 2,
        deletable_by_viewer: false,
        retrieval_step: false,
      },
      here.service.adminToken,
    );
    expect(await asAdmin().run('list')).toEqual({
      code: 0,
      stdout:
        `${other}\ttwo\\nlines\\t\\x1b[31m\t2026-08-20T11:06:46.000Z\t2\t2\t3\t3\tpassphrase\t2026-08-23T11:06:46.000Z\n` +
        `${plain}\t\t2026-08-20T11:06:45.000Z\t5\t5\t7\t7\tstep,deletable\t2026-08-27T11:06:45.000Z\n`,
      stderr: '',
    });
  });

  test('expired ones say when and how', async () => {
    const [second = '', first = ''] = await pushes(2);
    await asAdmin().run('expire', first);
    await here.run('get', second);
    for (let at = 0; at < 4; at++) await here.run('get', second);
    here.service.clock.advance(60_000);
    const { stdout } = await asAdmin().run('list', 'expired');
    expect(stdout).toBe(
      `${second}\tn1\t2026-08-20T11:07:45.000Z\t2026-08-20T11:08:45.000Z\tlimit\n` +
        `${first}\tn0\t2026-08-20T11:06:45.000Z\t2026-08-20T11:08:45.000Z\tdeleted\n`,
    );
  });

  test('nothing is nothing, which stderr says, and [] with --json', async () => {
    expect([
      await asAdmin().run('list'),
      await asAdmin().run('list', '--quiet'),
      await asAdmin().run('list', 'expired', '--json'),
      await asAdmin(['stdout', 'stderr']).run('list', 'expired'),
    ]).toEqual([
      { code: 0, stdout: '', stderr: 'no active pushes\n' },
      { code: 0, stdout: '', stderr: '' },
      { code: 0, stdout: '[]\n', stderr: '' },
      { code: 0, stdout: '', stderr: 'no expired pushes\n' },
    ]);
  });

  test('a page behind the last one is not said to be all', async () => {
    await pushes(1);
    expect(await asAdmin().run('list', '--page', '2')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no active pushes on page 2\n',
    });
  });
});

test('on a terminal of 80 columns it is a table no wider than that', async () => {
  const token = await here.push({ payload: 'x', name: 'db' }, here.service.adminToken);
  here.service.clock.advance(2 * 60 * 60_000);
  const long = await here.push(
    { payload: 'x', name: 'production database, read-only', passphrase: 'horse' },
    here.service.adminToken,
  );
  const { code, stdout, stderr } = await asAdmin(['stdout', 'stderr']).run('list');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [head = '', first = '', second = ''] = stdout.split('\n');
  expect(head.split(/ {2,}/)).toEqual(['NAME', 'VIEWS', 'EXPIRES', 'CREATED', 'ID']);
  expect(first.split(/ {2,}/)).toEqual([
    'production database, read-only',
    '5/5',
    'in 7 days',
    'just now',
    long,
  ]);
  expect(second.split(/ {2,}/)).toEqual(['db', '5/5', 'in 7 days', '2 h ago', token]);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

describe('pages of 50', () => {
  let tokens: string[];
  beforeEach(async () => {
    tokens = await pushes(120);
  });

  test('the first, a named one, all, and a limit', async () => {
    const listed = [
      await asAdmin().run('list'),
      await asAdmin().run('list', '--page', '2'),
      await asAdmin().run('list', '--page', '3'),
      await asAdmin().run('list', '--page', '4'),
      await asAdmin().run('list', '--all'),
      await asAdmin().run('list', '--limit', '60'),
    ];
    expect(listed.map(({ stdout }) => names(stdout).slice(0, -1))).toEqual([
      numbered(119, 70),
      numbered(69, 20),
      numbered(19, 0),
      [],
      numbered(119, 0),
      numbered(119, 60),
    ]);
  });

  test('with --json all of them are one array', async () => {
    const { stdout } = await asAdmin().run('list', '--all', '--json');
    const rows: { url_token: string; passphrase?: string }[] = JSON.parse(stdout);
    expect(rows.map(({ url_token }) => url_token)).toEqual(tokens);
    expect(rows.filter((row) => 'passphrase' in row)).toEqual([]);
  });

  test('that there may be more is said on a terminal', async () => {
    const { stderr } = await asAdmin(['stderr']).run('list');
    expect(stderr).toBe('showing 50; use --all for more\n');
  });

  test('titles come once', async () => {
    const { stdout } = await asAdmin(['stdout']).run('list', '--all');
    expect(stdout.match(/\bID\b/g)).toHaveLength(1);
    expect(stdout.split('\n')).toHaveLength(122);
  });
});

test.each([
  [['--page', '0'], '--page must be a whole number from 1 to 200, not "0"'],
  [['--page', '201'], '--page must be a whole number from 1 to 200, not "201"'],
  [['--page', '1', '--all'], '--page cannot be combined with --all or --limit'],
  [['--page', '1', '--limit', '3'], '--page cannot be combined with --all or --limit'],
  [['--limit', '0'], '--limit must be a whole number of 1 or more, not "0"'],
  [['all'], 'state must be one of active, expired, requests, not "all"'],
])('%j is bad usage, and nothing is sent', async (argv, message) => {
  const { code, stdout, stderr } = await asAdmin().run('list', ...argv);
  expect({ code, stdout, message: stderr.startsWith(`pwpush: ${message}`), stderr }).toMatchObject({
    code: 2,
    stdout: '',
    message: true,
  });
  expect(here.asked).toEqual([]);
});

test('a failing stdout ends the listing', async () => {
  await pushes(1);
  const { code } = await here
    .under({ env: here.admin, failing: { stdout: 'EPIPE' } })
    .run('list', '--all');
  expect(code).toBe(1);
});
