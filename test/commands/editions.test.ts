import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answersTo } from '../helpers/answers';
import { place } from '../helpers/run';

// The commercial edition, of which nothing was recorded: its answers are as its documentation has them. What is said of
// editions: test/cases/push-expire*.txt and push-account.txt; which field asks for an expiry: test/contract/lifetime.test.ts.

const LINK = 'https://pw.test/p/quyul5r5w08';
const ASKED = 'https://pw.test/r/abc';
const EDITION = { edition: 'commercial', features: { requests: { enabled: true } } };
const PUSH = { url_token: 'quyul5r5w08', html_url: LINK, account_id: 42 };
const REQUEST = { url_token: 'abc', html_url: ASKED, state: 'open', request: 'Q', account_id: 42 };

function commercial(more: Parameters<typeof answersTo>[0] = {}, env: Record<string, string> = {}) {
  const instance = answersTo({
    'GET /version': EDITION,
    'POST /pushes': PUSH,
    'GET /pushes/active?page=1': [],
    'GET /pushes/active?page=1&account_id=42': [PUSH],
    'GET /pushes/quyul5r5w08/audit?page=1': { logs: [] },
    ...more,
  });
  const here = place({
    send: instance.send,
    stdin: 'hunter2\n',
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't0ken', ...env },
  });
  const login = (...words: string[]) => here.under({ stdin: 't0ken' }).run('login', 'https://pw.test', ...words);
  const sent = () => instance.bodies.map((body) => JSON.parse(body));
  return { ...instance, here, login, sent };
}

test.each<[string, object, Parameters<typeof answersTo>[0]]>([
  ['commercial', { edition: 'Commercial' }, {}],
  ['commercial', { features: { accounts: { enabled: true } } }, {}],
  ['commercial', { features: { requests: { enabled: true } } }, {}],
  ['commercial', {}, { 'GET /accounts': [{ id: 7 }] }],
  ['commercial', {}, { 'GET /accounts': { accounts: [{ id: 7 }] } }],
  ['commercial', {}, { 'GET /accounts': 403 }],
  ['commercial', {}, { 'GET /requests/open?page=1': [] }],
  ['oss', {}, {}],
])('%s is an edition that says %j of itself, and answers %j', async (edition, said, more) => {
  const { here, login } = commercial({ 'GET /version': said, ...more });
  expect((await login()).code).toBe(0);
  expect(here.kept()?.profiles.default).toMatchObject({ edition });
});

describe('an expiry is an index', () => {
  test('in each line, for which the instance is asked once', async () => {
    const { here, asked, sent } = commercial();
    const stdin = ['{"payload":"a","expire":"6h"}', '{"payload":"b","days":10}', '{"payload":"c"}'];
    const each = here.under({ stdin: stdin.join('\n') });
    const { code, stderr } = await each.run('push', '--each', '--expire', '1h');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: line 2: 10 days .* 7 days/m);
    expect(asked).toEqual(['GET /version', ...Array(3).fill('POST /pushes')]);
    expect(sent().map(({ push }) => push.expire_after_duration)).toEqual([4, 12, 3]);
  });

  test('where the profile of the address knows it, and with its days', async () => {
    const { here, asked, sent } = commercial({}, { PWPUSH_URL: '' });
    const profile = (url: string, edition: 'commercial' | 'oss') =>
      here.keep({ current: 'p', profiles: { p: { url, edition, days: 2 } } });
    await profile('https://pw.test', 'commercial');
    await here.run('push');
    expect(asked).toEqual(['POST /pushes']);
    expect(sent()).toMatchObject([{ push: { expire_after_duration: 7 } }]);
    await profile('https://other.test', 'oss');
    await here.run('push', '--url', 'https://pw.test', '--days', '2');
    expect(asked.slice(1)).toEqual(['GET /version', 'POST /pushes']);
  });
});

