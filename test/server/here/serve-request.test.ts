import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { serveRequest } from '../../../src/server/here/serve-request';
import { testClock } from '../../helpers/service';

// A connection on which nothing moves is cut after 30 s in any case.
const timeout = 20_000;

test('an answer cuts those who are still sending theirs, and it ends', { timeout }, async () => {
  const grace = 600_000;
  const io = { log: () => {}, warn: () => {}, now: testClock().now, version: '0.1.0', grace };
  const settings = { host: '127.0.0.1', port: 0 };
  const here = await serveRequest(settings, io, { request: 'Which?' }, () => {});
  const path = `/api/v2/requests/${here.token}/respond`;
  const { port } = new URL(here.base);
  const late = connect(Number(port), '127.0.0.1');
  const cut = new Promise((resolve) => late.once('close', resolve));
  late.on('error', () => {});
  const head = `PATCH ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
  // Its continuation says that the body is being read.
  late.write(`${head}content-length: 1000\r\nexpect: 100-continue\r\n\r\n`);
  await new Promise((resolve) => late.once('data', resolve));
  late.write('{"request":');
  const answered = await fetch(here.base + path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request: { response: 'hunter2' } }),
  });
  expect(answered.status).toBe(200);
  expect(await here.ended).toBe(true);
  await cut;
  const url = `${here.base}/api/v2/requests/${here.token}`;
  expect((await here.ask({ method: 'GET', url, headers: {} })).status).toBe(200);
  await here.close();
});

test('it ends when the request expires', async () => {
  const clock = testClock();
  const io = { log: () => {}, warn: () => {}, now: clock.now, version: '0.1.0' };
  const settings = { host: '127.0.0.1', port: 0 };
  const request = { request: 'Which?', close_after: 60 };
  const here = await serveRequest(settings, io, request, () => {});
  clock.advance(61_000);
  // It can end before it has responded.
  await fetch(`${here.base}/r/${here.token}`).catch(() => undefined);
  expect(await here.ended).toBe(false);
  await here.close();
});
