import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiClient } from '../../src/client/client';
import type { HttpRequest } from '../../src/platform/context';
import { deferred } from '../helpers/deferred';
import { type Instance, instance, overFetch } from '../helpers/instance';
import { testClock } from '../helpers/service';
import { broken, html, json, type Literal, wire } from '../helpers/wire';

// What becomes of a request whose response was lost, by when it was lost and what the instance says to the next ones.

const SECOND = 1000;

let here: Instance;
let clock = testClock();
/** What comes in place of the next responses to requests that are done once, of which the service gets the first. */
let misdeeds: (() => Literal)[];
let sent: number;
/** Called before each other request, such as for the version. */
let unkeyed: () => Literal | undefined;
/** Which of those that are done once misdeeds are for. */
let concerned: (request: HttpRequest) => boolean;
/** On the way, keys get lost. */
let dropping: boolean;
let asleep: (milliseconds: number) => void;

beforeEach(async () => {
  clock = testClock();
  asleep = clock.advance;
  misdeeds = [];
  unkeyed = () => undefined;
  sent = 0;
  concerned = () => true;
  dropping = false;
  here = await instance({
    settings: { clock },
    asleep: (milliseconds) => asleep(milliseconds),
    send: async (request) => {
      const { 'idempotency-key': key, ...others } = request.headers;
      const once = key !== undefined && !request.url.endsWith('/version');
      const passedOn = dropping ? { ...request, headers: others } : request;
      const misdeed = once && concerned(request) ? misdeeds[sent++] : undefined;
      if (misdeed && sent === 1) await overFetch(here.service)(passedOn);
      const literal = once ? misdeed?.() : unkeyed();
      return literal ? wire([literal]).send(request) : overFetch(here.service)(passedOn);
    },
  });
});
afterEach(() => here.close());

const lostAfter = (seconds: number) => () => {
  clock.advance(seconds * SECOND);
  throw broken(true);
};
const saying = (response: Literal) => () => response;

async function retrieved(...options: string[]) {
  const limits = { payload: 'hunter2', expire_after_views: 3 };
  const id = await here.push(limits, here.service.adminToken);
  const { code, stdout, stderr } = await here.run('get', id, ...options);
  unkeyed = () => undefined;
  const shown = await here.under({ env: here.admin }).run('preview', id, '--json');
  return { code, stdout, stderr, views: 3 - JSON.parse(shown.stdout).views_remaining };
}

async function created(...options: string[]) {
  const admin = here.under({ env: here.admin, stdin: 'hunter2' });
  const { code } = await admin.run('push', ...options);
  return { code, pushes: JSON.parse((await admin.run('list', '--json')).stdout).length };
}

test.each([
  [1, 0],
  [60, 0],
  [110, 11],
  [121, 11],
])('a retrieval whose response is lost after %i s: exit %i, one view', async (seconds, code) => {
  misdeeds = [lostAfter(seconds)];
  expect(await retrieved('--timeout', '300')).toMatchObject({ code, views: 1 });
});

test.each([
  [300, 0],
  [601, 11],
])('a creation whose response is lost after %i s: exit %i, one push', async (seconds, code) => {
  misdeeds = [lostAfter(seconds)];
  expect(await created('--timeout', '900')).toEqual({ code, pushes: 1 });
});

test('files that took long are not sent again, as they would arrive too late', async () => {
  misdeeds = [lostAfter(400)];
  expect(await created('--file', '-', '--timeout', '900')).toEqual({ code: 11, pushes: 1 });
});

test.each([
  [2, { code: 0, stderr: expect.stringContaining('sending the request again') }],
  [130, { code: 11, stderr: expect.not.stringContaining('sending the request again') }],
])('an instance that takes %i s to say that it does, with --timeout 1', async (seconds, ended) => {
  misdeeds = [lostAfter(1)];
  unkeyed = () => void clock.advance(seconds * SECOND);
  expect(await retrieved('--timeout', '1')).toMatchObject({ ...ended, views: 1 });
});

test('a request is not sent again after the machine slept in a pause', async () => {
  misdeeds = [lostAfter(1), lostAfter(1)];
  asleep = () => clock.advance(3600 * SECOND);
  expect(await retrieved()).toMatchObject({ code: 11, views: 1 });
});

test.each([
  ['each pause', 0],
  ['each pause, of which the first is before a repetition', 1],
])('a clock that is set back in %s: it is not sent again for longer', async (_, unavailable) => {
  misdeeds = [lostAfter(1), ...Array(20).fill(saying(json(429, '{}')))];
  let asked = 0;
  unkeyed = () => (asked++ < unavailable ? json(503, '{}') : undefined);
  asleep = () => clock.advance(-60 * SECOND);
  const { code } = await retrieved();
  const paused = here.sleeps.reduce((sum, one) => sum + one);
  expect([code, paused < 90 * SECOND]).toEqual([11, true]);
});

