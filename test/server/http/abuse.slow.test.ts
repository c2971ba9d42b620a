import { describe, expect, test } from 'vitest';
import { partOf } from '../../helpers/long';
import { allOf, needsFile } from '../../helpers/needs';
import { onNode, peakOf, person, serving } from '../../helpers/program';

const SIGNS = 8 * 1024 * 1024 - 200;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

type Body = (root: string, field: string) => string;

const field =
  (value: string, more = ''): Body =>
  (root, name) =>
    `${root}[${name}]=${value}${more.replace('*', root)}`;

/** A body of a creation or an answer, where it has its signs, and the classes of what it is answered. */
// biome-ignore format: a table
const bodies: [string, string, Body, string][] = [
  ['in the secret', FORM, field('\u0001'.repeat(SIGNS)), '413'],
  ['that are spaces', FORM, field('+'.repeat(SIGNS)), '413'],
  // Two of them keep V8 from giving each a single byte.
  ['in a field that it has not', FORM, field('x', `&*[zz]=é€${'\u0001'.repeat(SIGNS)}`), '413'],
  ['between fields', FORM, field('x', '&'.repeat(SIGNS)), '413'],
  ['of JSON', JSON_TYPE, (root, name) => `{"${root}":{"${name}":"x","zz":"${'\\u0001'.repeat(SIGNS / 6)}"}}`, '200|201|422'],
  ['that JSON has not', JSON_TYPE, (root) => `{"${root}":"${'\u0001'.repeat(SIGNS)}"}`, '413'],
  ['between values', JSON_TYPE, (root, name) => `{"${root}":{"${name}":"x"${' '.repeat(SIGNS)}}}`, '200|201|422'],
  ['that stand for 2 MiB', FORM, field('%c3%a9'.repeat(1024 * 1024 - 20)), '422'],
];

/** What takes a key, and a body of that size. */
const routes = [
  ['POST', '/api/v2/pushes', 'push', 'payload'],
  ['POST', '/', 'push', 'payload'],
  ['POST', '/ask', 'push', 'payload'],
  ['POST', '/api/v2/requests', 'request', 'request'],
  ['PATCH', '/api/v2/requests/*/respond', 'request', 'response'],
  ['POST', '/r/*', 'request', 'response'],
] as const;

describe('eight million signs', allOf(onNode, needsFile('/proc/self/status')), () => {
  const somebody = person();
  const service = serving({ ...somebody.env, NODE_OPTIONS: '--max-old-space-size=128' });

  test.each(partOf(bodies, 0))(
    '%s do not stop a service with a heap of 128 MiB, nor take 200 MiB, with a key or without',
    async (where, type, body, status) => {
      for (const keyed of [false, true]) {
        for (const [method, path, root, field] of routes) {
          const { json } = await service.ask('POST', '/requests', { request: { request: 'x' } });
          const headers = new Headers({ authorization: `Bearer ${service.token}`, 'content-type': type });
          const key = `"${root}-${field} ${where} ${path.length}"`;
          if (keyed) headers.set('idempotency-key', key);
          const response = await fetch(service.url + path.replace('*', json.url_token), {
            method,
            headers,
            body: body(root, field),
          });
          await response.arrayBuffer();
          expect(`${response.status}`).toMatch(new RegExp(`^(?:${status})$`));
        }
      }
      expect(peakOf(service.pid)).toBeLessThan(200);
    },
  );
});
