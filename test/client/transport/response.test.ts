import { expect, test } from 'vitest';
import { discardBody } from '../../../src/client/transport/response';

test.each([
  ['64 KiB and the piece that goes beyond', [40, 24, 1, 1], 3],
  ['four pieces', [0, 0, 0, 0, 0], 4],
  ['all of a small one', [1, 1], 2],
])('of an unwanted body is read: %s', async (_, kibibytes, pieces) => {
  let read = 0;
  async function* body() {
    for (const size of kibibytes) {
      read++;
      yield new Uint8Array(size * 1024);
    }
  }
  await discardBody(body());
  expect(read).toBe(pieces);
});
