import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError, type Client, createClient } from '../../src/index';
import { CREATED, VERSION } from '../helpers/reference';
import { type Listening, listening } from '../helpers/sockets';

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
