import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import { served } from '../helpers/mcp';

// Which instance gets the passphrase of the environment, and when. One service answers at both addresses.

const ELSEWHERE = 'https://other.test';
const PASSPHRASE = 'marker-sesame';

let here: Instance;
let sent: string[];

beforeEach(async () => {
  sent = [];
  here = await instance({
    stdin: 'hunter2',
    env: { PATH: process.env.PATH, PWPUSH_PASSPHRASE: PASSPHRASE },
    send: (request) => {
      sent.push(`${request.method} ${request.url} ${request.body ?? ''}`);
      return overFetch(here.service, here.asked)(request);
    },
  });
  writeFileSync(here.file('phrase'), PASSPHRASE);
});

/** The link elsewhere of a push, or of a request, which its owner made with that passphrase. */
async function linked(what: 'push' | 'request', base = ELSEWHERE): Promise<string> {
  const make = here.under({ env: here.admin });
  const words = what === 'push' ? ['push', '--views', '9'] : ['request', '--no-encrypt'];
  const { stdout } = await make.run(...words);
  sent.length = 0;
  return stdout.trim().replace(BASE, base).replace(/\/r$/, '');
}

const withPassphrase = () => sent.map((request) => request.includes(PASSPHRASE));

const opening: [string, 'push' | 'request', readonly string[]][] = [
  ['get', 'push', ['get', 'LINK']],
  ['run', 'push', ['run', 'LINK', '--as', 'X', '--', 'true']],
  ['expire', 'push', ['expire', 'LINK']],
  ['respond', 'request', ['respond', 'LINK']],
];
const typed = (words: readonly string[], link: string) => words.map((word) => (word === 'LINK' ? link : word));

describe('the passphrase of the environment', () => {
  test.each(opening)('is not sent to another instance, as is said: %s', async (_, what, words) => {
    const { code, stderr } = await here.run(...typed(words, await linked(what)));
    expect([code, withPassphrase()]).toEqual([7, sent.map(() => false)]);
    expect(sent).not.toEqual([]);
    expect(stderr).toContain(`PWPUSH_PASSPHRASE is for ${BASE}`);
    expect(stderr).toContain('--passphrase-file');
  });

  test.each(['preview LINK', 'audit LINK', 'wait LINK --for 1'])('is not sent by %s', async (line) => {
    await here.under({ env: here.admin }).run(...typed(line.split(' '), await linked('push')));
    expect(sent).not.toEqual([]);
    expect(withPassphrase()).toEqual(sent.map(() => false));
  });

  test.each(opening)('an option sends one there, when asked for: %s', async (_, what, words) => {
    const [name = '', ...rest] = typed(words, await linked(what));
    const by = ['--passphrase-file', here.file('phrase')];
    expect((await here.run(name, ...by, ...rest)).code).toBe(0);
    const [first, second] = withPassphrase();
    expect([first, second]).toEqual([false, true]);
  });

  const creations = ['push', 'push --each', 'request'];
  test.each(creations)('does not protect what is created at another instance: %s', async (line) => {
    const words = line.split(' ');
    const { code, stderr } = await here.run(...words, '--url', ELSEWHERE);
    expect([code, sent]).toEqual([2, []]);
    expect(stderr).toContain(`PWPUSH_PASSPHRASE is for ${BASE}; nothing was sent`);
    await here.run(...words, '-p', '--url', ELSEWHERE);
    expect(withPassphrase()).toContain(true);
  });

  test('-p takes it where there is no terminal', async () => {
    expect(await here.run('get', '-p', await linked('push'))).toMatchObject({ stdout: 'hunter2' });
    expect(withPassphrase()).toEqual([false, true]);
  });

  test.each(opening)('-p takes it at a terminal, at its own instance: %s', async (_, what, words) => {
    const [name = '', ...rest] = typed(words, await linked(what, BASE));
    const person = here.under({ prompts: [] });
    expect((await person.run(name, '-p', ...rest)).code).toBe(0);
    expect(withPassphrase().at(-1)).toBe(true);
  });

  test.each(creations)('-p takes it at a terminal, for what is created: %s', async (line) => {
    const person = here.under({ prompts: [], env: here.admin });
    expect((await person.run(...line.split(' '), '-p')).code).toBe(0);
    expect(withPassphrase()).toContain(true);
  });

  test.each([[], ['-p']])('a person is asked for one, and told for which instance that is: %j', async (...more) => {
    const secret = `Passphrase (PWPUSH_PASSPHRASE is for ${BASE}; or --passphrase-file):`;
    const prompts = [{ secret, answer: PASSPHRASE }];
    const link = await linked('push');
    const { stdout } = await here.under({ prompts }).run('get', ...more, link);
    expect([stdout.trim(), withPassphrase()]).toEqual(['hunter2', [false, true]]);
  });

  test('is sent at once to the instance in use, also beside a link elsewhere', async () => {
    const own = await linked('push', BASE);
    const { code, stdout } = await here.run('get', own);
    expect([code, stdout, withPassphrase()]).toEqual([0, 'hunter2', [true]]);
    const other = await linked('push');
    expect((await here.run('expire', own, other)).code).toBe(7);
    const to = (base: string) => sent.filter((request) => request.includes(base));
    expect(to(BASE).every((request) => request.includes(PASSPHRASE))).toBe(true);
    expect(to(ELSEWHERE).some((request) => request.includes(PASSPHRASE))).toBe(false);
  });

  test('another path of the same host is another instance', async () => {
    const link = (await linked('push')).replace(ELSEWHERE, `${BASE}/team`);
    await here.run('get', link);
    expect([sent.length > 0, withPassphrase()]).toEqual([true, sent.map(() => false)]);
  });

  test('a link alone is the instance in use', async () => {
    const link = await linked('push');
    const { stdout } = await here.under({ env: { PWPUSH_URL: '' } }).run('get', link);
    expect([stdout, withPassphrase()]).toEqual(['hunter2', [true]]);
  });
});

describe('a caller of mcp', () => {
  const calls: [string, Record<string, unknown>][] = [
    ['save', { file: 'out' }],
    ['run', { command: ['true'], as: 'X' }],
    ['expire', {}],
    ['preview', {}],
    ['audit', {}],
    ['wait', { seconds: 1 }],
  ];

  test.each([
    ['with an instance of the operator', BASE],
    ['without one', ''],
  ])('names an instance, which gets no passphrase: %s', async (_, url) => {
    const link = await linked('push');
    const conditions = { env: { PWPUSH_URL: url } };
    const { call } = await served(here, ['--allow-run', 'true'], { conditions });
    for (const [name, more] of calls) await call(name, { link, ...more });
    expect([sent.length >= calls.length, withPassphrase()]).toEqual([true, sent.map(() => false)]);
  });
});
