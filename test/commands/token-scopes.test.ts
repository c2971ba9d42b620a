import { describe, expect, test } from 'vitest';
import { eachInstance } from '../helpers/instance';
import { place } from '../helpers/run';
import { wire } from '../helpers/wire';

// What a person sees of the scope and the end of a token. What the service lets one do: test/server/owners/scopes.test.ts.

const DAY_SECONDS = 86_400;

const here = eachInstance();

async function withToken(limits: { readonly scope?: 'push'; readonly lifetime?: number }) {
  const { token } = await here.service.service.owners.add('bob', 'ci', limits);
  return here.under({ env: { PWPUSH_TOKEN: token } });
}

const answers = (body: object, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe('with a token of scope push', () => {
  test.each([['list'], ['list', 'expired'], ['list', 'requests']])('%s is refused in our words', async (...words) => {
    const { code, stderr } = await (await withToken({ scope: 'push' })).run(...words);
    expect([code, stderr]).toEqual([
      4,
      'pwpush: this token can push only\nhint: use a token of scope all, which its owner has or the operator of the instance makes\n',
    ]);
  });

  test('what others created is refused in our words', async () => {
    const id = await here.push({ payload: 'x' }, here.service.otherToken);
    const { code, stderr } = await (await withToken({ scope: 'push' })).run('audit', id);
    expect(code).toBe(4);
    expect(stderr).toContain('pwpush: this token reaches only what it created\n');
  });

  test('what it created can be previewed, waited for and expired', async () => {
    const ci = await withToken({ scope: 'push' });
    const link = (await ci.run('push', 'hunter2', '--name', 'db', '--no-encrypt', '--days', '1')).stdout.trim();
    const { stdout } = await ci.run('preview', link, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ name: 'db', views_remaining: 5, expired: false, kind: 'text' });
    expect((await ci.run('audit', link)).stdout).toContain('\tcreation\t');
    // The end of its time is in no log.
    const { code, stderr } = await ci.run('wait', link, '--interval', '3600');
    expect([code, stderr]).toEqual([6, expect.stringContaining('the push expired without a view')]);
    const next = (await ci.run('push', 'hunter2')).stdout.trim();
    expect((await ci.run('expire', next)).code).toBe(0);
  });

  test('a request that it created can be previewed, and its answer waited for and taken', async () => {
    const ci = await withToken({ scope: 'push' });
    const link = (await ci.run('request', 'which?', '--no-encrypt', '--name', 'db')).stdout.trim();
    expect(JSON.parse((await ci.run('preview', link, '--json')).stdout)).toMatchObject({ name: 'db', state: 'open' });
    await here.under({ stdin: 'hunter2' }).run('respond', link);
    expect((await ci.run('wait', link)).code).toBe(0);
    expect((await ci.run('get', link)).stdout).toBe('hunter2');
  });

  test('a request of another is previewed as one of another', async () => {
    const ci = await withToken({ scope: 'push' });
    const other = here.under({ env: { PWPUSH_TOKEN: here.service.otherToken } });
    const link = (await other.run('request', 'which?', '--no-encrypt')).stdout.trim();
    expect((await ci.run('preview', link)).stderr).toContain('this request belongs to another user');
  });

  test('login takes it without a listing, and doctor says what it can', async () => {
    const { token } = await here.service.service.owners.add('bob', 'ci', { scope: 'push' });
    here.asked.length = 0;
    expect((await here.under({ stdin: token }).run('login')).stderr).not.toContain('expires');
    expect(here.asked).toEqual(['GET /api/v2/version']);
    const { stdout } = await here.run('doctor');
    expect(stdout).toContain('accepted: it can push, and reach only that\t\n');
  });
});

