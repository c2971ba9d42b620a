import { describe, expect, test } from 'vitest';
import { partOf } from '../../helpers/long';
import { onNode, person, serving } from '../../helpers/program';

describe('a form of eight million signs', onNode, () => {
  const somebody = person();
  const service = serving({ ...somebody.env, NODE_OPTIONS: '--max-old-space-size=256' });

  const signs = (encoded: string) =>
    encoded.repeat(Math.floor((8 * 1024 * 1024 - 64) / encoded.length));

  const forms: [string, (field: string) => string, number][] = [
    ['in the secret', (field) => `${field}=${signs('+')}`, 422],
    ['in a field that it has not', (field) => `${field}=x&${field}x=${signs('+')}`, 200],
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
