import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError, type Client, createClient } from '../../src/index';
import { type Listening, listening, rawServer } from '../helpers/listen';
import { CREATED, VERSION } from '../helpers/reference';

let server: Listening;
let client: Client;
const authorizations: (string | undefined)[] = [];

beforeEach(async () => {
  authorizations.length = 0;
  server = await listening((request, response) => {
    authorizations.push(request.headers.authorization);
    const found = request.url === '/x/api/v2/version' ? VERSION : CREATED;
    response.setHeader('content-type', 'application/json');
    response.statusCode = request.url?.includes('nosuchpush') ? 404 : 200;
    response.end(found);
  });
  client = createClient({ url: `http://127.0.0.1:${server.port}/x/`, token: 't0ken' });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

test('the client for Node programs speaks to its one instance, with its token', async () => {
  const version = await client.version();
  const created = await client.create({ payload: 'hunter2' });
  expect([version, created.html_url, server.seen, authorizations]).toEqual([
    JSON.parse(VERSION),
    'https://pw.test/p/quyul5r5w08/r',
    ['GET /x/api/v2/version', 'POST /x/api/v2/pushes'],
    ['Bearer t0ken', 'Bearer t0ken'],
  ]);
});

test('what fails is a CliError with its code and the HTTP status', async () => {
  const failure = await client.retrieve('nosuchpush').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CliError);
  expect(failure).toMatchObject({ code: 'not_found', status: 404 });
});

test('the signal ends a wait for Retry-After', async () => {
  const controller = new AbortController();
  const head = ['HTTP/1.1 429 Wait', 'retry-after: 60', 'connection: close', 'content-length: 0'];
  const busy = await rawServer((socket) => {
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    // The client closes when it has read the answer.
    socket.once('close', () => controller.abort());
  });
  const url = `http://127.0.0.1:${busy.port}`;
  const waiting = createClient({ url, signal: controller.signal });
  const failure = await waiting.version().catch((error: unknown) => error);
  await waiting.close();
  await busy.close();
  expect(failure).toBeInstanceOf(CliError);
  expect(failure).toMatchObject({ code: 'interrupted' });
  expect(busy.requests).toHaveLength(1);
});

test('an address that is none is refused at once', () => {
  expect(() => createClient({ url: 'ftp://pw.test' })).toThrow(
    expect.objectContaining({ code: 'usage' }),
  );
});

test('a token over plain http is refused, unless that is asked for', () => {
  const options = { url: 'http://pw.test', token: 't0ken' };
  expect(() => createClient(options)).toThrow(expect.objectContaining({ code: 'usage' }));
  expect(() => createClient({ ...options, insecure: true })).not.toThrow();
});

test('headers go along, and are refused if they are invalid or would be sent openly', async () => {
  const seen: unknown[] = [];
  const guarded = await listening(({ headers }, response) => {
    seen.push(headers['x-access']);
    response.setHeader('content-type', 'application/json').end(VERSION);
  });
  const url = `http://127.0.0.1:${guarded.port}`;
  const passing = createClient({ url, headers: { 'X-Access': 's3cret' } });
  await passing.version();
  await passing.close();
  await guarded.close();
  expect(seen).toEqual(['s3cret']);
  const wrong = { url: 'https://pw.test', headers: { Host: 's3cret' } };
  expect(() => createClient(wrong)).toThrow('header 1 sets host, which pwpush sets itself');
  const open = { url: 'http://pw.test', headers: { 'X-Access': 's3cret' } };
  expect(() => createClient(open)).toThrow('refusing to send headers over plain http to pw.test');
});
