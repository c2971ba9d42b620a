import { expect, test } from 'vitest';
import { aborted, limited, raceWithLimit } from '../../src/platform/files/abort';
import { collectGarbage } from '../helpers/memory';

const never = new Promise<string>(() => {});
const late = () => 'late';
const fail = () => {
  throw new Error('late');
};

test('aborted resolves at once for a signal that has aborted, and else when it does', async () => {
  await aborted(AbortSignal.abort());
  const controller = new AbortController();
  let resolved = false;
  const waiting = aborted(controller.signal).then(() => {
    resolved = true;
  });
  await Promise.resolve();
  expect(resolved).toBe(false);
  controller.abort();
  await waiting;
});

test('a time that is over aborts, also after what nobody knows any more was collected', async () => {
  const over = aborted(limited(new AbortController().signal, 500));
  // What was made in this turn is not collected in it.
  await new Promise((resolve) => void setImmediate(resolve));
  collectGarbage();
  await over;
  expect(limited(AbortSignal.abort('SIGINT'), 60_000).reason).toBe('SIGINT');
});

test('work that settles within the limit settles the race', async () => {
  const { signal } = new AbortController();
  expect(await raceWithLimit(Promise.resolve('done'), { signal }, late)).toBe('done');
  expect(await raceWithLimit(Promise.resolve('done'), { milliseconds: 60_000 }, late)).toBe('done');
  const failing = Promise.reject(new Error('work'));
  await expect(raceWithLimit(failing, { milliseconds: 60_000 }, late)).rejects.toThrow('work');
});

test('a limit that is reached decides, by what it returns or throws', async () => {
  const signal = AbortSignal.abort();
  expect(await raceWithLimit(never, { signal }, late)).toBe('late');
  await expect(raceWithLimit(never, { signal }, fail)).rejects.toThrow('late');
  expect(await raceWithLimit(never, { milliseconds: 1 }, late)).toBe('late');
  expect(await raceWithLimit(never, { signal, milliseconds: 1 }, late)).toBe('late');
});

test('the time runs from when the signal aborts', async () => {
  const controller = new AbortController();
  const limit = { signal: controller.signal, milliseconds: 1 };
  const race = raceWithLimit(never, limit, () => String(controller.signal.aborted));
  controller.abort();
  expect(await race).toBe('true');
});
