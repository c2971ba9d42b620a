import { afterEach, beforeEach, expect, test } from 'vitest';
import { openService } from '../../src/server/open-service';
import { ServiceError } from '../../src/server/service-errors';
import { folders } from '../helpers/memory';
import {
  type Call,
  defaults,
  filePart,
  type TestClock,
  type TestService,
  testClock,
  testService,
} from '../helpers/service';
import { onSharedPostgres } from '../helpers/stores';

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

onSharedPostgres((databases) => {
  const newFolder = folders();
  let settings: { data: string; database: string };
  /** That of the database. */
  let clock: TestClock;
  /** One whose clock is ahead by as much as it may be, and one whose clock is behind. */
  let services: TestService[];
  /** By how much the clock of the first is ahead now. */
  let difference: number;
  let orders: [TestService, TestService][];

  beforeEach(async () => {
    const database = databases().localUrl(await databases().createMigrated());
    settings = { data: await newFolder(), database };
    clock = testClock();
    difference = MOST;
    const first = await opened(ahead(clock, () => difference));
    const second = await opened(ahead(clock, () => -MOST));
    services = [first, second];
    orders = [
      [first, second],
      [second, first],
    ];
  });
  afterEach(() => Promise.all(services.map((one) => one.close())));

  const opened = (own: TestClock) => testService({ ...settings, clock: own, serverClock: clock });
  const view = (service: TestService, token: string, how?: Call) =>
    service.call('GET', `/api/v2/pushes/${token}`, how);
  const texts = (token: string) =>
    Promise.all(services.map(async (one) => (await view(one, token)).json.payload));

  test('a push expires at the same time at each', async () => {
    const push = { payload: 'x', expires_in: 60, expire_after_views: 9 };
    const tokens = await Promise.all(services.map((one) => one.create(push)));
    clock.advance(59 * SECOND);
    for (const token of tokens) expect(await texts(token)).toEqual(['x', 'x']);
    clock.advance(SECOND);
    for (const token of tokens) expect(await texts(token)).toEqual([null, null]);
  });

  test('a request closes at the same time at each', async () => {
    for (const [one, other] of orders) {
      const { push } = await one.service.requests.create({ request: 'Which?' }, NOBODY);
      const read = () => other.call('GET', `/api/v2/requests/${push.url_token}`);
      clock.advance(push.expires_at - clock.now().getTime() - SECOND);
      expect((await read()).json.request).toBe('Which?');
      clock.advance(SECOND);
      expect((await read()).json.request).toBeNull();
    }
  });

  test('a sweep ends what is due, and nothing else', async () => {
    const push = { payload: 'x', expires_in: 60 };
    for (const [one, other] of orders) {
      await one.create(push);
      clock.advance(59 * SECOND);
      expect(await other.service.housekeeping.sweep()).toBe(0);
      clock.advance(SECOND);
      expect(await other.service.housekeeping.sweep()).toBe(1);
    }
  });

  test('a last view can be had again for two minutes at each, whichever sweeps', async () => {
    for (const [one, other] of orders) {
      const token = await one.create({ payload: 'x', expire_after_views: 1 });
      const how = withKey(`view-${token}`);
      expect((await view(one, token, how)).json.payload).toBe('x');
      clock.advance(119 * SECOND);
      await other.service.housekeeping.sweep();
      expect((await view(other, token, how)).json.payload).toBe('x');
      clock.advance(SECOND);
      expect((await view(other, token, how)).json.payload).toBeNull();
    }
  });

  test('a creation is repeated for ten minutes at each, whichever sweeps', async () => {
    for (const [one, other] of orders) {
      const how = withKey('make-something', { body: { push: { payload: 'x' } } });
      const made = (service: TestService) => service.call('POST', '/api/v2/pushes', how);
      const { url_token } = (await made(one)).json;
      clock.advance(10 * MINUTE - SECOND);
      await other.service.housekeeping.sweep();
      expect((await made(other)).json.url_token).toBe(url_token);
      clock.advance(SECOND);
      expect((await made(other)).json.url_token).not.toBe(url_token);
      clock.advance(10 * MINUTE);
    }
  });

  test('tries of a passphrase are limited in all, for a minute', async () => {
    const push = { payload: 'x', passphrase: 'right', expire_after_views: 9 };
    for (const [one, other] of orders) {
      const token = await one.create(push);
      const tried = async (service: TestService, word: string) =>
        (await view(service, `${token}?passphrase=${word}`)).status;
      for (let tries = 0; tries < 5; tries++) expect(await tried(one, 'wrong')).toBe(401);
      clock.advance(59 * SECOND);
      await other.service.housekeeping.sweep();
      expect(await tried(other, 'right')).toBe(429);
      clock.advance(SECOND);
      expect(await tried(other, 'right')).toBe(200);
    }
  });

  test('a link to a file is valid for five minutes at each', async () => {
    for (const [one, other] of orders) {
      const views = { name: 'push[expire_after_views]', value: '1' };
      const token = await one.createWithFiles(filePart('a.txt', 'content'), views);
      const [file] = (await view(one, token)).json.files;
      clock.advance(MOST - SECOND);
      await other.service.housekeeping.sweep();
      expect((await other.fetchLink(file.url)).text).toBe('content');
      clock.advance(SECOND);
      expect((await other.fetchLink(file.url)).status).toBe(404);
    }
  });

  test('one that starts abandons no upload that another is receiving', async () => {
    const [, one] = services as [TestService, TestService];
    const upload = one.service.pushes.upload();
    await upload.add({ name: 'a.txt', type: 'text/plain' }, pieces());
    const late = await opened(ahead(clock, () => MOST));
    await late.service.housekeeping.sweep();
    await late.close();
    const push = { payload: 'x', expire_after_views: 1 };
    const made = await one.service.pushes.create(push, NOBODY, upload);
    expect(made.push.url_token).toBeTruthy();
  });

  test('a clock that is set while the service runs is noticed by its sweep', async () => {
    const [one, other] = services as [TestService, TestService];
    difference = -MOST;
    await one.service.housekeeping.sweep();
    const token = await one.create({ payload: 'x', expires_in: 60 });
    clock.advance(59 * SECOND);
    expect((await view(other, token)).json.payload).toBe('x');
  });

  test('a clock that jumps far while the service runs has nothing swept', async () => {
    const [one] = services as [TestService];
    const token = await one.create({ payload: 'x', expires_in: 60, expire_after_views: 9 });
    difference = 2 * MOST;
    const sweep = () => one.service.housekeeping.sweep();
    expect([await sweep(), await sweep()]).toEqual([0, 0]);
    expect(one.warnings).toEqual([
      'the clock of this machine is 10 minutes ahead of that of the database server',
    ]);
    difference = MOST;
    clock.advance(59 * SECOND);
    expect(await sweep()).toBe(0);
    expect(await texts(token)).toEqual(['x', 'x']);
    clock.advance(SECOND);
    expect(await sweep()).toBe(1);
  });

  test('a clock that differs by more than five minutes is refused', async () => {
    for (const [by, words] of [
      [MOST + SECOND, '5 minutes 1 second ahead of'],
      [-MOST - SECOND, '5 minutes 1 second behind'],
    ] as const) {
      const error = await opened(ahead(clock, () => by)).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({
        message: `the clock of this machine is ${words} that of the database server`,
        hint: 'set the clocks of both machines, best by NTP: they may differ by 5 minutes',
        input: false,
      });
    }
  });

  test('the clock of the server is asked', async () => {
    const io = { log: () => {}, warn: () => {}, version: '0.1.0' };
    const open = (by: number) =>
      openService(
        { ...defaults, ephemeral: false, ...settings },
        { ...io, now: () => new Date(Date.now() + by) },
      );
    await expect(open(MOST + MINUTE)).rejects.toThrow('6 minutes ahead of');
    const service = await open(MOST - MINUTE);
    const { push } = await service.pushes.create({ payload: 'x' }, NOBODY);
    expect(Math.abs(push.created_at - Date.now())).toBeLessThan(MINUTE);
    await service.close();
  });
});
