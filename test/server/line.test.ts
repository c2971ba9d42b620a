import { expect, test } from 'vitest';
import { Line } from '../../src/server/line';

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('so much at once, so much waiting, and no more', async () => {
  const line = new Line(2, 3);
  const { open, opened } = gate();
  const order: number[] = [];
  const work = (number: number) => () => {
    order.push(number);
    return opened;
  };
  const passing = [1, 2, 3, 4, 5].map((number) => line.pass(work(number)));
  await expect(line.pass(work(6))).rejects.toMatchObject({ kind: 'busy', retryAfter: 5 });
  expect([order, line.idle]).toEqual([[1, 2], false]);
  open();
  await Promise.all(passing);
  expect([order, line.idle]).toEqual([[1, 2, 3, 4, 5], true]);
});

test('work that fails, or that nobody waits for any more, lets the next one pass', async () => {
  const line = new Line(1, 3);
  const client = new AbortController();
  const { open, opened } = gate();
  const failing = line.pass(async () => {
    await opened;
    throw new Error('no');
  });
  const abandoned = line.pass(() => Promise.resolve('done'), client.signal);
  const next = line.pass(() => Promise.resolve('done'));
  client.abort();
  open();
  await expect(failing).rejects.toThrow('no');
  await expect(abandoned).rejects.toMatchObject({ kind: 'abandoned' });
  expect([await next, line.idle]).toEqual(['done', true]);
});
