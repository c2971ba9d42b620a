import { createServer } from 'node:net';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics, health, scraper } from '../../../src/server/ops/metrics';
import type { ServiceSettings } from '../../../src/server/service-settings';
import { listen, speak } from '../../helpers/listen';
import { freePort } from '../../helpers/postgres';
import { filePart, opened, type TestService } from '../../helpers/service';
import { type Started, started } from '../on-sockets';

let service: TestService;
beforeEach(async () => {
  service = await opened();
});

/** The samples whose names begin so, without that and without those that are 0. */
async function samples(begin: string): Promise<string[]> {
  const lines = (await service.service.scrape()).split('\n');
  const own = lines.filter((line) => line.startsWith(begin) && !line.endsWith(' 0'));
  return own.map((line) => line.slice(begin.length));
}

describe('pushes', () => {
  test('created, viewed, and ended with the last view', async () => {
    const token = await service.createOwn({ expire_after_views: 2 });
    for (const how of [{}, service.asAdmin]) await service.retrieve(token, how);
    expect(await samples('pwpush_pushes_expired')).toEqual([]);
    for (const _ of ['last', 'too late']) await service.retrieve(token);
    expect(await samples('pwpush_')).toEqual(
      expect.arrayContaining([
        ...['pushes_created_total{kind="text"} 1', 'pushes_expired_total{reason="views"} 1'],
        ...['views_total{by="viewer"} 2', 'views_total{by="owner"} 1', 'failed_views_total 1'],
      ]),
    );
  });

  test('ended by a user, by a sweep, and by a request that came too late', async () => {
    const url = { payload: 'https://example.com/', kind: 'url', expire_after_days: 1 };
    const [late] = [await service.create(url), await service.create(url)];
    const token = await service.create({ payload: 'x' });
    for (const _ of ['once', 'twice']) await service.expire(token);
    expect(await samples('pwpush_pushes_active')).toEqual([' 2']);
    service.clock.advance(86_400_000);
    expect(await service.service.pushes.countActive()).toEqual({ pushes: 0, requests: 0 });
    await service.retrieve(late);
    await service.service.housekeeping.sweep();
    expect((await samples('pwpush_pushes_')).filter((line) => !/active/.test(line))).toEqual([
      ...['created_total{kind="text"} 1', 'created_total{kind="url"} 2'],
      ...['expired_total{reason="time"} 2', 'expired_total{reason="deleted"} 1'],
    ]);
  });

  test('wrong passphrases, but not missing ones, and bytes of files, in and out', async () => {
    const token = await service.create({ payload: 'x', passphrase: 'sesame' });
    for (const query of ['', '?passphrase=no', '?passphrase=sesame']) await service.retrieve(token + query);
    expect(await samples('pwpush_wrong_passphrases_total')).toEqual([' 1']);
    const pushed = await service.createWithFiles(filePart('a', 'x'.repeat(70_000)));
    const [file] = (await service.retrieve(pushed)).json.files;
    await service.fetchLink(file.url, { range: 'bytes=0-9' });
    const bytes = ['{direction="in"} 70000', '{direction="out"} 10'];
    expect(await samples('pwpush_file_bytes_total')).toEqual(bytes);
  });
});

test('requests are counted by method, route and status, none of which a client can make up', async () => {
  for (const query of ['?passphrase=hunter2', '']) await service.retrieve(`sometoken${query}`);
  const others = ['POST', 'PUT', 'PATCH', 'OPTIONS'];
  for (const method of ['BREW', 'PROPFIND', ...others, 'HEAD', 'DELETE'])
    await service.call(method, '/api/v2/pushes/othertoken');
  for (const path of ['/one', '/two', '/api/v2/three']) await service.call('GET', path);
  expect(await samples('pwpush_http_requests_total')).toEqual([
    '{method="GET",route="/api/v2/pushes/:token",status="404"} 2',
    '{method="other",route="/api/v2/pushes/:token",status="405"} 2',
    ...others.map((method) => `{method="${method}",route="/api/v2/pushes/:token",status="405"} 1`),
    '{method="HEAD",route="/api/v2/pushes/:token",status="405"} 1',
    '{method="DELETE",route="/api/v2/pushes/:token",status="404"} 1',
    '{method="GET",route="/*",status="404"} 2',
    '{method="GET",route="/api/v2/*",status="404"} 1',
  ]);
  const durations = await samples('pwpush_http_request_duration_seconds_count');
  expect(durations).toContain('{route="/api/v2/pushes/:token"} 10');
  // Of an internal error it is told that there was one.
  service.service.log.failure(new Error('hunter2'));
  expect(await samples('pwpush_errors')).toEqual(['_total 1']);
});

