import { beforeEach, expect, test } from 'vitest';
import { EXCHANGE } from '../../src/contract/api';
import { openForOperator } from '../../src/server/open-service';
import { ServiceError } from '../../src/server/service-errors';
import { issuer, trust } from '../helpers/issuer';
import { folders } from '../helpers/memory';
import { type Call, filePart, opened, partsOf, type TestClock, type TestService, testClock } from '../helpers/service';
import { onSharedPostgres, openBeside } from '../helpers/stores';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MOST = 5 * MINUTE;

/** A clock that is ahead of another one, or behind it. */
const ahead = (clock: TestClock, by: () => number): TestClock => ({
  now: () => new Date(clock.now().getTime() + by()),
  advance: clock.advance,
});

const NOBODY = { owner: undefined, ip: null, userAgent: null, referrer: null };

/** More than is kept in memory. */
async function* pieces() {
  yield Buffer.alloc(1024 * 1024);
}

const withKey = (key: string, how: Call = {}): Call => ({
  ...how,
  headers: { 'idempotency-key': `"${key}-of-22-characters"` },
});
const payloadOf = async (one: TestService, token: string, how?: Call) => (await one.retrieve(token, how)).json.payload;

/** Begins something at one service; what it returns sees at the other whether that is over. */
type Begun = (one: TestService, other: TestService) => Promise<() => Promise<unknown>>;

const expiring: Begun = async (one, other) => {
  const token = await one.create({ payload: 'x', expires_in: 60, expire_after_views: 9 });
  return async () => [await payloadOf(one, token), await payloadOf(other, token)];
};
const viewing: Begun = async (one, other) => {
  const token = await one.create({ payload: 'x', expire_after_views: 1 });
  const how = withKey(`view-${token}`);
  expect(await payloadOf(one, token, how)).toBe('x');
  return () => payloadOf(other, token, how);
};
const creating: Begun = async (one, other) => {
  const how = withKey(`make-${one.clock.now().getTime()}`, { body: { push: { payload: 'x' } } });
  const made = async (on: TestService) => (await on.call('POST', '/api/v2/pushes', how)).json.url_token;
  const token = await made(one);
  return async () => (await made(other)) === token;
};
const trying: Begun = async (one, other) => {
  const token = await one.create({ payload: 'x', passphrase: 'right' });
  for (let tries = 0; tries < 5; tries++) expect((await one.retrieve(`${token}?passphrase=wrong`)).status).toBe(401);
  return async () => (await other.retrieve(`${token}?passphrase=right`)).status;
};
const downloading: Begun = async (one, other) => {
  const token = await one.createWithFiles(filePart('a.txt', 'content'), ...partsOf({ expire_after_views: 1 }));
  const [file] = (await one.retrieve(token)).json.files;
  return async () => (await other.fetchLink(file.url)).status;
};

/** What ends, when, and what is seen before and after. */
const ends: [string, number, unknown, unknown, Begun][] = [
  ['a push expires at the same time at each', MINUTE, ['x', 'x'], [null, null], expiring],
  ['a last view can be had again for two minutes at each, whichever sweeps', 2 * MINUTE, 'x', null, viewing],
  ['a creation is repeated for ten minutes at each, whichever sweeps', 10 * MINUTE, true, false, creating],
  ['tries of a passphrase are limited in all, for a minute', MINUTE, 429, 200, trying],
  ['a link to a file is valid for five minutes at each', MOST, 200, 404, downloading],
];

