import { describe, expect, test } from 'vitest';
import { openLink, worthAnotherTry } from '../../src/client/file-link';
import { TransportError } from '../../src/client/transport/network-errors';
import type { Transport } from '../../src/context';

interface Literal {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Gives these answers in turn, and writes down what was asked. */
function answering(answers: readonly Literal[]) {
  const sent: string[] = [];
  const left = [...answers];
  const send: Transport = async ({ method, url, headers, body }) => {
    sent.push(
      `${method} ${url} ${headers.authorization ?? '-'}${body === undefined ? '' : ' body'}`,
    );
    const { status, headers: told = {}, body: text = '' } = left.shift() ?? { status: 500 };
    const bytes = async function* () {
      yield Buffer.from(text);
    };
    return { status, headers: told, body: bytes() };
  };
  return { sent, send };
}

const source = (send: Transport, base = 'https://pw.test/sub') => ({
  base,
  token: 'MARKER',
  userAgent: 'pwpush/test',
  send,
  now: () => new Date(0),
});
const moved = (location: string): Literal => ({ status: 302, headers: { location } });

describe('the link of a file', () => {
  test('gives its length and content', async () => {
    const { send, sent } = answering([
      { status: 200, headers: { 'content-length': '5' }, body: 'bytes' },
    ]);
    const { length, body } = await openLink(source(send), 'https://pw.test/a?b#c');
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    expect([length, Buffer.concat(chunks).toString(), sent]).toEqual([
      5,
      'bytes',
      ['GET https://pw.test/a?b Bearer MARKER'],
    ]);
  });

  test.each([undefined, '-1', '5, 5', 'x'])(
    'with Content-Length %j has no length',
    async (value) => {
      const headers: Record<string, string> =
        value === undefined ? {} : { 'content-length': value };
      const { send } = answering([{ status: 200, headers }]);
      expect((await openLink(source(send), 'https://pw.test/a')).length).toBeUndefined();
    },
  );

  test.each([
    ['https://pw.test/a', 'Bearer MARKER'],
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
    ['http://pw.test/a', [], 'its link uses http: although the instance uses https'],
    ['ftp://pw.test/a', [], 'its link uses ftp:'],
    ['https://', [], 'the instance returned no valid link to it'],
    [
      'https://pw.test/a',
      [moved('http://pw.test/b')],
      'its link redirects from https to http://pw.test',
    ],
    [
      'https://pw.test/a',
      [moved('file:///etc/passwd')],
      'its link redirects from https to file://',
    ],
    ['https://pw.test/a', [moved('http://[')], 'its link redirects to an invalid address'],
    ['https://pw.test/a', [{ status: 302 }], 'its link returned 302; it is not a file'],
  ] as const)('%s is not followed when that is not safe', async (link, answers, message) => {
    const { send, sent } = answering(answers);
    await expect(openLink(source(send), link)).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining(message),
    });
    expect(sent).toHaveLength(answers.length);
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

  test('that breaks is worth another try at once', () => {
    expect(worthAnotherTry(new TransportError('cut', { sent: true }))).toBe(0);
    expect(worthAnotherTry(new Error('bug'))).toBeUndefined();
  });
});
