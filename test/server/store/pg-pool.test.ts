import { expect, test } from 'vitest';
import { Pool } from '../../../src/server/store/pg-pool';
import { deferred } from '../../helpers/deferred';

/** Nobody comes by later to wake up whoever was missed. */
const soon = (): Promise<string> =>
  new Promise((resolve) => setImmediate(resolve, 'nobody was called'));

const connection = () => ({ alive: true, abandon() {}, end: async () => {} });

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
