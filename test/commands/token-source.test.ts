import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Place, place } from '../helpers/run';
import { json, wire } from '../helpers/wire';

// A token that was refused, or is missing. What is said of it: test/cases/token-*.txt.

let here: Place;
beforeEach(async () => {
  here = place({ send: wire([json(401, '')]).send });
  await here.keep({
    current: 'work',
    profiles: {
      work: { url: 'https://pw.test', token: 'w0rk' },
      other: { url: 'https://other.test', token: '0ther' },
    },
  });
  writeFileSync(here.file('token'), 'typed');
});
afterEach(() => here.close());

describe('--token-file - reads standard input, which nothing else does', () => {
  test.each([
    [['push']],
    [['push', '-']],
    [['push', '--from', '-']],
    [['push', '--file', '-', '--filename', 'x']],
    [['push', '--each']],
    [['push', '--env', 'X', '--passphrase-file', '-']],
    [['get', 'abc', '--passphrase-file', '-']],
    [['run', 'abc', '--passphrase-file', '-', '--', 'true']],
  ])('%j', async ([name = '', ...argv]) => {
    const { code, stderr } = await here
      .under({ env: { PWPUSH_URL: 'https://pw.test' }, stdin: 'typed\n' })
      .run(name, '--token-file', '-', ...argv);
    expect([code, stderr.includes('and the token')]).toEqual([2, true]);
  });
});

describe('a link of an instance that another profile has a token for', () => {
  const LINK = 'https://other.test/p/abc';

  test('gets that token, which --debug tells', async () => {
    const { code, stderr } = await here.run('audit', LINK, '--debug');
    expect([code, stderr.includes('profile "other"')]).toEqual([3, true]);
  });

  test.each([
    [['audit', LINK, '--profile', 'work'], true],
    [['get', LINK, '--token-file', 'TOKEN'], true],
    [['audit', LINK, '--anonymous'], false],
  ])('gets none with %j, and the profile is named: %j', async (argv, named) => {
    const words = argv.map((word) => (word === 'TOKEN' ? here.file('token') : word));
    const { stderr } = await here.under({ terminals: ['stderr'] }).run(...words);
    expect(stderr.includes('--profile other')).toBe(named);
  });
});

test.each([
  ['list', []],
  ['audit', ['abc']],
  ['wait', ['abc']],
  ['notify', ['abc', 'a@b.example']],
])('%s --anonymous names that as the cause', async (name, operands) => {
  const { code, stderr } = await here.run(name, ...operands, '--anonymous');
  expect([code, stderr.includes('--anonymous')]).toEqual([3, true]);
});

test('a token over plain http: the profile is spoken of where it is one’s', async () => {
  const hint = async (env: Record<string, string>) =>
    (await here.under({ env }).run('list')).stderr;
  expect(await hint({ PWPUSH_URL: 'http://pw.test', PWPUSH_TOKEN: 'x' })).not.toContain(
    '--profile',
  );
  await here.keep({
    current: 'work',
    profiles: { work: { url: 'http://pw.test', token: 'w0rk' } },
  });
  expect(await hint({})).toContain('--profile work');
});
