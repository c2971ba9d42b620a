import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import type { Prompt } from '../helpers/prompts';
import { VERSION } from '../helpers/reference';
import { type Conditions, place } from '../helpers/run';
import { json, wire } from '../helpers/wire';
import { nextCert, nextKey } from '../server/certificate';

let here: Instance;
let token: string;
beforeEach(async () => {
  here = await instance({ env: { PWPUSH_URL: undefined } });
  token = here.service.adminToken;
});
afterEach(() => here.close());

const stored = (name = 'default') => ({
  current: name,
  profiles: { [name]: { url: 'https://pw.test', edition: 'pwpush' as const, token } },
});
const CHECKED = ['GET /api/v2/version', 'GET /api/v2/pushes/active'];
const saved = { code: 0, stdout: 'Logged in. Saved as profile "default"\n', stderr: '' };

describe('the token comes from', () => {
  test('standard input', async () => {
    expect(await here.under({ stdin: `${token}\n` }).run('login', 'https://pw.test/')).toEqual(
      saved,
    );
    expect([here.kept(), here.asked]).toEqual([stored(), CHECKED]);
  });

  test('--token-file', async () => {
    writeFileSync(here.file('token'), `${token}\n`);
    expect(await here.run('login', 'pw.test', '--token-file', here.file('token'))).toEqual(saved);
    expect(here.kept()).toEqual(stored());
  });

  test('--token-file -, which is standard input', async () => {
    const piped = here.under({ stdin: `${token}\n` });
    expect(await piped.run('login', 'pw.test', '--token-file', '-')).toEqual(saved);
    expect(here.kept()).toEqual(stored());
  });

  test('a hidden prompt, after one for the address', async () => {
    const prompts = [
      { text: 'Address of the instance, such as https://eu.pwpush.com:', answer: 'pw.test' },
      { secret: 'API token (on your account page, under API):', answer: token },
    ];
    expect(await here.under({ terminals: ['stdin'], prompts }).run('login')).toEqual(saved);
    expect([here.kept(), here.asked]).toEqual([stored(), CHECKED]);
  });

  test('PWPUSH_TOKEN, when it is for that address', async () => {
    const env = { PWPUSH_TOKEN: token, PWPUSH_URL: 'https://pw.test' };
    expect(await here.under({ env }).run('login')).toEqual(saved);
    const other = { PWPUSH_TOKEN: token, PWPUSH_URL: 'https://other.test' };
    expect(await here.under({ env: other }).run('login', 'https://pw.test')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'pwpush: no token given, and no terminal to ask on\n' +
        'hint: pipe it in, use --token-file PATH, or use --anonymous to log in without one\n',
    });
  });
});

test('the address of the environment is that of a new profile, not of one that has its own', async () => {
  const env = { PWPUSH_URL: 'https://pw.test' };
  const login = () => here.under({ env, stdin: token }).run('login', '--profile', 'ci');
  expect((await login()).code).toBe(0);
  expect(here.kept()?.profiles.ci?.url).toBe('https://pw.test');
  await here.keep({ profiles: { ci: { url: 'https://other.test' } } });
  await login();
  expect(here.asked.at(-1)).not.toContain('pw.test');
  expect(here.kept()?.profiles.ci?.url).toBe('https://other.test');
});

test('afterwards the commands use it', async () => {
  await here.under({ stdin: token }).run('login', 'https://pw.test');
  await here.run('push', 'x', '--name', 'mine');
  const { code, stdout } = await here.run('list');
  expect([code, stdout.split('\t')[1]]).toEqual([0, 'mine']);
});

describe('the profile', () => {
  test('is the one that is named, and is the one in use from then on', async () => {
    await here.keep({ current: 'home', profiles: { home: { url: 'https://home.test' } } });
    const { stdout } = await here
      .under({ stdin: token })
      .run('login', 'https://pw.test', '--profile', 'work');
    expect([stdout, here.kept()]).toEqual([
      'Logged in. Saved as profile "work", now the default (switch back: pwpush profile use home)\n',
      {
        current: 'work',
        profiles: {
          home: { url: 'https://home.test' },
          work: { url: 'https://pw.test', edition: 'pwpush', token },
        },
      },
    ]);
  });

  test('of the same address is kept with its settings, and its address known', async () => {
    await here.keep({ current: 'p', profiles: { p: { url: 'https://pw.test', days: 2 } } });
    await here.under({ stdin: token }).run('login');
    expect(here.kept()).toEqual({
      current: 'p',
      profiles: { p: { url: 'https://pw.test', days: 2, edition: 'pwpush', token } },
    });
  });

  test('of another address is not overwritten unless it is named', async () => {
    await here.keep({ current: 'default', profiles: { default: { url: 'https://home.test' } } });
    const { stdout } = await here.under({ stdin: token }).run('login', 'https://pw.test');
    expect([stdout, Object.keys(here.kept()?.profiles ?? {})]).toEqual([
      'Logged in. Saved as profile "pw.test", now the default (switch back: pwpush profile use default)\n',
      ['default', 'pw.test'],
    ]);
  });

  test('is told with --json, without the token', async () => {
    const { stdout } = await here.under({ stdin: token }).run('login', 'https://pw.test', '--json');
    expect(stdout).toBe(
      '{"profile":"default","url":"https://pw.test","token":true,"application_version":"0.1.0",' +
        '"api_version":"2.1","edition":"oss"}\n',
    );
  });
});

