import { expect, test } from 'vitest';
import { Pool, PoolTimeout } from '../../../src/server/store/pg-pool';
import { deferred } from '../../helpers/deferred';

/** Nobody comes by later to wake up whoever was missed. */
const soon = (): Promise<string> => new Promise((resolve) => setImmediate(resolve, 'nobody was called'));

const connection = () => ({
  alive: true,
  abandon() {
    this.alive = false;
  },
  end: async () => {},
});

test('uses a connection that came back while a new one was refused', async () => {
  const refused = deferred();
  const refusal = refused.promise.then(() => Promise.reject(new Error('too many connections')));
  const answers = [Promise.resolve(connection()), refusal];
  const pool = new Pool(() => answers.shift() ?? Promise.reject(new Error('a third')), 2);
  const work = deferred<void>();
  const first = pool.use(() => work.promise);
  const second = pool.use(async () => 'done');
  work.resolve();
  await first;
  refused.resolve();
  expect(await Promise.race([second, soon()])).toBe('done');
  await pool.close();
});

test('waits for a connection in use if a new one is refused', async () => {
  const answers = [Promise.resolve(connection()), Promise.reject(new Error('too many'))];
  const pool = new Pool(() => answers.shift() ?? Promise.reject(new Error('a third')), 2);
  const work = deferred<void>();
  const first = pool.use(() => work.promise);
  const second = pool.use(async () => 'done');
  expect(await Promise.race([second, soon()])).toBe('nobody was called');
  work.resolve();
  await first;
  expect(await second).toBe('done');
  await pool.close();
});

test('gives up work that never settles, and takes another connection in place of its own', async () => {
  const made: ReturnType<typeof connection>[] = [];
  const pool = new Pool(async () => {
    made.unshift(connection());
    return made[0] as (typeof made)[number];
  }, 1);
  const stuck = pool.use(() => new Promise(() => {}), 1);
  const next = pool.use(async (own) => own);
  await expect(stuck).rejects.toBeInstanceOf(PoolTimeout);
  expect(await next).toBe(made[0]);
  expect(made.map(({ alive }) => alive)).toEqual([true, false]);
  await pool.close();
});

test('tells the caller why work failed that it gave up, if the work says so', async () => {
  const lost = deferred();
  const failing = () => lost.promise.then((code) => Promise.reject(new Error(`lost: ${code}`)));
  const pool = new Pool(async () => ({ ...connection(), abandon: lost.resolve }), 1);
  await expect(pool.use(failing, 1)).rejects.toThrow('lost: ETIMEDOUT');
  await pool.close();
});
