import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { eachInstance, instance } from '../helpers/instance';
import { needsRoot } from '../helpers/needs';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';
import { place } from '../helpers/run';
import { json, wire } from '../helpers/wire';

// What get says and prints: test/cases/get-*.txt.

const here = eachInstance();
const read = (name: string) => readFileSync(here.file(name), 'utf8');

test.each([
  [{ expire_after_views: 1, views_remaining: 0 }, 0],
  [{ expire_after_views: '3', views_remaining: '1' }, 1],
  // No view was used, whatever the reason.
  [{ expire_after_views: 5, views_remaining: 5 }, null],
  [{ views_remaining: null }, null],
  [{ views_remaining: 'all', earlier_views: 7 }, null],
])('of %j, %j views were used before', async (fields, earlier) => {
  const got = (...words: string[]) => {
    const terminals = ['stdout', 'stderr'] as const;
    return asking([json(200, changed(RETRIEVED, fields))], ['get', 'abc', ...words], { terminals });
  };
  expect(JSON.parse((await got('--json')).stdout).earlier_views).toBe(earlier);
  expect((await got()).stderr.trimEnd().split('\n')).toHaveLength(earlier ? 2 : 1);
});

const KEYS = [
  ['a link key', 'Zm9v-_YmFyIGJhego0MjEw'],
  ['a link with its key', 'https://pw.test/p/abc#Zm9v-_YmFyIGJhego0MjEw'],
  ['words', 'abacus-abdomen-abdominal-abide-abiding-ability'],
  ['nearly a link key', 'Zm9v-_YmFyIGJhego0MjE'],
  ['nearly words', 'AbacusAbdommenAbdominalAbydeAbidingAbility'],
];

test.each(KEYS)('a passphrase that is a key is not sent: %s', async (_what, key) => {
  const token = await here.push({ payload: 'x', passphrase: 'horse' });
  const prompts = [{ secret: 'Passphrase:', answer: key }];
  const ways = [
    [{ env: { PWPUSH_PASSPHRASE: key } }, []],
    [{ prompts }, ['-p']],
  ] as const;
  const run = ['run', token, '--as', 'A', '--', process.execPath];
  for (const [name = '', ...others] of [['get', token], run, ['respond', 'https://pw.test/r/abc']])
    for (const [conditions, words] of ways) {
      const { code, stdout, stderr } = await here.under(conditions).run(name, ...words, ...others);
      expect([name, words, code, stdout, here.asked]).toEqual([name, words, 2, '', []]);
      expect(stderr).not.toContain(key);
    }
  const lines = here.under({ stdin: JSON.stringify({ payload: 'x', passphrase: key }) });
  const pushed = here.under({ env: { PWPUSH_PASSPHRASE: key }, stdin: 'x' });
  for (const made of [await pushed.run('push'), await lines.run('push', '--each')])
    expect([made.code, made.stdout.trim(), here.asked]).toEqual([2, '', []]);
});

test('any text of a file is a passphrase for the instance in use, and for no other', async () => {
  writeFileSync(here.file('words'), 'abacus-abdomen-abdominal-abide-abiding-ability');
  const by = ['--passphrase-file', here.file('words')];
  const { stdout } = await here.run('push', 'x', ...by);
  expect(await here.run('get', stdout.trim(), ...by)).toMatchObject({ code: 0, stdout: 'x' });
  const asked = here.asked.length;
  const link = stdout.trim().replace('pw.test', 'other.test');
  const elsewhere = await here.run('get', link, ...by);
  expect([elsewhere.code, elsewhere.stdout, here.asked.length]).toEqual([2, '', asked]);
  expect(elsewhere.stderr).toContain('not sent as a passphrase');
});

