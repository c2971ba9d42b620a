import { spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { readHeadersFile } from '../../../src/profile/header-fields';
import { needsPrograms } from '../../helpers/needs';
import { changed, RETRIEVED, VERSION } from '../../helpers/reference';
import { type Conditions, type Place, place } from '../../helpers/run';
import { type Listening, listening, proxying } from '../../helpers/sockets';
import { cert, expiredCert, expiredKey, key, nextCert, nextKey } from '../../server/certificate';

// Access proxies in front of an instance, played by servers on this machine: one that wants headers, and one that wants a
// client certificate. Another server, for files, may see neither.

const SECRET = 's3rvice-t0ken-secret';
const ACCESS = `CF-Access-Client-Id: id.access\nCF-Access-Client-Secret: ${SECRET}\n`;

let here: Place;
let open: Listening[];
beforeEach(() => {
  here = place({ transport: undiciTransport });
  open = [];
  writeFileSync(here.file('ca.pem'), cert);
  writeFileSync(here.file('headers'), `# Cloudflare\n\n${ACCESS}`, { mode: 0o600 });
  writeFileSync(here.file('client.pem'), nextCert);
  writeFileSync(here.file('client.key'), nextKey, { mode: 0o600 });
});
afterEach(async () => {
  here.close();
  for (const one of open) await one.close();
});

interface Got {
  readonly line: string;
  readonly secret: string | string[] | undefined;
  /** The name in the client's certificate. */
  readonly client: string | undefined;
}

interface Server extends Listening {
  readonly url: string;
  readonly got: Got[];
}

type Talk = (request: IncomingMessage, response: ServerResponse) => void;

async function server(talk: Talk, tls?: ServerOptions): Promise<Server> {
  const got: Got[] = [];
  const one = await listening((request, response) => {
    const { method, url, headers } = request;
    const shown = tls ? (request.socket as TLSSocket).getPeerCertificate() : undefined;
    const client = shown?.serialNumber;
    got.push({ line: `${method} ${url}`, secret: headers['cf-access-client-secret'], client });
    talk(request, response);
  }, tls);
  open.push(one);
  return { ...one, got, url: `${tls ? 'https' : 'http'}://127.0.0.1:${one.port}` };
}

const instance: Talk = ({ url = '' }, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(url.endsWith('/version') ? VERSION : url.includes('active') ? '[]' : RETRIEVED);
};

/** A TLS server that ends a handshake without a known client certificate by an alert, as nginx and Envoy can. */
async function requiring(protocol: string): Promise<Pick<Listening, 'port' | 'close'>> {
  writeFileSync(here.file('server.key'), key);
  const line = `s_server ${protocol} -accept 127.0.0.1:0 -cert ca.pem -key server.key -Verify 1 -verify_return_error -CAfile client.pem`;
  const child = spawn('openssl', line.split(' '), { cwd: here.folder });
  child.stderr.resume();
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    if (/ACCEPT \S+:\d+/.test(said)) break;
  }
  const ended = once(child, 'exit');
  return {
    port: Number(/ACCEPT \S+:(\d+)/.exec(said)?.[1]),
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Cloudflare Access: the service token, or the login page. */
const cloudflare: Talk = (request, response) => {
  if (request.headers['cf-access-client-secret'] === SECRET) return instance(request, response);
  const location = 'https://team.cloudflareaccess.com/cdn-cgi/access/login/pw.test';
  response.writeHead(302, { location }).end();
};

const run = (words: string, conditions: Conditions = {}, ...more: string[]) =>
  here.under(conditions).run(...words.split(' '), ...more);

const headersFile = () => ({ env: { PWPUSH_HEADERS_FILE: here.file('headers') } });

describe('headers for an access proxy', () => {
  test('come from --header, a variable or the profile, and let requests through', async () => {
    const { url, got } = await server(cloudflare);
    const profile = { url, 'headers-file': here.file('headers') };
    const line = ['--header', `CF-Access-Client-Secret: ${SECRET}`];
    const codes = [
      await run(`version --url ${url}`),
      await run(`version --url ${url}`, {}, ...line),
      await here.run(...line, 'version', '--url', url, '--header', 'X-Other: 1'),
      await run(`version --url ${url}`, headersFile()),
    ].map(({ code }) => code);
    await here.keep({ current: 'work', profiles: { work: profile } });
    codes.push((await run('version')).code);
    expect([codes, got.map(({ secret }) => secret)]).toEqual([
      [1, 0, 0, 0, 0],
      [undefined, SECRET, SECRET, SECRET, SECRET],
    ]);
  });

  test('of --header replace those of the file by name', async () => {
    const { url, got } = await server(instance);
    await run(`version --url ${url}`, headersFile(), '--header', 'cf-access-client-SECRET: other');
    expect(got.map(({ secret }) => secret)).toEqual(['other']);
  });

  test('go to the origin of their profile only: not to a link, a redirect or a file elsewhere', async () => {
    const other = await server(({ url }, response) => response.end(url));
    const files = [
      { filename: 'a', content_type: 'x/y', url: `${other.url}/elsewhere` },
      { filename: 'b', content_type: 'x/y', url: '/files/redirected' },
      { filename: 'c', content_type: 'x/y', url: '/files/own' },
    ];
    const own = await server((request, response) => {
      if (request.url === '/files/redirected')
        return void response.writeHead(302, { location: '/files/again' }).end();
      if (request.url?.startsWith('/files/')) return void response.end('content');
      response.setHeader('content-type', 'application/json');
      const list = files.map((file) => ({ ...file, url: new URL(file.url, own.url).href }));
      response.end(changed(RETRIEVED, { files: list }));
    });
    const profile = { url: own.url, 'headers-file': here.file('headers') };
    await here.keep({ current: 'work', profiles: { work: profile } });
    const got = await run(`get abc --output ${here.file('out')}/`);
    await run(`get ${other.url}/p/abc`);
    await run(`version --url ${other.url}`);
    expect([got.code, own.got.map(({ line, secret }) => [line, secret])]).toEqual([
      0,
      [
        ['GET /api/v2/pushes/abc', SECRET],
        ['GET /files/redirected', SECRET],
        ['GET /files/again', undefined],
        ['GET /files/own', SECRET],
      ],
    ]);
    expect(other.got.map(({ secret }) => secret)).toEqual([undefined, undefined, undefined]);
  });

  test('of the profile of another instance go with a link to it', async () => {
    const { url, got } = await server(cloudflare);
    await here.keep({
      current: 'home',
      profiles: {
        home: { url: 'https://home.test', 'headers-file': here.file('none') },
        work: { url, 'headers-file': here.file('headers') },
      },
    });
    const { code } = await run(`get ${url}/p/abc`);
    expect([code, got[0]?.secret]).toEqual([0, SECRET]);
  });

  test('of --header that are not sent with a link are warned of', async () => {
    const { url, got } = await server(instance);
    const { stderr } = await run(
      `get ${url}/p/abc --url https://pw.test`,
      {},
      '--header',
      'X-A: 1',
    );
    expect([got.length, stderr]).toEqual([
      1,
      `warning: not sent to ${new URL(url).host}: --header; to send it, add --url ${url} --anonymous\n`,
    ]);
  });

  test('of --header: no command line is advised for a host that a shell would run', async () => {
    const { stderr } = await run(
      'get https://$(reboot).test/p/abc --url https://pw.test',
      {},
      '--header',
      'X-A: 1',
    );
    expect(stderr).toContain('warning: not sent to $(reboot).test: --header\n');
  });

  test('of PWPUSH_HEADERS_FILE are for no link without an address, but --url makes them so', async () => {
    const { url, got } = await server(cloudflare);
    const { code, stderr } = await run(`get ${url}/p/abc`, headersFile());
    expect([code === 0, got[0]?.secret, stderr.split('\n')[0]]).toEqual([
      false,
      undefined,
      `warning: not sent to ${new URL(url).host}: PWPUSH_HEADERS_FILE; to send it, add --url ${url} --anonymous`,
    ]);
    expect(await run(`get ${url}/p/abc --url ${url}`, headersFile())).toMatchObject({
      code: 0,
      stderr: '',
    });
    const elsewhere = { env: { ...headersFile().env, PWPUSH_URL: 'https://pw.test' } };
    expect((await run(`get ${url}/p/abc`, elsewhere)).stderr).not.toContain('warning');
  });

  test('are in no output, whatever fails: names only', async () => {
    const echo: Talk = (request, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' });
      response.end(`bad header ${request.headers['cf-access-client-secret']}`);
    };
    const { url } = await server(echo);
    const outcomes = [
      await run(`list --debug --url ${url}`, headersFile()),
      await run(`push --dry-run --url ${url} x`, headersFile()),
      await run(`push --dry-run --json --url ${url} x`, headersFile()),
      await run(`doctor --url ${url}`, headersFile()),
    ];
    expect(JSON.stringify(outcomes)).not.toContain(SECRET);
    expect(outcomes[1]?.stdout).toContain(
      'cf-access-client-id: ***\ncf-access-client-secret: ***\n',
    );
    expect(JSON.parse(outcomes[2]?.stdout ?? '')).toMatchObject({
      headers: ['cf-access-client-id', 'cf-access-client-secret'],
    });
  });

  test('are refused over plain http to another machine', async () => {
    expect(await run('version --url http://pw.test', headersFile())).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'pwpush: refusing to send headers over plain http to pw.test: anyone on the way could read them\n' +
        'hint: use https, or accept the risk in a profile for that address: pwpush profile set insecure true\n',
    });
  });

  test.each([
    ['secret', "--header is not of the form 'Name: value'"],
    ['Bad name: secret', "--header is not of the form 'Name: value'"],
    ['X-A:', '--header has no value'],
    ['X-A: sec\u001bret', 'the value of --header has control or non-ASCII characters'],
    ['X-A: sec\r\nX-B: ret', 'the value of --header has control or non-ASCII characters'],
    ['X-A: secrét', 'the value of --header has control or non-ASCII characters'],
    ['Authorization: secret', '--header sets authorization, which pwpush sets itself'],
    ['host: secret', '--header sets host, which pwpush sets itself'],
    ['Content-Length: 1', '--header sets content-length, which pwpush sets itself'],
    ['transfer-encoding: secret', '--header sets transfer-encoding, which pwpush sets itself'],
    ['Connection: secret', '--header sets connection, which pwpush sets itself'],
    ['Proxy-Authorization: secret', '--header sets proxy-authorization, which pwpush sets itself'],
  ])('are refused without their value: %j', async (line, message) => {
    expect(await run('version --url https://pw.test', {}, '--header', line)).toEqual({
      code: 2,
      stdout: '',
      stderr: `pwpush: ${message}\n`,
    });
  });

  test('of a file are refused by file and line', async () => {
    const refused = async (content: string, mode = 0o600) => {
      const path = here.file('headers');
      writeFileSync(path, content);
      chmodSync(path, mode);
      const { code, stderr } = await run('version --url https://pw.test', headersFile());
      expect(code).toBe(2);
      return stderr.split('\n')[0]?.replace(path, 'FILE');
    };
    expect([
      await refused('# one\n\nX-A: 1\nsecret\n'),
      await refused('X-A: 1\r\nx-a: secret\r\n'),
      await refused('# none\n'),
      await refused(ACCESS, 0o640),
    ]).toEqual([
      'pwpush: line 4 of the headers file "FILE" is not of the form \'Name: value\'',
      'pwpush: line 2 of the headers file "FILE" repeats x-a',
      'pwpush: the headers file "FILE" contains no header',
      'pwpush: the headers file "FILE" is open to other users',
    ]);
    const env = { PWPUSH_HEADERS_FILE: here.file('none') };
    expect((await run('version --url https://pw.test', { env })).stderr).toBe(
      `pwpush: cannot read the headers file "${here.file('none')}": no such file\n`,
    );
  });
});