describe('somebody who is asked', () => {
  const address = (answer: string) => ({
    text: 'Address of the instance, such as https://eu.pwpush.com:',
    answer,
  });
  const secret = (answer: string) => ({
    secret: 'API token (on your account page, under API):',
    answer,
  });
  const wrong = (answer: string) => ({ secret: 'Wrong token, try again:', answer });
  const talk = (...prompts: Prompt[]) =>
    here.under({ terminals: ['stdin', 'stderr'], prompts, env: { NO_COLOR: '1' } }).run('login');

  test('is asked again after a wrong answer, told why, and in the end what the instance can do', async () => {
    await here.keep({ current: 'home', profiles: { home: {} } });
    expect(
      await talk(
        address('ftp://x'),
        address('pw.test/nothing'),
        address('pw.test'),
        secret('two words'),
        wrong('wrong'),
        wrong(token),
      ),
    ).toEqual({
      code: 0,
      stdout:
        'Logged in. Saved as profile "default", now the default (switch back: pwpush profile use home)\n',
      stderr: [
        'the address of the instance is not an http or https URL',
        'no API v2 at this address: text/html, "<!doctype html>"',
        'the token from the prompt is invalid: a token is one line of letters, digits and symbols',
        'the instance refused the token; nothing was saved',
        'pwpush serve 0.1.0, API 2.1, edition oss: files (with a token), URL pushes, QR codes, no e-mail, pushes without a token, requests',
        `the token is in ${here.file('config/config.json')}, which only you can read (--keyring: in the system's keyring)`,
        '',
      ].join('\n'),
    });
    expect(here.kept()?.current).toBe('default');
  });

  test('is warned once of what others can read', async () => {
    const prompts = [address('pw.test'), secret('wrong'), wrong(token)];
    const { code, stderr } = await here
      .under({ terminals: ['stdin'], prompts })
      .run('login', '--insecure', '--quiet');
    expect({ code, stderr, asked: here.asked }).toEqual({
      code: 0,
      stderr:
        'warning: insecure: anyone between here and pw.test can read what is sent\n' +
        'the instance refused the token; nothing was saved\n',
      asked: [...CHECKED, 'GET /api/v2/pushes/active'],
    });
  });

  test('three times, then it is over and nothing is stored', async () => {
    const { code } = await talk(address('pw.test'), secret('one'), wrong('two'), wrong('three'));
    expect([code, here.kept()]).toEqual([3, undefined]);
    const { code: usage } = await talk(address('x y'), address('ftp://x'), address('?'));
    expect([usage, here.kept()]).toEqual([2, undefined]);
  });
});

describe('nothing is stored', () => {
  afterEach(() => expect(here.kept()).toBeUndefined());

  test('when the instance refuses the token: exit 3', async () => {
    expect(await here.under({ stdin: 'wrong-token' }).run('login', 'https://pw.test')).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'pwpush: the instance refused the token; nothing was saved\n' +
        'hint: copy the token again from the account page of the instance\n',
    });
  });

  test('when there is no instance at that address', async () => {
    const { code } = await here.under({ stdin: token }).run('login', 'https://pw.test/nothing');
    expect(code).toBe(5);
  });

  test('when the token would travel over plain http: nothing is sent either', async () => {
    const { code, stderr } = await here.under({ stdin: token }).run('login', 'http://pw.test');
    expect({ code, stderr: stderr.split('\n')[0], asked: here.asked }).toEqual({
      code: 2,
      stderr:
        'pwpush: refusing to send the token over plain http to pw.test: anyone on the way could read it',
      asked: [],
    });
  });

  test.each([
    [['https://pw.test', '--url', 'https://pw.test'], 'the address was given twice'],
    [['ftp://pw.test'], 'the address of the instance is not an http or https URL'],
    [['https://pw.test', '--profile', '-x y'], 'a profile name must be 1 to 64 letters, digits'],
    [[], 'no instance address given'],
  ])('on bad usage: %j', async (argv, message) => {
    const { code, stderr } = await here.under({ stdin: token }).run('login', ...argv);
    expect([code, stderr.slice(8, 8 + message.length), here.asked]).toEqual([2, message, []]);
  });

  test('on a token that is none, which is not repeated', async () => {
    expect(await here.under({ stdin: 'two words' }).run('login', 'https://pw.test')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'pwpush: the token from standard input is invalid: a token is one line of letters, digits and symbols\n',
    });
  });
});

