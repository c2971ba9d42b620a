import fc from 'fast-check';
import { anyJson, type Body, creationJson, multipart, mutated, odd, urlencoded } from './values';

/** A request as its parts; a path or a header that no `Request` takes is for the wire. */
export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
  /** Where the body is split, and whether it breaks off after that. */
  readonly split: number;
  readonly breaks: boolean;
}

/** What there is to be asked for. */
export interface There {
  readonly tokens: readonly string[];
  /** Paths of files. */
  readonly files: readonly string[];
  readonly apiTokens: readonly string[];
}

const asJson = (text: fc.Arbitrary<string>, type = 'application/json'): fc.Arbitrary<Body> =>
  text.map((json) => ({ type, bytes: Buffer.from(json) }));

const body: fc.Arbitrary<Body> = fc.oneof(
  { weight: 8, arbitrary: asJson(creationJson) },
  { weight: 2, arbitrary: asJson(anyJson) },
  { weight: 8, arbitrary: multipart },
  { weight: 3, arbitrary: urlencoded },
  {
    weight: 1,
    arbitrary: asJson(
      creationJson,
      'application/json; charset=utf-16; boundary="b"; =; application/json',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 60_000, max: 300_000 })
      .map((length) => ({ type: 'application/json', bytes: Buffer.alloc(length, '[') })),
  },
  { weight: 1, arbitrary: fc.record({ type: odd, bytes: fc.uint8Array().map(Buffer.from) }) },
);

const header = fc.oneof(
  fc.tuple(
    fc.constantFrom('range', 'Range'),
    fc.constantFrom(
      'bytes=0-0',
      'bytes=-1',
      'bytes=1-',
      'bytes=-0',
      'bytes=5-2',
      'bytes=0-999999999999999',
      'bytes=99999999999999999999-',
      'bytes=0-1,2-3',
      'bytes=',
      'lines=1-2',
      'bytes=-',
    ),
  ),
  fc.tuple(fc.constant('if-range'), fc.constantFrom('"x"', 'W/"x"', '', 'Thu, 01 Jan 1970')),
  fc.tuple(fc.constant('sec-purpose'), fc.constantFrom('prefetch', 'prefetch;prerender', '')),
  fc.tuple(fc.constant('sec-fetch-site'), fc.constantFrom('same-origin', 'cross-site', 'none', '')),
  fc.tuple(fc.constant('origin'), fc.constantFrom('null', 'http://pw.test', 'http://evil', '://')),
  fc.tuple(fc.constant('x-forwarded-for'), fc.constantFrom(',', '1.1.1.1', '[::1]:80', '%', 'x')),
  fc.tuple(fc.constant('x-forwarded-host'), fc.constantFrom('a b', 'a:99999', '[::', 'evil', '')),
  fc.tuple(fc.constant('x-forwarded-proto'), fc.constantFrom('javascript', 'https,http', '')),
  fc.tuple(fc.constant('content-length'), fc.constantFrom('0', '1', '99999999999', '9'.repeat(30))),
  fc.tuple(fc.constant('content-encoding'), fc.constantFrom('gzip', 'identity')),
  fc.tuple(fc.constant('accept'), fc.constantFrom('text/html', 'application/json', '*/*', ';')),
  fc.tuple(
    fc.constantFrom('user-agent', 'referer', 'cookie', 'purpose', 'x-moz', 'accept-language'),
    odd,
  ),
);

function authorization({ apiTokens }: There): fc.Arbitrary<[string, string][]> {
  const right = fc.constantFrom(...apiTokens.map((token) => `Bearer ${token}`));
  const wrong = fc.oneof(
    fc.constantFrom('Bearer', 'Bearer ', 'bearer nonsense', 'Basic YTpi', 'Bearer a b', ''),
    odd.map((text) => `Bearer ${text}`),
  );
  return fc
    .oneof(
      { weight: 5, arbitrary: fc.constant(undefined) },
      { weight: 4, arbitrary: right },
      { weight: 1, arbitrary: wrong },
    )
    .map((value) => (value === undefined ? [] : [['authorization', value]]));
}