test.each([
  ['429', json(429, '{}', { 'retry-after': '999999' })],
  ['503', html(503, '<h1>Service Unavailable</h1>')],
  ['a redirect to another host', { status: 302, headers: { location: 'https://portal.test/' } }],
  ['a redirect to nowhere', { status: 302 }],
  ['408', json(408, '{}')],
  ['409 that asks to wait', json(409, '{}', { 'retry-after': '1' })],
  ['425', html(425, 'Too Early')],
  ['404 of a proxy', html(404, 'default backend - 404')],
  ['403 of a proxy', html(403, '<h1>Forbidden</h1>')],
  ['403 of a gateway', json(403, '{"message":"Forbidden"}')],
  ['the page of a portal', html(200, '<h1>Welcome</h1>')],
  ['a part of the response', json(200, '{"payload":"hun')],
])('%s in place of a repetition: it is sent once more', async (_, response) => {
  misdeeds = [lostAfter(1), saying(response), saying(response)];
  expect(await retrieved()).toMatchObject({ code: 0, stdout: 'hunter2', views: 1 });
});

/** What comes in place of the response to a request that was done. */
const inPlace: [string, Literal][] = [
  ['502', html(502, '<h1>Bad Gateway</h1>')],
  ['520', html(520, '<h1>Web server is returning an unknown error</h1>')],
  ['500', html(500, '<h1>Internal Server Error</h1>')],
  ['404 of a proxy', html(404, '<html>default backend')],
  ['403 of a browser check', html(403, '<!DOCTYPE html><title>Just a moment...</title>')],
  ['403 in words', { status: 403, body: 'RBAC: access denied' }],
  ['403 in other JSON', json(403, '{"message":"Forbidden"}')],
  ['404 without a word', { status: 404 }],
  ['a part of a 422', json(422, '{"payload":["is req')],
  ['500 in JSON', json(500, '{"error":"Internal Server Error"}')],
  ['503 without JSON', { status: 503, body: 'upstream connect error or disconnect/reset' }],
  ['a part of it', json(200, '{"payload":"hun')],
  ['a page', html(200, '<h1>Welcome</h1>')],
  ['nothing', { status: 200 }],
  ['204', { status: 204 }],
  ['JSON of another', json(200, '{"status":"ok"}')],
  ['more than 16 MiB', json(200, ' '.repeat(16 * 1024 * 1024 + 1))],
];

test.each(inPlace)('%s to a retrieval: the request is sent again', async (_, response) => {
  misdeeds = [saying(response)];
  expect(await retrieved()).toMatchObject({ code: 0, stdout: 'hunter2', views: 1 });
});

/** What only something in front says of a request that was done, or an instance that lies. */
const inFront: [string, Literal][] = [
  ['302', { status: 302 }],
  ['302 to another host', { status: 302, headers: { location: 'https://portal.test/' } }],
  ['302 to a login', { status: 302, headers: { location: '/users/sign_in' } }],
  ['303 to a login elsewhere', { status: 303, headers: { location: 'https://portal.test/login' } }],
  ['304', { status: 304 }],
  ['429', json(429, '{"error":"Too many requests."}')],
  ['429 with an hour to wait', json(429, '{}', { 'retry-after': '3600' })],
  ['429 in words', { status: 403, body: 'Too many requests, retry later' }],
  ['403 in JSON', json(403, '{"error":"Forbidden"}')],
  ['503 in JSON', json(503, '{"error":"Try again later."}')],
  ['507', json(507, '{"error":"Disk full"}')],
];

test.each<[string, Literal]>([
  ...inFront,
  ['expired', json(200, '{"expired":true,"payload":null,"files":[]}')],
  ['null', json(200, '{"payload":null}')],
])('%s to a retrieval that was done: it is sent once more', async (_, response) => {
  misdeeds = [saying(response)];
  expect(await retrieved()).toMatchObject({ code: 0, stdout: 'hunter2', views: 1 });
});

test.each(inFront)('%s to a creation that was done: one push', async (_, response) => {
  misdeeds = [saying(response)];
  expect(await created()).toEqual({ code: 0, pushes: 1 });
});

test.each<[string, Literal, number, number]>([
  ['an access that is refused', json(403, '{"error":"Forbidden"}'), 4, 2],
  ['a limit', json(429, '{"error":"x"}', { 'retry-after': '3600' }), 10, 2],
  ['a failure', json(500, '{"error":"internal error"}'), 11, 2],
  ['a full disk', json(507, '{"error":"x","done":false}'), 10, 2],
  ['an unknown push', json(404, '{"error":"not-found"}'), 5, 1],
  ['a wrong passphrase', json(401, '{"error":"passphrase"}'), 7, 1],
])('%s that is said again ends the run, without a pause', async (_, response, code, requests) => {
  misdeeds = Array(9).fill(saying(response));
  expect([(await retrieved()).code, sent, here.sleeps]).toEqual([code, requests, []]);
});

