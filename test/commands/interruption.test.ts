import { afterEach, describe, expect, test } from 'vitest';
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
    env: { PWPUSH_URL: 'https://pw.test' },
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
