import { describe, expect, test } from 'vitest';
import { createLog, type Log } from '../../../src/server/ops/log';
import { away, notFound } from '../../../src/server/service-errors';
import type { LogFormat } from '../../../src/server/service-settings';
import { opened } from '../../helpers/service';

const TIME = '2026-08-20T11:06:45.000Z';

/** What a log of that format writes, level and line. */
function written(format: LogFormat, write: (log: Log) => void): string[] {
  const lines: string[] = [];
  const log = createLog(
    {
      log: (line, level) => lines.push(`${level}: ${line}`),
      warn: (line) => lines.push(`said: ${line}`),
      now: () => new Date(TIME),
    },
    format,
  );
  write(log);
  return lines;
}

const request = { began: new Date(TIME), method: 'GET', route: '/up', status: 200, bytes: 3 };

const at = `{"time":"${TIME}","level"`;
test.each([
  [
    'text' as const,
    `info: ${TIME} GET /up 200 1ms 3B`,
    `info: ${TIME} sweep expired=2`,
    `info: ${TIME} stopping`,
    'said: beware',
  ],
  [
    'json' as const,
    `info: ${at}:"info","event":"request","method":"GET","route":"/up","status":200,"duration_ms":1,"bytes":3}`,
    `info: ${at}:"info","event":"sweep","expired":2}`,
    `info: ${at}:"info","event":"stopping"}`,
    `warning: ${at}:"warning","event":"warning","message":"beware"}`,
  ],
])('entries as %s', (format, ...lines) => {
  const all = (log: Log) => {
    log.request({ ...request, tookMs: 1 });
    log.event('sweep', { expired: 2 });
    log.event('stopping');
    log.warning('beware');
  };
  expect(written(format, all)).toEqual(lines);
});

describe.each(['text', 'json'] as const)('%s', (format) => {
  test('an entry is one line that moves no terminal', () => {
    const method = 'A\r\nB\u001b[2J\u009b\u2028\u202e\u007f';
    const [line = ''] = written(format, (log) => log.request({ ...request, method, tookMs: 1 }));
    expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(line).toContain('\\u009b\\u2028\\u202e\\u007f');
  });

  test('a refusal is no failure, and its class no word for operators', () => {
    const refusals = [notFound(), away(new Error('x'))];
    expect(written(format, (log) => refusals.forEach(log.failure))).toEqual([]);
  });

  test('a failure is told by name, code and place, whatever its message says', () => {
    const error = Object.assign(new TypeError('hunter2\n    at hunter2 (hunter2:1:1)\n    at x'), { code: 'E_X' });
    const [line = ''] = written(format, (log) => log.failure(error));
    expect(line).toMatch(/^error: .*TypeError.*E_X.*at .*log\.test\.ts/);
    expect(line).not.toContain('hunter2');
    // What could be anything is not told.
    const odd = Object.assign(new Error('hunter2'), { name: 'hunter'.padEnd(65, '2'), code: 'hunter\n2' });
    odd.message = 'changed';
    const lines = written(format, (log) => [odd, 'hunter2'].forEach(log.failure));
    expect([lines.length, lines.join().includes('hunter')]).toEqual([2, false]);
  });
});

test('no header, path, query or body of a request gets into the log', async () => {
  const service = await opened({ log: 'json' });
  const names = ['user-agent', 'referer', 'authorization', 'cookie', 'x-forwarded-for', 'x-method'];
  const headers = Object.fromEntries(names.map((name) => [name, 'Bearer hunter2']));
  const named = ['', 'p/', 'api/v2/', 'files/', '%00'].map((before) => `/${before}hunter2`);
  // Each is logged once, though it has the name of a route.
  const paths = [...named, '/*', '/api/*', '/api/v2/*', '/files/*', '/p/*'];
  for (const path of paths)
    for (const method of ['GET', 'POST', 'DELETE', 'HUNTER2'])
      await service.call(method, `${path}?hunter2=hunter2`, {
        headers,
        ...(method === 'POST' ? { body: { push: 'hunter2' } } : {}),
      });
  // One line for each, and the warning that X-Forwarded-For came from elsewhere.
  expect(service.lines).toHaveLength(40 + 1);
  expect(service.lines.join('\n')).not.toContain('hunter2');
});
