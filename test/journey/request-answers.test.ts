import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTurn, times } from '../helpers/long';
import { numbers } from '../helpers/numbers';
import { person, serveBuilt } from '../helpers/program';
import { seed } from '../helpers/seed';
import { FORM_TYPE, formBytes } from '../helpers/service';
import { onEachStore, type Room } from '../helpers/stores';

// Answers to requests, from processes that share their data or are killed.

const somebody = person();

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: compared whole
  readonly json: any;
}

async function ask(
  url: string,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Answered> {
  const headers = { connection: 'close', ...init.headers };
  const response = await fetch(`${url}/api/v2/requests${path}`, { ...init, method, headers });
  return { status: response.status, json: await response.json() };
}

const asJson = (request: object): RequestInit => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ request }),
});

const asOwner = (token: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { ...init.headers, authorization: `Bearer ${token}` },
});

async function create(url: string, token: string, fields: object = {}): Promise<string> {
  const body = asJson({ request: 'x', response_file_attachments: true, ...fields });
  const { status, json } = await ask(url, 'POST', '', asOwner(token, body));
  expect(status).toBe(201);
  return json.url_token;
}

const words = ({ settings: { data, database } }: Room, name = '') => [
  ...['--data', database === undefined ? data : join(data, name)],
  ...(database === undefined ? [] : ['--database', database]),
];

onEachStore((store) => {
  const place = store.name === 'SQLite' ? 0 : 1;

  test('of many simultaneous answers to four processes one wins, and one reading gets it', {
    timeout: 90_000,
    ...inTurn(place),
  }, async () => {
    const room = await store.room();
    const key = join(room.settings.data, 'shared.key');
    const env = { ...somebody.env, PWPUSH_INSTANCE_KEY_FILE: key };
    // The first one migrates and makes the token.
    const { token, ...first } = await serveBuilt(env, words(room, 'a'));
    const others = ['b', 'c', 'd'].map((name) => serveBuilt(env, words(room, name)));
    const services = [first, ...(await Promise.all(others))];
    const urlOf = (at: number) => (services[at % 4] as typeof first).url;
    const count = times(500);
    const request = await create(urlOf(0), token);
    const answers = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        ask(urlOf(at), 'PATCH', `/${request}/respond`, asJson({ response: `answer ${at}` })),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 409)).toHaveLength(count - 1);
    const reads = await Promise.all(
      Array.from({ length: times(100) }, (_, at) =>
        ask(urlOf(at), 'GET', `/${request}`, asOwner(token)),
      ),
    );
    expect(reads.filter(({ status }) => status !== 200)).toEqual([]);
    const got = reads.flatMap(({ json }) => json.response ?? []);
    expect(got).toEqual([`answer ${statuses.indexOf(200)}`]);
    await Promise.all(services.map(({ stop }) => stop()));
  });

  test('a process that is killed loses no answer that it acknowledged', {
    timeout: 300_000,
    ...inTurn(place + 1),
  }, async () => {
    const room = await store.room();
    const random = numbers(seed);
    const open = new Set<string>();
    let owner = '';
    let taken = 0;
    const serve = async () => {
      const service = await serveBuilt(somebody.env, words(room, 'killed'));
      owner = service.token ?? owner;
      return service;
    };
    for (let round = 0; round < times(12); round++) {
      const service = await serve();
      const { url } = service;
      while (open.size < 8) open.add(await create(url, owner));
      let left = 1 + Math.floor(random() * 6);
      const acknowledged = new Map<string, string>();
      const work = [...open].map(async (request, at) => {
        const text = `${round} ${at} ${'x'.repeat(1000)}`;
        const { status } = await ask(url, 'PATCH', `/${request}/respond`, answerOf(text, at));
        expect(status).toBe(200);
        acknowledged.set(request, text);
        left -= 1;
        if (left === 0) void service.kill();
      });
      await Promise.allSettled(work);
      await service.kill();
      const again = await serve();
      for (const request of [...open]) {
        const before = await ask(again.url, 'GET', `/${request}`);
        const { json } = await ask(again.url, 'GET', `/${request}`, asOwner(owner));
        const sent = acknowledged.get(request);
        if (sent !== undefined) {
          expect([before.json.state, json.response]).toEqual(['ready', sent]);
        }
        // One that was not acknowledged is either whole or not there, and can then be given again.
        expect(json.response === null).toBe(before.json.state === 'open');
        if (json.response === null) continue;
        for (const { url } of json.files) expect(await textOf(url)).toBe('f'.repeat(200_000));
        expect(json.files.length).toBe([...open].indexOf(request) % 2);
        taken += 1;
      }
      for (const request of [...open]) {
        const { json } = await ask(again.url, 'GET', `/${request}`);
        if (json.state === 'closed') open.delete(request);
      }
      await again.stop();
    }
    expect(taken).toBeGreaterThan(0);
  });
});

/** A text, with a file where the number is odd. */
function answerOf(response: string, at: number): RequestInit {
  if (at % 2 === 0) return asJson({ response });
  const body = formBytes([
    { name: 'request[response]', value: response },
    { name: 'request[files][]', filename: 'f', value: 'f'.repeat(200_000) },
  ]);
  return { headers: { 'content-type': FORM_TYPE }, body };
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}
