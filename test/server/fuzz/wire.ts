import fc from 'fast-check';
import { type Asked, requests, type There } from './requests';
import { mutated, odd, rarely, weighted } from './values';

const latin = (text: string) => Buffer.from(text, 'latin1');

/** A body as it is said to be sent, which may not be how it is. */
const framings: readonly ((body: Buffer) => readonly [head: string, bytes: Buffer])[] = [
  (body) => [`Content-Length: ${body.length}`, body],
  (body) => [`Content-Length: ${body.length}`, body],
  (body) => [`Content-Length: ${body.length + 5}`, body],
  (body) => [`Content-Length: ${Math.max(0, body.length - 5)}`, body],
  (body) => [`Content-Length: ${body.length}, ${body.length}`, body],
  (body) => [`Content-Length: ${body.length}\r\nContent-Length: 0`, body],
  (body) => [`Content-Length: ${body.length}\r\nTransfer-Encoding: chunked`, chunked(body)],
  (body) => ['Transfer-Encoding: chunked', chunked(body)],
  (body) => ['Transfer-Encoding: chunked', chunked(body)],
  (body) => ['Transfer-Encoding: chunked', chunked(body, 'X-Trailer: 1\r\nContent-Length: 5\r\n')],
  (body) => ['Transfer-Encoding: chunked', chunked(body, `X: ${'x'.repeat(20_000)}\r\n`)],
  () => ['Transfer-Encoding: chunked', latin(`${'f'.repeat(17)}\r\nx`)],
  () => ['Transfer-Encoding: chunked', latin(`5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`)],
  (body) => ['Transfer-Encoding: gzip, chunked', chunked(body)],
  (body) => ['', body],
];

function chunked(body: Buffer, trailers = ''): Buffer {
  const half = body.length >> 1;
  const pieces = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  return Buffer.concat([
    ...pieces.flatMap((piece) => [latin(`${piece.length.toString(16)}\r\n`), piece, latin('\r\n')]),
    latin(`0\r\n${trailers}\r\n`),
  ]);
}

const headers = [
  ...['Expect: 100-continue', 'Expect: 200-ok', 'Connection: close', ' folded: 1'],
  ...['Connection: upgrade\r\nUpgrade: websocket', 'Upgrade-Insecure-Requests: 1'],
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  ...['no colon', ': no name', 'a b: c', 'X\u0000: 1', `X: ${'x'.repeat(20_000)}`],
];
const wrong = fc.record({
  version: rarely('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/9.9', '', 'HTTP/1.1 x'),
  host: rarely(
    'Host: pw.test',
    ...['', 'Host:', 'Host: a b', 'Host: a\r\nHost: b', 'Host: [::', 'Host: a:99999'],
    ...['Host: evil/path?x#y', 'Host: u:p@evil', 'Host: \u00e9'],
  ),
  more: weighted([8, fc.constant('')], [1, fc.constantFrom(...headers)], [1, odd.map((text) => `X: ${text}`)]),
  target: rarely<string | undefined>(
    undefined,
    ...['*', 'http://evil/', 'http://a:b:c/', '//', '', '/\u00e9', '/p/\u0000', 'pw.test:80'],
    `/${'x'.repeat(30_000)}`,
  ),
  framing: fc.constantFrom(...framings),
  newline: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n'),
});

function written(asked: Asked, wrongs: typeof wrong extends fc.Arbitrary<infer W> ? W : never) {
  const { version, host, more, target, framing, newline } = wrongs;
  const [length, body] = asked.body ? framing(asked.body) : ['', Buffer.alloc(0)];
  const own = asked.headers.filter(([name]) => name !== 'content-length');
  const lines = [host, ...own.map(([name, value]) => `${name}: ${value}`), more, length];
  const start = `${asked.method} ${target ?? asked.path} ${version}`;
  const head = [start, ...lines.filter((line) => line !== '')].join(newline);
  return Buffer.concat([Buffer.from(`${head}${newline}${newline}`), body]);
}

/** What somebody writes to a socket: a request, two of them, or nothing of the kind. */
export function wireBytes(there: There): fc.Arbitrary<Buffer> {
  const one = fc.tuple(requests(there), wrong).map(([asked, wrongs]) => written(asked, wrongs));
  const others = [
    ...['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ...['CONNECT evil:443 HTTP/1.1\r\nHost: evil\r\n\r\n', 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n'],
    '\r\n\r\n\r\n',
  ];
  return weighted(
    [10, mutated(one)],
    [2, fc.tuple(one, one).map((both) => Buffer.concat(both))],
    [1, fc.uint8Array({ maxLength: 100 }).map(Buffer.from)],
    [1, fc.constantFrom(...others).map(latin)],
  );
}
