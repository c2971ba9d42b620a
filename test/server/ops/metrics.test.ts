import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMetrics, scraper } from '../../../src/server/ops/metrics';
import {
  call,
  create,
  createWithFiles,
  fetchLink,
  filePart,
  type TestService,
  testService,
} from '../../helpers/service';

let service: TestService;
beforeEach(async () => {
  service = await testService();
});
afterEach(() => service.close());

/** The samples whose names begin with `name`, without those that are 0. */
async function samples(name: string): Promise<string[]> {
  const lines = (await service.service.scrape()).split('\n');
  return lines.filter((line) => line.startsWith(name) && !line.endsWith(' 0'));
}

const get = (token: string, query = '', owner?: string) =>
  call(service, 'GET', `/api/v2/pushes/${token}${query}`, owner ? { token: owner } : {});

describe('pushes', () => {
  test('created, viewed, and ended with the last view', async () => {
    const token = await create(
      service,
      { payload: 'x', expire_after_views: 2 },
      service.adminToken,
    );
    await get(token);
    await get(token, '', service.adminToken);
    expect(await samples('pwpush_pushes_expired')).toEqual([]);
    await get(token);
    await get(token);
    expect(await samples('pwpush_')).toEqual(
      expect.arrayContaining([
        'pwpush_pushes_created_total{kind="text"} 1',
        'pwpush_views_total{by="viewer"} 2',
        'pwpush_views_total{by="owner"} 1',
        'pwpush_failed_views_total 1',
        'pwpush_pushes_expired_total{reason="views"} 1',
      ]),
    );
  });

  test('ended by a user, by a sweep, and by a request that came too late', async () => {
    const payload = { payload: 'https://example.com/', kind: 'url', expire_after_days: 1 };
    const [late] = await Promise.all([create(service, payload), create(service, payload)]);
    const token = await create(service, { payload: 'x' });
    await call(service, 'DELETE', `/api/v2/pushes/${token}`);
    await call(service, 'DELETE', `/api/v2/pushes/${token}`);
    service.clock.advance(86_400_000);
    await get(late);
    await service.service.housekeeping.sweep();
    expect((await samples('pwpush_pushes_')).filter((line) => !/active/.test(line))).toEqual([
      'pwpush_pushes_created_total{kind="text"} 1',
      'pwpush_pushes_created_total{kind="url"} 2',
      'pwpush_pushes_expired_total{reason="time"} 2',
      'pwpush_pushes_expired_total{reason="deleted"} 1',
    ]);
  });

  test('wrong passphrases, but not missing ones', async () => {
    const token = await create(service, { payload: 'x', passphrase: 'sesame' });
    for (const query of ['', '?passphrase=no', '?passphrase=sesame']) await get(token, query);
    expect(await samples('pwpush_wrong_passphrases')).toEqual(['pwpush_wrong_passphrases_total 1']);
  });

  test('bytes of files, in and out', async () => {
    const token = await createWithFiles(service, filePart('a', 'x'.repeat(70_000)));
    const [file] = (await get(token)).json.files;
    await fetchLink(service, file.url, { range: 'bytes=0-9' });
    expect(await samples('pwpush_file_bytes')).toEqual([
      'pwpush_file_bytes_total{direction="in"} 70000',
      'pwpush_file_bytes_total{direction="out"} 10',
    ]);
  });
});

test('requests are counted by method, route and status, none of which a client can make up', async () => {
  await get('sometoken', '?passphrase=hunter2');
  await get('sometoken');
  for (const method of ['BREW', 'PROPFIND', 'PATCH'])
    await call(service, method, '/api/v2/pushes/othertoken');
  for (const path of ['/one', '/two', '/api/v2/three']) await call(service, 'GET', path);
  expect(await samples('pwpush_http_requests_total')).toEqual([
    'pwpush_http_requests_total{method="GET",route="/api/v2/pushes/:token",status="404"} 2',
    'pwpush_http_requests_total{method="other",route="/api/v2/pushes/:token",status="405"} 2',
    'pwpush_http_requests_total{method="PATCH",route="/api/v2/pushes/:token",status="405"} 1',
    'pwpush_http_requests_total{method="GET",route="/*",status="404"} 2',
    'pwpush_http_requests_total{method="GET",route="/api/v2/*",status="404"} 1',
  ]);
  expect(await samples('pwpush_http_request_duration_seconds_count')).toContain(
    'pwpush_http_request_duration_seconds_count{route="/api/v2/pushes/:token"} 5',
  );
});