test('a file of headers that belongs to another user is refused', async () => {
  const path = here.file('headers');
  const uid = process.getuid?.() || 1;
  if (process.getuid?.() === 0) chownSync(path, uid, uid);
  expect(() => readHeadersFile(path, uid + 1)).toThrow(
    `the headers file "${path}" belongs to another user`,
  );
});

describe('a client certificate', () => {
  const mutual = { key, cert, ca: nextCert, requestCert: true };
  const options = () => `--ca-file ${here.file('ca.pem')}`;
  const pair = () => `--cert ${here.file('client.pem')} --cert-key ${here.file('client.key')}`;

  test.each([
    ['-tls1_3', 'it requires a client certificate'],
    ['-tls1_2', 'it refused the TLS handshake'],
  ])(
    'is required: without one, or with another, nothing was sent (%s, needs openssl)',
    needsPrograms('openssl'),
    async (protocol, message) => {
      const { port, close } = await requiring(protocol);
      const url = `https://127.0.0.1:${port}`;
      const without = await run(`push x --url ${url} ${options()}`);
      writeFileSync(here.file('client.pem'), expiredCert);
      writeFileSync(here.file('client.key'), expiredKey);
      const other = await run(`push x --url ${url} ${options()} ${pair()}`);
      await close();
      const said = [without, other].map(({ code, stderr }) => [code, stderr.split('\n')[0]]);
      expect(said).toEqual([
        [9, `pwpush: 127.0.0.1:${port} cannot be reached: ${message}`],
        [9, `pwpush: 127.0.0.1:${port} cannot be reached: it refused the client certificate`],
      ]);
    },
  );

  test('comes from options, variables or the profile; the key may be in its file', async () => {
    const { url, got } = await server(instance, mutual);
    writeFileSync(here.file('both.pem'), nextKey + nextCert);
    const env = {
      PWPUSH_CERT_FILE: here.file('client.pem'),
      PWPUSH_CERT_KEY_FILE: here.file('client.key'),
    };
    const codes = [
      await run(`version --url ${url} ${options()} ${pair()}`),
      await run(`version --url ${url} ${options()} --cert ${here.file('both.pem')}`),
      await run(`version --url ${url} ${options()}`, { env }),
    ].map(({ code }) => code);
    const certs = { cert: here.file('client.pem'), 'cert-key': here.file('client.key') };
    const profile = { url, 'ca-file': here.file('ca.pem'), ...certs };
    await here.keep({ current: 'work', profiles: { work: profile } });
    codes.push((await run('version')).code);
    expect([codes, got.every(({ client }) => client !== undefined)]).toEqual([[0, 0, 0, 0], true]);
  });

  test('is used by doctor too', async () => {
    const { url } = await server(instance, mutual);
    const { stdout } = await run(`doctor --json --url ${url} ${options()} ${pair()}`);
    const checks: { name: string; status: string }[] = JSON.parse(stdout).checks;
    expect(checks.filter(({ name }) => /tls|api/.test(name))).toMatchObject([
      { name: 'tls', status: 'ok' },
      { name: 'api', status: 'ok' },
    ]);
  });

  test('is shown to no other origin, and to no proxy', async () => {
    const tls = { ...mutual, rejectUnauthorized: false };
    const other = await server((_request, response) => response.end('content'), tls);
    const own = await server((_request, response) => {
      const files = [{ filename: 'a', content_type: 'x/y', url: `${other.url}/files/1` }];
      response.setHeader('content-type', 'application/json');
      response.end(changed(RETRIEVED, { files }));
    }, tls);
    const line = `${options()} ${pair()}`;
    await run(`get abc --url ${own.url} --output ${here.file('out')}/ ${line}`);
    const proxy = await proxying(own.port);
    open.push(proxy);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    await run(`show abc --url https://proxied.test:${own.port} ${line}`, { env });
    const shown = ({ got }: Server) => got.map(({ client }) => client !== undefined);
    expect([readFileSync(here.file('out/a'), 'utf8'), shown(own), shown(other)]).toEqual([
      'content',
      [true, true],
      [false],
    ]);
  });

  test('with an encrypted key asks for the passphrase once, or is refused without a terminal', async () => {
    const { url } = await server(instance, mutual);
    const sealed = createPrivateKey(nextKey).export({
      ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' },
    });
    writeFileSync(here.file('client.key'), sealed);
    const line = `version --url ${url} ${options()} ${pair()}`;
    const prompts = [
      { secret: 'Passphrase of the private key:', answer: 'wrong' },
      { secret: 'Wrong, try again:', answer: 'open sesame' },
    ];
    expect((await run(line, { prompts })).code).toBe(0);
    expect(await run(line)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        `pwpush: the private key "${here.file('client.key')}" is encrypted, and there is no terminal to ask for its passphrase\n` +
        'hint: decrypt it with openssl pkey, and keep the file readable by you only\n',
    });
  });

  test.each([
    ['--cert NONE', 'cannot read the client certificate "NONE": no such file'],
    ['--cert headers', 'the client certificate "headers" contains no PEM certificate'],
    ['--cert client.pem', 'the private key "client.pem" contains no PEM private key'],
    [
      '--cert ca.pem --cert-key client.key',
      'the private key "client.key" does not belong to the client certificate',
    ],
    ['--cert-key client.key', '--cert-key is the key of a client certificate, but none is named'],
  ])('that cannot be used is refused: %s', async (line, message) => {
    const words = line.replaceAll(/(\S+\.(pem|key)|headers)/g, (name) => here.file(name));
    const { code, stderr } = await run(`version --url https://pw.test ${words}`);
    expect([code, stderr.split('\n')[0]?.replaceAll(`${here.folder}/`, '')]).toEqual([
      2,
      `pwpush: ${message}`,
    ]);
  });
});
