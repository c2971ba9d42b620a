import { expect, test } from 'vitest';
import { Pool } from '../../../src/server/store/pg-pool';

/** Nobody comes by later to wake up whoever was missed. */
const soon = (): Promise<string> =>
  new Promise((resolve) => setImmediate(resolve, 'nobody was called'));

const connection = () => ({ alive: true, abandon() {}, end: async () => {} });

/** What is promised, to be kept or broken when the test says so. */
function promised<T>() {
  let keep: (value: T) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    keep = resolve;
    fail = reject;
  });
  return { promise, keep, fail };
}

test('uses a connection that came back while a new one was refused', async () => {
  const refused = promised<ReturnType<typeof connection>>();
  const answers = [Promise.resolve(connection()), refused.promise];
  const pool = new Pool(() => answers.shift() ?? Promise.reject(new Error('a third')), 2);
  const work = promised<void>();
  const first = pool.use(() => work.promise);
  const second = pool.use(async () => 'done');
  work.keep();
  await first;
  refused.fail(new Error('too many connections'));
  expect(await Promise.race([second, soon()])).toBe('done');
  await pool.close();
});

test('waits for a connection in use if a new one is refused', async () => {
  const answers = [Promise.resolve(connection()), Promise.reject(new Error('too many'))];
  const pool = new Pool(() => answers.shift() ?? Promise.reject(new Error('a third')), 2);
  const work = promised<void>();
  const first = pool.use(() => work.promise);
  const second = pool.use(async () => 'done');
  expect(await Promise.race([second, soon()])).toBe('nobody was called');
  work.keep();
  await first;
  expect(await second).toBe('done');
  await pool.close();
});
