import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { GUESSES, type Guesses, type StandIn, standIn } from '../helpers/commercial';
import { instance as testInstance } from '../helpers/instance';
import { NOW, type Place, place } from '../helpers/run';

// How an expiry is told to each edition, and accounts of the commercial one. Of that one nothing was recorded: what its
// documentation leaves open is guessed, and the client has to work with each guess. What is said is told by
// test/cases/push-expire-editions.txt and push-account.txt.

let here: Place;
let instance: StandIn;

const open: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function serve() {
  const own = await testInstance();
  open.push(own);
  return own;
}

function at(
  edition: 'commercial' | 'oss',
  { guesses = {}, env = {} }: { guesses?: Partial<Guesses>; env?: Record<string, string> } = {},
): void {
  instance = standIn({ now: () => NOW, edition, guesses });
  here = place({
    send: instance.send,
    stdin: 'hunter2\n',
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't0ken', ...env },
  });
  open.push(here);
}

const LINK = 'https://pw.test/p/quyul5r5w08\n';
const push = (...argv: string[]) => here.run('push', ...argv);
const told = () => (instance.bodies[0] as { push: Record<string, unknown> }).push;
const MONTH_AHEAD = new Date(NOW.getTime() + 30 * 86_400_000).toISOString();

/** What is typed → the index that is sent, and whether that is shorter, which is a warning. */
const ways: [argv: string[], index: number, shorter: boolean][] = [
  [['--days', '1'], 6, false],
  [['--days', '10'], 12, true],
  [['--days', '30'], 15, false],
  [['--days', '180'], 17, true],
  [['--expire', '45m'], 2, false],
  [['--expire', '6h'], 4, false],
  [['-e', '1d'], 6, false],
  [['--expire', '20m'], 0, true],
  [['--expire', '11h'], 4, true],
  [['--expire', '2w'], 13, false],
  [['--expire', '1mo'], 15, false],
  [['--expire', MONTH_AHEAD.replace('.000', '')], 15, false],
];

/** The exit status, stdout and number of warnings. */
async function outcome(...argv: string[]) {
  const { code, stdout, stderr } = await push(...argv);
  return [code, stdout, stderr.match(/^warning: /gm)?.length ?? 0];
}

describe('the commercial edition is told an index', () => {
  async function sends(argv: string[], index: number, shorter: boolean) {
    expect(await outcome(...argv)).toEqual([0, LINK, shorter ? 1 : 0]);
    expect(told()).toEqual({ payload: 'hunter2', expire_after_duration: index });
    expect(instance.asked.filter((line) => line.startsWith('DELETE'))).toEqual([]);
  }

  test.each(ways)('%j is %i', async (...way) => {
    at('commercial');
    await sends(...way);
  });

  test.each(GUESSES)('whatever else is guessed: %j', async (guesses) => {
    for (const way of ways.filter((_, place) => place % 4 === 0)) {
      at('commercial', { guesses });
      await sends(...way);
    }
    await here.under({ stdin: 't0ken' }).run('login', 'https://pw.test');
    expect(here.kept()?.profiles.default).toMatchObject({ edition: 'commercial' });
  });

  test('days that were dropped are noticed, and the push is expired again', async () => {
    at('commercial', { env: { PWPUSH_EDITION: 'oss' } });
    expect(await outcome('--days', '1')).toEqual([8, '', 0]);
    expect(instance.asked).toEqual(['POST /pushes', 'DELETE /pushes/quyul5r5w08']);
  });

  test('an index that the instance ignores is noticed as well', async () => {
    at('oss', { env: { PWPUSH_EDITION: 'commercial' } });
    expect(await outcome('--expire', '6h')).toEqual([8, '', 0]);
  });
});

