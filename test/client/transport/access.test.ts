import { createPrivateKey } from 'node:crypto';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { readHeadersFile } from '../../../src/profile/credentials';
import { asking } from '../../helpers/foreign';
import { changed, RETRIEVED, VERSION } from '../../helpers/reference';
import { type Conditions, type Place, place } from '../../helpers/run';
import { proxying } from '../../helpers/sockets';
import { cert, key, nextCert, nextKey } from '../../server/certificate';
import { recordingServer, type Server } from './recording-server';

// Access proxies in front of an instance, played by servers on this machine: one that wants headers, and one that wants a
// client certificate. Another server, for files, may see neither. What is refused is told by
// test/cases/headers-refused.txt.

const SECRET = 's3rvice-t0ken-secret';
const ACCESS = `CF-Access-Client-Id: id.access\nCF-Access-Client-Secret: ${SECRET}\n`;

let here: Place;
beforeEach(() => {
  here = place({ transport: undiciTransport });
  writeFileSync(here.file('ca.pem'), cert);
  writeFileSync(here.file('headers'), `# Cloudflare\n\n${ACCESS}`, { mode: 0o600 });
  writeFileSync(here.file('client.pem'), nextCert);
  writeFileSync(here.file('client.key'), nextKey, { mode: 0o600 });
});

const instance: RequestListener = ({ url = '' }, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(url.endsWith('/version') ? VERSION : url.includes('active') ? '[]' : RETRIEVED);
};

/** Cloudflare Access: the service token, or the login page. */
const cloudflare: RequestListener = (request, response) => {
  if (request.headers['cf-access-client-secret'] === SECRET) return instance(request, response);
  const location = 'https://team.cloudflareaccess.com/cdn-cgi/access/login/pw.test';
  response.writeHead(302, { location }).end();
};

const run = (words: string, conditions: Conditions = {}) => here.under(conditions).run(...words.split(' '));

const headersFile = () => ({ env: { PWPUSH_HEADERS_FILE: here.file('headers') } });
const secretsOf = ({ got }: Server) => got.map(({ headers }) => headers['cf-access-client-secret']);