describe('a token that ends', () => {
  test.each([
    [14 * DAY_SECONDS, true],
    [14 * DAY_SECONDS + 1, false],
  ])('in %i s is spoken of by login and doctor: %s', async (lifetime, said) => {
    const { token } = await here.service.service.owners.add('bob', 'ci', { lifetime });
    const { code, stderr } = await here.under({ stdin: token }).run('login');
    expect([code, stderr.includes('the token expires in 14 days')]).toEqual([0, said]);
    const { stdout } = await here.run('doctor', '--json');
    const check = JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'token');
    expect(check).toMatchObject({
      status: said ? 'warning' : 'ok',
      message: expect.stringMatching(said ? /; it expires in 14 days$/ : /its pushes$/),
    });
  });

  test('and has ended is refused with the time, by login too', async () => {
    const { token } = await here.service.service.owners.add('bob', 'ci', { lifetime: 60 });
    here.service.clock.advance(60_000);
    const ended = ': That token expired at 2026-08-20T11:07:45.000Z.';
    const listed = await here.under({ env: { PWPUSH_TOKEN: token } }).run('list');
    expect([listed.code, listed.stderr]).toEqual([
      3,
      expect.stringContaining(`pwpush: the instance refused the token from PWPUSH_TOKEN${ended}\n`),
    ]);
    const { code, stderr } = await here.under({ stdin: token }).run('login');
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining(`the instance refused the token${ended}; nothing was saved`),
    ]);
    expect(here.kept()).toBeUndefined();
  });
});

describe('the log of a push', () => {
  const entry = { kind: 'creation', ip: '::1', user_agent: 'x', referrer: '', created_at: '2026-08-20T11:06:45.000Z' };
  const audited = (logs: object[], terminals: 'stdout'[] = []) => {
    const { send } = wire([answers({ logs }), answers({ logs: [] })]);
    const env = { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 'pwp_x', NO_COLOR: '1' };
    return place({ send, env, terminals }).run('audit', 'abcdefghij');
  };
  const job = { ...entry, trust: 'ci', sub: 'repo:a\u001b[31m\tb' };

  test('names trust and subject in columns of their own, and harmlessly', async () => {
    expect((await audited([job])).stdout).toBe(
      '2026-08-20T11:06:45.000Z\tcreation\t::1\tx\t\tci\trepo:a\\x1b[31m\\tb\n',
    );
    const [title, row] = (await audited([job, entry], ['stdout'])).stdout.split('\n');
    expect([title, row]).toEqual([
      expect.stringContaining('TRUST'),
      expect.stringContaining('ci: repo:a\\x1b[31m\\tb'),
    ]);
  });

  test('has no such column where there is none', async () => {
    expect((await audited([entry])).stdout).toBe('2026-08-20T11:06:45.000Z\tcreation\t::1\tx\t\n');
    expect((await audited([entry], ['stdout'])).stdout).not.toContain('TRUST');
  });
});

describe('an instance that lies of a token', () => {
  const version = { application_version: '1', features: { pushes: { expires_in: { enabled: true } } } };

  // biome-ignore format: a table
  test.each<[what: string, token: unknown]>([
    ['a scope that is none', { scope: 'admin', expires_at: null }],
    ['an end that is none', { scope: 'push', expires_at: '\u001b[31msoon' }],
    ['a number', { scope: 'push', expires_at: 1 }],
    ['no end', { scope: 'push' }],
    ['a text', 'push'],
    ['null', null],
  ])('by %s says nothing, and is asked for a listing', async (_what, token) => {
    const { sent, send, check } = wire([answers({ ...version, token }), answers([])]);
    const there = place({ send, stdin: 'pwp_x', env: { PWPUSH_URL: 'https://pw.test' } });
    const { code, stderr } = await there.run('login');
    expect([code, stderr.includes('expires')]).toEqual([0, false]);
    expect(sent[1]).toMatch('/api/v2/pushes/active');
    check();
  });

  test('by its scope is believed only where a token was sent', async () => {
    const { send } = wire([answers({ error: 'no', scope: 'push' }, 403)]);
    const there = place({ send, env: { PWPUSH_URL: 'https://pw.test' } });
    const { code, stderr } = await there.run('list');
    expect([code, stderr]).toEqual([4, expect.not.stringContaining('push only')]);
  });
});