test('an internal error is counted, not what it says', async () => {
  service.service.log.failure(new Error('hunter2'));
  expect(await samples('pwpush_errors')).toEqual(['pwpush_errors_total 1']);
});

test('requests: made, answered, read, closed and expired, and not counted as pushes', async () => {
  const token = service.adminToken;
  const tokens: string[] = [];
  for (const close_after of [60, 60, 60, 3600]) {
    const body = { request: { request: 'x', close_after } };
    tokens.push((await call(service, 'POST', '/api/v2/requests', { token, body })).json.url_token);
  }
  const at = (index: number, rest = '') => `/api/v2/requests/${tokens[index]}${rest}`;
  for (const index of [0, 1]) {
    const answer = { body: { request: { response: 'x' } } };
    await call(service, 'PATCH', at(index, '/respond'), answer);
  }
  await call(service, 'GET', at(0), { token });
  await call(service, 'DELETE', at(2), { token });
  service.clock.advance(60_000);
  await service.service.housekeeping.sweep();
  expect(await samples('pwpush_')).toEqual(
    expect.arrayContaining([
      'pwpush_requests_total{event="created"} 4',
      'pwpush_requests_total{event="answered"} 2',
      'pwpush_requests_total{event="read"} 1',
      'pwpush_requests_total{event="closed"} 1',
      'pwpush_requests_total{event="expired"} 1',
      'pwpush_requests_active 1',
    ]),
  );
  expect(await samples('pwpush_pushes')).toEqual([]);
});

test('pushes are active until they expire', async () => {
  await create(service, { payload: 'x', expire_after_days: 1 });
  await create(service, { payload: 'x', expire_after_days: 2 });
  expect(await samples('pwpush_pushes_active')).toEqual(['pwpush_pushes_active 2']);
  service.clock.advance(86_400_000);
  expect(await service.service.pushes.countActive()).toEqual({ pushes: 1, requests: 0 });
});

test('active pushes are counted once for many scrapes, and absent while the database is down', async () => {
  let [counts, up] = [0, false];
  const scrape = scraper(createMetrics(), {
    version: '0.1.0',
    isUp: async () => up,
    countActive: async () => {
      counts += 1;
      return { pushes: 7, requests: 0 };
    },
  });
  const texts: string[][] = [];
  for (up of [false, true, true, false]) {
    const lines = (await scrape()).split('\n');
    texts.push(lines.filter((line) => /^pwpush_(?:database|pushes_active)/.test(line)));
  }
  const down = ['pwpush_database_up 0'];
  const there = ['pwpush_database_up 1', 'pwpush_pushes_active 7'];
  expect([counts, texts]).toEqual([1, [down, there, there, down]]);
});

test('the text format: help and type, labels escaped, buckets that add up', async () => {
  const metrics = createMetrics();
  const request = {
    began: new Date(0),
    method: 'GET',
    route: 'a\nb\\c "d"',
    status: 200,
    bytes: 1,
  };
  for (const tookMs of [-5, 5, 300, 60_000]) metrics.request({ ...request, tookMs });
  const state = { version: '0.1.0', databaseUp: true, active: undefined, usage: undefined };
  const text = (await metrics.render(state)).replaceAll('\n\n', '\n');
  const route = 'route="a\\nb\\\\c \\"d\\""';
  const name = 'pwpush_http_request_duration_seconds';
  expect(
    text,
  ).toContain(`# HELP pwpush_http_requests_total HTTP requests by method, route and status; 429 and 503 were refused temporarily.
# TYPE pwpush_http_requests_total counter
pwpush_http_requests_total{method="GET",${route},status="200"} 4
# HELP ${name} Time from a request to the start of its response, by route.
# TYPE ${name} histogram
${name}_bucket{le="0.005",${route}} 2
${name}_bucket{le="0.01",${route}} 2
${name}_bucket{le="0.025",${route}} 2
${name}_bucket{le="0.05",${route}} 2
${name}_bucket{le="0.1",${route}} 2
${name}_bucket{le="0.25",${route}} 2
${name}_bucket{le="0.5",${route}} 3
${name}_bucket{le="1",${route}} 3
${name}_bucket{le="2.5",${route}} 3
${name}_bucket{le="5",${route}} 3
${name}_bucket{le="10",${route}} 3
${name}_bucket{le="+Inf",${route}} 4
${name}_sum{${route}} 60.305
${name}_count{${route}} 4
# HELP pwpush_errors_total Internal errors, as logged.
# TYPE pwpush_errors_total counter
pwpush_errors_total 0
`);
  expect(text).not.toMatch(/pwpush_pushes_active|process_cpu/);
});
