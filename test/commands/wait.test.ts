import { beforeEach, describe, expect, test } from 'vitest';
import type { Transport } from '../../src/platform/context';
import { type Instance, instance, overFetch } from '../helpers/instance';
import { broken, wire } from '../helpers/wire';

// What is said: test/cases/wait*.txt; how the log is read: listings.test.ts.

let here: Instance;
let token: string;
/** What happens in each sleep, by its number from 1. */
let happens: Record<number, () => unknown>;
/** What becomes of each request, by its number from 1; the service answers it. */
let fails: (request: Parameters<Transport>[0], number: number) => ReturnType<Transport> | undefined;

beforeEach(async () => {
  happens = {};
  fails = () => undefined;
  let requests = 0;
  here = await instance({
    send: async (request) => fails(request, ++requests) ?? overFetch(here.service)(request),
    asleep: async (milliseconds) => {
      here.service.clock.advance(milliseconds);
      if (here.sleeps.length > 20_000) throw new Error('it waits for ever');
      await happens[here.sleeps.length]?.();
    },
  });
  token = await here.push({ payload: 'hunter2', expire_after_views: 2 }, here.service.adminToken);
});

const owner = () => here.under({ env: here.admin });
const wait = (...words: string[]) => owner().run('wait', token, ...words);
const look = () => here.run('get', token);
const sleepFor = (hours: number) => () => here.service.clock.advance(hours * 3_600_000);

test('a view is neither a retrieval by the owner nor one with a wrong passphrase', async () => {
  token = await here.push({ payload: 'x', passphrase: 'horse' }, here.service.adminToken);
  const given = (PWPUSH_PASSPHRASE: string) => () => here.under({ env: { PWPUSH_PASSPHRASE } }).run('get', token);
  happens = { 1: () => owner().run('get', token), 2: given('wrong'), 3: given('horse') };
  expect((await wait('--interval', '1.5')).code).toBe(0);
  expect(here.sleeps).toEqual([1500, 1500, 1500]);
});

test('a terminal sees how long it has taken', async () => {
  happens = { 2: look };
  const seen = here.under({ env: { ...here.admin, NO_COLOR: '1' }, terminals: ['stderr'] });
  const { code, stderr } = await seen.run('wait', token, '--interval', '60');
  expect([code, stderr.split('\r\u001b[J').filter(Boolean).slice(1)]).toEqual([0, ['waited 1 s', 'waited 1 min']]);
});

describe('--for', () => {
  test('is the time of the whole wait, and its end is 12', async () => {
    expect(await wait('--for', '12')).toMatchObject({ code: 12, stdout: '' });
    expect(here.sleeps).toEqual([5000, 5000, 2000]);
  });

  test('does not end the expiry of --then-expire', async () => {
    await look();
    let refusals = 0;
    const busy = wire([{ status: 429, headers: { 'retry-after': '8' }, body: '' }]);
    fails = (request) => (request.method === 'DELETE' && refusals++ === 0 ? busy.send(request) : undefined);
    const { code, stdout } = await wait('--for', '4', '--then-expire');
    expect([code, stdout.split('\t')[1], here.sleeps]).toEqual([0, 'view', [8000]]);
    expect((await look()).code).toBe(6);
  });

  test('may be longer than a day, and an answer is not waited for longer than for the push', async () => {
    happens[1] = look;
    for (const words of ['--for 604800', '--for 7', '--for 20 --timeout 9', '--timeout 9'])
      expect((await wait(...words.split(' '))).code).toBe(0);
    expect(here.transports.map(({ timeout }) => timeout)).toEqual([30, 30, 7, 9, 9]);
  });
});

describe('an instance that cannot answer', () => {
  /** The first look is three requests: two pages of the log, and the listing. */
  const unreachable = (until: number) => {
    fails = (_request, number) => (number >= 4 && number <= until ? Promise.reject(broken(false)) : undefined);
  };

  test('later is waited out, told once, and asked less often meanwhile', async () => {
    unreachable(7);
    happens[5] = look;
    const { code, stdout, stderr } = await wait();
    expect([code, stdout.split('\t')[1], stderr.split('\n').length]).toEqual([0, 'view', 2]);
    expect(here.sleeps).toEqual([5000, 10_000, 20_000, 40_000, 60_000]);
  });

  test('after the machine slept is waited out, also if it sleeps again meanwhile', async () => {
    unreachable(6);
    happens = { 1: sleepFor(3), 2: sleepFor(3), 4: look };
    expect((await wait()).code).toBe(0);
  });

  test('after the machine slept for longer than --for ends with 12', async () => {
    unreachable(Number.POSITIVE_INFINITY);
    happens[1] = sleepFor(3);
    expect((await wait('--for', '1h')).code).toBe(12);
  });

  test.each([
    [5, [5, 10, 20, 40, 60, 60, 60, 60]],
    [300, [300, 300, 300]],
    [301, [301, 301]],
  ])('for more than five minutes is given up; it is asked each %i s', async (interval, seconds) => {
    unreachable(Number.POSITIVE_INFINITY);
    expect((await wait('--interval', `${interval}`)).code).toBe(9);
    expect(here.sleeps.map((milliseconds) => milliseconds / 1000)).toEqual(seconds);
  });
});