describe('headers for an access proxy', () => {
  test('come from an option, a variable or the profile, and let requests through', async () => {
    const server = await recordingServer(cloudflare);
    const { url } = server;
    const version = `version --url ${url}`;
    const option = `--headers-file ${here.file('headers')}`;
    writeFileSync(here.file('others'), 'X-Other: 1', { mode: 0o600 });
    const others = { env: { PWPUSH_HEADERS_FILE: here.file('others') } };
    expect((await run(version)).code).toBe(1);
    expect((await run(`${version} ${option}`)).code).toBe(0);
    expect((await run(`${version} ${option}`, others)).code).toBe(0);
    expect((await run(version, headersFile())).code).toBe(0);
    const work = { url, 'headers-file': here.file('headers') };
    await here.keep({ current: 'work', profiles: { work } });
    expect((await run('version')).code).toBe(0);
    // Those of the profile of another instance go with a link to it.
    const home = { url: 'https://home.test', 'headers-file': here.file('none') };
    await here.keep({ current: 'home', profiles: { home, work } });
    expect((await run(`get ${url}/p/abc`)).code).toBe(0);
    expect(secretsOf(server)).toEqual([undefined, ...Array(5).fill(SECRET)]);
  });

  test('go to the origin of their profile only: not to a link, a redirect or a file elsewhere', async () => {
    const other = await recordingServer(({ url }, response) => response.end(url));
    const own = await recordingServer((request, response) => {
      if (request.url === '/files/redirected') return void response.writeHead(302, { location: '/files/again' }).end();
      if (request.url?.startsWith('/files/')) return void response.end('content');
      const urls = [`${other.url}/elsewhere`, `${own.url}/files/redirected`, `${own.url}/files/own`];
      const files = urls.map((url, at) => ({ filename: `${at}`, content_type: 'x/y', url }));
      response.setHeader('content-type', 'application/json');
      response.end(changed(RETRIEVED, { files }));
    });
    const profile = { url: own.url, 'headers-file': here.file('headers') };
    await here.keep({ current: 'work', profiles: { work: profile } });
    expect((await run(`get abc --output ${here.file('out')}/`)).code).toBe(0);
    await run(`get ${other.url}/p/abc`);
    await run(`version --url ${other.url}`);
    expect(own.got.map(({ line }, at) => [line, secretsOf(own)[at]])).toEqual([
      ['GET /api/v2/pushes/abc', SECRET],
      ['GET /files/redirected', SECRET],
      ['GET /files/again', undefined],
      ['GET /files/own', SECRET],
    ]);
    expect(new Set(secretsOf(other))).toEqual(new Set([undefined]));
  });

  test('of PWPUSH_HEADERS_FILE are for no link without an address, but --url makes them so', async () => {
    const server = await recordingServer(cloudflare);
    const { url } = server;
    const { code, stderr } = await run(`get ${url}/p/abc`, headersFile());
    expect([code === 0, new Set(secretsOf(server))]).toEqual([false, new Set([undefined])]);
    expect(stderr).toContain(` --url ${url} --anonymous\n`);
    const named = await run(`get ${url}/p/abc --url ${url}`, headersFile());
    expect(named).toMatchObject({ code: 0, stderr: '' });
    const elsewhere = { env: { ...headersFile().env, PWPUSH_URL: 'https://pw.test' } };
    const told = await run(`get ${url}/p/abc`, elsewhere);
    expect([told.code, told.stderr.includes('warning')]).toEqual([1, false]);
    expect(told.stderr).toContain('an access proxy in front of');
  });

  test('are in no output, whatever fails: names only', async () => {
    const { url } = await recordingServer((request, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' });
      response.end(`bad header ${request.headers['cf-access-client-secret']}`);
    });
    const lines = ['list --debug', 'doctor', 'push x --dry-run', 'push x --dry-run --json'];
    const outcomes = [];
    for (const line of lines) outcomes.push(await run(`${line} --url ${url}`, headersFile()));
    expect(JSON.stringify(outcomes)).not.toContain(SECRET);
    const [shown, json] = outcomes.slice(2).map(({ stdout }) => stdout);
    expect(shown).toContain('cf-access-client-id: ***\ncf-access-client-secret: ***\n');
    const headers = ['cf-access-client-id', 'cf-access-client-secret'];
    expect(JSON.parse(json ?? '')).toMatchObject({ headers });
  });

  test.each([
    ...['Bad name: secret', 'X-A: sec\u001bret', 'X-A: sec\rret', 'host: secret'],
    'Content-Length: 1',
    ...['transfer-encoding: secret', 'Connection: secret', 'Proxy-Authorization: secret'],
  ])('are refused without their value: %j', async (line) => {
    writeFileSync(here.file('headers'), line);
    const message = expect.not.stringMatching(/secr|ret\b/);
    await expect(readHeadersFile(here.file('headers'), process.getuid?.())).rejects.toThrow(
      expect.objectContaining({ code: 'usage', message }),
    );
  });

  test('of a file are refused where others may read it, and from that of another user', async () => {
    const path = here.file('headers');
    const uid = process.getuid?.() || 1;
    const root = process.getuid?.() === 0;
    if (root) chownSync(path, uid, uid);
    const told = async (mode: number, user = uid) => {
      chmodSync(path, mode);
      return readHeadersFile(path, user).then(Object.keys, ({ message }) => message);
    };
    const names = await told(0o600);
    expect(names).toContain('cf-access-client-secret');
    expect(await told(0o600, uid + 1)).toContain('another user');
    for (const mode of [0o640, 0o620, 0o604, 0o602])
      expect(await told(mode), `${mode}`).toContain('open to other users');
    if (!root) return;
    chownSync(path, 0, uid);
    // As Kubernetes mounts secrets.
    for (const mode of [0o640, 0o604]) expect(await told(mode)).toEqual(names);
    for (const mode of [0o620, 0o602]) expect(await told(mode)).toContain('open to other users');
  });
});

