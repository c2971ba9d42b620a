import { expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { json } from '../helpers/wire';

// An instance, or a proxy in front of it, that sends back what it was sent. Pages: test/cases/unexpected-responses.txt.

const key = '-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDG\n';

const UNSAID = 'its response is not shown, as it repeats what was sent';

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
  // No echo.
  ['but a short passphrase inside another word', 'too many passphrases', 'hunter2'],
])('what an instance echoes is not printed: %s', async (what, message, payload) => {
  const answer = json(422, JSON.stringify({ error: message }));
  const env = { PWPUSH_PASSPHRASE: 'pass', PWPUSH_TOKEN: 't0ken' };
  const { stderr } = await asking([answer], ['push'], { env, stdin: payload });
  const said = what.startsWith('but') ? message : UNSAID;
  expect(stderr).toBe(`pwpush: the instance refused the request: ${said}\n`);
});

test('a passphrase that is the word itself is still told from a token', async () => {
  const answer = json(401, '{"error":"Wrong passphrase","message":"passphrase"}');
  const env = { PWPUSH_PASSPHRASE: 'passphrase' };
  const { code, stderr } = await asking([answer], ['get', 'quyul5r5w08'], { env });
  expect([code, stderr.split('\n')[0]]).toEqual([7, 'pwpush: wrong passphrase']);
});