test('requests: made, answered, read, closed and expired, and not counted as pushes', async () => {
  const tokens: string[] = [];
  for (const close_after of [60, 60, 60, 3600]) tokens.push(await service.createRequest({ close_after }));
  for (const token of tokens.slice(0, 2)) await service.respond(token, 'x');
  await service.call('GET', `/api/v2/requests/${tokens[0]}`, service.asAdmin);
  await service.call('DELETE', `/api/v2/requests/${tokens[2]}`, service.asAdmin);
  service.clock.advance(60_000);
  await service.service.housekeeping.sweep();
  const events = { created: 4, answered: 2, read: 1, closed: 1, expired: 1 };
  expect(await samples('pwpush_requests_')).toEqual([
    ...Object.entries(events).map(([event, count]) => `total{event="${event}"} ${count}`),
    'active 1',
  ]);
  expect(await samples('pwpush_pushes')).toEqual([]);
});

/** Fakes these parts of the clock until the test ends. */
function fakeClock(...toFake: ('performance' | 'setTimeout' | 'clearTimeout')[]): void {
  vi.useFakeTimers({ toFake });
  onTestFinished(() => void vi.useRealTimers());
}

test('active pushes are counted once a minute for many scrapes, and absent while the database is down', async () => {
  fakeClock('performance');
  let [counts, up] = [0, false];
  const scrape = scraper(createMetrics(), {
    version: '0.1.0',
    isUp: async () => up,
    countActive: async () => {
      counts += 1;
      return { pushes: 6 + counts, requests: 0 };
    },
  });
  const textAt = async (passed: number, isUp: boolean) => {
    vi.advanceTimersByTime(passed);
    up = isUp;
    const lines = (await scrape()).split('\n');
    return lines.filter((line) => /^pwpush_(?:database|pushes_active)/.test(line));
  };
  const down = ['pwpush_database_up 0'];
  const there = (pushes: number) => ['pwpush_database_up 1', `pwpush_pushes_active ${pushes}`];
  expect(await textAt(0, false)).toEqual(down);
  expect(await textAt(0, true)).toEqual(there(7));
  expect(await textAt(59_999, true)).toEqual(there(7));
  expect(await textAt(1, false)).toEqual(down);
  expect(await textAt(0, true)).toEqual(there(8));
});

test.each([
  [2000, 'is up, and its pushes are counted', true],
  [2001, 'is down, and they are not', false],
])('a database that takes %i ms %s', async (takes, _, inTime) => {
  fakeClock('setTimeout', 'clearTimeout');
  const countActive = async () => {
    await new Promise((resolve) => setTimeout(resolve, takes));
    return { pushes: 7, requests: 0 };
  };
  const scrape = scraper(createMetrics(), { version: '0.1.0', isUp: async () => true, countActive });
  const both = Promise.all([health(countActive)(), scrape()]);
  await vi.advanceTimersByTimeAsync(takes);
  const [up, text] = await both;
  expect([up, text.includes('pwpush_pushes_active 7'), text.includes('pwpush_build_info')]).toEqual([
    inTime,
    inTime,
    true,
  ]);
});

