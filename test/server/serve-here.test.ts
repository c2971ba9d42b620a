import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HereEvent } from '../../src/contract/here-event';
import type { HereService } from '../../src/server/serve-here';
import { lose, startHere } from '../helpers/here';
import { testClock } from '../helpers/service';

const KEY = 'Jk3dF8s-Qw2mZx0pLr7tVg';
const OTHER = 'b1u4HnY9oXc5TeKa2WfE6Q';
const FORM = 'application/x-www-form-urlencoded';

let events: HereEvent['event'][] = [];

async function start(settings: Parameters<typeof startHere>[0]) {
  events = [];
  const one = await startHere(settings, ({ event }) => events.push(event));
  onTestFinished(() => one.close());
  return one;
}

async function push(views = 1, patience?: number) {
  const one = await start({ kind: 'push', ...(patience && { patience }) });
  const made = await one.api.create({ payload: 's', expire_after_views: views });
  return { ...one, page: made.html_url ?? '', link: `${one.base}/api/v2/pushes/${made.url_token}` };
}

async function request(settings: { clock?: ReturnType<typeof testClock>; grace?: number } = {}) {
  const one = await start({ kind: 'request', ...settings });
  const asked = { request: 'Which?', close_after: 60 };
  const { url_token: token } = await one.api.requests.create(asked);
  return { ...one, token, link: `${one.base}/api/v2/requests/${token}/respond` };
}

const withKey = (key: string) => ({ headers: { 'idempotency-key': `"${key}"` } });
const get = async (link: string, key: string) => (await fetch(link, withKey(key))).json();
const answering = { method: 'PATCH', body: JSON.stringify({ request: { response: 'hunter2' } }) };
const respond = async (link: string, headers = {}) => {
  const type = { 'content-type': 'application/json' };
  return (await fetch(link, { ...answering, headers: { ...type, ...headers } })).status;
};

/** It was ended, and goes on for a response that was lost. */
async function goesOn({ ended, settled }: HereService): Promise<void> {
  expect(await ended).toBeGreaterThan(0);
  await expect.poll(() => events.at(-1), { message: 'the response is lost' }).toBe('lost');
  expect(await Promise.race([settled, 'goes on'])).toBe('goes on');
}

describe('a response that was lost keeps it up', () => {
  test('for its key alone, until that has it', async () => {
    const one = await push();
    await lose(one.link, KEY);
    await goesOn(one);
    expect(await get(one.link, OTHER)).toMatchObject({ payload: null });
    await lose(one.link, KEY);
    expect(await get(one.link, KEY)).toMatchObject({ payload: 's' });
    await one.settled;
    expect(events).toEqual(['viewed', 'lost']);
  });

  test('also if it was of a view before the last one', async () => {
    const one = await push(2);
    await lose(one.link, KEY);
    expect(await get(one.link, OTHER)).toMatchObject({ payload: 's' });
    await goesOn(one);
    await get(one.link, KEY);
    await one.settled;
  });

  test('also if it was a page', async () => {
    const one = await push();
    const form = `once=${KEY}`;
    await lose(one.page, OTHER, { method: 'POST', type: FORM, body: form });
    await goesOn(one);
    const headers = { 'content-type': FORM };
    const again = await fetch(one.page, { method: 'POST', headers, body: form });
    expect(await again.text()).toContain('\ns</pre>');
    await one.settled;
  });

  test('also if it was to an answer, which can be taken meanwhile', async () => {
    const one = await request();
    await lose(one.link, KEY, answering);
    await goesOn(one);
    expect(await one.api.requests.read(one.token)).toMatchObject({ response: 'hunter2' });
    expect(await respond(one.link, withKey(KEY).headers)).toBe(200);
    await one.settled;
  });

  test('also if the client left before it came', async () => {
    const one = await request();
    await lose(one.link, KEY, { ...answering, early: true });
    await goesOn(one);
    expect(await respond(one.link, withKey(KEY).headers)).toBe(200);
    await one.settled;
  });

  test('for so long at most', async () => {
    const one = await push(1, 1);
    await lose(one.link, KEY);
    await one.settled;
  });
});

test('a response that arrived keeps it up no longer, nor does one without a key', async () => {
  const one = await push(2);
  await get(one.link, KEY);
  await lose(one.link, KEY);
  await get(one.link, KEY);
  await (await fetch(one.link)).text();
  expect(await one.ended).toBe(2);
  await one.settled;
  expect(events).toEqual(['viewed', 'viewed']);
});

test.each([
  ['GET', '/'],
  ['POST', '/'],
  ['GET', '/api/v2/requests/open'],
  ['POST', '/api/v2/pushes'],
  ['GET', '/api/v2/requests/ID/audit'],
  ['DELETE', '/api/v2/requests/ID'],
])('a request alone is served, and nothing else: %s %s is 404', async (method, path) => {
  const one = await request();
  const headers = { 'content-type': 'application/json' };
  const sent = method === 'POST' ? { headers, body: '{"push":{"payload":"x"}}' } : {};
  const { status } = await fetch(one.base + path.replace('ID', one.token), { method, ...sent });
  const found = await (await fetch(`${one.base}/api/v2/requests/${one.token}`)).json();
  expect([status, found]).toEqual([404, expect.objectContaining({ state: 'open', request: 'Which?', response: null })]);
});

// A connection on which nothing moves is cut after 30 s in any case.
const timeout = 20_000;

/** Begins to answer; resolves, while the body is being read, to what resolves when that connection is cut. */
async function sending(link: string): Promise<{ readonly cut: Promise<unknown> }> {
  const { hostname, pathname, port } = new URL(link);
  const late = connect(Number(port), hostname);
  const cut = new Promise((resolve) => late.once('close', resolve));
  late.on('error', () => {});
  const head = `PATCH ${pathname} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
  // Its continuation says that the body is being read.
  late.write(`${head}content-length: 1000\r\nexpect: 100-continue\r\n\r\n`);
  await new Promise((resolve) => late.once('data', resolve));
  late.write('{"request":');
  return { cut };
}

test('an answer cuts those who are still sending theirs, and it ends', { timeout }, async () => {
  const one = await request({ grace: 600_000 });
  const { cut } = await sending(one.link);
  expect(await respond(one.link)).toBe(200);
  expect(await one.ended).toBe(1);
  await cut;
  expect(await one.api.requests.read(one.token)).toMatchObject({ response: 'hunter2' });
  await one.settled;
});

test('its links work with what was pasted with them', async () => {
  const [pushed, asked] = [await push(), await request()];
  for (const link of [pushed.page, `${asked.base}/r/${asked.token}`])
    for (const end of ['/', '.', '%3E', '%E2%80%8B']) {
      const { url, status } = await fetch(link + end);
      expect([url, status]).toEqual([link, 200]);
    }
  expect(events.filter((event) => event === 'opened')).toHaveLength(8);
});

test('it ends when the request expires', async () => {
  const clock = testClock();
  const one = await request({ clock });
  clock.advance(61_000);
  // It can end before it has responded.
  await fetch(`${one.base}/r/${one.token}`).catch(() => undefined);
  expect(await one.ended).toBe(0);
  await one.settled;
});
