import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { NewPush } from '../../src/contract/api';
import type { Push } from '../../src/contract/decode';
import type { HereEvent } from '../../src/contract/here-event';
import type { HereService } from '../../src/server/serve-here';
import { startHere } from '../helpers/here';
import { speak } from '../helpers/listen';
import { type TestClock, testClock } from '../helpers/service';

let events: Omit<HereEvent, 'ip'>[];
let clock: TestClock;

type Served = HereService & Push & { readonly html_url: string };

const file = (name: string, text: string) => ({
  name,
  type: 'text/plain',
  size: Buffer.byteLength(text),
  bytes: async function* () {
    yield Buffer.from(text);
  },
});

async function serve(push: NewPush, files: ReturnType<typeof file>[] = []): Promise<Served> {
  events = [];
  clock = testClock();
  const one = await startHere({ kind: 'push', files: files.length, clock }, ({ ip, ...event }) => {
    expect(ip).toBe(event.event === 'expired' ? (ip ?? null) : '127.0.0.1');
    events.push(event);
  });
  onTestFinished(() => one.close());
  const made = await one.api.create(push, files);
  return { ...one, ...made, html_url: made.html_url ?? '' };
}

const api = (one: Served, rest = '') => `${one.base}/api/v2/pushes/${one.url_token}${rest}`;
const status = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
};
// biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
const retrieve = async (one: Served): Promise<any> => (await fetch(api(one))).json();
/** Whether it goes on, or how many views it had. */
const ended = (one: Served) => Promise.race([one.ended, Promise.resolve('goes on')]);

// Its views, and its end when somebody deletes it: test/cases/push-here.txt.

describe('it serves nothing but that push', () => {
  test.each([
    ['POST', '/api/v2/pushes'],
    ['GET', '/api/v2/pushes/active'],
    ['GET', '/api/v2/pushes/another0token0of019'],
    ['GET', '/'],
    ['GET', '/up'],
    ['GET', '/files/%2e%2e/api/v2/pushes/active'],
    ['GET', '//api/v2/pushes/active'],
  ])('%s %s is 404', async (method, path) => {
    const one = await serve({ payload: 's' });
    const headers = { 'content-type': 'application/json' };
    const sent = method === 'POST' ? { headers, body: '{"push":{"payload":"x"}}' } : {};
    expect(await status(one.base + path, { method, ...sent })).toBe(404);
    expect(events).toEqual([]);
  });

  test('its log is for nobody, and its token is not guessed', async () => {
    const one = await serve({ payload: 's' });
    expect(await status(api(one, '/audit'))).toBe(404);
    expect(one.url_token).toMatch(/^[a-z0-9][\w-]{17}[a-z0-9]$/);
  });
});

test('reports who opens the page, and not who fetches a preview', async () => {
  const one = await serve({ payload: 's' });
  expect(await status(one.html_url, { method: 'HEAD' })).toBe(200);
  expect(await status(one.html_url, { headers: { 'sec-purpose': 'prefetch' } })).toBe(200);
  expect(events).toEqual([]);
  await status(one.html_url);
  await status(one.html_url, { method: 'POST', body: new URLSearchParams() });
  expect(events).toEqual([{ event: 'opened' }, { event: 'viewed', count: 1 }]);
  expect(await one.ended).toBe(1);
  // A page that shows the secret at once was viewed, and not opened besides.
  const atOnce = await serve({ payload: 's', retrieval_step: false });
  await status(atOnce.html_url, { headers: { accept: 'text/plain' } });
  expect(events).toEqual([{ event: 'viewed', count: 1 }]);
});

test('it ends unseen when its time is over', async () => {
  const one = await serve({ payload: 's', expire_after_days: 1 });
  clock.advance(86_400_001);
  expect(await retrieve(one)).toMatchObject({ expired: true, payload: null });
  expect([await one.ended, events]).toEqual([0, [{ event: 'expired' }]]);
});

describe('with files it ends when those of each view were fetched', () => {
  const links = async (one: Served) => ((await retrieve(one)).files as { url: string }[]).map(({ url }) => url);
  const large = file('a.txt', 'x'.repeat(30_000_000));
  const fetched = () => events.filter(({ event }) => event === 'fetched').length;

  test('each whole, in one piece or resumed', async () => {
    const one = await serve({ payload: 'hi' }, [file('a.txt', '0123456789'), file('b.txt', '')]);
    const [a = '', b = ''] = await links(one);
    expect(await ended(one)).toBe('goes on');
    await status(a, { method: 'HEAD' });
    await status(a, { headers: { range: 'bytes=0-4' } });
    await status(b);
    expect(await ended(one)).toBe('goes on');
    expect(await (await fetch(a, { headers: { range: 'bytes=5-' } })).text()).toBe('56789');
    expect(await one.ended).toBe(1);
    expect(events.map(({ event }) => event)).toEqual(['viewed', 'fetched', 'fetched']);
  });

  test('in any parts, each of which has arrived', async () => {
    const part = (bytes: string) => ({ headers: { range: `bytes=${bytes}` } });
    const one = await serve({}, [file('a.txt', '0123456789'), file('b.txt', '0')]);
    const [a = '', b = ''] = await links(one);
    await status(b);
    for (const bytes of ['7-', '0-1', '3-7']) await status(a, part(bytes));
    await expect.poll(fetched, { message: 'files that were fetched' }).toBe(1);
    expect(await ended(one)).toBe('goes on');
    await status(a, part('1-2'));
    expect(await one.ended).toBe(1);
    expect(fetched()).toBe(2);
  });

  test.each([0, 5_000_000])('by who gave up and goes on from byte %i', async (from) => {
    const one = await serve({}, [large]);
    const [link = ''] = await links(one);
    const leaving = new AbortController();
    const { headers } = await fetch(link, { signal: leaving.signal });
    leaving.abort();
    const rest = { range: `bytes=${from}-`, 'if-range': headers.get('etag') ?? '' };
    expect(await status(link, { headers: rest })).toBe(206);
    expect(await one.ended).toBe(1);
    expect(fetched()).toBe(1);
  });

  test('and not if the system still had bytes when the client left', {
    skip: process.platform !== 'linux',
  }, async () => {
    const one = await serve({}, [file('a.txt', 'x'.repeat(1_000_000))]);
    const [link = ''] = await links(one);
    const { host, pathname, port } = new URL(link);
    const { socket, ended: left } = speak(Number(port), `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    await once(socket, 'data');
    socket.pause().end();
    socket.once('finish', () => socket.resume());
    await left;
    expect([await ended(one), fetched()]).toEqual(['goes on', 0]);
    await status(link);
    expect(await one.ended).toBe(1);
  });

  test('and not while someone is still fetching theirs', async () => {
    const one = await serve({ expire_after_views: 2 }, [large]);
    const [first = ''] = await links(one);
    expect(await status(first)).toBe(200);
    const slow = await fetch(first);
    const [second = ''] = await links(one);
    await status(second);
    await expect.poll(fetched, { message: 'files that were fetched' }).toBeGreaterThan(1);
    expect(await ended(one)).toBe('goes on');
    expect((await slow.arrayBuffer()).byteLength).toBe(30_000_000);
    expect(await one.ended).toBe(2);
  });

  test('one view’s do not count for the other’s', async () => {
    const one = await serve({ expire_after_views: 2 }, [file('a.txt', 'x')]);
    const [first = ''] = await links(one);
    await status(first);
    const [second = ''] = await links(one);
    await status(first);
    expect(await ended(one)).toBe('goes on');
    await status(second);
    expect(await one.ended).toBe(2);
  });
});
