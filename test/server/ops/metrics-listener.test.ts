import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../../../src/server/service';
import type { ServiceSettings } from '../../../src/server/service-settings';
import { listen } from '../../helpers/listen';
import { freePort } from '../../helpers/postgres';
import { defaults } from '../../helpers/service';

let folder: string;
let service: Service | undefined;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pwpush-'));
  lines = [];
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  await rm(folder, { recursive: true });
});

/** A service with metrics; answers their address, as the log tells it. */
async function start(settings: Partial<ServiceSettings> = {}): Promise<string> {
  service = await startService(
    { ...defaults, metricsPort: 0, ...settings },
    {
      log: (line) => void lines.push(line),
      warn: () => {},
      now: () => new Date(),
      version: '0.1.0',
      usage: () => ({ resident: 1024, cpu: 2.5 }),
    },
  );
  return / metrics=(\S+)$/.exec(lines[0] ?? '')?.[1] ?? '';
}

const sample = (text: string, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = `[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"`;
const SAMPLE = new RegExp(`^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (?:[-+.\\de]+|\\+Inf)$`);

test('what is scraped is the text format, each family whole and once', async () => {
  const url = await start();
  await fetch(`${service?.url}/up`);
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const text = await response.text();
  expect(text.endsWith('\n')).toBe(true);
  const families: string[] = [];
  const samples: string[] = [];
  let family = '';
  for (const line of text.trimEnd().split(/\n+/)) {
    const head = new RegExp(`^# (HELP|TYPE) (${NAME}) \\S`).exec(line);
    if (head?.[1] === 'HELP') {
      family = head[2] ?? '';
      families.push(family);
    }
    if (head) {
      expect(head[2]).toBe(family);
    } else {
      expect(line).toMatch(SAMPLE);
      const [, name, labels] = SAMPLE.exec(line) ?? [];
      expect(name?.replace(/_(?:bucket|sum|count)$/, '')).toBe(family);
      samples.push(`${name}${labels}`);
    }
  }
  expect(new Set(families).size).toBe(families.length);
  expect(new Set(samples).size).toBe(samples.length);
  expect(families).toEqual(
    expect.arrayContaining([
      'pwpush_http_requests_total',
      'pwpush_pushes_active',
      'process_resident_memory_bytes',
      'pwpush_build_info',
    ]),
  );
  expect(sample(text, 'pwpush_database_up')).toBe(1);
  expect(sample(text, 'process_cpu_seconds_total')).toBe(2.5);
});

test('the metrics port serves metrics only, and the service serves none', async () => {
  const url = await start();
  const status = async (address: string, method = 'GET') =>
    (await fetch(address, { method })).status;
  expect([
    await status(`${service?.url}/metrics`),
    await status(url.replace('/metrics', '/up')),
    await status(url, 'POST'),
    await status(`${url}?x=1`),
  ]).toEqual([404, 404, 405, 200]);
  await service?.close();
  await expect(fetch(url)).rejects.toThrow();
});

test.each([
  ['127.0.0.1:1', 200, 200],
  ['localhost', 200, 200],
  ['evil.example', 421, 200],
  ['999.999.1.1', 400, 400],
])('a page that names the host %s gets %i, and %i behind a proxy', async (host, own, behind) => {
  const asked = async (settings: Partial<ServiceSettings> = {}) => {
    const url = new URL(await start(settings));
    const socket = connect(Number(url.port), url.hostname);
    socket.end(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const received = await text(socket);
    await service?.close();
    lines.length = 0;
    expect(received.includes('pwpush_build_info')).toBe(received.startsWith('HTTP/1.1 200 '));
    return Number(received.split(' ')[1]);
  };
  expect([await asked(), await asked({ trustProxy: true })]).toEqual([own, behind]);
});

test('a port in use is named with its option, and leaves nothing behind', async () => {
  const { port, close } = await listen(createServer());
  const own = await freePort();
  await expect(start({ port: own, metricsPort: port })).rejects.toMatchObject({
    message: expect.stringContaining(`127.0.0.1 port ${port} `),
    hint: expect.stringContaining('--metrics-port'),
  });
  await start({ port: own });
  await close();
});
