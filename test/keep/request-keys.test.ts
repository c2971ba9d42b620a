import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forgetKey, type KeptKey } from '../../src/keep/request-keys';
import { place } from '../helpers/run';

test.each([
  ['closed', false],
  ['ready', true],
  ['open', true],
  [undefined, true],
])('of a request that is %s, the private key is kept after its answer was delivered: %j', async (state, isKept) => {
  const path = join(place().folder, 'key');
  writeFileSync(path, 'AGE-SECRET-KEY-1');
  const warn = async (text: string) => expect.unreachable(text);
  await forgetKey({ warn }, { path } as KeptKey, async () => state);
  expect(existsSync(path)).toBe(isKept);
});
