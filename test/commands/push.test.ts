import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

// What push says and prints, and where a secret may be from: test/cases/push-*.txt.

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

test('several lines are pushed to the byte', async () => {
  const { stdout } = await here.under({ stdin: '-----BEGIN\r\nkey\n\n' }).run('push');
  expect((await here.run('get', stdout.trim())).stdout).toBe('-----BEGIN\r\nkey\n\n');
});

test('binary on standard input is refused', async () => {
  const { code } = await here.under({ stdin: Uint8Array.of(0xff, 0xfe) }).run('push');
  expect([code, here.asked]).toEqual([2, []]);
});

test.each([
  ['the secret is piped', ['push'], ['stderr']],
  ['JSON is asked for', ['push', '--json'], ['stdin', 'stderr']],
  ['nothing may be asked', ['push', '--no-input', 'text'], ['stdin', 'stderr']],
] as const)('without an instance, nothing is asked where %s', async (_what, argv, terminals) => {
  const env = { PWPUSH_URL: undefined };
  const silent = here.under({ env, terminals, prompts: [], stdin: 'secret' });
  expect((await silent.run(...argv)).code).toBe(2);
});

describe('-p takes no value', () => {
  test.each([
    [['-p', 'hunter2']],
    [['--passphrase', 'hunter2']],
    [['--passphrase=hunter2']],
    [['text', '-p', 'hunter2']],
    [['-cp', 'hunter2']],
  ])('which is neither pushed nor repeated: %j', async (argv) => {
    const { code, stderr } = await here.under({ prompts: [] }).run('push', ...argv);
    expect([code, stderr.includes('hunter2'), here.asked]).toEqual([2, false, []]);
  });

  test.each([[['text', '-p']], [['-p', '--', 'text']], [['-p', '--views', '1', 'text']]])(
    'and a text is pushed: %j',
    async (argv) => {
      const prompts = ['Passphrase:', 'Passphrase again:'].map((secret) => ({
        secret,
        answer: 'horse',
      }));
      const { stdout } = await here.under({ prompts }).run('push', ...argv);
      const opened = here.under({ env: { PWPUSH_PASSPHRASE: 'horse' } });
      expect((await opened.run('get', stdout.trim())).stdout).toBe('text');
    },
  );
});

describe('the value of an option is no option', () => {
  test.each<[string[], boolean]>([
    [['--note', '--json', '--env', 'UNSET'], false],
    [['--note', '--debug', '--env', 'UNSET'], false],
    [['--note', '-hello', '--env', 'UNSET'], false],
    [['-qn', '--json', '--env', 'UNSET'], false],
    [['--note', '--json', '--bogus'], false],
    [['-qn', '--json', '--bogus'], false],
    [['--bogus', '--', '--json'], false],
    [['--env', 'UNSET', '--json'], true],
    [['--bogus', '--json'], true],
    [['--json', '--bogus'], true],
    [['-nq', '--json', '--bogus'], true],
    [['--notify', 'a@b.example', '--json', '--bogus'], true],
    [['--days', 'x', '--json'], true],
    [['-hello', '--json'], true],
  ])('%j is told as JSON: %j', async (argv, json) => {
    const { code, stderr } = await here.run('push', ...argv);
    expect([code, stderr.startsWith('{"error":{"code":"usage"')]).toEqual([2, json]);
  });

  test('nor does it keep anybody from being asked', async () => {
    const prompts = [
      { secret: 'Secret:', answer: 'typed' },
      { secret: 'Passphrase (Enter for none):', answer: '' },
    ];
    const asked = here.under({ terminals: ['stdin'], prompts });
    expect((await asked.run('push', '--note', '--no-input')).code).toBe(0);
  });
});

test('a text that is too long for the instance is to be attached', async () => {
  const { code, stderr } = await here.under({ stdin: 'x'.repeat(2 ** 20 + 1) }).run('push');
  expect([code, stderr]).toEqual([8, expect.stringContaining('1.0 MiB')]);
});
