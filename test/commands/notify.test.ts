import { expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { changed, NOTIFIED, VERSION } from '../helpers/reference';
import { json } from '../helpers/wire';

const notify = (...words: string[]) => ['notify', 'quyul5r5w08', ...words];
const NOT_FOUND = json(404, '{"error":"not-found"}');

test('addresses may have commas between them, and each is sent once', async () => {
  const argv = notify('a@x.test, b@x.test', 'a@x.test', '--json');
  const { sent, stdout } = await asking([json(201, NOTIFIED)], argv);
  expect(sent[0]).toContain('{"notify_emails_to":"a@x.test,b@x.test"}');
  expect(stdout).toBe(`${NOTIFIED}\n`);
});

test.each([[['a@x.test,']], [['a@x.test\nbcc:b@x.test']]])(
  '%j is bad usage, and nothing is sent',
  async (words) => {
    const { code, sent } = await asking([], notify(...words));
    expect([code, sent]).toEqual([2, []]);
  },
);

test.each([
  [changed(VERSION, { features: { pushes: { email_auto_dispatch: false } } })],
  ['{"application_version":"2.4.0","api_version":"2.0","edition":"oss"}'],
])('an instance without e-mail is known by its version: %s', async (version) => {
  const outcome = await asking([NOT_FOUND, json(200, version)], notify('a@example.com'));
  expect([outcome.code, lines(outcome).length]).toEqual([8, 2]);
});

test.each([json(200, VERSION), json(500, '')])(
  'a push that is not there is 5 where the instance has e-mail, or does not tell',
  async (version) => {
    const { code } = await asking([NOT_FOUND, version], notify('a@example.com'));
    expect(code).toBe(5);
  },
);

test.each([
  [401, 3],
  [403, 4],
  [422, 8],
  [500, 11],
])('a response of %d is exit %d', async (status, code) => {
  const { code: got } = await asking([json(status, '{"error":"no"}')], notify('a@example.com'));
  expect(got).toBe(code);
});
