import { expect, test } from 'vitest';
import { health } from '../../../src/server/ops/metrics';

test('a database that hangs is not up, and is not asked again until it has answered', async () => {
  const asked: ((error?: Error) => void)[] = [];
  const ping = () =>
    new Promise<void>((resolve, reject) => {
      asked.push((error) => (error ? reject(error) : resolve()));
    });
  const isUp = health(ping, 1);
  expect(await Promise.all([isUp(), isUp()])).toEqual([false, false]);
  expect([await isUp(), asked.length]).toEqual([false, 1]);
  const late = isUp();
  asked[0]?.();
  expect(await late).toBe(true);
  const failing = isUp();
  asked[1]?.(new Error('no'));
  expect([await failing, asked.length]).toEqual([false, 2]);
});
