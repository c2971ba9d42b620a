import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Phrase, phrase } from '../../../src/platform/errors';
import { type Listening, listening, socketServer } from '../../helpers/listen';
import { needs } from '../../helpers/needs';
import { VERSION } from '../../helpers/reference';
import { failingAt, overSocket, proxying } from '../../helpers/sockets';

const folder = mkdtempSync(join(tmpdir(), 'pwpush-tls-'));
const certificate = join(folder, 'cert.pem');
const made = makeCertificate();
let server: Listening;

beforeAll(async () => {
  if (!made) return;
  server = await listening(
    (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(VERSION);
    },
    { key: readFileSync(join(folder, 'key.pem'), 'utf8'), cert: readFileSync(certificate, 'utf8') },
  );
});

afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true });
});

/** Self-signed for localhost; false where there is no openssl. */
function makeCertificate(): boolean {
  const line =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ' +
    '-subj /CN=localhost -addext subjectAltName=DNS:localhost,DNS:pw.test -keyout key.pem -out cert.pem';
  try {
    execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const refusingProxy = () =>
  socketServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'));
  });

const version = (host: string, argv: string[] = [], env: Record<string, string> = {}) =>
  overSocket(['version', '--url', `https://${host}:${server.port}`, ...argv], { env });

describe('TLS (needs openssl)', needs('openssl', made), () => {
  test('a self-signed certificate is refused; nothing is sent', async () => {
    const host = `localhost:${server.port}`;
    expect(await failingAt(`https://${host}`)).toMatchObject({
      code: 'unreachable',
      facts: [phrase('unreachable', host, phrase('certificate-self-signed'))],
      steps: [phrase('trust-certificate')],
    });
    expect(server.seen).toEqual([]);
  });

  test('is accepted with its CA, by option and by variable', async () => {
    const byOption = await version('localhost', ['--ca-file', certificate]);
    const byVariable = await version('localhost', [], { PWPUSH_CA_FILE: certificate });
    expect([byOption, byVariable].map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
  });

  test('a certificate for another name is refused even with its CA', async () => {
    const host = `127.0.0.1:${server.port}`;
    const ca = readFileSync(certificate, 'utf8');
    expect((await failingAt(`https://${host}`, { ca })).facts).toEqual([
      phrase('unreachable', host, phrase('certificate-of-another')),
    ]);
  });

  test('--insecure takes any, and warns each time', async () => {
    const { code, stderr } = await version('127.0.0.1', ['--insecure', '--quiet']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: insecure: .*\n$/)]);
  });

  test('through a proxy it is tunnelled, and checked all the same', async () => {
    const proxy = await proxying(server.port);
    const env = { https_proxy: `http://ann:s3cret@127.0.0.1:${proxy.port}` };
    const refused = await version('pw.test', [], env);
    const { code } = await version('pw.test', ['--ca-file', certificate], env);
    await proxy.close();
    const tunnel = `CONNECT pw.test:${server.port}`;
    const headers = proxy.headers.map((one) => one['proxy-authorization']);
    expect({ refused: refused.code, code, seen: proxy.seen, headers }).toEqual({
      refused: 9,
      code: 0,
      seen: [tunnel, tunnel],
      headers: ['Basic YW5uOnMzY3JldA==', 'Basic YW5uOnMzY3JldA=='],
    });
  });

  test('a proxy that refuses the tunnel: nothing was sent', async () => {
    const proxy = await refusingProxy();
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const error = await failingAt('https://pw.test', { env });
    await proxy.close();
    expect(error).toMatchObject({
      code: 'unreachable',
      facts: [phrase('unreachable', 'pw.test', phrase('proxy-needs-login'))],
      steps: [phrase('check-proxy')],
    });
  });

  describe('NODE_TLS_REJECT_UNAUTHORIZED=0 of the environment is not obeyed', () => {
    afterEach(() => void vi.unstubAllEnvs());
    const refusal = async (host: string, env: Record<string, string> = {}) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const before = server.seen.length;
      const { facts } = await failingAt(`https://${host}:${server.port}`, { env });
      const [why] = facts.flatMap((fact) => (fact as Phrase).of.slice(1));
      return [why, server.seen.length - before];
    };
    const refused = [phrase('certificate-self-signed'), 0];

    test('by a request', async () => {
      expect(await refusal('localhost')).toEqual(refused);
    });

    test('through the tunnel of a proxy', async () => {
      const proxy = await proxying(server.port);
      const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
      const outcome = await refusal('pw.test', env);
      await proxy.close();
      expect(outcome).toEqual(refused);
    });

    test('to a proxy that is reached over TLS', async () => {
      const env = { HTTPS_PROXY: `https://localhost:${server.port}` };
      expect(await refusal('pw.test', env)).toEqual(refused);
    });

    test('through a proxy that forwards plain http', async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const env = { HTTP_PROXY: `https://localhost:${server.port}` };
      const before = server.seen.length;
      const { code } = await overSocket(['version', '--url', 'http://pw.test'], { env });
      expect([code, server.seen.length - before]).toEqual([9, 0]);
    });

    test('but --insecure is', async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '1');
      expect((await version('127.0.0.1', ['--insecure', '--quiet'])).code).toBe(0);
    });
  });

  test.each(['key.pem', 'none.pem'])(
    'a CA file without a certificate, or none: %s',
    async (name) => {
      const { code, stdout } = await version('localhost', ['--ca-file', join(folder, name)]);
      expect([code, stdout]).toEqual([2, '']);
    },
  );
});
