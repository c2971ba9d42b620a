import { describe, expect, test } from 'vitest';
import { type Fact, phrase } from '../../src/platform/errors';
import { asking, failing } from '../helpers/foreign';
import { html, json } from '../helpers/wire';

// An instance, or a proxy in front of it, that sends back what it was sent: none of it is printed.

const key = '-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDG\n';

async function refusedWith(error: string, payload: string): Promise<readonly Fact[]> {
  const answer = json(422, JSON.stringify({ error }));
  const push = { payload, passphrase: 'pass' };
  return (await failing([answer], (api) => api.create(push), { token: 't0ken' })).facts;
}

describe('what an instance echoes is not printed', () => {
  test.each([
    ['the payload', 'bad value hunter2hunter2!', 'hunter2hunter2'],
    ['the token', 'bad token t0ken', 'hunter2'],
    ['one line of the payload', `bad ${key.split('\n')[1]}`, key],
    ['the start of a long payload', `bad ${'x'.repeat(200)}`, 'x'.repeat(5000)],
    ['its end', 'bad …90123hunter2', '12345678901234567890123hunter2'],
    ['a short passphrase where it stands alone', 'pass: no', 'hunter2'],
    ['a short secret with a sign', 'no p@ss1!', 'p@ss1'],
    ['as a URL has it', 'GET /?q=a%20secret%2Fhere', 'a secret/here'],
    ['a short one in a URL', 'GET /?q=a%2Bb%40c&x', 'a+b@c'],
    ['as a page has it', 'a&lt;b&amp;c-hunter2', 'a<b&c-hunter2'],
    ['as JSON has it', 'password=\\"hunter2\\"', 'user=me\npassword="hunter2"\n'],
  ])('%s', async (_what, message, payload) => {
    expect(await refusedWith(message, payload)).toEqual([phrase('refused', phrase('body-hidden'))]);
  });

  test('a short passphrase inside another word does not count as an echo', async () => {
    const error = 'too many passphrases';
    expect(await refusedWith(error, 'hunter2')).toEqual([phrase('refused', error)]);
  });

  test('in a response that is a page', async () => {
    const answer = html(502, `<h1>POST {"push":{"payload":"hunter2hunter2"}}</h1>`);
    const push = { payload: 'hunter2hunter2' };
    const { facts } = await failing([answer], (api) => api.create(push));
    expect(facts).toEqual([phrase('failed', 502, phrase('body-hidden'))]);
  });

  test('a passphrase that is the word itself is still told from a token', async () => {
    const answer = json(401, '{"error":"Wrong passphrase","message":"passphrase"}');
    const { facts } = await failing([answer], (api) => api.retrieve('abc', 'passphrase'));
    expect(facts).toEqual([phrase('passphrase-wrong')]);
  });
});

describe('plain http to another machine', () => {
  const env = { PWPUSH_URL: 'http://pw.test' };

  test('is warned of', async () => {
    const answer = json(200, '{"url":"http://pw.test/p/abc"}');
    const { code, stderr } = await asking([answer], ['preview', 'abc'], { env });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: plain http: .*\n$/)]);
  });

  test('as JSON, when JSON was asked for', async () => {
    const answer = json(200, '{"url":"http://pw.test/p/abc"}');
    const { stderr } = await asking([answer], ['preview', 'abc', '--json'], { env });
    expect(Object.keys(JSON.parse(stderr).warning)).toEqual(['message']);
  });
});
