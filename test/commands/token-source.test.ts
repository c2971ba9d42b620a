import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Conditions, type Place, place } from '../helpers/run';
import { json, wire } from '../helpers/wire';

// A token that was refused, or is missing: which one it was, and where a better one is.

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

async function refused(argv: readonly string[], conditions: Conditions = {}) {
  const { code, stderr } = await here.under(conditions).run(...argv);
  return { code, stderr };
}

const saying = (message: string, hint: string) => ({
  code: 3,
  stderr: `pwpush: ${message}\nhint: ${hint}\n`,
});

describe('a refused token is named by where it is from', () => {
  const AGAIN = 'log in again with pwpush login';
  const BY_HAND = 'set a valid one there, or log in with pwpush login';

  test.each([
    ['profile "work"', [], {}, AGAIN],
    ['profile "other"', ['--profile', 'other'], {}, AGAIN],
    ['PWPUSH_TOKEN', [], { PWPUSH_TOKEN: 'x' }, BY_HAND],
  ])('%s', async (from, argv, env, hint) => {
    expect(await refused(['list', ...argv], { env })).toEqual(
      saying(`the instance refused the token from ${from}`, hint),
    );
  });

  test('--token-file and PWPUSH_TOKEN_FILE', async () => {
    const file = here.file('token');
    expect(await refused(['list', '--token-file', file])).toEqual(
      saying('the instance refused the token from --token-file', BY_HAND),
    );
    here.close();
    here = place({ env: { PWPUSH_URL: 'https://pw.test' }, send: wire([json(401, '')]).send });
    writeFileSync(here.file('token'), 'x');
    const env = { PWPUSH_TOKEN_FILE: here.file('token') };
    expect(await refused(['list'], { env })).toEqual(
      saying('the instance refused the token from PWPUSH_TOKEN_FILE', BY_HAND),
    );
  });
});

describe('--token-file - reads standard input', () => {
  const env = { PWPUSH_URL: 'https://pw.test' };

  test('and the token is named by it', async () => {
    const ended = await refused(['list', '--token-file', '-'], { env, stdin: 'typed\n' });
    expect(ended.stderr.split('\n')[0]).toBe(
      'pwpush: the instance refused the token from --token-file',
    );
  });

  test.each([
    [['push'], 'the secret and the token'],
    [['push', '-'], 'the secret and the token'],
    [['push', '--from', '-'], 'the secret and the token'],
    [['push', '--file', '-', '--filename', 'x'], 'the secret and the token'],
    [['push', '--each'], 'the secrets and the token'],
    [['push', '--env', 'X', '--passphrase-file', '-'], 'the passphrase and the token'],
    [['get', 'abc', '--passphrase-file', '-'], 'the passphrase and the token'],
    [['run', 'abc', '--passphrase-file', '-'], 'the passphrase and the token'],
  ])('which nothing else does: %j', async ([name = '', ...argv], both) => {
    const words = [name, '--token-file', '-', ...argv, ...(name === 'run' ? ['--', 'true'] : [])];
    expect(await refused(words, { env, stdin: 'typed\n' })).toEqual({
      code: 2,
      stderr: `pwpush: standard input cannot be both ${both}\nhint: use --token-file PATH\n`,
    });
  });

  test('which is no terminal: the token would be seen there', async () => {
    const conditions = { env, terminals: ['stdin'] as const };
    expect(await refused(['list', '--token-file', '-'], conditions)).toEqual({
      code: 2,
      stderr: 'pwpush: --token-file - reads standard input, but nothing is piped in\n',
    });
  });

  test('and PWPUSH_TOKEN_FILE does not', async () => {
    const variable = { env: { ...env, PWPUSH_TOKEN_FILE: '-' }, stdin: 'typed\n' };
    expect(await refused(['list'], variable)).toEqual({
      code: 2,
      stderr:
        'pwpush: PWPUSH_TOKEN_FILE cannot be -\nhint: use --token-file - to read standard input\n',
    });
  });
});

describe('a link of an instance that another profile has a token for', () => {
  const LINK = 'https://other.test/p/abc';

  test('gets that token, which --debug tells', async () => {
    expect(await refused(['audit', LINK])).toEqual(
      saying(
        'the instance refused the token from profile "other"',
        'log in again with pwpush login',
      ),
    );
    const { stderr } = await refused(['audit', LINK, '--debug']);
    expect(stderr.split('\n')[0]).toBe(
      'debug: the token for https://other.test is from profile "other"',
    );
  });

  test('gets none with another --profile, and the profile is named', async () => {
    expect(await refused(['audit', LINK, '--profile', 'work'])).toEqual(
      saying(
        'the instance requires a token',
        'use the token of profile "other" for this instance: --profile other',
      ),
    );
  });

  test('on a terminal before anything is asked', async () => {
    const words = ['get', LINK, '--token-file', here.file('token')];
    const { stderr } = await refused(words, { terminals: ['stderr'] });
    expect(stderr.split('\n')[0]).toBe(
      'hint: use the token of profile "other" for this instance: --profile other',
    );
  });

  test('not with --anonymous, which is the cause', async () => {
    const { stderr } = await refused(['audit', LINK, '--anonymous'], { terminals: ['stderr'] });
    expect(stderr).toBe(
      'pwpush: this requires a token, and --anonymous sends none\nhint: remove --anonymous\n',
    );
  });
});

test.each([
  ['list', []],
  ['audit', ['abc']],
  ['wait', ['abc']],
  ['notify', ['abc', 'a@b.example']],
])('%s --anonymous names that as the cause', async (name, operands) => {
  expect(await refused([name, ...operands, '--anonymous'])).toEqual(
    saying('this requires a token, and --anonymous sends none', 'remove --anonymous'),
  );
});

test.each([
  ['expire', ['abc'], 403, 'if it is yours, remove --anonymous'],
  ['push', ['-f', 'FILE'], 401, 'remove --anonymous'],
])('%s --anonymous that is refused', async (name, operands, status, hint) => {
  here.close();
  const env = { PWPUSH_URL: 'https://pw.test' };
  here = place({ env, send: wire([json(status, '{"error":"no"}')]).send });
  writeFileSync(here.file('a'), 'a');
  const words = operands.map((word) => (word === 'FILE' ? here.file('a') : word));
  const { stderr } = await here.run(name, '--anonymous', ...words);
  expect(stderr.split('\n')[1]).toBe(`hint: ${hint}`);
});

test('a token over plain http: the profile is spoken of where it is one’s', async () => {
  const hint = async (argv: string[], env: Record<string, string>) =>
    (await refused(['list', ...argv], { env })).stderr.split('\n')[1];
  expect(await hint([], { PWPUSH_URL: 'http://pw.test', PWPUSH_TOKEN: 'x' })).toBe(
    'hint: use https, use --anonymous to send no token, or accept the risk in a profile for that address: pwpush profile set insecure true',
  );
  await here.keep({
    current: 'work',
    profiles: { work: { url: 'http://pw.test', token: 'w0rk' } },
  });
  expect(await hint([], {})).toBe(
    'hint: use https, use --anonymous to send no token, or accept the risk for this profile: pwpush profile set insecure true --profile work',
  );
});
