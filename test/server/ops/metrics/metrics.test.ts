import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  create,
  createWithFiles,
  fetchLink,
  filePart,
  type TestService,
  testService,
} from '../../../helpers/service';

let service: TestService;
beforeEach(async () => {
  service = await testService();
});
afterEach(() => service.close());

/** The samples whose name begins so, without those that are 0. */
function samples(name: string): string[] {
  const lines = service.service.metrics.render([]).split('\n');
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
    expect(samples('pwpush_pushes_expired')).toEqual([]);
    await get(token);
    await get(token);
    expect(samples('pwpush_')).toEqual(
      expect.arrayContaining([
        'pwpush_pushes_created_total{kind="text"} 1',
        'pwpush_views_total{by="viewer"} 2',
        'pwpush_views_total{by="owner"} 1',
        'pwpush_failed_views_total 1',
        'pwpush_pushes_expired_total{reason="views"} 1',
      ]),
    );
  });

  test('ended by somebody, by a sweep, and by whoever came by too late', async () => {
    const payload = { payload: 'https://example.com/', kind: 'url', expire_after_days: 1 };
    const [late] = await Promise.all([create(service, payload), create(service, payload)]);
    const token = await create(service, { payload: 'x' });
    await call(service, 'DELETE', `/api/v2/pushes/${token}`);
    await call(service, 'DELETE', `/api/v2/pushes/${token}`);
    service.clock.advance(86_400_000);
    await get(late);
    await service.service.pushes.sweep();
    expect(samples('pwpush_pushes_')).toEqual([
      'pwpush_pushes_created_total{kind="text"} 1',
      'pwpush_pushes_created_total{kind="url"} 2',
      'pwpush_pushes_expired_total{reason="time"} 2',
      'pwpush_pushes_expired_total{reason="deleted"} 1',
    ]);
  });

  test('wrong passphrases, but not missing ones', async () => {
    const token = await create(service, { payload: 'x', passphrase: 'sesame' });
    for (const query of ['', '?passphrase=no', '?passphrase=sesame']) await get(token, query);
    expect(samples('pwpush_wrong_passphrases')).toEqual(['pwpush_wrong_passphrases_total 1']);
  });

  test('bytes of files, in and out', async () => {
    const token = await createWithFiles(service, filePart('a', 'x'.repeat(70_000)));
    const [file] = (await get(token)).json.files;
    await fetchLink(service, file.url, { range: 'bytes=0-9' });
    expect(samples('pwpush_file_bytes')).toEqual([
      'pwpush_file_bytes_total{direction="in"} 70000',
      'pwpush_file_bytes_total{direction="out"} 10',
    ]);
  });

  test('active ones', async () => {
    await create(service, { payload: 'x', expire_after_days: 1 });
    await create(service, { payload: 'x', expire_after_days: 2 });
    const { countActive } = service.service.gauges;
    expect(await countActive()).toBe(2);
    service.clock.advance(86_400_000);
    expect(await countActive()).toBe(1);
  });
});

test('requests are counted by method, route and status, none of which a client can make up', async () => {
  await get('sometoken', '?passphrase=hunter2');
  await get('sometoken');
  for (const method of ['BREW', 'PROPFIND', 'PATCH'])
    await call(service, method, '/api/v2/pushes/othertoken');
  for (const path of ['/one', '/two', '/api/v2/three']) await call(service, 'GET', path);
  expect(samples('pwpush_http_requests_total')).toEqual([
    'pwpush_http_requests_total{method="GET",route="/api/v2/pushes/:token",status="404"} 2',
    'pwpush_http_requests_total{method="other",route="/api/v2/pushes/:token",status="405"} 2',
    'pwpush_http_requests_total{method="PATCH",route="/api/v2/pushes/:token",status="405"} 1',
    'pwpush_http_requests_total{method="GET",route="/*",status="404"} 2',
    'pwpush_http_requests_total{method="GET",route="/api/v2/*",status="404"} 1',
  ]);
  expect(samples('pwpush_http_request_duration_seconds_count')).toContain(
    'pwpush_http_request_duration_seconds_count{route="/api/v2/pushes/:token"} 5',
  );
});