describe('an account', () => {
  test('stands beside the push, in a form and a dry run too', async () => {
    const { here, bodies } = commercial();
    await here.run('push', '--account', '42');
    expect(JSON.parse(bodies[0] ?? '')).toEqual({ push: { payload: 'hunter2' }, account_id: 42 });
    writeFileSync(here.file('a.txt'), 'A');
    await here.under({ stdin: '' }).run('push', '--account', '42', '--file', here.file('a.txt'));
    expect(bodies[1]).toContain('name="account_id"\r\n\r\n42\r\n');
    const shown = await here.run('push', '--dry-run', '--json', '--account', '42');
    expect(JSON.parse(shown.stdout).body).toEqual({ push: { payload: '***' }, account_id: 42 });
  });

  test('is kept by login, and list asks for its pushes', async () => {
    const { here, login, asked, sent } = commercial({}, { PWPUSH_URL: '', PWPUSH_TOKEN: '' });
    await login('--account', '42');
    const kept = { url: 'https://pw.test', token: 't0ken', edition: 'commercial', account: 42 };
    expect(here.kept()?.profiles.default).toEqual(kept);
    asked.length = 0;
    expect((await here.run('list')).stdout).toMatch(/^quyul5r5w08\t/);
    expect(asked[0]).toBe('GET /pushes/active?page=1&account_id=42');
    await here.run('push');
    expect(sent()).toMatchObject([{ account_id: 42 }]);
  });

  test.each<[string, string[], string[], object]>([
    ['its receipt', ['--account', '42'], ['last'], {}],
    ['--account', ['--account', '42'], [LINK, '--account', '42'], { receipts: false }],
    ['a profile', [], [LINK], { account: 42, receipts: false }],
  ])('of a push %s tells in which list it is', async (_what, pushed, named, kept) => {
    const preview = { 'GET /pushes/quyul5r5w08/preview': { url: 'https://pw.test/p/quyul5r5w08' } };
    const { here } = commercial(preview, { PWPUSH_URL: '', PWPUSH_TOKEN: '' });
    const profile = { url: 'https://pw.test', token: 't0ken', ...kept };
    await here.keep({ current: 'p', profiles: { p: profile } });
    await here.run('push', ...pushed);
    expect((await here.run('wait', ...named, '--for', '5')).code).toBe(12);
    expect((await here.run('preview', ...named)).code).toBe(0);
  });
});

describe('a request', () => {
  const page = (listed: string) => `GET /requests/${listed}?page=1&account_id=42`;
  const preview = { 'GET /requests/abc/preview': { url: ASKED } };
  const log = (kind: string) => ({
    'GET /requests/abc/audit?page=1': { logs: [{ kind }] },
    'GET /requests/abc/audit?page=2': { logs: [] },
  });
  const empty = { [page('open')]: [], [page('ready')]: [] };
  const closed = { ...empty, [page('closed')]: [REQUEST] };
  const owner = ['--account', '42'];

  test.each<[string, number, Parameters<typeof answersTo>[0]]>([
    ['is open', 12, { [page('open')]: [REQUEST] }],
    ['was answered', 0, { ...empty, [page('ready')]: [REQUEST] }],
    ['was answered and closed', 0, { ...closed, ...log('request_response') }],
    ['was closed', 6, { ...closed, ...log('creation') }],
  ])('that %s is found in the lists of its account: wait ends with %d', async (_, code, more) => {
    const { here } = commercial({ ...preview, ...more });
    expect((await here.run('wait', ASKED, ...owner, '--for', '1')).code).toBe(code);
  });

  test('belongs to an account, and its expiry is an index', async () => {
    const listed = { [page('open')]: [REQUEST] };
    const { here, sent } = commercial({ ...preview, ...listed, 'POST /requests': REQUEST });
    await here.under({ stdin: '' }).run('request', 'Q', '--no-encrypt', '--expire', '90m', ...owner);
    expect(sent()).toMatchObject([{ request: { request: 'Q', close_after_duration: 3 }, account_id: 42 }]);
    expect((await here.run('list', 'requests', 'open', ...owner)).stdout).toMatch(/^abc\t/);
    expect((await here.run('preview', ASKED, ...owner)).code).toBe(0);
  });

  test('is known by its preview, though that is refused', async () => {
    const answered = { ...REQUEST, state: 'ready', response: 'hunter2' };
    const { here } = commercial({
      'GET /requests/abc/preview': 401,
      'GET /requests/abc': answered,
    });
    expect((await here.run('get', ASKED)).stdout).toBe('hunter2');
  });

  test.each([
    'request',
    'list requests',
    `respond ${ASKED} --generate`,
    'get https://pw.test/api/v2/requests/abc',
    'wait https://pw.test/api/v2/requests/abc',
  ])('%s says that an instance has none', async (line) => {
    const version = { edition: 'commercial', features: { requests: { enabled: false } } };
    const { here } = commercial({ 'GET /version': version });
    const { code, stdout, stderr } = await here.run(...line.split(' '));
    expect([code, stdout, here.rescued()]).toEqual([8, '', {}]);
    expect(stderr).toContain('this instance has no requests');
  });
});