test.each([500, 507])('a %i that is said to two repetitions ends the waiting for a lost response', async (status) => {
  misdeeds = [lostAfter(1), ...Array(9).fill(saying(json(status, '{"error":"internal error"}')))];
  expect([(await retrieved()).code, sent]).toEqual([11, 3]);
});

test.each([
  [html(500, 'x'), /^the instance failed \(500\): text\/html, "x"; sending the request again, /],
  [html(200, '<h1>Welcome</h1>'), /^the instance sent an unexpected response \(200\).*; sending/],
])('what came is said before it is sent again: %s', async (response, said) => {
  misdeeds = [saying(response)];
  expect((await retrieved()).stderr).toMatch(said);
});

test.each(inPlace)('%s to a creation: it is sent again and makes one push', async (_, response) => {
  misdeeds = [saying(response)];
  expect(await created()).toEqual({ code: 0, pushes: 1 });
});

test.each(inPlace)('%s to an answer, and to its reading: both arrive', async (_, response) => {
  const admin = here.under({ env: here.admin });
  const link = (await admin.run('request', 'Q?')).stdout.trim();
  misdeeds = [saying(response)];
  concerned = ({ url }) => url.endsWith('/respond');
  sent = 0;
  const answered = await here.under({ stdin: 'hunter2' }).run('respond', link);
  misdeeds = [saying(response)];
  concerned = ({ url }) => /requests\/\w+$/.test(url);
  sent = 0;
  const read = await admin.run('get', link);
  expect([answered.code, read.code, read.stdout]).toEqual([0, 0, 'hunter2']);
});

test('a proxy that drops the key is found before anything is sent twice', async () => {
  misdeeds = [lostAfter(1)];
  dropping = true;
  expect(await retrieved()).toMatchObject({
    code: 11,
    views: 1,
    stderr: expect.not.stringContaining('sending the request again'),
  });
});

test('a version in whose place a page comes is asked again', async () => {
  misdeeds = [lostAfter(1)];
  let asked = 0;
  unkeyed = () => (asked++ === 0 ? html(200, '<h1>Welcome</h1>') : undefined);
  expect(await retrieved()).toMatchObject({ code: 0, stdout: 'hunter2', views: 1 });
});

test('429 until the end: what became of the first request is unknown', async () => {
  misdeeds = [lostAfter(1), ...Array(100).fill(saying(json(429, '{}')))];
  expect(await retrieved()).toMatchObject({ code: 11, views: 1 });
});

test.each([
  ['takes a minute', undefined],
  ['is 429 with a minute to wait', json(429, '{}', { 'retry-after': '60' })],
])('a version that %s is too late for a repetition', async (_, response) => {
  misdeeds = [lostAfter(80)];
  let asked = 0;
  unkeyed = () => {
    asked += 1;
    if (asked > 1) return undefined;
    if (response === undefined) clock.advance(60 * SECOND);
    return response;
  };
  expect(await retrieved('--timeout', '300')).toMatchObject({ code: 11, views: 1 });
});

test('429 to the repetition of a creation, and a machine that sleeps then: one push', async () => {
  misdeeds = [lostAfter(1), saying(json(429, '{}', { 'retry-after': '30' }))];
  asleep = () => clock.advance(3600 * SECOND);
  expect(await created()).toEqual({ code: 11, pushes: 1 });
});

test('a repetition is not held up by the wait of another request', async () => {
  const made = json(201, '{"url_token":"x"}');
  const wires = {
    one: wire([broken(true), json(500, '{}'), made]),
    two: wire([json(429, '{}', { 'retry-after': '30' }), made]),
  };
  const sent: string[] = [];
  const [pausing, waiting, over] = [deferred(), deferred(), deferred()];
  const api = apiClient({
    base: 'https://pw.test',
    userAgent: 'pwpush',
    now: clock.now,
    send: async (request) => {
      const [which = 'version'] = /one|two/.exec(String(request.body)) ?? [];
      sent.push(which);
      if (which === 'version') return overFetch(here.service)(request);
      if (which === 'two') await pausing.promise;
      return wires[which as keyof typeof wires].send(request);
    },
    sleep: async (milliseconds) => {
      const isPause = milliseconds < 30 * SECOND;
      (isPause ? pausing : waiting).resolve();
      await (isPause ? waiting : over).promise;
    },
  });
  const both = [api.create({ payload: 'two' }), api.create({ payload: 'one' })];
  await waiting.promise;
  for (let round = 0; round < 10; round += 1) await new Promise(setImmediate);
  expect(sent).toEqual(['two', 'one', 'version', 'one', 'one']);
  over.resolve();
  await Promise.all(both);
});
