import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Phrase, phrase } from '../../../src/platform/errors';
import { type Listening, listening, socketServer } from '../../helpers/listen';
import { VERSION } from '../../helpers/reference';
import { failingAt, overSocket, proxying } from '../../helpers/sockets';
import { cert, key } from '../../server/certificate';

const folder = mkdtempSync(join(tmpdir(), 'pwpush-tls-'));
const certificate = join(folder, 'cert.pem');
let server: Listening;

beforeAll(async () => {
  writeFileSync(certificate, cert);
  server = await listening(
    (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(VERSION);
    },
    { key, cert },
  );
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const version = (host: string, argv: string[] = [], env: Record<string, string> = {}) =>
  overSocket(['version', '--url', `https://${host}:${server.port}`, ...argv], { env });

test('a self-signed certificate is refused; nothing is sent', async () => {
  const host = `localhost:${server.port}`;
  expect(await failingAt(`https://${host}`)).toMatchObject({
    code: 'unreachable',
    facts: [phrase('unreachable', host, phrase('certificate-self-signed'))],
    steps: [phrase('trust-certificate')],
  });
  expect(server.seen).toEqual([]);
});

test('a certificate is accepted with its CA, by option and by variable', async () => {
  const byOption = await version('localhost', ['--ca-file', certificate]);
  const byVariable = await version('localhost', [], { PWPUSH_CA_FILE: certificate });
  for (const outcome of [byOption, byVariable])
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
});

test('a certificate for another name is refused even with its CA', async () => {
  const host = `pw.localhost:${server.port}`;
  expect((await failingAt(`https://${host}`, { ca: cert })).facts).toEqual([
    phrase('unreachable', host, phrase('certificate-of-another')),
  ]);
});

test('--insecure takes any, and warns each time', async () => {
  const { code, stderr } = await version('pw.localhost', ['--insecure', '--quiet']);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: insecure: .*\n$/)]);
});

test('a proxy that refuses the tunnel: nothing was sent', async () => {
  const proxy = await socketServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'));
  });
  onTestFinished(proxy.close);
  const env = { HTTPS_PROXY: proxy.url };
  expect(await failingAt('https://pw.test', { env })).toMatchObject({
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
    onTestFinished(proxy.close);
    expect(await refusal('pw.test', { HTTPS_PROXY: proxy.url })).toEqual(refused);
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
    expect((await version('pw.localhost', ['--insecure', '--quiet'])).code).toBe(0);
  });
});
