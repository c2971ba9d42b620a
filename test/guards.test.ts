import { expect, test } from 'vitest';
import { best, failures, limits } from '../.ci/guards.mjs';

test('each figure may reach its limit, and none may exceed it', () => {
  expect(failures(limits)).toEqual([]);
  for (const [name, limit] of Object.entries(limits)) {
    const [failure, ...others] = failures({ ...limits, [name]: limit + 0.01 });
    expect(failure).toBe(`${name}: ${(limit + 0.01).toFixed(2)}, more than ${limit}`);
    expect(others).toEqual([]);
  }
});

test('a figure that was not measured fails', () => {
  expect(failures({})).toHaveLength(Object.keys(limits).length);
  expect(failures({ ...limits, push: Number.NaN })).toEqual(['push: NaN, more than 2.65']);
});

test('of several runs, the best figure counts', () => {
  const keys = { keyOfCreation: 1.1, keyOfView: 1.1, keyOfLastView: 1.1 };
  const slow = { push: 3, get: 3, help: 1.2, version: 1.1, lastView: 1.6, ...keys };
  const busy = { push: 2.5, get: 2.4, help: 1.9, version: 1.2, lastView: 1.3, ...keys };
  expect(best([slow, busy])).toEqual({ ...busy, help: 1.2, version: 1.1 });
});
