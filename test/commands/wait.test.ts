import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Transport } from '../../src/platform/context';
import { BASE, type Instance, instance, overFetch } from '../helpers/instance';
import { place } from '../helpers/run';
import { broken, wire } from '../helpers/wire';

let here: Instance;
let token: string;
/** What happens in each sleep, by its number from 1. */
let happens: Record<number, () => unknown>;
let naps: number;

beforeEach(async () => {
  happens = {};
  naps = 0;
  here = await instance({
    asleep: async (milliseconds) => {
      here.service.clock.advance(milliseconds);
      naps += 1;
      if (naps > 20_000) throw new Error('it waits for ever');
      await happens[naps]?.();
    },
  });
  token = await here.push({ payload: 'hunter2', expire_after_views: 2 }, here.service.adminToken);
});
afterEach(() => here.close());

const owner = () => here.under({ env: here.admin });
const wait = (...words: string[]) => owner().run('wait', token, ...words);
const look = () => here.run('get', token);
const VIEW = '2026-08-20T11:06:55.000Z\tview\t127.0.0.1\tpwpush/0.1.0\t\n';

describe('a view', () => {
  test('ends the wait with 0, and is told', async () => {
    happens[2] = look;
    expect(await wait()).toEqual({ code: 0, stdout: VIEW, stderr: '' });
    expect(here.sleeps).toEqual([5000, 5000]);
  });

  test('is neither a retrieval by the owner nor one with a wrong passphrase', async () => {
    token = await here.push({ payload: 'x', passphrase: 'horse' }, here.service.adminToken);
    happens[1] = () => owner().run('get', token);
    happens[2] = () => here.under({ env: { PWPUSH_PASSPHRASE: 'wrong' } }).run('get', token);
    happens[3] = () => here.under({ env: { PWPUSH_PASSPHRASE: 'horse' } }).run('get', token);
    const { code } = await wait('--interval', '1.5');
    expect({ code, sleeps: here.sleeps }).toEqual({ code: 0, sleeps: [1500, 1500, 1500] });
  });

  test('that ends the push ends the wait with 0, too', async () => {
    token = await here.push({ payload: 'x', expire_after_views: 1 }, here.service.adminToken);
    happens[1] = look;
    expect((await wait()).code).toBe(0);
    expect((await wait()).code).toBe(0);
  });

  test('is found behind more than a page of other events', async () => {
    await look();
    for (let count = 0; count < 55; count++) await owner().run('get', token);
    expect((await wait()).code).toBe(0);
  });
});

test('--for does not end the expiry of --then-expire', async () => {
  await look();
  let refusals = 0;
  const service = overFetch(here.service);
  const busy = wire([{ status: 429, headers: { 'retry-after': '8' }, body: '' }]);
  const send: Transport = (request) =>
    request.method === 'DELETE' && refusals++ === 0 ? busy.send(request) : service(request);
  const now = here.service.clock.now;
  const there = place({ send, now, env: { PWPUSH_URL: BASE, ...here.admin } });
  const { code, stdout } = await there.run('wait', token, '--for', '4', '--then-expire');
  there.close();
  expect([code, stdout.split('\t')[1], there.sleeps]).toEqual([0, 'view', [8000]]);
  expect((await look()).code).toBe(6);
});

describe('--for', () => {
  test('is the time of the whole wait, and its end is 12', async () => {
    expect(await wait('--for', '12')).toMatchObject({ code: 12, stdout: '' });
    expect(here.sleeps).toEqual([5000, 5000, 2000]);
  });

  test('may be a duration', async () => {
    expect((await wait('--for', '1m30s', '--interval', '60')).code).toBe(12);
    expect(here.sleeps).toEqual([60_000, 30_000]);
  });

  test('is longer than a day where need be, and an answer is not waited for longer than for the push', async () => {
    happens[1] = look;
    expect((await wait('--for', '604800')).code).toBe(0);
    expect((await wait('--for', '7')).code).toBe(0);
    expect((await wait('--for', '20', '--timeout', '9')).code).toBe(0);
    expect((await wait('--timeout', '9')).code).toBe(0);
    expect(here.transports.map(({ timeout }) => timeout)).toEqual([30, 30, 7, 9, 9]);
  });
});

test('--json prints each event as a line, the oldest first and none twice', async () => {
  happens[1] = () => owner().run('get', token);
  happens[3] = look;
  const { code, stdout, stderr } = await wait('--json');
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect({ code, stderr, kinds: events.map(({ kind }) => kind) }).toEqual({
    code: 0,
    stderr: '',
    kinds: ['creation', 'owner_view', 'view'],
  });
});

describe('an instance that cannot answer', () => {
  /** The service, but for the requests of these numbers. */
  function failing(which: (request: number) => boolean, failure: () => never) {
    const under = here;
    let requests = 0;
    const service = overFetch(under.service);
    const send: Transport = async (request) => {
      requests += 1;
      return which(requests) ? failure() : service(request);
    };
    return place({
      send,
      now: under.service.clock.now,
      env: { PWPUSH_URL: BASE, ...under.admin },
      asleep: async (milliseconds) => {
        under.service.clock.advance(milliseconds);
        naps += 1;
        await happens[naps]?.();
      },
    });
  }
  const unreachable = () => {
    throw broken(false);
  };

  test('later is waited out, told once, and asked less often meanwhile', async () => {
    // The first look is three requests: two pages of the log, and the listing.
    const there = failing((request) => request >= 4 && request <= 7, unreachable);
    happens[5] = look;
    const outcome = await there.run('wait', token);
    there.close();
    expect({ ...outcome, stdout: outcome.stdout.split('\t')[1], sleeps: there.sleeps }).toEqual({
      code: 0,
      stdout: 'view',
      stderr: expect.stringMatching(/^[^\n]+\n$/),
      sleeps: [5000, 10_000, 20_000, 40_000, 60_000],
    });
  });

  test('after the machine slept is waited out, also if it sleeps again meanwhile', async () => {
    const there = failing((request) => request >= 4 && request <= 6, unreachable);
    const slept = () => here.service.clock.advance(3 * 3_600_000);
    happens[1] = slept;
    happens[2] = slept;
    happens[4] = look;
    expect((await there.run('wait', token)).code).toBe(0);
    there.close();
  });

  test('after the machine slept for longer than --for ends with 12', async () => {
    const there = failing((request) => request >= 4, unreachable);
    happens[1] = () => here.service.clock.advance(3 * 3_600_000);
    expect((await there.run('wait', token, '--for', '1h')).code).toBe(12);
    there.close();
  });

  test('for five minutes is given up', async () => {
    const there = failing((request) => request >= 4, unreachable);
    const { code } = await there.run('wait', token);
    there.close();
    const waited = there.sleeps.reduce((sum, one) => sum + one, 0);
    expect({ code, waited: waited > 300_000 && waited < 400_000 }).toEqual({
      code: 9,
      waited: true,
    });
  });
});
