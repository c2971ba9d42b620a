import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { StoredProfiles } from '../../src/profile/settings';
import { eachInstance } from '../helpers/instance';
import { nextCert, nextKey } from '../server/certificate';

// What is asked and said: test/cases/login*.txt and logout.txt.

const here = eachInstance({ env: { PWPUSH_URL: undefined } });
const token = () => here.service.adminToken;
const piped = (...words: string[]) => here.under({ stdin: token() }).run('login', ...words);
const at = (host: string, more = {}) => ({ url: `https://${host}.test`, ...more });

test.each<[what: string, kept: StoredProfiles, argv: string[], after: object]>([
  [
    'the one that is named, which is in use from then on',
    { current: 'home', profiles: { home: at('home') } },
    ['https://pw.test', '--profile', 'work'],
    { current: 'work', profiles: { home: at('home'), work: at('pw', { token: '' }) } },
  ],
  [
    'that of the same address, with its settings',
    { current: 'p', profiles: { p: at('pw', { days: 2 }) } },
    [],
    { current: 'p', profiles: { p: at('pw', { days: 2, token: '' }) } },
  ],
  [
    'one without an address yet, with what was set for it',
    { current: 'work', profiles: { work: { account: 7, insecure: true } } },
    ['https://pw.test', '--profile', 'work'],
    { current: 'work', profiles: { work: at('pw', { insecure: true, account: 7, token: '' }) } },
  ],
  [
    'a new one, in place of that of another address which is not named',
    { current: 'default', profiles: { default: at('home') } },
    ['https://pw.test'],
    { current: 'pw.test', profiles: { default: at('home'), 'pw.test': at('pw', { token: '' }) } },
  ],
])('the profile is %s', async (_what, kept, argv, after) => {
  await here.keep(kept);
  expect((await piped(...argv)).code).toBe(0);
  const text = JSON.stringify(here.kept()).replace(token(), '').replace('"edition":"pwpush",', '');
  expect(JSON.parse(text)).toEqual(after);
});

test('the address of the environment is that of a new profile, not of one that has its own', async () => {
  const env = { PWPUSH_URL: 'https://pw.test' };
  const login = () => here.under({ env, stdin: token() }).run('login', '--profile', 'ci');
  expect((await login()).code).toBe(0);
  expect(here.kept()?.profiles.ci?.url).toBe('https://pw.test');
  await here.keep({ profiles: { ci: at('other') } });
  await login();
  expect(here.kept()?.profiles.ci?.url).toBe('https://other.test');
});

test('paths of a client certificate and of headers are saved', async () => {
  const [cert, headers] = [here.file('client.pem'), here.file('headers')];
  writeFileSync(cert, nextKey + nextCert);
  writeFileSync(headers, 'X-A: s3cret', { mode: 0o600 });
  expect((await piped('pw.test', '--cert', cert, '--headers-file', headers)).code).toBe(0);
  const saved = { edition: 'pwpush', token: token(), 'headers-file': headers, cert };
  expect(here.kept()?.profiles.default).toEqual(at('pw', saved));
});
