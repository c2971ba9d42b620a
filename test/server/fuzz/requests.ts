import fc from 'fast-check';
import { published } from '../../helpers/openapi';
import { anyJson, type Body, creationJson, multipart, mutated, odd, urlencoded, weighted } from './values';

/** A request as its parts; a path or a header that no `Request` takes is for the wire. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
  /** Where the body is split, and whether it breaks off after that. */
  readonly split: number;
  readonly breaks: boolean;
}

export interface There {
  readonly tokens: readonly string[];
  readonly files: readonly string[];
  readonly apiTokens: readonly string[];
}

const asJson = (text: fc.Arbitrary<string>): fc.Arbitrary<Body> =>
  text.map((json) => ({ type: 'application/json', bytes: Buffer.from(json) }));

const deep = fc.integer({ min: 60_000, max: 300_000 }).map((length) => '['.repeat(length));

const body: fc.Arbitrary<Body> = weighted(
  [8, asJson(creationJson)],
  [2, asJson(anyJson)],
  [8, multipart],
  [3, urlencoded],
  [1, asJson(deep)],
  [1, fc.record({ type: odd, bytes: fc.uint8Array().map(Buffer.from) })],
);

const values: Readonly<Record<string, readonly string[]>> = {
  range: [
    ...['bytes=0-0', 'bytes=-1', 'bytes=1-', 'bytes=-0', 'bytes=5-2', 'bytes=0-999999999999999'],
    ...['bytes=99999999999999999999-', 'bytes=0-1,2-3', 'bytes=', 'lines=1-2', 'bytes=-'],
  ],
  'if-range': ['"x"', 'W/"x"', '', 'Thu, 01 Jan 1970'],
  'sec-purpose': ['prefetch', 'prefetch;prerender', ''],
  'sec-fetch-site': ['same-origin', 'cross-site', 'none', ''],
  origin: ['null', 'http://pw.test', 'http://evil', '://'],
  'x-forwarded-for': [',', '1.1.1.1', '[::1]:80', '%', 'x'],
  'x-forwarded-host': ['a b', 'a:99999', '[::', 'evil', ''],
  'x-forwarded-proto': ['javascript', 'https,http', ''],
  'content-length': ['0', '1', '99999999999', '9'.repeat(30)],
  'content-encoding': ['gzip', 'identity'],
  accept: ['text/html', 'application/json', '*/*', ';'],
};
const free = ['user-agent', 'referer', 'cookie', 'purpose', 'x-moz', 'accept-language'];
const header: fc.Arbitrary<[string, string]> = fc.oneof(
  ...Object.entries(values).map(([name, all]) => fc.tuple(fc.constant(name), fc.constantFrom(...all))),
  fc.tuple(fc.constantFrom(...free), odd),
);

function authorization({ apiTokens }: There): fc.Arbitrary<[string, string][]> {
  const right = fc.constantFrom(...apiTokens.map((token) => `Bearer ${token}`));
  const wrong = fc.constantFrom('Bearer', 'Bearer ', 'bearer nonsense', 'Basic YTpi', 'Bearer a b');
  return fc
    .option(weighted([4, right], [1, wrong]), { freq: 1 })
    .map((value) => (value === null ? [] : [['authorization', value]]));
}

const described = Object.keys(published().calls).map((name) => name.replace(/.* /, '/api/v2'));
const known = [
  ...described.map((path) => path.replace('{token}', '*')),
  ...['/p/*', '/p/*/r', '/p/*.json', '/r/*', '/r/*.json', '/up', '/'],
  ...['/api/v2/openapi.json', '/api/v2/pushes/*/notify_emails'],
];
const unknown = [
  ...['/files/*', '/api/v2/*', '/api/*/pushes', '/*', '/*/*', '//p/*', '/p//*', '/p/*/'],
  ...['/p/*/r/r', '/P/*', '/api/v2/pushes/*/audit/', '/api/v2/../v2/pushes/*', '/p/%2e%2e/*'],
];
const parameter = fc
  .tuple(
    fc.constantFrom('page', 'page', 'push_locale', '__proto__', 'passphrase[]', ''),
    fc.oneof(fc.constantFrom('1', '200', '201', '-1', '%', '%00', '%ff', '1e2'), odd),
  )
  .map(([name, value]) => `?${name}=${value}`);
const fixed = fc.constantFrom('?passphrase=', '?passphrase', '?', '??', '?&&=');
const query = weighted([5, fc.constant('')], [4, parameter], [1, fixed]);

function pathOf({ tokens, files }: There): fc.Arbitrary<string> {
  const token = weighted(
    [6, fc.constantFrom(...tokens)],
    [2, odd.map(encoded)],
    [1, odd],
    [1, fc.constantFrom('active', 'expired', 'unknown', 'x'.repeat(129))],
  );
  const template = weighted([12, fc.constantFrom(...known)], [3, fc.constantFrom(...unknown)]);
  const usual = fc.tuple(template, token, query).map(([path, name, query]) => path.replaceAll('*', () => name) + query);
  return weighted([10, usual], [1, fc.constantFrom(...files)]);
}

function encoded(text: string): string {
  return /\p{Surrogate}/u.test(text) ? '%ed%a0%80' : encodeURIComponent(text);
}

const otherMethods = ['DELETE', 'HEAD', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND', 'X-Y', 'get'];
const method = weighted([6, fc.constant('GET')], [5, fc.constant('POST')], [2, fc.constantFrom(...otherMethods)]);

/** The same body as that of a request or an answer. */
const inRequest =
  (text: 'request' | 'response') =>
  ({ type, bytes }: Body): Body => {
    const renamed = bytes
      .toString('latin1')
      .replaceAll('payload', text)
      .replaceAll('"push"', '"request"')
      .replace(/push(?=\[|%5B)/g, 'request');
    return { type, bytes: Buffer.from(renamed, 'latin1') };
  };

/** Half of them creations: most of what is read, is read there. */
export function requests(there: There): fc.Arbitrary<Asked> {
  const common = {
    headers: fc.tuple(authorization(there), fc.array(header, { maxLength: 3 })).map((lists) => lists.flat()),
    split: fc.nat(1000),
    breaks: fc.constantFrom(false, false, false, false, false, false, true),
  };
  const sent = body.chain(({ type, bytes }) => mutated(fc.constant(bytes)).map((all) => ({ type, bytes: all })));
  const asked = (method: fc.Arbitrary<string>, path: fc.Arbitrary<string>, sent: fc.Arbitrary<Body | undefined>) =>
    fc.record({ method, path, sent, ...common });
  const post = fc.constant('POST');
  const answers = fc
    .tuple(fc.constantFrom('/api/v2/requests/*/respond', '/r/*'), fc.constantFrom(...there.tokens))
    .map(([path, token]) => path.replace('*', token));
  return fc
    .oneof(
      asked(post, fc.constant('/api/v2/pushes'), sent),
      asked(method, pathOf(there), fc.option(sent, { freq: 2, nil: undefined })),
      asked(post, fc.constant('/api/v2/requests'), sent.map(inRequest('request'))),
      asked(fc.constantFrom('PATCH', 'POST'), answers, sent.map(inRequest('response'))),
    )
    .map(({ sent: brought, headers, ...rest }) => ({
      ...rest,
      headers: brought ? [...headers, ['content-type', brought.type] as const] : headers,
      body: brought?.bytes,
    }));
}
