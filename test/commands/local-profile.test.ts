import { expect, test } from 'vitest';
import { keepLocal } from '../../src/commands/serve';

const first = { url: 'http://127.0.0.1:5100', token: 'first' };
const second = { url: 'http://127.0.0.1:5200', token: 'second' };

test('the first service on this machine is profile local, and in use', () => {
  expect(keepLocal({ profiles: {} }, first)).toEqual({
    name: 'local',
    stored: { current: 'local', profiles: { local: first } },
  });
});

test('a token that was kept is never overwritten', () => {
  const stored = { current: 'local', profiles: { local: first } };
  expect(keepLocal(stored, second)).toEqual({
    name: 'local-2',
    stored: { current: 'local', profiles: { local: first, 'local-2': second } },
  });
});
