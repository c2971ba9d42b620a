import { describe, expect, test } from 'vitest';
import { partOf } from '../../helpers/long';
import { makePerson, onNode, person, serveBuilt, serving } from '../../helpers/program';

test('passphrase tries count together over processes on one SQLite', async () => {
  const somebody = makePerson();
  const services = [await serveBuilt(somebody.env), await serveBuilt(somebody.env)];
  try {
    const asked = async (at: number, path: string, init: RequestInit = {}) =>
      fetch(`${services[at % 2]?.url}/api/v2/pushes${path}`, init);
    const body = JSON.stringify({ push: { payload: 'x', passphrase: 'right' } });
    const headers = { 'content-type': 'application/json' };
    const made = await asked(0, '', { method: 'POST', headers, body });
    const { url_token } = (await made.json()) as { url_token: string };
    const tries = Array.from({ length: 12 }, (_, at) =>
      asked(at, `/${url_token}?passphrase=wrong`),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(7).fill(429)]);
    const right = await Promise.all(
      [0, 1].map((at) => asked(at, `/${url_token}?passphrase=right`)),
    );
    expect(right.map(({ status }) => status)).toEqual([429, 429]);
    expect(right.every((answer) => Number(answer.headers.get('retry-after')) > 0)).toBe(true);
  } finally {
    await Promise.all(services.map(({ stop }) => stop()));
  }
});

describe('a form of eight million signs', onNode, () => {
  const somebody = person();
  const service = serving({ ...somebody.env, NODE_OPTIONS: '--max-old-space-size=256' });

  const signs = (encoded: string) =>
    encoded.repeat(Math.floor((8 * 1024 * 1024 - 64) / encoded.length));

  const forms: [string, (field: string) => string, number][] = [
    ['in the secret', (field) => `${field}=${signs('+')}`, 422],
    ['in lines of the secret', (field) => `${field}=x${signs('%0D%0A')}`, 422],
    ['in a field that it has not', (field) => `${field}=x&${field}x=${signs('+')}`, 200],
    ['in the name of a field', (field) => `${field}=x&${signs('+')}`, 200],
    ['in fields', (field) => `${field}=x&${signs('&')}`, 400],
  ];
  test.each(partOf(forms, 0))(
    '%s does not stop a service with a heap of 256 MiB',
    async (_, form, status) => {
      const ask = async () =>
        (await service.ask('POST', '/requests', { request: { request: 'x' } })).json.url_token;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const send = async (method: string, path: string, field: string) => {
        const response = await fetch(service.url + path, { method, headers, body: form(field) });
        await response.arrayBuffer();
        return response.status === 201 ? 200 : response.status;
      };
      const statuses = [
        await send('POST', '/api/v2/pushes', 'push[payload]'),
        await send('POST', '/', 'push[payload]'),
        await send('PATCH', `/api/v2/requests/${await ask()}/respond`, 'request[response]'),
        await send('POST', `/r/${await ask()}`, 'request[response]'),
      ];
      expect(statuses).toEqual(Array(4).fill(status));
    },
  );
});
