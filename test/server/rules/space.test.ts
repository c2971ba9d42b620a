import { beforeEach, describe, expect, test } from 'vitest';
import { call, opened, type TestService } from '../../helpers/service';

// What is stored without a token. A space that is short: short-disk.slow.test.ts.

const MIB = 1024 * 1024;

let service: TestService;
const from = (ip: string) => ({ fetch: (request: Request) => service.service.app(request, { ip }) });

/** Pushes a text of so many bytes. */
const push = (ip: string, bytes: number, token?: string) =>
  call(from(ip), 'POST', '/api/v2/pushes', {
    body: { push: { payload: 'x'.repeat(bytes) } },
    ...(token === undefined ? {} : { token }),
  });
const statusesOf = async (calls: readonly (() => ReturnType<typeof push>)[]) => {
  const statuses: number[] = [];
  for (const one of calls) statuses.push((await one()).status);
  return statuses;
};
const times = (count: number, one: () => ReturnType<typeof push>) => Array<typeof one>(count).fill(one);

beforeEach(async () => {
  service = await opened({ maxData: 40 * MIB });
});

describe('without a token', () => {
  test('one network stores a twentieth of the space in an hour, and others go on', async () => {
    const big = () => push('192.0.2.1', MIB - 16 * 1024);
    expect(await statusesOf(times(2, big))).toEqual([201, 201]);
    const { status, headers, json } = await big();
    const error = 'Too much was stored from this network without a token. Try again later.';
    expect([status, json]).toEqual([507, { error, done: false }]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(1500);
    const others = [() => push('192.0.2.2', MIB / 2), () => push('192.0.2.1', 9, service.adminToken)];
    expect(await statusesOf(others)).toEqual([201, 201]);
    service.clock.advance(3_600_000);
    expect((await big()).status).toBe(201);
  });

  test('all networks store half of the space, and those with a token the rest', async () => {
    let stored = 0;
    while ((await push(`192.0.2.${stored}`, MIB)).status === 201) stored += 1;
    expect(stored).toBeGreaterThan(17);
    expect(stored).toBeLessThan(21);
    expect(service.warnings).toEqual(['half of the space for data is used: pushes without a token are refused']);
    expect((await push('192.0.2.250', 9)).status).toBe(507);
    const own = () => push('192.0.2.250', MIB, service.adminToken);
    expect(await statusesOf(times(15, own))).toEqual(Array(15).fill(201));
  });

  test('an answer counts as well', async () => {
    const token = await service.createRequest();
    while ((await push('192.0.2.1', MIB / 4)).status === 201);
    const body = { request: { response: 'x'.repeat(MIB) } };
    const answered = (ip: string) => call(from(ip), 'PATCH', `/api/v2/requests/${token}/respond`, { body });
    expect((await answered('192.0.2.1')).status).toBe(507);
  });
});