describe('a client certificate', () => {
  const mutual = { key, cert, ca: nextCert, requestCert: true };
  const options = () => `--ca-file ${here.file('ca.pem')}`;
  const pair = () => `--cert ${here.file('client.pem')} --cert-key ${here.file('client.key')}`;

  test('comes from options, variables or the profile; the key may be in its file', async () => {
    const { url, got } = await recordingServer(instance, mutual);
    writeFileSync(here.file('both.pem'), nextKey + nextCert);
    const [cert, key] = [here.file('client.pem'), here.file('client.key')];
    const env = { PWPUSH_CERT_FILE: cert, PWPUSH_CERT_KEY_FILE: key };
    for (const [words, conditions] of [
      [pair(), {}],
      [`--cert ${here.file('both.pem')}`, {}],
      ['--quiet', { env }],
    ] as const)
      expect((await run(`version --url ${url} ${options()} ${words}`, conditions)).code).toBe(0);
    const work = { url, 'ca-file': here.file('ca.pem'), cert, 'cert-key': key };
    await here.keep({ current: 'work', profiles: { work } });
    expect((await run('doctor --json')).stdout).toContain('{"name":"api","status":"ok"');
    expect(got.filter(({ client }) => client === undefined)).toEqual([]);
    expect(got.length).toBeGreaterThan(3);
  });

  test('is shown to no other origin, and to no proxy', async () => {
    const tls = { ...mutual, rejectUnauthorized: false };
    const other = await recordingServer((_request, response) => response.end('content'), tls);
    const own = await recordingServer((_request, response) => {
      const files = [{ filename: 'a', content_type: 'x/y', url: `${other.url}/files/1` }];
      response.setHeader('content-type', 'application/json');
      response.end(changed(RETRIEVED, { files }));
    }, tls);
    const line = `${options()} ${pair()}`;
    await run(`get abc --url ${own.url} --output ${here.file('out')}/ ${line}`);
    const proxy = await proxying(own.port);
    const env = { HTTPS_PROXY: proxy.url };
    await run(`preview abc --url https://proxied.test:${own.port} ${line}`, { env });
    const shown = ({ got }: Server) => got.map(({ client }) => client !== undefined);
    expect([readFileSync(here.file('out/a'), 'utf8'), shown(own), shown(other)]).toEqual([
      'content',
      [true, true],
      [false],
    ]);
  });

  test('with an encrypted key asks for the passphrase once, or is refused without a terminal', async () => {
    const { url } = await recordingServer(instance, mutual);
    const encrypted = { cipher: 'aes-256-cbc', passphrase: 'open sesame' };
    const sealed = createPrivateKey(nextKey).export({ type: 'pkcs8', format: 'pem', ...encrypted });
    writeFileSync(here.file('client.key'), sealed);
    const line = `version --url ${url} ${options()} ${pair()}`;
    const prompts = [
      { secret: 'Passphrase of the private key:', answer: 'wrong' },
      { secret: 'Wrong, try again:', answer: 'open sesame' },
    ];
    expect((await run(line, { prompts })).code).toBe(0);
    expect(await run(line)).toMatchObject({ code: 2, stdout: '' });
  });

  test('without its key, or with that of another, is refused', async () => {
    const other = `--cert ${here.file('ca.pem')} --cert-key ${here.file('client.key')}`;
    for (const words of [`--cert ${here.file('client.pem')}`, other])
      expect((await run(`version --url https://pw.test ${words}`)).code).toBe(2);
  });
});