function pathOf({ tokens, files }: There): fc.Arbitrary<string> {
  const token = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...tokens) },
    { weight: 2, arbitrary: odd.map(encoded) },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.constantFrom('active', 'expired', 'unknown', 'x'.repeat(129)) },
  );
  const template = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom(
        '/api/v2/pushes/*',
        '/api/v2/pushes/*/preview',
        '/api/v2/pushes/*/audit',
        '/api/v2/pushes/*/notify_emails',
        '/p/*',
        '/p/*/r',
        '/p/*.json',
        '/api/v2/pushes/active',
        '/api/v2/pushes/expired',
        '/api/v2/version',
        '/api/v2/openapi.json',
        '/up',
        '/',
        ...['', '/preview', '/audit', '/respond', '/respond'].map(
          (rest) => `/api/v2/requests/*${rest}`,
        ),
        ...['open', 'ready', 'closed', 'active'].map((state) => `/api/v2/requests/${state}`),
        '/r/*',
        '/r/*.json',
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '/files/*',
        '/api/v2/*',
        '/api/*/pushes',
        '/*',
        '/*/*',
        '//p/*',
        '/p//*',
        '/p/*/',
        '/p/*/r/r',
        '/P/*',
        '/api/v2/pushes/*/audit/',
        '/api/v2/../v2/pushes/*',
        '/p/%2e%2e/*',
      ),
    },
  );
  const queried = fc.oneof(
    { weight: 5, arbitrary: fc.constant('') },
    {
      weight: 4,
      arbitrary: fc
        .array(
          fc.tuple(
            fc.constantFrom('page', 'page', 'push_locale', '__proto__', 'passphrase[]', ''),
            fc.oneof(fc.constantFrom('1', '200', '201', '-1', '%', '%00', '%ff', '1e2'), odd),
          ),
          { maxLength: 3 },
        )
        .map((pairs) => `?${pairs.map((pair) => pair.join('=')).join('&')}`),
    },
    { weight: 1, arbitrary: fc.constantFrom('?passphrase=', '?passphrase', '?', '??', '?&&=') },
  );
  const usual = fc.tuple(template, token, queried).map(([path, name, query]) => {
    return path.replaceAll('*', () => name) + query;
  });
  return fc.oneof(
    { weight: 10, arbitrary: usual },
    { weight: 1, arbitrary: fc.constantFrom(...files) },
  );
}

function encoded(text: string): string {
  return /\p{Surrogate}/u.test(text) ? '%ed%a0%80' : encodeURIComponent(text);
}

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constant('GET') },
  { weight: 5, arbitrary: fc.constant('POST') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'DELETE',
      'HEAD',
      'PUT',
      'PATCH',
      'OPTIONS',
      'PROPFIND',
      'X-Y',
      'get',
    ),
  },
);

/** The same body as that of a request or an answer. */
const inRequest =
  (text: 'request' | 'response') =>
  ({ type, bytes }: Body): Body => ({
    type,
    bytes: Buffer.from(
      bytes
        .toString('latin1')
        .replaceAll('payload', text)
        .replaceAll('"push"', '"request"')
        .replace(/push(?=\[|%5B)/g, 'request'),
      'latin1',
    ),
  });

/** Half of them creations: most of what is read, is read there. */
export function requests(there: There): fc.Arbitrary<Asked> {
  const common = {
    headers: fc
      .tuple(authorization(there), fc.array(header, { maxLength: 3 }))
      .map((lists) => lists.flat()),
    split: fc.nat(1000),
    breaks: fc.constantFrom(false, false, false, false, false, false, true),
  };
  const sent = body.chain(({ type, bytes }) =>
    mutated(fc.constant(bytes)).map((all) => ({ type, bytes: all })),
  );
  const creation = fc.record({
    method: fc.constant('POST'),
    path: fc.constant('/api/v2/pushes'),
    sent,
    ...common,
  });
  const asking = fc.record({
    method: fc.constant('POST'),
    path: fc.constant('/api/v2/requests'),
    sent: sent.map(inRequest('request')),
    ...common,
  });
  const answer = fc.record({
    method: fc.constantFrom('PATCH', 'POST'),
    path: fc
      .tuple(
        fc.constantFrom('/api/v2/requests/*/respond', '/r/*'),
        fc.constantFrom(...there.tokens),
      )
      .map(([path, token]) => path.replace('*', token)),
    sent: sent.map(inRequest('response')),
    ...common,
  });
  const other = fc.record({
    method,
    path: pathOf(there),
    sent: fc.option(sent, { freq: 2, nil: undefined }),
    ...common,
  });
  return fc.oneof(creation, other, asking, answer).map(({ sent: brought, headers, ...rest }) => ({
    ...rest,
    headers: brought ? [...headers, ['content-type', brought.type] as const] : headers,
    body: brought?.bytes,
  }));
}
