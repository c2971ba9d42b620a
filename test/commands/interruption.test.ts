import { afterEach, describe, expect, test } from 'vitest';
import { type Place, place } from '../helpers/run';

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