describe('what answers in front of an instance is named, and nobody is told to log in', () => {
  const said = async (status: number, headers: Record<string, string>, body = '') => {
    const answers = [{ status, headers, body }];
    const { code, stderr } = await asking(answers, ['push', 'x', '--quiet']);
    return [code, stderr.includes('something in front of pw.test')];
  };
  type Front = Parameters<typeof said>;
  const page = '<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>';
  const plain = { 'content-type': 'text/plain' };

  test.each<Front>([
    [403, { 'content-type': 'text/html' }, page],
    [403, {}, '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
    [403, { ...plain, 'cf-mitigated': 'challenge' }, 'no'],
    [403, plain, 'RBAC: access denied'],
    [429, { ...plain, 'cf-mitigated': 'challenge' }, page],
    [401, { ...plain, 'www-authenticate': 'Basic realm="intranet"' }, 'no'],
    [401, { 'www-authenticate': 'Negotiate' }],
    [401, { 'www-authenticate': 'Basic' }, '{"message":"Unauthorized"}'],
    [401, { 'content-type': 'text/html' }, '<html><h1>401 Authorization Required</h1></html>'],
    [406, {}, '<head><title>Not Acceptable!</title></head>'],
  ])('%i %j', async (...front) => {
    expect(await said(...front)).toEqual([1, true]);
  });

  test.each<[...Required<Front>, code: number]>([
    [401, { 'content-type': 'text/html' }, '', 3],
    [401, { 'www-authenticate': 'Token realm="Application"' }, '', 3],
    [401, { 'www-authenticate': 'Basic, Bearer' }, 'no', 3],
    [401, { 'www-authenticate': 'Basic' }, '{"error":"You need to sign in"}', 3],
    [403, plain, 'Retry later', 10],
    [403, plain, 'Request throttled', 10],
    [403, plain, 'Too many requests', 10],
    [403, plain, 'Rate limit exceeded', 10],
    ...[400, 413, 422].map((status): [...Required<Front>, number] => [status, {}, page, 8]),
    [404, {}, page, 5],
    [429, {}, page, 10],
    [403, {}, '{"error":"no"}', 4],
  ])('but the instance is not: %i %j %s', async (status, headers, body, code) => {
    expect(await said(status, headers, body)).toEqual([code, false]);
  });
});

test.each([
  '<input type="password">',
  "<input type='password'>",
  '<input type=password>',
  '<a>Log in</a>',
  '<a>login</a>',
  '<a>Sign in</a>',
  '<a>sign-in</a>',
  '<p>Single sign-on</p>',
  '<title>SSO of example</title>',
  '<p>Cloudflare Access</p>',
  '<img src="/cdn-cgi/access/logo">',
])('a page to log in at is named: %s', async (content) => {
  for (const status of [200, 401, 403]) {
    const answer = { status, headers: {}, body: `<html>${content}</html>` };
    const { code, stderr } = await asking([answer], ['push', 'x', '--quiet']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('login page')]);
  }
});

describe('what says itself that nothing got through to the instance is told so, and nothing else is', () => {
  const edge = { server: 'cloudflare', 'cf-ray': '9f2-FRA' };
  test.each<[number, Record<string, string>, string, number]>([
    [511, { 'content-type': 'text/html' }, '<html>Welcome to the hotel</html>', 9],
    [521, edge, 'error code: 521', 9],
    [523, edge, '', 9],
    [525, edge, '', 9],
    [526, edge, '<html></html>', 9],
    [530, edge, 'error code: 1033', 9],
    [530, edge, 'error code: 1000', 11],
    // The instance may have the request: it sent no answer (520), acknowledged nothing (522) or took too long (524).
    [520, edge, '', 11],
    [522, edge, '', 11],
    [524, edge, '', 11],
    [521, { server: 'nginx' }, '', 11],
    [526, { server: 'cloudflare' }, '', 11],
  ])('%i %j %s: exit %i', async (status, headers, body, code) => {
    for (const words of ['push x', 'get abc'])
      expect((await asking([{ status, headers, body }], words.split(' '))).code).toBe(code);
  });
});
