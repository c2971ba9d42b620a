import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { VERSION } from '../helpers/reference';
import { type Conditions, place } from '../helpers/run';
import { json, wire } from '../helpers/wire';
import { nextCert, nextKey } from '../server/certificate';

// What is asked and said: test/cases/login*.txt and logout.txt.

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

describe('the profile', () => {
  test('is the one that is named, and is the one in use from then on', async () => {
    await here.keep({ current: 'home', profiles: { home: { url: 'https://home.test' } } });
    await here.under({ stdin: token }).run('login', 'https://pw.test', '--profile', 'work');
    expect(here.kept()).toEqual({
      current: 'work',
      profiles: {
        home: { url: 'https://home.test' },
        work: { url: 'https://pw.test', edition: 'pwpush', token },
      },
    });
  });

  test('of the same address is kept with its settings, and its address known', async () => {
    await here.keep({ current: 'p', profiles: { p: { url: 'https://pw.test', days: 2 } } });
    await here.under({ stdin: token }).run('login');
    expect(here.kept()).toEqual({
      current: 'p',
      profiles: { p: { url: 'https://pw.test', days: 2, edition: 'pwpush', token } },
    });
  });

  test('without an address yet is kept with what was set for it', async () => {
    await here.keep({ profiles: { work: { account: 7, insecure: true } } });
    const words = ['login', 'https://pw.test', '--profile', 'work'];
    await here.under({ stdin: token }).run(...words);
    expect(here.kept()?.profiles.work).toMatchObject({ insecure: true, url: 'https://pw.test' });
  });

  test('of another address is not overwritten unless it is named', async () => {
    await here.keep({ current: 'default', profiles: { default: { url: 'https://home.test' } } });
    await here.under({ stdin: token }).run('login', 'https://pw.test');
    expect(Object.keys(here.kept()?.profiles ?? {})).toEqual(['default', 'pw.test']);
  });
});

test('warns once at a terminal that others can read what is sent', async () => {
  const prompts = [
    { text: 'Address of the instance, such as https://eu.pwpush.com:', answer: 'pw.test' },
    { secret: 'API token (on your account page, under API):', answer: 'wrong' },
    { secret: 'Wrong token, try again:', answer: token },
  ];
  const asked = here.under({ terminals: ['stdin'], prompts });
  const { code, stderr } = await asked.run('login', '--insecure', '--quiet');
  expect({ code, warnings: stderr.split('warning:').length, asked: here.asked }).toEqual({
    code: 0,
    warnings: 2,
    asked: [...CHECKED, 'GET /api/v2/pushes/active'],
  });
});

test('--anonymous stores the address alone, and forgets a token', async () => {
  await here.keep(stored());
  expect((await here.run('login', 'https://pw.test', '--anonymous')).code).toBe(0);
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

  test('is an error if it is declined or there is nobody to ask, and nothing is kept', async () => {
    const prompts = [{ confirm: QUESTION, answer: false }];
    const conditions: Conditions[] = [{ stdin: token }, { terminals: ['stdin'], prompts }];
    for (const one of conditions) {
      const there = place({ send: wire([moved]).send });
      expect((await there.under(one).run('login', 'pw.test')).code).toBe(1);
      expect(there.kept()).toBe(undefined);
      there.close();
    }
  });
});

test('paths of a client certificate and of headers are saved', async () => {
  writeFileSync(here.file('client.pem'), nextKey + nextCert);
  const piped = here.under({ stdin: token });
  writeFileSync(here.file('headers'), 'X-A: s3cret', { mode: 0o600 });
  const line = ['--cert', here.file('client.pem'), '--headers-file', here.file('headers')];
  expect((await piped.run('login', 'pw.test', ...line)).code).toBe(0);
  const cert = here.file('client.pem');
  expect(here.kept()?.profiles.default).toEqual({
    url: 'https://pw.test',
    edition: 'pwpush',
    token,
    'headers-file': here.file('headers'),
    cert,
  });
});

test('logout forgets the token of one profile and nothing else', async () => {
  const profiles = {
    p: { url: 'https://pw.test', token, days: 1 },
    q: { url: 'https://q.test', token: 'other' },
  };
  await here.keep({ current: 'p', profiles });
  expect((await here.run('logout')).code).toBe(0);
  expect(here.kept()).toEqual({
    current: 'p',
    profiles: { p: { url: 'https://pw.test', days: 1 }, q: profiles.q },
  });
  const { stdout } = await here.run('logout', '--profile', 'q', '--json');
  expect([JSON.parse(stdout), here.kept()?.profiles.q]).toEqual([
    { profile: 'q', token: false },
    { url: 'https://q.test' },
  ]);
});
