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

test('push --each prints what became of each line that was begun, and none for the others', async () => {
  const controller = new AbortController();
  const { send } = wire([json(201, CREATED), broken(true)]);
  let requests = 0;
  here = place({
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss' },
    signal: controller.signal,
    stdin: 'a\nb\nc\nd\n',
    send: (request) => {
      requests += 1;
      if (requests === 2) controller.abort('SIGINT');
      return send(request);
    },
  });
  const { code, stdout, stderr } = await here.run('push', '--each', '--concurrency', '1');
  expect({ code, stdout, requests }).toEqual({
    code: 130,
    stdout: 'https://pw.test/p/quyul5r5w08/r\n\n',
    requests: 2,
  });
  expect(stderr).toMatch(/^pwpush: line 2: .*\n(?:hint: .*\n)?pwpush: interrupted\n$/);
});

/** An instance whose second request is interrupted, with those that are under way. */
function interrupting(stdin = '') {
  const controller = new AbortController();
  let requests = 0;
  here = place({
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't', PWPUSH_EDITION: 'oss' },
    signal: controller.signal,
    stdin,
    send: async () => {
      requests += 1;
      if (requests === 2) controller.abort('SIGINT');
      await aborted(controller.signal);
      throw broken(true);
    },
  });
  return () => requests;
}

test('push --each begins no line after it, when several are under way', async () => {
  const requests = interrupting('a\nb\nc\nd\n');
  const { code, stdout } = await here.run('push', '--each', '--concurrency', '2');
  expect({ code, stdout, requests: requests() }).toEqual({
    code: 130,
    stdout: '\n\n',
    requests: 2,
  });
});

test('expire tells of each push whether it was under way', async () => {
  interrupting();
  const tokens = Array.from({ length: 12 }, (_, at) => `token${at}`);
  const { code, stderr } = await here.run('expire', '--json', ...tokens);
  const codes = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).error.code);
  const count = (what: string) => codes.filter((one) => one === what).length;
  expect([code, count('unknown'), count('interrupted')]).toEqual([130, AT_ONCE, 13 - AT_ONCE]);
});
