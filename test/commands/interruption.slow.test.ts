import { afterEach, describe, expect, test } from 'vitest';
import { AT_ONCE } from '../../src/client/pages';
import { aborted } from '../../src/platform/files/abort';
import { CREATED } from '../helpers/reference';
import { type Place, place } from '../helpers/run';
import { broken, json, wire } from '../helpers/wire';

let here: Place;
afterEach(() => here.close());

describe.each([
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
])('%s', (name, code, word) => {
  test(`while an answer is awaited ends with ${code}`, async () => {
    const controller = new AbortController();
    here = place({
      env: { PWPUSH_URL: 'https://pw.test' },
      signal: controller.signal,
      // Aborted, as the real transport ends when its signal does.
      send: () => {
        controller.abort(name);
        return Promise.reject(new Error('aborted'));
      },
    });
    expect(await here.run('version')).toEqual({ code, stdout: '', stderr: `pwpush: ${word}\n` });
  });

  test('leaves a command behind that does not end', async () => {
    const controller = new AbortController();
    here = place({
      env: { PWPUSH_URL: 'https://pw.test' },
      signal: controller.signal,
      send: () => {
        controller.abort(name);
        return new Promise(() => {});
      },
    });
    const { code: status, stderr } = await here.run('version', '--json');
    expect({ status, stderr }).toEqual({
      status: code,
      stderr: `{"error":{"code":"${word}","message":"${word}"}}\n`,
    });
  });
});

test('push --each prints what became of each line that was begun, and begins none after it', async () => {
  const controller = new AbortController();
  const { send } = wire([json(201, CREATED)]);
  let requests = 0;
  here = place({
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss' },
    signal: controller.signal,
    stdin: 'line\n'.repeat(3 * AT_ONCE),
    send: async (request) => {
      requests += 1;
      if (requests === 1) return send(request);
      if (requests === AT_ONCE) controller.abort('SIGINT');
      await aborted(controller.signal);
      throw broken(true);
    },
  });
  const { code, stdout, stderr } = await here.run('push', '--each');
  expect({ code, stdout }).toEqual({
    code: 130,
    stdout: `https://pw.test/p/quyul5r5w08/r\n${'\n'.repeat(requests - 1)}`,
  });
  // Another took the place of the first one.
  expect(requests).toBeLessThanOrEqual(AT_ONCE + 1);
  expect(stderr).toMatch(/^pwpush: line 2: .*\n[\s\S]*\npwpush: interrupted\n$/);
});

test('expire tells of each push whether it was under way', async () => {
  const controller = new AbortController();
  let requests = 0;
  here = place({
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't', PWPUSH_EDITION: 'oss' },
    signal: controller.signal,
    send: async () => {
      requests += 1;
      if (requests === AT_ONCE) controller.abort('SIGINT');
      await aborted(controller.signal);
      throw broken(true);
    },
  });
  const tokens = Array.from({ length: 12 }, (_, at) => `token${at}`);
  const { code, stderr } = await here.run('expire', '--json', ...tokens);
  const codes = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).error.code);
  const count = (what: string) => codes.filter((one) => one === what).length;
  expect([code, count('unknown'), count('interrupted')]).toEqual([130, AT_ONCE, 13 - AT_ONCE]);
});
