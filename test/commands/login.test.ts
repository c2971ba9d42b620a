import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Profile, StoredProfiles } from '../../src/profile/settings';
import { answersTo } from '../helpers/answers';
import { eachInstance } from '../helpers/instance';
import { place } from '../helpers/run';
import { nextCert, nextKey } from '../server/certificate';

// What is asked and said: test/cases/login*.txt and logout.txt.

const here = eachInstance({ env: { PWPUSH_URL: undefined } });
const token = () => here.service.adminToken;
const piped = (...words: string[]) => here.under({ stdin: token() }).run('login', ...words);
const at = (host: string, more = {}) => ({ url: `https://${host}.test`, ...more });

const OTHER = { url: 'https://pw.test/a', token: 'token-1' };

// biome-ignore format: a table
const LOGINS: readonly [what: string, kept: StoredProfiles, argv: string[], after: StoredProfiles][] = [
  ['the one that is named, which is in use from then on',
    { current: 'home', profiles: { home: at('home') } }, ['https://pw.test', '--profile', 'work'],
    { current: 'work', profiles: { home: at('home'), work: at('pw', { token: '' }) } }],
  ['that of the same address, with its settings',
    { current: 'p', profiles: { p: at('pw', { days: 2 }) } }, [],
    { current: 'p', profiles: { p: at('pw', { days: 2, token: '' }) } }],
  ['one without an address yet, with what was set for it',
    { current: 'work', profiles: { work: { account: 7, insecure: true } } }, ['https://pw.test', '--profile', 'work'],
    { current: 'work', profiles: { work: at('pw', { insecure: true, account: 7, token: '' }) } }],
  ['a new one, in place of that of another address which is not named',
    { current: 'default', profiles: { default: at('home') } }, ['https://pw.test'],
    { current: 'pw.test', profiles: { default: at('home'), 'pw.test': at('pw', { token: '' }) } }],
  ['one with a number where the host is the name of another, whose token was shown once',
    { profiles: { default: at('home'), 'pw.test': OTHER } }, ['https://pw.test'],
    { current: 'pw.test-2', profiles: { default: at('home'), 'pw.test': OTHER, 'pw.test-2': at('pw', { token: '' }) } }],
  ['one that a command line can name, of an IPv6 address',
    { profiles: { default: at('home') } }, ['https://[::1]:7702'],
    { current: '1-7702', profiles: { default: at('home'), '1-7702': { url: 'https://[::1]:7702', token: '' } } }],
];

test.each(LOGINS)('the profile is %s', async (_what, kept, argv, after) => {
  await here.keep(kept);
  expect((await piped(...argv)).code).toBe(0);
  const learnt = /,"edition":"pwpush"|,"encrypt":"link"/g;
  const text = JSON.stringify(here.kept()).replace(token(), '').replace(learnt, '');
  expect(JSON.parse(text)).toEqual(after);
});

describe('pushes are encrypted', () => {
  const SAID = 'its pushes are encrypted end to end (setting: encrypt = link)\n';
  const kept = () => here.kept()?.profiles.p?.encrypt;
  const known = { edition: 'pwpush' } as const;

  test.each<[what: string, before: Profile, encrypt: string | undefined]>([
    ['from the first login', {}, 'link'],
    ['as it was set before', { encrypt: 'words' }, 'words'],
    ['not where that was chosen', { encrypt: 'off' }, 'off'],
    ['not where it was removed after a login', at('pw', known), undefined],
    ['from the first login of a profile that had another address', at('old', known), 'link'],
    ['not if that one had been told not to', at('old', { encrypt: 'off' }), 'off'],
  ])('%s', async (_what, before, encrypt) => {
    await here.keep({ current: 'p', profiles: { p: before } });
    const { stderr } = await piped('https://pw.test', '--profile', 'p');
    expect([kept(), stderr.includes(SAID)]).toEqual([encrypt, encrypt === 'link']);
  });

  test('by no login to an instance of another kind, which says that its pages cannot decrypt', async () => {
    const { send } = answersTo({
      'GET /version': { application_version: '2.0', api_version: '2.1', edition: 'oss' },
      'GET /pushes/active?page=1': [],
    });
    const other = place({ send, stdin: 'token-1234' });
    const login = () => other.run('login', 'https://other.test', '--profile', 'p');
    await other.keep({ profiles: {} });
    expect((await login()).stderr).not.toContain('encrypted');
    expect(other.kept()?.profiles.p?.encrypt).toBeUndefined();
    await other.keep({ profiles: { p: at('pw', { ...known, encrypt: 'link' }) } });
    expect((await login()).stderr).toContain('pushes are still encrypted (encrypt = link), but');
  });
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
  const saved = { edition: 'pwpush', encrypt: 'link', token: token(), 'headers-file': headers, cert } as const;
  expect(here.kept()?.profiles.default).toEqual(at('pw', saved));
});