test('--anonymous stores the address alone, and forgets a token', async () => {
  await here.keep(stored());
  expect(await here.run('login', 'https://pw.test', '--anonymous')).toEqual({
    ...saved,
    stdout: 'Saved as profile "default", without a token\n',
  });
  expect([here.kept(), here.asked]).toEqual([
    { current: 'default', profiles: { default: { url: 'https://pw.test', edition: 'pwpush' } } },
    ['GET /api/v2/version'],
  ]);
});

describe('a redirect to another host, such as that of a region', () => {
  const moved = {
    status: 301,
    headers: { location: 'https://eu.pw.test/api/v2/version' },
  };
  const QUESTION = 'pw.test redirects to https://eu.pw.test. Log in there?';
  const ACCEPTED = [moved, json(200, VERSION), json(200, '[]')];

  test('is offered, and kept; the token goes there alone', async () => {
    const { send, sent, check } = wire(ACCEPTED);
    const there = place({ send });
    const prompts = [
      { confirm: QUESTION, answer: true },
      { secret: 'API token (on your account page, under API):', answer: token },
    ];
    const asked = there.under({ terminals: ['stdin'], prompts });
    const { code } = await asked.run('login', 'pw.test');
    check();
    const { url } = there.kept()?.profiles.default ?? {};
    there.close();
    const tokens = sent.map((request) => [request.split('\n')[0], request.includes(token)]);
    expect([code, url, tokens]).toEqual([
      0,
      'https://eu.pw.test',
      [
        ['GET https://pw.test/api/v2/version', false],
        ['GET https://eu.pw.test/api/v2/version', true],
        ['GET https://eu.pw.test/api/v2/pushes/active?page=1', true],
      ],
    ]);
  });

  test('is an error that names it, if it is declined or there is nobody to ask', async () => {
    const stderr =
      'pwpush: pw.test redirects to another origin, https://eu.pw.test; nothing was sent there\n' +
      'hint: if that is your instance, log in there: pwpush login https://eu.pw.test\n';
    const prompts = [{ confirm: QUESTION, answer: false }];
    const conditions: Conditions[] = [{ stdin: token }, { terminals: ['stdin'], prompts }];
    for (const one of conditions) {
      const there = place({ send: wire([moved]).send });
      expect(await there.under(one).run('login', 'pw.test')).toEqual({
        code: 1,
        stdout: '',
        stderr,
      });
      expect(there.kept()).toBe(undefined);
      there.close();
    }
  });
});

test('paths of a client certificate are saved, and headers are not', async () => {
  writeFileSync(here.file('client.pem'), nextKey + nextCert);
  const piped = here.under({ stdin: token });
  const line = ['--cert', here.file('client.pem'), '--header', 'X-A: s3cret'];
  expect(await piped.run('login', 'pw.test', ...line)).toEqual({
    ...saved,
    stderr: '--header was not saved; put it into a file: pwpush profile set headers-file PATH\n',
  });
  const cert = here.file('client.pem');
  expect(here.kept()?.profiles.default).toEqual({
    url: 'https://pw.test',
    edition: 'pwpush',
    token,
    cert,
  });
});

describe('logout', () => {
  test('forgets the token and nothing else', async () => {
    const profiles = {
      p: { url: 'https://pw.test', token, days: 1 },
      q: { url: 'https://q.test', token: 'other' },
    };
    await here.keep({ current: 'p', profiles });
    expect(await here.run('logout')).toEqual({
      code: 0,
      stdout: 'removed the token of profile "p"\n',
      stderr: '',
    });
    expect(here.kept()).toEqual({
      current: 'p',
      profiles: { p: { url: 'https://pw.test', days: 1 }, q: profiles.q },
    });
  });

  test('of a named profile, with --json', async () => {
    await here.keep({ current: 'p', profiles: { p: {}, q: { token: 'other' } } });
    expect((await here.run('logout')).stdout).toBe('profile "p" has no token\n');
    const { stdout } = await here.run('logout', '--profile', 'q', '--json');
    expect([stdout, here.kept()?.profiles.q]).toEqual(['{"profile":"q","token":false}\n', {}]);
  });

  test('without a profile is bad usage', async () => {
    expect(await here.run('logout')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'pwpush: no profiles yet\nhint: create one with pwpush login\n',
    });
  });
});