onSharedPostgres((databases) => {
  const newFolder = folders();
  let settings: { data: string; database: string };
  let clock: TestClock;
  /** One whose clock is ahead by as much as it may be, and one whose clock is behind. */
  let services: [TestService, TestService];
  /** By how much the clock of the first is ahead now. */
  let difference: number;

  const openedAt = (own: TestClock) => opened({ ...settings, clock: own, serverClock: clock });

  beforeEach(async () => {
    const database = databases().localUrl(await databases().createMigrated());
    settings = { data: await newFolder(), database };
    clock = testClock();
    difference = MOST;
    const first = await openedAt(ahead(clock, () => difference));
    services = [first, await openedAt(ahead(clock, () => -MOST))];
  });

  test.each(ends)('%s', async (_, time, before, after, begin) => {
    const [first, second] = services;
    for (const [one, other] of [[first, second] as const, [second, first] as const]) {
      const seen = await begin(one, other);
      clock.advance(time - SECOND);
      await other.service.housekeeping.sweep();
      expect(await seen()).toEqual(before);
      clock.advance(SECOND);
      expect(await seen()).toEqual(after);
    }
  });

  test('a token of a trust, and the identity token for it, end by the clock of the database', async () => {
    const from = await issuer({ now: clock.now });
    await trust({ beside: () => openBeside(settings.database) }, from, { audience: 'https://pw.test' });
    const exchange = async (one: TestService, claims = {}) => {
      const body = {
        grant_type: EXCHANGE.grantType,
        subject_token_type: EXCHANGE.jwt,
        subject_token: from.token(claims),
      };
      return one.call('POST', '/api/v2/token', { body });
    };
    for (const one of services) {
      const { iat } = from.claimsOf({});
      expect((await exchange(one, { exp: Number(iat) - 59 })).status).toBe(200);
      expect((await exchange(one, { exp: Number(iat) - 60 })).status).toBe(400);
      const { json } = await exchange(one);
      const statuses = () =>
        Promise.all(
          services.map(
            async (each) => (await each.call('GET', '/api/v2/openapi.json', { token: json.access_token })).status,
          ),
        );
      clock.advance(10 * MINUTE - SECOND);
      expect([json.expires_in, await statuses()]).toEqual([600, [200, 200]]);
      clock.advance(SECOND);
      expect(await statuses()).toEqual([401, 401]);
    }
  });

  test('one that starts abandons no upload that another is receiving', async () => {
    const [, one] = services;
    const upload = one.service.pushes.upload(NOBODY);
    await upload.add({ name: 'a.txt', type: 'text/plain' }, pieces());
    const late = await openedAt(ahead(clock, () => MOST));
    await late.service.housekeeping.sweep();
    const push = { payload: 'x', expire_after_views: 1 };
    const made = await one.service.pushes.create(push, NOBODY, upload);
    expect(made.push.url_token).toBeTruthy();
  });

  test('a clock that jumps far while the service runs has nothing swept', async () => {
    const [one] = services;
    const token = await one.create({ payload: 'x', expires_in: 60, expire_after_views: 9 });
    difference = 2 * MOST;
    const sweep = () => one.service.housekeeping.sweep();
    expect([await sweep(), await sweep()]).toEqual([0, 0]);
    expect(one.warnings).toEqual(['the clock of this machine is 10 minutes ahead of that of the database server']);
    difference = MOST;
    clock.advance(59 * SECOND);
    expect(await sweep()).toBe(0);
    for (const service of services) expect(await payloadOf(service, token)).toBe('x');
    clock.advance(SECOND);
    expect(await sweep()).toBe(1);
  });

  // That the server is asked for its own, test/journey/postgres.slow.test.ts sees.
  test('a clock that differs by more than five minutes is refused', async () => {
    for (const [by, words] of [
      [MOST + 1, '5 minutes ahead of'],
      [-MOST - 1, '5 minutes behind'],
    ] as const) {
      const error = await openedAt(ahead(clock, () => by)).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({
        message: `the clock of this machine is ${words} that of the database server`,
        hint: 'set the clocks of both machines, best by NTP: they may differ by 5 minutes',
        code: 'failed',
      });
    }
  });

  test("a token that its operator makes ends by the server's own clock, not by that of the machine", async () => {
    const operating = (differs: number) => openForOperator(settings, { now: () => new Date(Date.now() + differs) });
    const late = await operating(-2 * 60 * MINUTE);
    await late.owners.add('ci', '', { lifetime: 60 * 60 });
    await late.close();
    const early = await operating(2 * 60 * MINUTE);
    expect(await early.owners.list()).toContainEqual(expect.objectContaining({ name: 'ci' }));
    await early.close();
  });
});
