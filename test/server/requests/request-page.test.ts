import { beforeEach, describe, expect, test } from 'vitest';
import respondScript from '../../../src/server/page/browser/respond-form.ts?script';
import { type Call, inTab, opened, type TestService } from '../../helpers/service';

const KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
/** As it is in the page. */
const QUESTION = 'Which &lt;b&gt;password&lt;/b&gt;?';
const SENT = 'Your answer was sent';

let service: TestService;

beforeEach(async () => {
  service = await opened({ contact: 'it@example.com', title: 'Acme' });
});

async function request(fields: object = {}): Promise<string> {
  const body = { request: { request: 'Which <b>password</b>?', ...fields } };
  return (await service.call('POST', '/api/v2/requests', { ...service.asAdmin, body })).json.url_token;
}

const visit = (token: string, how?: Call, query = '') => service.call('GET', `/r/${token}${query}`, how);

/** Sends the form as a browser without script does. */
function send(token: string, own: Record<string, string>, headers: Record<string, string> = {}) {
  const named = Object.entries(own).map(([name, value]) => [`request[${name}]`, value]);
  return service.call('POST', `/r/${token}`, { fields: Object.fromEntries(named), headers });
}

/** The status, and whether the page says that. */
const said = async (answer: ReturnType<typeof send>, words: string) => {
  const { status, text } = await answer;
  return [status, text.includes(words)];
};

const sendFile = (token: string, value: string) => {
  const file = { name: 'request[files][]', filename: 'a.pem', value: 'AAA' };
  return service.call('POST', `/r/${token}`, { form: [{ name: 'request[response]', value }, file] });
};

async function answer(token: string, passphrase = '') {
  const path = `/api/v2/requests/${token}?passphrase=${passphrase}`;
  return (await service.call('GET', path, service.asAdmin)).json;
}

describe('the page of a request', () => {
  test('says who asks and what for, and takes an answer without script', async () => {
    const token = await request({ include_requestor: true, public_key: KEY });
    const { status, text } = await visit(token);
    expect(status).toBe(200);
    expect(text).toContain('Asked by <bdi translate="no">admin</bdi>.');
    expect(text).toContain(`<h2 dir="auto">${QUESTION}</h2>`);
    expect(text).toContain('it@example.com');
    expect(text).toContain('Without JavaScript the answer is sent unencrypted');
    expect(text).not.toContain('type="file"');
    expect(await said(send(token, { response: ' two\r\nlines ' }), SENT)).toEqual([200, true]);
    expect((await answer(token)).response).toBe(' two\nlines ');
  });

  test('has the policy of the other pages, and one script of its own', async () => {
    const { headers, text } = await visit(await request());
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; .*connect-src 'self'.*form-action 'self'/);
    expect(text).toContain(respondScript);
  });

  test('takes files where they are allowed', async () => {
    const token = await request({ response_file_attachments: true });
    expect((await visit(token)).text).toContain('enctype="multipart/form-data"');
    expect((await sendFile(token, '')).text).toContain(SENT);
    const { response, files } = await answer(token);
    expect([response, files.length, files[0].filename]).toEqual(['', 1, 'a.pem']);
    expect((await service.fetchLink(files[0].url)).text).toBe('AAA');
  });

  test('offers its owner the one file of an answer', async () => {
    const token = await request({ response_file_attachments: true });
    await sendFile(token, '');
    const { status, text } = await send(token, { api_token: service.adminToken });
    expect([status, text]).toEqual([200, expect.stringContaining('a.pem')]);
  });

  test('refuses files elsewhere, and keeps the text', async () => {
    const token = await request();
    expect(await said(sendFile(token, 'kept'), 'kept</textarea>')).toEqual([422, true]);
    expect((await send(token, { response: 'hunter2' })).status).toBe(200);
  });

  test('asks for the passphrase before the question, and sends it with the answer', async () => {
    const token = await request({ passphrase: 'sesame' });
    const locked = (await visit(token)).text;
    expect(locked).toContain('Enter the passphrase');
    // Who asked sent no secret.
    expect(locked).not.toContain('sender');
    expect(locked).not.toContain(QUESTION);
    const wrong = send(token, { passphrase: 'no' });
    expect(await said(wrong, 'Wrong passphrase.')).toEqual([401, true]);
    expect((await send(token, { response: 'x', passphrase: 'no' })).status).toBe(401);
    const open = (await send(token, { passphrase: 'sesame' })).text;
    expect(open).toContain('name="request[passphrase]" value="sesame"');
    expect((await send(token, { response: 'hunter2', passphrase: 'sesame' })).status).toBe(200);
    expect((await answer(token, 'sesame')).response).toBe('hunter2');
  });

  test('asks to press a button with a retrieval step', async () => {
    const token = await request({ retrieval_step: true });
    expect((await visit(token)).text).not.toContain(QUESTION);
    expect((await send(token, { open: '1' })).text).toContain(QUESTION);
  });

  test('says that it was answered, and nothing once it is closed', async () => {
    const token = await request();
    await send(token, { response: 'first' });
    const late = send(token, { response: 'second' });
    expect(await said(late, 'already answered')).toEqual([409, true]);
    expect((await visit(token)).text).toContain('already answered');
    await answer(token);
    const closed = await visit(token);
    const unknown = await visit('unknown-token');
    expect([closed.status, closed.text]).toEqual([404, unknown.text]);
    expect(closed.text).not.toContain('sender');
  });

  test('tells the script in JSON, in the language of the page', async () => {
    const token = await request();
    const headers = { accept: 'application/json', 'accept-language': 'de' };
    const blank = await send(token, { response: '' }, headers);
    expect([blank.status, blank.text]).toEqual([422, '{"error":"Geben Sie einen Text ein."}']);
    const sent = await send(token, { response: 'x' }, headers);
    expect([sent.status, sent.text]).toEqual([200, '{}']);
  });

  test('is not answered by a form of another site, nor by who prefetches it', async () => {
    const token = await request();
    const foreign = await send(token, { response: 'x' }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    const prefetch = visit(token, { headers: { 'sec-purpose': 'prefetch' } });
    expect(await said(prefetch, QUESTION)).toEqual([200, false]);
    const head = await service.call('HEAD', `/r/${token}`);
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await send(token, { response: 'x' })).status).toBe(200);
  });

  test('takes an answer also where the API needs a token', async () => {
    service = await opened({ anonymous: false });
    const token = await request();
    expect((await visit(token)).text).toContain(QUESTION);
    expect((await send(token, { response: 'hunter2' })).status).toBe(200);
    expect((await answer(token)).response).toBe('hunter2');
  });
});

test('a link repaired by the page keeps the public key', async () => {
  const visited = visit(`abcdefghijkl%23${KEY}`);
  expect(await said(visited, '1[a-zA-Z0-9]{58}')).toEqual([404, true]);
});

test('/r/ opens a push, as that of kind url in the open-source edition', async () => {
  const push = { payload: 'https://example.com/x', kind: 'url', retrieval_step: false };
  const token = await service.create(push);
  expect(await said(visit(token, { headers: inTab }), 'https://<strong>example.com</strong>/x')).toEqual([200, true]);
  const step = await service.create({ ...push, retrieval_step: true });
  expect((await send(step, {})).text).toContain('example.com');
});
