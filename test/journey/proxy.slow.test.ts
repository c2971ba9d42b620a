import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { alsoBinary, person, pwpush } from '../helpers/program';

const somebody = person();
const silent = () => {};

async function through(scheme: 'http' | 'https', talk: (socket: Socket) => void) {
  const proxy = await rawServer(talk);
  const { NO_PROXY: _none, ...rest } = somebody.env;
  const address = proxy.url.replace('http://', 'http://ann:s3cret@');
  const env = { ...rest, HTTP_PROXY: address, HTTPS_PROXY: address, PWPUSH_EDITION: 'oss' };
  const url = `${scheme}://instance.test`;
  const timeout = talk === silent ? '1' : '30';
  const words = ['push', '--timeout', timeout, '--url', url, '--anonymous', '-q', '--json'];
  const { code, stderr } = await pwpush(words, { env, input: 'MARKER' });
  await proxy.close();
  const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  return {
    code,
    message: error.message,
    requests: proxy.requests.map((one) => one.split('\r\n')[0]),
  };
}

const connect = ['CONNECT instance.test:443 HTTP/1.1'];

describe('a proxy for https', () => {
  test('that never answers is given up in time, with nothing sent', async () => {
    expect(await through('https', silent)).toEqual({
      code: 9,
      message: 'instance.test cannot be reached: the proxy did not respond in time',
      requests: connect,
    });
  });

  test('that hangs up is asked once', async () => {
    expect(await through('https', (socket) => socket.end())).toEqual({
      code: 9,
      message: 'instance.test cannot be reached: the connection was reset',
      requests: connect,
    });
  });

  test('that refuses is told from the instance', alsoBinary, async () => {
    const refused = await through('https', (socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'));
    expect(refused).toEqual({
      code: 9,
      message: 'instance.test cannot be reached: the proxy refused to connect to it',
      requests: connect,
    });
  });
});

describe('a proxy for http', () => {
  const post = ['POST http://instance.test/api/v2/pushes HTTP/1.1'];

  test('that never answers is given up in time: the outcome is open', async () => {
    expect(await through('http', silent)).toEqual({
      code: 11,
      message: 'instance.test did not respond within 1 s',
      requests: post,
    });
  });

  test('that wants a password has sent nothing on', alsoBinary, async () => {
    const answer = 'HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n';
    expect(await through('http', (socket) => socket.end(answer))).toEqual({
      code: 9,
      message: 'instance.test cannot be reached: the proxy requires a user name and password',
      requests: post,
    });
  });
});
