import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { changed, RETRIEVED } from '../helpers/reference';
import { json } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

test.each(['hunter2', 'a\n', '\u001b[31mred\u0007\r\n\u202e', 'é日本\0', ' '])(
  'a text goes into a pipe as it is, and into a file: %j',
  async (text) => {
    const token = await here.push({ payload: `${text}x` });
    expect((await here.run('get', token)).stdout).toBe(`${text}x`);
    await here.run('get', token, '--output', here.file('out'));
    expect(readFileSync(here.file('out'), 'utf8')).toBe(`${text}x`);
  },
);

test.each([
  [{ expire_after_views: 5, views_remaining: 4 }, 0],
  [{ expire_after_views: 5, views_remaining: 3 }, 1],
  [{ expire_after_views: 5, views_remaining: 0 }, 4],
  [{ expire_after_views: 1, views_remaining: 0 }, 0],
  [{ expire_after_views: '3', views_remaining: '1' }, 1],
  // No view was used, whatever the reason.
  [{ expire_after_views: 5, views_remaining: 5 }, null],
  [{ expire_after_views: undefined }, null],
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
  ['words with spaces', 'Abacus abdomen abdominal abide abiding ability'],
  ['words, one of them mistyped', 'abacus-abdomen-abdominal-abyde-abiding-ability'],
];

test.each(KEYS)('a passphrase that is a key is not sent: %s', async (_what, key) => {
  writeFileSync(here.file('key'), `${key}\n`);
  const token = await here.push({ payload: 'x', passphrase: 'horse' });
  const prompts = [{ secret: 'Passphrase:', answer: key }];
  const ways = [
    [{ env: { PWPUSH_PASSPHRASE: key } }, []],
    [{}, ['--passphrase-file', here.file('key')]],
    [{ prompts }, ['-p']],
  ] as const;
  const run = ['run', token, '--as', 'A', '--', process.execPath];
  for (const [name = '', ...others] of [['get', token], run, ['respond', 'https://pw.test/r/abc']])
    for (const [conditions, words] of ways) {
      const { code, stdout, stderr } = await here.under(conditions).run(name, ...words, ...others);
      expect([name, words, code, stdout, here.asked]).toEqual([name, words, 2, '', []]);
      expect(stderr).not.toContain(key);
    }
});

test.each(KEYS)('a key is no passphrase of a new push: %s', async (_what, key) => {
  const lines = JSON.stringify({ payload: 'x', passphrase: key });
  for (const [words, env] of [
    [[], { PWPUSH_PASSPHRASE: key }],
    [['--each'], {}],
  ] as const) {
    const there = here.under({ env, stdin: lines });
    const { code, stdout } = await there.run('push', ...words);
    expect([words, code, stdout.trim(), here.asked]).toEqual([words, 2, '', []]);
  }
});

test('a passphrase that goes to the page of an instance is in no log of it', async () => {
  const closed = await instance({ settings: { anonymous: false } });
  onTestFinished(closed.close);
  const owner = closed.admin.PWPUSH_TOKEN;
  const token = await closed.push({ payload: 'x', passphrase: 'horse' }, owner);
  const codes = [];
  for (const PWPUSH_PASSPHRASE of ['cow', 'horse'])
    codes.push((await closed.under({ env: { PWPUSH_PASSPHRASE } }).run('get', token)).code);
  expect(codes).toEqual([7, 0]);
  expect(closed.service.lines.join()).not.toMatch(/horse|cow/);
});

describe('--output', () => {
  test('of a new folder leaves none behind when the push cannot be had', async () => {
    mkdirSync(here.file('out/there'), { recursive: true });
    const { code } = await here.run('get', 'nosuchpush', '-o', here.file('out/there/a/b/'));
    const left = readdirSync(here.file('out'), { recursive: true });
    expect({ code, left }).toEqual({ code: 5, left: ['there'] });
  });

  test('of a file that came to be in the meantime leaves it, and saves the text', async () => {
    const push = { payload: 'hunter2', passphrase: 'horse', expire_after_views: 1 };
    const target = here.file('secret');
    // Between the look for the file and the retrieval there is a prompt, at which somebody makes the file.
    const prompts = [
      {
        secret: 'Passphrase:',
        get answer() {
          writeFileSync(target, 'theirs');
          return 'horse';
        },
      },
    ];
    const { code } = await here.under({ prompts }).run('get', await here.push(push), '-o', target);
    const rescued = Object.values(here.rescued());
    expect([code, readFileSync(target, 'utf8'), rescued]).toEqual([1, 'theirs', ['hunter2']]);
  });
});