test('the time that requests took is counted by route in seconds, of which none is below 0', async () => {
  const metrics = createMetrics();
  const request = { began: new Date(0), method: 'GET', route: 'a "b"', status: 200, bytes: 1 };
  for (const tookMs of [-5, 5, 300, 60_000]) metrics.request({ ...request, tookMs });
  const state = { version: '0.1.0', databaseUp: true, active: undefined, usage: undefined };
  const lines = (await metrics.render(state)).split('\n');
  const durations = lines.filter((line) => /^pwpush_http_request_duration_seconds_(?!bucket)/.test(line));
  expect(durations.map((line) => line.replace(/.*_/, ''))).toEqual([
    'sum{route="a \\"b\\""} 60.305',
    'count{route="a \\"b\\""} 4',
  ]);
  expect(lines.filter((line) => /pwpush_pushes_active|process_cpu/.test(line))).toEqual([]);
});

test('a database that hangs is not up, and is not asked again until it has answered', async () => {
  const asked: ((error?: Error) => void)[] = [];
  const ping = () =>
    new Promise<void>((resolve, reject) => {
      asked.push((error) => (error ? reject(error) : resolve()));
    });
  const isUp = health(ping, 1);
  expect(await Promise.all([isUp(), isUp()])).toEqual([false, false]);
  expect([await isUp(), asked.length]).toEqual([false, 1]);
  const late = isUp();
  asked[0]?.();
  expect(await late).toBe(true);
  const failing = isUp();
  asked[1]?.(new Error('no'));
  expect([await failing, asked.length]).toEqual([false, 2]);
});

describe('the port of the metrics', () => {
  async function start(settings: Partial<ServiceSettings> = {}): Promise<Started & { readonly metrics: string }> {
    const usage = () => ({ resident: 1024, cpu: 2.5 });
    const service = await started({ metricsPort: 0, ...settings }, { usage });
    return { ...service, metrics: / metrics=(\S+)$/.exec(service.lines[0] ?? '')?.[1] ?? '' };
  }

  test('serves the text format, each family once', async () => {
    const { url, metrics, close } = await start();
    await fetch(`${url}/up`);
    const response = await fetch(metrics);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await response.text();
    const families = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
    expect(new Set(families).size).toBe(families.length);
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'pwpush_http_requests_total{method="GET",route="/up",status="200"} 1',
        'pwpush_pushes_active 0',
        'pwpush_database_up 1',
        'process_cpu_seconds_total 2.5',
        'process_resident_memory_bytes 1024',
        'pwpush_build_info{version="0.1.0"} 1',
      ]),
    );
    // It serves nothing else, and the service serves none.
    const status = async (address: string, method = 'GET') => {
      const { headers, status } = await fetch(address, { method });
      expect(headers.get('cache-control')).toBe('no-store, no-transform');
      return status;
    };
    expect([
      await status(`${url}/metrics`),
      await status(metrics.replace('/metrics', '/up')),
      await status(metrics, 'POST'),
      await status(`${metrics}?x=1`),
    ]).toEqual([404, 404, 405, 200]);
    await close();
    await expect(fetch(metrics)).rejects.toThrow();
  });

  test.each([
    ['127.0.0.1:1', 200, 200],
    ['localhost', 200, 200],
    ['evil.example', 421, 200],
    ['999.999.1.1', 400, 400],
  ])('a page that names the host %s gets %i, and %i behind a proxy', async (host, own, behind) => {
    const asked = async (settings: Partial<ServiceSettings> = {}) => {
      const { port } = new URL((await start(settings)).metrics);
      const head = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const received = await speak(Number(port), head).ended;
      expect(received.includes('pwpush_build_info')).toBe(received.startsWith('HTTP/1.1 200 '));
      return Number(received.split(' ')[1]);
    };
    expect([await asked(), await asked({ trustProxy: true })]).toEqual([own, behind]);
  });

  test('is named where it is in use with its option, and nothing is left behind', async () => {
    const { port, close } = await listen(createServer());
    const own = await freePort();
    await expect(start({ port: own, metricsPort: port })).rejects.toMatchObject({
      message: expect.stringContaining(`127.0.0.1 port ${port} `),
      hint: expect.stringContaining('--metrics-port'),
    });
    await start({ port: own });
    await close();
  });
});
