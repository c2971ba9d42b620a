import { expect, test } from 'vitest';
import { DeferredWork, Semaphore, type Waiter } from '../../src/server/queues';
import { deferred } from '../helpers/deferred';

test('so much at once, so much waiting, and no more', async () => {
  const semaphore = new Semaphore(2, 3);
  const { promise: opened, resolve: open } = deferred<void>();
  const order: number[] = [];
  const work = (number: number) => () => {
    order.push(number);
    return opened;
  };
  const passing = [1, 2, 3, 4, 5].map((number) => semaphore.run(work(number)));
  await expect(semaphore.run(work(6))).rejects.toMatchObject({ kind: 'busy', details: { retryAfter: 5 } });
  expect([order, semaphore.idle]).toEqual([[1, 2], false]);
  open();
  await Promise.all(passing);
  expect([order, semaphore.idle]).toEqual([[1, 2, 3, 4, 5], true]);
});

test('work that fails, or that nobody waits for any more, lets the next one pass', async () => {
  const semaphore = new Semaphore(1, 3);
  const client = new AbortController();
  const { promise: opened, resolve: open } = deferred<void>();
  const failing = semaphore.run(async () => {
    await opened;
    throw new Error('no');
  });
  const abandoned = semaphore.run(() => Promise.resolve('done'), client);
  const next = semaphore.run(() => Promise.resolve('done'));
  client.abort();
  open();
  await expect(failing).rejects.toThrow('no');
  await expect(abandoned).rejects.toMatchObject({ kind: 'abandoned' });
  expect([await next, semaphore.idle]).toEqual(['done', true]);
});

/** A semaphore that is taken, so that all work waits; `order` says who came when. */
function crowded(atMost: number, ofClient: number, runs: string | undefined) {
  const semaphore = new Semaphore(1, atMost, ofClient);
  const { promise: opened, resolve: open } = deferred<void>();
  const order: string[] = [];
  const first = semaphore.run(() => opened, { client: runs });
  const pass = (name: string, waiter: Waiter) =>
    semaphore.run(async () => void order.push(name), waiter).catch(({ kind }) => order.push(`${name} ${kind}`));
  return {
    semaphore,
    order,
    pass,
    end: (all: Promise<unknown>[]) => {
      open();
      return Promise.all([first, ...all]);
    },
  };
}

test('one client waits with so much, and others find room', async () => {
  const { order, pass, end } = crowded(4, 2, 'a');
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => pass(name, { client: 'a' }));
  await end([...all, pass('b1', { client: 'b' }), pass('here', {}), pass('c1', { client: 'c' })]);
  expect(order.filter((one) => one.endsWith('busy'))).toEqual(['a3 busy', 'a4 busy', 'c1 busy']);
  // None of the three others runs any more: the order is that in which they came.
  expect(order.slice(3)).toEqual(['a1', 'a2', 'b1', 'here']);
});

test('a line of IPv6 waits with twice as much as a network of it', async () => {
  const { order, pass, end } = crowded(9, 2, 'a');
  await end([1, 2, 3, 4, 5].map((n) => pass(`${n}`, { client: `2001:db8:1:${n}` })));
  expect(order).toEqual(['5 busy', '1', '2', '3', '4']);
});

test('of two at once a client that has one running leaves the next to others', async () => {
  const semaphore = new Semaphore(2, 9, 9);
  const gates = [deferred<void>(), deferred<void>()];
  const order: string[] = [];
  const running = gates.map(({ promise }) => semaphore.run(() => promise, { client: 'a' }));
  const work = (name: string) => async () => void order.push(name);
  const waiting = [
    semaphore.run(work('a'), { client: 'a', urgent: true }),
    semaphore.run(work('here'), {}),
    semaphore.run(work('b'), { client: 'b' }),
    semaphore.run(work('b, urgent'), { client: 'b', urgent: true }),
  ];
  gates[0]?.resolve();
  await Promise.all([running[0], ...waiting]);
  expect(order).toEqual(['b, urgent', 'here', 'b', 'a']);
  gates[1]?.resolve();
  await running[1];
});

test('what is urgent goes first, and takes the place of what is not', async () => {
  const { order, pass, end } = crowded(3, 3, undefined);
  const waiting = ['x', 'y', 'z'].map((client) => pass(client, { client }));
  const urgent = ['p', 'q'].map((client) => pass(client, { client, urgent: true }));
  await end([...waiting, ...urgent, pass('late', { client: 'l' })]);
  expect(order).toEqual(['late busy', 'z busy', 'y busy', 'p', 'q', 'x']);
});

test('of work that no response waits for, a thousand wait, and no more', async () => {
  const deferredWork = new DeferredWork();
  const done: number[] = [];
  for (let nth = 1; nth <= 1001; nth += 1) deferredWork.add(async () => done.push(nth));
  await deferredWork.finish();
  expect(done).toHaveLength(1000);
});