describe('the open-source edition is told whole days', () => {
  test.each<[string[], number, number]>([
    [['--days', '10'], 10, 0],
    [['--expire', '2w'], 14, 0],
    [['--expire', '48h'], 2, 0],
    [['--expire', '1mo'], 30, 0],
    [['--expire', '36h'], 1, 1],
    [['--expire', '2026-09-01T09:00+02:00'], 11, 1],
  ])('%j is %i, rounded down with a warning', async (argv, days, warnings) => {
    at('oss');
    expect(await outcome(...argv)).toEqual([0, LINK, warnings]);
    expect(told()).toEqual({ payload: 'hunter2', expire_after_days: days });
    expect(instance.asked).toEqual(['GET /version', 'POST /pushes']);
  });

  test('less than a day is refused, with the way out', async () => {
    at('oss');
    expect((await push('--expire', '6h')).code).toBe(2);
    expect(instance.asked).toEqual(['GET /version']);
  });

  test.each([{ named: false }, { features: false }, { named: false, features: false }])(
    'it is known where the version has %j',
    async (guesses) => {
      at('oss', { guesses });
      await push('--days', '2');
      expect(told()).toEqual({ payload: 'hunter2', expire_after_days: 2 });
    },
  );
});

describe('pwpush serve is told seconds', () => {
  const afterAWhile = (seconds: number) => new Date(NOW.getTime() + seconds * 1000).toISOString();

  test.each<[string[], number]>([
    [['--days', '10'], 864_000],
    [['--expire', '45m'], 2700],
    [['--expire', '90s'], 90],
    [['--expire', '36h'], 129_600],
    [['--expire', '2026-08-20T14:06:45+02:00'], 3600],
    [['--expire', '2026-08-20T12:06:45.115Z'], 3600],
    [['--expire', '2026-08-31T23:30:00-01:00'], 998_595],
  ])('%j', async (argv, seconds) => {
    const own = await serve();
    const { code, stdout, stderr } = await own.under({ stdin: 'x' }).run('push', '--json', ...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      expires_at: afterAWhile(seconds),
      expire_after_days: Math.ceil(seconds / 86_400),
    });
    expect(own.asked).toEqual(['GET /api/v2/version', 'POST /api/v2/pushes']);
  });

  test('what was granted is said, listed and shown', async () => {
    const own = await serve();
    const env = { ...own.admin, NO_COLOR: '1' };
    const seen = { env, terminals: ['stdout', 'stderr'], columns: 100 } as const;
    const { stdout, stderr } = await own
      .under({ ...seen, stdin: 'x' })
      .run('push', '-e', '1h30m', '-v', '2');
    expect(stderr).toContain(' 2 views or 1 hour 30 minutes');
    own.service.clock.advance(1_800_000);
    expect((await own.under(seen).run('list')).stdout).toMatch(/2\/2 +in 1 h /);
    const { stdout: exact } = await own.under({ env: own.admin }).run('show', stdout.trim());
    expect(exact).toContain('\t2026-08-20T12:36:45.000Z\n');
  });

  test('login keeps that it is one', async () => {
    const own = await serve();
    await own.under({ stdin: own.service.adminToken }).run('login', 'https://pw.test');
    expect(own.kept()?.profiles.default?.edition).toBe('pwpush');
  });
});

describe('requests', () => {
  test('a push without an expiry is one request', async () => {
    at('commercial');
    await push('--views', '1');
    expect(instance.asked).toEqual(['POST /pushes']);
  });

  test.each(['oss', 'commercial'] as const)(
    'and so is one when PWPUSH_EDITION is %s',
    async (edition) => {
      at(edition, { env: { PWPUSH_EDITION: edition } });
      await push('--days', '1');
      expect(instance.asked).toEqual(['POST /pushes']);
    },
  );

  test('and one when the profile knows the edition, with the days of the profile', async () => {
    at('commercial', { env: { PWPUSH_URL: '' } });
    await here.keep({
      current: 'p',
      profiles: { p: { url: 'https://pw.test', edition: 'commercial', days: 2 } },
    });
    await push();
    expect([instance.asked, told().expire_after_duration]).toEqual([['POST /pushes'], 7]);
  });

  test('the edition of a profile says nothing of another address', async () => {
    at('oss', { env: { PWPUSH_URL: '' } });
    await here.keep({
      current: 'p',
      profiles: { p: { url: 'https://other.test', edition: 'commercial' } },
    });
    await push('--url', 'https://pw.test', '--days', '2');
    expect(told().expire_after_days).toBe(2);
  });

  test('--each asks once', async () => {
    at('commercial');
    const lines = [
      { payload: 'a', expire: '6h' },
      { payload: 'b', days: 10 },
      { payload: 'c' },
    ].map((line) => JSON.stringify(line));
    const { code, stdout, stderr } = await here
      .under({ stdin: lines.join('\n') })
      .run('push', '--each', '--expire', '1h');
    expect([code, stdout]).toEqual([0, LINK.repeat(3)]);
    expect(stderr).toMatch(/^warning: line 2: 10 days .* 7 days.*\n$/);
    expect(instance.asked).toEqual(['GET /version', ...Array(3).fill('POST /pushes')]);
    expect(instance.bodies).toEqual(
      [4, 12, 3].map((index, line) => ({
        push: { payload: 'abc'[line], expire_after_duration: index },
      })),
    );
  });

  test('a dry run of whole days asks nothing', async () => {
    at('oss');
    await push('--dry-run', '--days', '2');
    expect(instance.asked).toEqual([]);
    const { stdout } = await push('--dry-run', '--json', '--account', '42', '--days', '2');
    expect(JSON.parse(stdout).body).toEqual({
      push: { payload: '***', expire_after_days: 2 },
      account_id: 42,
    });
  });
});

