import { join } from 'node:path';
import { expect, test } from 'vitest';
import { History, ofAnswer, ofReading } from '../helpers/history';
import { times } from '../helpers/long';
import { numbers } from '../helpers/numbers';
import { person, type Served, serveBuilt } from '../helpers/program';
import { seed } from '../helpers/seed';
import { FORM_TYPE, formBytes } from '../helpers/service';
import { onEachStore, type Room } from '../helpers/stores';

// Answers to requests, from processes that share their data or are killed.

const somebody = person();

async function ask(url: string, method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}/api/v2/requests${path}`, { ...init, method });
  // A machine that is slow asks some to come again.
  expect([200, 201, 409, 503]).toContain(response.status);
  // biome-ignore lint/suspicious/noExplicitAny: compared whole
  return { status: response.status, json: (await response.json()) as any };
}

const asJson = (request: object): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ request }),
});

const asOwner = (token: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { ...init.headers, authorization: `Bearer ${token}` },
});

async function create(url: string, token: string): Promise<string> {
  const body = asJson({ request: 'x', response_file_attachments: true });
  return (await ask(url, 'POST', '', asOwner(token, body))).json.url_token;
}

const words = ({ settings: { data, database } }: Room, name = '') => [
  ...['--data', database === undefined ? data : join(data, name)],
  ...(database === undefined ? [] : ['--database', database]),
];

onEachStore((store) => {
  test('of many simultaneous answers to four processes one wins, and one reading gets it', async () => {
    const room = await store.room();
    const key = join(room.settings.data, 'shared.key');
    const env = { ...somebody.env, PWPUSH_INSTANCE_KEY_FILE: key };
    // The first one migrates and makes the token.
    const first = await serveBuilt(env, words(room, 'a'));
    const others = ['b', 'c', 'd'].map((name) => serveBuilt(env, words(room, name)));
    const services = [first, ...(await Promise.all(others))];
    const urlOf = (at: number) => (services[at % 4] as Served).url;
    const [count, request] = [times(100), await create(first.url, first.token)];
    const history = new History();
    // Of each four, two have no key, and two the same.
    const keyed = (what: string, at: number, init: RequestInit) => {
      if (at % 4 < 2) return { init };
      const key = `${what}-of-client-${at >> 2}`;
      const headers = { ...init.headers, 'idempotency-key': `"${key}"` };
      return { key, init: { ...init, headers } };
    };
    const respond = (at: number) => {
      const payload = `answer ${at % 4 < 2 ? at : at & ~1}`;
      const { init, ...how } = keyed('answer', at, asJson({ response: payload }));
      const work = () => ask(urlOf(at), 'PATCH', `/${request}/respond`, init);
      const call = { name: 'create', views: 1, payload, ...how } as const;
      return history.note(`respondent ${at}`, request, call, work, ofAnswer);
    };
    const read = (at: number) => {
      const { init, ...how } = keyed('reading', at, asOwner(first.token));
      const work = () => ask(urlOf(at), 'GET', `/${request}`, init);
      return history.note(`reading ${at}`, request, { name: 'retrieve', ...how }, work, ofReading);
    };
    const answers = Array.from({ length: count }, (_, at) => respond(at));
    await Promise.race(answers);
    const reads = Array.from({ length: times(40) }, (_, at) => read(at));
    await Promise.all([...answers, ...reads]);
    await read(0);
    history.judge();
    const got = (await Promise.all(reads)).flatMap(({ json }) => json.response ?? []);
    expect(new Set(got).size).toBe(1);
    await Promise.all(services.map(({ stop }) => stop()));
  });

  test('a process that is killed loses no answer that it acknowledged', async () => {
    const room = await store.room();
    const random = numbers(seed);
    const open = new Set<string>();
    let taken = 0;
    const history = new History();
    const serve = () => serveBuilt(somebody.env, words(room, 'killed'));
    // Each is the one after a kill, and then the one that is killed.
    let service = await serve();
    const { token } = service;
    for (let round = 0; round < times(3); round++) {
      const killed = service;
      const { url } = killed;
      while (open.size < 8) open.add(await create(url, token));
      let left = 1 + Math.floor(random() * 6);
      const work = [...open].map(async (request, at) => {
        const payload = `${round} ${at} ${'x'.repeat(1000)}`;
        const send = () => ask(url, 'PATCH', `/${request}/respond`, answerOf(payload, at));
        const call = { name: 'create', views: 1, payload } as const;
        const { status } = await history.note('somebody', request, call, send, ofAnswer);
        expect(status).toBe(200);
        left -= 1;
        if (left === 0) void killed.kill();
      });
      await Promise.allSettled(work);
      await killed.kill();
      service = await serve();
      for (const request of [...open]) {
        const before = await ask(service.url, 'GET', `/${request}`);
        const read = () => ask(service.url, 'GET', `/${request}`, asOwner(token));
        const call = { name: 'retrieve' } as const;
        const { json } = await history.note('the owner', request, call, read, ofReading);
        // One that was not acknowledged is either whole or not there, and can then be given again.
        expect(json.response === null).toBe(before.json.state === 'open');
        if (json.response === null) continue;
        for (const { url } of json.files) expect(await (await fetch(url)).text()).toBe('f'.repeat(200_000));
        expect(json.files.length).toBe([...open].indexOf(request) % 2);
        taken += 1;
      }
      for (const request of [...open]) {
        const { json } = await ask(service.url, 'GET', `/${request}`);
        if (json.state === 'closed') open.delete(request);
      }
    }
    await service.stop();
    history.judge();
    expect(taken).toBeGreaterThan(0);
  });
});

function answerOf(response: string, at: number): RequestInit {
  if (at % 2 === 0) return asJson({ response });
  const body = formBytes([
    { name: 'request[response]', value: response },
    { name: 'request[files][]', filename: 'f', value: 'f'.repeat(200_000) },
  ]);
  return { headers: { 'content-type': FORM_TYPE }, body };
}
