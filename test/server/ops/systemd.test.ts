import { expect, test } from 'vitest';
import { passedSockets } from '../../../src/server/ops/systemd';

test.each([
  [{}, []],
  [{ LISTEN_PID: '7', LISTEN_FDS: '' }, []],
  // They were for whoever started us.
  [{ LISTEN_PID: '8', LISTEN_FDS: '2' }, []],
  [{ LISTEN_PID: '7', LISTEN_FDS: '3' }, [3, 4, 5]],
])('%j passes %j to process 7', (env, descriptors) => {
  expect(passedSockets({ env, pid: 7 })).toEqual(descriptors);
});

test('as many as three digits can say are passed', () => {
  const env = { LISTEN_PID: '7', LISTEN_FDS: '999' };
  expect(passedSockets({ env, pid: 7 })).toHaveLength(999);
});

test.each(['0', '-1', 'x', '1e3', '1000', ' 1'])('LISTEN_FDS=%s is refused', (count) => {
  const env = { LISTEN_PID: '7', LISTEN_FDS: count };
  expect(() => passedSockets({ env, pid: 7 })).toThrow('LISTEN_FDS is not a number of sockets');
});
