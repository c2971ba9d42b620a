import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import * as reference from '../helpers/reference';
import { json, type Literal } from '../helpers/wire';

// What goes over the wire, word for word as docs/wire.md and the specification have it; nothing here comes from
// src/contract, so that a mistake which client and service share shows. What is printed, and what other commands send, is
// told by test/cases.

const { CREATED, changed, EXPIRED, RETRIEVED } = reference;

const TOKEN = { PWPUSH_TOKEN: 't0ken' };
const AUTHORIZED =
  'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0\nauthorization: Bearer t0ken';
const JSON_TYPE = 'content-type: application/json';
const ONCE = 'idempotency-key: KEY';
const NO_IDENTITY = 'x-age-identity: none';
const API = 'https://pw.test/api/v2';

/** What a command sends that succeeds and says nothing. */
async function sentBy(line: string, answer: Literal, conditions: Parameters<typeof asking>[2]): Promise<string[]> {
  const { code, stderr, sent } = await asking([answer], line.split(' '), conditions);
  expect([code, stderr]).toEqual([0, '']);
  return sent;
}

describe('a creation is one POST', () => {
  const post = (fields: string) => `POST ${API}/pushes\n${AUTHORIZED}\n${JSON_TYPE}\n${ONCE}\n\n{"push":{${fields}}}`;
  const created = json(201, CREATED);

  test('of every field there is, with the token', async () => {
    const argv = [
      ...['push', '--kind', 'url', '--days', '3', '--views', '2', '--no-deletable'],
      ...['--no-click', '--name', 'db', '--note', 'for Ann', '--accept-limits'],
    ];
    const { sent } = await asking([created], argv, {
      stdin: 'https://example.com/ü\n',
      env: { ...TOKEN, PWPUSH_EDITION: 'oss', PWPUSH_PASSPHRASE: 'correct horse' },
    });
    const fields =
      '"payload":"https://example.com/ü","kind":"url","expire_after_views":2,' +
      '"deletable_by_viewer":false,"retrieval_step":false,"expire_after_days":3,' +
      '"passphrase":"correct horse","name":"db","note":"for Ann"';
    expect(sent).toEqual([post(fields)]);
  });

  test('that e-mails its link too', async () => {
    const answer = json(201, changed(CREATED, { notify_emails_to: 'ann@example.com' }));
    const line = 'push --notify ann@example.com --locale pt-BR';
    const fields = '"payload":"x","notify_emails_to":"ann@example.com","notify_emails_to_locale":"pt-BR"';
    const sent = await sentBy(line, answer, { env: TOKEN, stdin: 'x' });
    expect(sent).toEqual([post(fields)]);
  });
});

test('a retrieval is one GET with the passphrase as a query parameter, encoded as a form', async () => {
  const env = { ...TOKEN, PWPUSH_PASSPHRASE: 'a&b c+ü#' };
  const query = 'passphrase=a%26b+c%2B%C3%BC%23';
  expect(await sentBy('get quyul5r5w08', json(200, RETRIEVED), { env })).toEqual([
    `GET ${API}/pushes/quyul5r5w08?${query}\n${AUTHORIZED}\n${NO_IDENTITY}\n${ONCE}`,
  ]);
});

test('a list is asked for by its page', async () => {
  const sent = await sentBy('list expired --page 3', json(200, `[${EXPIRED}]`), { env: TOKEN });
  expect(sent).toEqual([`GET ${API}/pushes/expired?page=3\n${AUTHORIZED}`]);
});
