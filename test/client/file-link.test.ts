import { describe, expect, test } from 'vitest';
import { openLink, worthAnotherTry } from '../../src/client/file-link';
import { TransportError } from '../../src/client/transport/network-errors';
import type { Transport } from '../../src/platform/context';
import { type Fact, phrase } from '../../src/platform/errors';
import { joined } from '../helpers/age';
import { type Literal, wire } from '../helpers/wire';

/** Gives these answers in turn, and writes down what was asked. */
function answering(answers: readonly Literal[]) {
  const sent: string[] = [];
  const { send } = wire(answers);
  const noting: Transport = (request) => {
    sent.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`);
    return send(request);
  };
  return { sent, send: noting };
}

const source = (send: Transport, base = 'https://pw.test/sub') => ({
  base,
  token: 'MARKER',
  userAgent: 'pwpush/test',
  send,
  now: () => new Date(0),
});
const moved = (location: string) => ({ status: 302, headers: { location } });

describe('the link of a file', () => {
  test.each([
    ['5', 5],
    ['', undefined],
    ['-1', undefined],
    ['5, 5', undefined],
    ['x', undefined],
  ])('gives its content, and, with Content-Length %j, the length %s', async (value, expected) => {
    const answer = { status: 200, headers: { 'content-length': value }, body: 'bytes' };
    const { send, sent } = answering([answer]);
    const { length, body } = await openLink(source(send), 'https://pw.test/a?b#c');
    expect([length, `${await joined(body)}`]).toEqual([expected, 'bytes']);
    expect(sent).toEqual(['GET https://pw.test/a?b Bearer MARKER']);
  });

  test.each([
    ['/a', 'Bearer MARKER'],
    ['https://pw.test:444/a', '-'],
    ['https://pw.test.evil/a', '-'],
    ['https://other.test/a', '-'],
  ])('%s is asked with the token: %s', async (link, authorization) => {
    const { send, sent } = answering([{ status: 200 }]);
    await openLink(source(send), link);
    expect(sent).toEqual([`GET ${new URL(link, 'https://pw.test').href} ${authorization}`]);
  });

  test.each([
    ['http://pw.test/a', []],
    ['ftp://pw.test/a', []],
    ['https://', []],
    ['https://pw.test/a', [moved('http://pw.test/b')]],
    ['https://pw.test/a', [moved('file:///etc/passwd')]],
    ['https://pw.test/a', [moved('http://[')]],
    ['https://pw.test/a', [{ status: 302 }]],
  ] as const)('%s is not followed when that is not safe', async (link, answers) => {
    const { send, sent } = answering(answers);
    await expect(openLink(source(send), link)).rejects.toMatchObject({ code: 'failed' });
    expect(sent).toHaveLength(answers.length);
  });

  test('may redirect ten times', async () => {
    const ten = Array(10).fill(moved('/a'));
    await openLink(source(answering([...ten, { status: 200 }]).send), '/a');
    const { send, sent } = answering([...ten, moved('/a')]);
    const facts = [phrase('file-link-redirects-too-often')];
    await expect(openLink(source(send), '/a')).rejects.toMatchObject({ facts });
    expect(sent).toHaveLength(11);
  });

  test('may lead up to https', async () => {
    const { send, sent } = answering([moved('https://pw.test/b'), { status: 200 }]);
    await openLink(source(send, 'http://pw.test'), 'http://pw.test/a');
    expect(sent).toEqual(['GET http://pw.test/a Bearer MARKER', 'GET https://pw.test/b -']);
  });

  test.each([
    [503, {}, 0],
    [500, {}, 0],
    [429, { 'retry-after': '7' }, 7],
    [404, {}, undefined],
    [200.5, {}, undefined],
  ])('that answers %d is worth another try in %j', async (status, headers, again) => {
    const { send } = answering([{ status, headers }]);
    const failure = await openLink(source(send), 'https://pw.test/a').catch((error) => error);
    expect(worthAnotherTry(failure)).toBe(again);
  });

  test.each([
    [400, 'file-link-no-file'],
    [401, 'file-link-expired'],
    [403, 'file-link-expired'],
    [404, 'file-link-expired'],
    [410, 'file-link-expired'],
  ] as const)('that answers %d has the reason %s', async (status, reason) => {
    const facts = [phrase('file-link-returned', status), phrase(reason)];
    await expect(openLink(source(answering([{ status }]).send), '/a')).rejects.toMatchObject({ facts });
  });

  test('that breaks is worth another try at once', () => {
    expect(worthAnotherTry(new TransportError('cut', { sent: true }))).toBe(0);
    expect(worthAnotherTry(new Error('bug'))).toBeUndefined();
  });
});

describe('a download that breaks off', () => {
  const file = '0123456789';
  const tag = '"v1"';
  const broke = phrase('incomplete', 'pw.test');
  const head = (more = {}) => ({ 'content-length': '10', etag: tag, ...more });
  const begun = { status: 200, headers: head(), body: '0123', cut: true };
  const rest = (from: number, more = {}) => ({
    status: 206,
    headers: { etag: tag, 'content-range': `bytes ${from}-9/10`, ...more },
    body: file.slice(from),
  });

  /** Downloads from a link that gives these answers in turn; resumes up to `most` times. */
  async function download(answers: readonly Literal[], most = 5) {
    const { send, sent } = wire(answers);
    const resumed: (Fact | number)[] = [];
    const { body } = await openLink(source(send), 'https://pw.test/a', async (error, received) => {
      resumed.push(...error.facts, received);
      return resumed.length / 2 <= most;
    });
    let read = '';
    let failure: unknown;
    try {
      for await (const chunk of body) read += Buffer.from(chunk);
    } catch (error) {
      failure = error;
    }
    const asked = sent.map((one) => one.match(/(?<=range: ).*/g)?.join(' '));
    return { read, asked, resumed, failure };
  }

  test('continues with the rest of the same file, as often as it takes', async () => {
    const { read, asked, resumed, failure } = await download([
      begun,
      { ...rest(4), body: '4', cut: true },
      { status: 503, headers: { 'retry-after': '1' } },
      rest(5),
    ]);
    expect([failure, read]).toEqual([undefined, file]);
    expect(asked).toEqual([undefined, 'bytes=4- "v1"', 'bytes=5- "v1"', 'bytes=5- "v1"']);
    expect(resumed).toEqual([broke, 4, broke, 5, phrase('file-link-returned', 503), 5]);
  });

  test('ends with the reason when it is not resumed', async () => {
    const { read, failure } = await download([begun, { ...rest(4), body: '4', cut: true }], 1);
    expect([read, failure]).toEqual(['01234', expect.objectContaining({ facts: [broke] })]);
  });

  test.each([
    ['the whole file again, as it has changed', { status: 200, headers: head({ etag: '"v2"' }) }],
    ['another range', rest(3)],
    ['a range of a file of another size', rest(4, { 'content-range': 'bytes 4-9/11' })],
    ['no range', { status: 206, headers: { etag: tag } }],
    ['a range of another version', rest(4, { etag: '"v2"' })],
    ['a range with a weak ETag', rest(4, { etag: 'W/"v1"' })],
  ])('is worth another try when the answer is %s', async (_, answer) => {
    const { read, failure } = await download([begun, { ...answer, body: file }]);
    expect([read, worthAnotherTry(failure)]).toEqual(['0123', 0]);
  });

  test('is over when its link has expired', async () => {
    const { failure, resumed } = await download([begun, { status: 403, body: file }]);
    expect(failure).toMatchObject({ status: 403 });
    expect(resumed).toEqual([broke, 4]);
  });

  test.each([
    ['no ETag', { 'content-length': '10' }],
    ['a weak ETag', head({ etag: 'W/"v1"' })],
    ['no length', { etag: tag }],
    ['an ETag with a line end', head({ etag: '"v\r\n1"' })],
  ])('is not resumed with %s', async (_, headers) => {
    const { failure, asked, resumed } = await download([{ ...begun, headers }]);
    expect(failure).toMatchObject({ facts: [broke] });
    expect([asked, resumed]).toEqual([[undefined], []]);
  });
});
