import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import * as reference from '../helpers/reference';
import { json, type Literal } from '../helpers/wire';

// What goes over the wire, word for word as docs/wire.md and the specification have it; nothing here comes from
// src/contract, so that a mistake which client and service share shows. What is printed is told by test/cases.

const { AUDITED, CREATED, changed, EXPIRED, PREVIEWED, RETRIEVED, VERSION } = reference;

const TOKEN = { PWPUSH_TOKEN: 't0ken' };
const HEADERS = 'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0';
const AUTHORIZED = `${HEADERS}\nauthorization: Bearer t0ken`;
const JSON_TYPE = 'content-type: application/json';
const ONCE = 'idempotency-key: KEY';
const NO_IDENTITY = 'x-age-identity: none';
const API = 'https://pw.test/api/v2';

/** What a command sends that succeeds and says nothing. */
async function sentBy(
  line: string | readonly string[],
  answers: Literal | readonly Literal[],
  conditions: Parameters<typeof asking>[2] = {},
): Promise<string[]> {
  const words = typeof line === 'string' ? line.split(' ') : line;
  const { code, stderr, sent } = await asking([answers].flat(), words, conditions);
  expect([code, stderr]).toEqual([0, '']);
  return sent;
}

describe('a creation is one POST', () => {
  const post = (headers: string, fields: string, base = API) =>
    `POST ${base}/pushes\n${headers}\n${JSON_TYPE}\n${ONCE}\n\n{"push":{${fields}}}`;
  const created = json(201, CREATED);

  test('of the payload alone when nothing else is asked for', async () => {
    const sent = await sentBy('push', created, { stdin: 'hunter2\n' });
    expect(sent).toEqual([post(HEADERS, '"payload":"hunter2"')]);
  });

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
    expect(sent).toEqual([post(AUTHORIZED, fields)]);
  });

  test('that e-mails its link too', async () => {
    const answer = json(201, changed(CREATED, { notify_emails_to: 'ann@example.com' }));
    const line = 'push --notify ann@example.com --locale pt-BR';
    const fields = '"payload":"x","notify_emails_to":"ann@example.com","notify_emails_to_locale":"pt-BR"';
    const sent = await sentBy(line, answer, { env: TOKEN, stdin: 'x' });
    expect(sent).toEqual([post(AUTHORIZED, fields)]);
  });

  test('below a path where the instance is', async () => {
    const answer = json(201, changed(CREATED, { html_url: 'https://pw.test/secrets/p/abc' }));
    const sent = await sentBy('push --url https://pw.test/secrets/', answer, { stdin: 'x' });
    expect(sent).toEqual([post(HEADERS, '"payload":"x"', 'https://pw.test/secrets/api/v2')]);
  });
});

describe('a retrieval is one GET', () => {
  const answer = json(200, RETRIEVED);

  test('without a query when there is no passphrase', async () => {
    const sent = await sentBy('get quyul5r5w08', answer);
    expect(sent).toEqual([`GET ${API}/pushes/quyul5r5w08\n${HEADERS}\n${NO_IDENTITY}\n${ONCE}`]);
  });

  test('with the passphrase as a query parameter, encoded as a form', async () => {
    const env = { ...TOKEN, PWPUSH_PASSPHRASE: 'a&b c+ü#' };
    const query = 'passphrase=a%26b+c%2B%C3%BC%23';
    expect(await sentBy('get quyul5r5w08', answer, { env })).toEqual([
      `GET ${API}/pushes/quyul5r5w08?${query}\n${AUTHORIZED}\n${NO_IDENTITY}\n${ONCE}`,
    ]);
  });

  test('below the path of a pasted link, which gets no token of the instance at the root', async () => {
    const line = 'get https://pw.test/secrets/p/quyul5r5w08/r?locale=fr';
    const there = 'https://pw.test/secrets/api/v2/pushes/quyul5r5w08';
    expect(await sentBy(line, answer, { env: TOKEN })).toEqual([`GET ${there}\n${HEADERS}\n${NO_IDENTITY}\n${ONCE}`]);
  });
});

test.each<[string, Literal | Literal[], string | string[]]>([
  ['version', json(200, VERSION), 'GET /version'],
  [
    'preview quyul5r5w08 --quiet',
    [json(200, PREVIEWED), json(200, AUDITED), json(200, `[${CREATED}]`)],
    ['quyul5r5w08/preview', 'quyul5r5w08/audit?page=1', 'active?page=1'].map((path) => `GET /pushes/${path}`),
  ],
  ['expire quyul5r5w08', json(200, EXPIRED), 'DELETE /pushes/quyul5r5w08'],
  ['list', json(200, `[${CREATED}]`), 'GET /pushes/active?page=1'],
  ['list expired --page 3', json(200, `[${EXPIRED}]`), 'GET /pushes/expired?page=3'],
  [
    'audit quyul5r5w08',
    [json(200, AUDITED), json(200, '{"logs":[]}')],
    [1, 2].map((page) => `GET /pushes/quyul5r5w08/audit?page=${page}`),
  ],
])('what %s sends', async (line, answers, calls) => {
  const sent = [calls].flat().map((call) => `${call.replace('/', `${API}/`)}\n${AUTHORIZED}`);
  expect(await sentBy(line, answers, { env: TOKEN })).toEqual(sent);
});