test.each([
  ...['', '6', 'soon', '0h', '-1h', '2026-12-01', '2026-12-01T09:00', '2026-13-01T09:00Z'],
  ...['2026-11-31T09:00Z', '2027-02-29T23:00-02:00', '2026-12-01T09:00:00.Z'],
])('--expire %j is refused', async (text) => {
  at('oss');
  expect([(await push(`--expire=${text}`)).code, instance.asked]).toEqual([2, []]);
});

describe('accounts', () => {
  test('an id stands beside the push, in a form too', async () => {
    at('commercial');
    await push('--account', '42');
    writeFileSync(here.file('a.txt'), 'A');
    await here.under({ stdin: '' }).run('push', '--account', '42', '--file', here.file('a.txt'));
    expect(instance.asked).toEqual(['POST /pushes', 'POST /pushes']);
    expect(instance.bodies).toEqual([
      { push: { payload: 'hunter2' }, account_id: 42 },
      { push: {}, account_id: '42' },
    ]);
  });

  test('login keeps it, and list asks for its pushes', async () => {
    at('commercial', { env: { PWPUSH_URL: '', PWPUSH_TOKEN: '' } });
    await here.under({ stdin: 't0ken' }).run('login', 'https://pw.test', '--account', '42');
    expect(here.kept()?.profiles.default).toEqual({
      url: 'https://pw.test',
      token: 't0ken',
      edition: 'commercial',
      account: 42,
    });
    instance.asked.length = 0;
    await here.run('list');
    await push();
    expect(instance.asked).toEqual(['GET /pushes/active?page=1&account_id=42', 'POST /pushes']);
    expect(instance.bodies).toMatchObject([{ account_id: 42 }]);
  });

  describe('lists have the pushes of one account', () => {
    const waiting = { code: 12 };

    test('and its receipt tells which one a push belongs to', async () => {
      at('commercial');
      await push('--account', '42');
      expect(await here.run('wait', 'last', '--for', '5')).toMatchObject(waiting);
      expect((await here.run('show', 'last')).code).toBe(0);
      const elsewhere = await here.run('wait', 'last', '--for', '5', '--account', '41');
      expect(elsewhere).toMatchObject(waiting);
    });

    test('and without a receipt --account does', async () => {
      at('commercial');
      await push('--account', '42', '--no-receipt');
      const named = [LINK.trim(), '--account', '42'];
      expect(await here.run('wait', ...named, '--for', '5')).toMatchObject(waiting);
      expect((await here.run('show', ...named)).code).toBe(0);
    });

    test('and so does the setting of a profile', async () => {
      at('commercial', { env: { PWPUSH_URL: '', PWPUSH_TOKEN: '' } });
      await here.keep({
        current: 'p',
        profiles: { p: { url: 'https://pw.test', token: 't0ken', account: 42 } },
      });
      await push('--no-receipt');
      const { code } = await here.run('wait', LINK.trim(), '--for', '5');
      expect([code, (await here.run('show', LINK.trim())).code]).toEqual([12, 0]);
    });
  });

  test('there are none on the open-source edition', async () => {
    at('oss');
    const known = here.under({ env: { PWPUSH_EDITION: 'oss' } });
    expect((await known.run('push', '--account', '42')).code).toBe(2);
    const login = ['login', 'https://pw.test', '--account', '42'];
    expect((await here.under({ stdin: 't0ken' }).run(...login)).code).toBe(2);
    expect(here.kept()).toBe(undefined);
  });
});