test('a passphrase is sent in NFC', async () => {
  const PWPUSH_PASSPHRASE = 'cafe\u0301';
  const instance = wire([json(200, RETRIEVED), json(201, CREATED)]);
  const env = { PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss', PWPUSH_PASSPHRASE };
  const there = place({ env, send: instance.send });
  await there.run('get', 'abc');
  await there.run('push', 'x');
  expect(instance.sent.join()).toMatch(/passphrase=caf%C3%A9[\s\S]*"passphrase":"caf\u00e9"/);
});

test('a passphrase that goes to the page of an instance is in no log of it', async () => {
  const closed = await instance({ settings: { anonymous: false } });
  const owner = closed.admin.PWPUSH_TOKEN;
  const token = await closed.push({ payload: 'x', passphrase: 'horse' }, owner);
  for (const [PWPUSH_PASSPHRASE, code] of [
    ['cow', 7],
    ['horse', 0],
  ] as const)
    expect((await closed.under({ env: { PWPUSH_PASSPHRASE } }).run('get', token)).code).toBe(code);
  expect(closed.service.lines.join()).not.toMatch(/horse|cow/);
});

test('a new folder for a push that cannot be had is not left behind', async () => {
  mkdirSync(here.file('out/there'), { recursive: true });
  const { code } = await here.run('get', 'nosuchpush', '-o', here.file('out/there/a/b/'));
  expect([code, readdirSync(here.file('out'), { recursive: true })]).toEqual([5, ['there']]);
});

describe('in a job of GitHub Actions', () => {
  /** Reads such a file as the runner does: the values between delimiters. */
  const asRunner = (text: string) =>
    [...text.matchAll(/^([^\n]*?)<<([^\n]+)\n(.*?)\n\2\n/gms)].map(([, name, , value]) => [name, value]);
  /** What the runner masks after these commands. */
  const masked = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => /^::add-mask::(.*)$/.exec(line)?.[1] ?? `not a mask: ${line}`)
      .map((data) => data.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%'));

  test('all lines of any text are masked, and the runner reads it back', async () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('', '%', '%0A', '::', 'A<<B', 'B', '\r', '  se cret ', ' }'));
    const job = here.under({ env: { GITHUB_ENV: here.file('env') } });
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        const text = ['first', ...lines].join('\n');
        writeFileSync(here.file('env'), '');
        const token = await here.push({ payload: text });
        const { stdout } = await job.run('get', token, '--github-env', 'NAME');
        const wanted = text.split(/\r\n|\r|\n/).filter((one) => one.trim() !== '');
        const trimmed = wanted.map((one) => one.trim()).filter((one) => one.length >= 4);
        expect(masked(stdout)).toEqual([...new Set([...wanted, ...trimmed])]);
        expect(asRunner(read('env'))).toEqual([['NAME', text]]);
      }),
      { numRuns: 50 },
    );
  });

  test('a text with NUL is refused before anything is set, and saved', async () => {
    const token = await here.push({ payload: 'a\0b', expire_after_views: 1 });
    const job = here.under({ env: { GITHUB_ENV: here.file('env') } });
    const { code, stdout } = await job.run('get', token, '--github-env', 'A');
    expect([code, stdout, read('env')]).toEqual([1, '', '']);
    expect(Object.values(here.rescued())).toEqual(['a\0b']);
  });

  test.each([
    ['--github-output', 0o1777, 2],
    ['--github-env', 0o777, 2],
    // The container of a job, where root writes to files of the runner.
    ['--github-output', 0o755, 0],
    ['--github-env', 0o2775, 0],
  ])('%s of another user in a folder of mode %o (needs root) ends with %i', needsRoot, async (option, mode, status) => {
    const path = here.file('shared/file');
    mkdirSync(here.file('shared'));
    writeFileSync(path, '');
    chmodSync(path, 0o666);
    chownSync(path, 1001, 1001);
    chmodSync(here.file('shared'), mode);
    const token = await here.push({ payload: 'text', expire_after_views: 1 });
    const job = here.under({ env: { CI: 'true', GITHUB_OUTPUT: path, GITHUB_ENV: path } });
    const { code } = await job.run('get', token, '--anonymous', option, 'A');
    expect([code, read('shared/file').includes('text')]).toEqual([status, status === 0]);
    if (status !== 0) expect((await here.run('get', token)).stdout).toBe('text');
  });
});
