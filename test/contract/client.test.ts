import { describe, expect, test } from 'vitest';
import { asking, type ForeignOutcome } from '../helpers/foreign';
import * as reference from '../helpers/reference';
import { json, type Literal } from '../helpers/wire';

// What goes over the wire, word for word as docs/wire.md and the specification have it; nothing here comes from
// src/contract, so that a mistake which client and service share shows.

const { AUDITED, CREATED, changed, EXPIRED, NOTIFIED, PREVIEWED, RETRIEVED, VERSION } = reference;

const TOKEN = { PWPUSH_TOKEN: 't0ken' };
const HEADERS = 'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0';
const AUTHORIZED = `${HEADERS}\nauthorization: Bearer t0ken`;
const JSON_TYPE = 'content-type: application/json';
const ONCE = 'idempotency-key: KEY';
const API = 'https://pw.test/api/v2';
const LINK = 'https://pw.test/p/quyul5r5w08/r\n';

interface Call {
  readonly answers: Literal | readonly Literal[];
  readonly line: string | readonly string[];
  readonly stdin?: string;
  readonly env?: Record<string, string>;
}

/** A command succeeds, prints that, and sends this. */
async function expectSent(
  { answers, line, ...conditions }: Call,
  stdout: string,
  ...sent: string[]
): Promise<void> {
  const words = typeof line === 'string' ? line.split(' ') : line;
  const outcome: ForeignOutcome = { code: 0, stdout, stderr: '', sent, waits: [] };
  expect(await asking([answers].flat(), words, conditions)).toEqual(outcome);
}

describe('a creation is one POST', () => {
  const post = (headers: string, fields: string, base = API) =>
    `POST ${base}/pushes\n${headers}\n${JSON_TYPE}\n${ONCE}\n\n{"push":{${fields}}}`;
  const created = json(201, CREATED);

  test('of the payload alone when nothing else is asked for', () =>
    expectSent(
      { answers: created, line: 'push', stdin: 'hunter2\n' },
      LINK,
      post(HEADERS, '"payload":"hunter2"'),
    ));

  test('of every field there is, with the token', async () => {
    const argv = [
      ...['push', '--kind', 'url', '--days', '3', '--views', '2', '--no-deletable'],
      ...['--no-retrieval-step', '--name', 'db', '--note', 'for Ann', '--accept-limits'],
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

  test('that e-mails its link too', () =>
    expectSent(
      {
        answers: json(201, changed(CREATED, { notify_emails_to: 'ann@example.com' })),
        line: 'push --notify ann@example.com --locale pt-BR',
        ...{ env: TOKEN, stdin: 'x' },
      },
      LINK.replace('\n', '?locale=pt-BR\n'),
      post(
        AUTHORIZED,
        '"payload":"x","notify_emails_to":"ann@example.com","notify_emails_to_locale":"pt-BR"',
      ),
    ));

  test('below a path where the instance is', () => {
    const link = LINK.replace('pw.test', 'pw.test/secrets');
    const answers = json(201, changed(CREATED, { html_url: link.trim() }));
    const line = 'push --url https://pw.test/secrets/';
    const sent = post(HEADERS, '"payload":"x"', 'https://pw.test/secrets/api/v2');
    return expectSent({ answers, line, stdin: 'x' }, link, sent);
  });
});

describe('a retrieval is one GET', () => {
  const answers = json(200, RETRIEVED);

  test('without a query when there is no passphrase', () =>
    expectSent(
      { answers, line: 'get quyul5r5w08' },
      'hunter2',
      `GET ${API}/pushes/quyul5r5w08\n${HEADERS}\n${ONCE}`,
    ));

  test('with the passphrase as a query parameter, encoded as a form', () =>
    expectSent(
      {
        ...{ answers, line: 'get quyul5r5w08' },
        env: { ...TOKEN, PWPUSH_PASSPHRASE: 'a&b c+ü#' },
      },
      'hunter2',
      `GET ${API}/pushes/quyul5r5w08?passphrase=a%26b+c%2B%C3%BC%23\n${AUTHORIZED}\n${ONCE}`,
    ));

  test('below the path of a pasted link, which gets no token of the instance at the root', () =>
    expectSent(
      { answers, line: 'get https://pw.test/secrets/p/quyul5r5w08/r?locale=fr', env: TOKEN },
      'hunter2',
      `GET https://pw.test/secrets/api/v2/pushes/quyul5r5w08\n${HEADERS}\n${ONCE}`,
    ));
});

test('preview is GET …/preview', () =>
  expectSent(
    { answers: json(200, PREVIEWED), line: 'preview quyul5r5w08' },
    LINK,
    `GET ${API}/pushes/quyul5r5w08/preview\n${HEADERS}`,
  ));

test('expire is DELETE of the push', () =>
  expectSent(
    { answers: json(200, EXPIRED), line: 'expire quyul5r5w08', env: TOKEN },
    '',
    `DELETE ${API}/pushes/quyul5r5w08\n${AUTHORIZED}`,
  ));

test('audit is GET …/audit page by page, until an empty one', () =>
  expectSent(
    {
      answers: [json(200, AUDITED), json(200, '{"logs":[]}')],
      ...{ line: 'audit quyul5r5w08', env: TOKEN },
    },
    '2026-08-20T10:06:45.000Z\tview\t203.0.113.7\tcurl/8.5.0\t\n' +
      '2026-08-19T11:06:45.000Z\tcreation\t198.51.100.1\t\t\n',
    ...[1, 2].map((page) => `GET ${API}/pushes/quyul5r5w08/audit?page=${page}\n${AUTHORIZED}`),
  ));

test('notify is POST …/notify_emails with each address once, separated by commas', () => {
  const addresses = ['ann@example.com, bob@example.com', 'ann@example.com'];
  return expectSent(
    {
      answers: json(201, NOTIFIED),
      line: ['notify', 'quyul5r5w08', ...addresses, '--locale', 'fr', '--json'],
      env: TOKEN,
    },
    `${NOTIFIED}\n`,
    `POST ${API}/pushes/quyul5r5w08/notify_emails\n${AUTHORIZED}\n${JSON_TYPE}\n\n` +
      '{"notify_emails_to":"ann@example.com,bob@example.com","notify_emails_to_locale":"fr"}',
  );
});

test.each([
  [
    'list',
    `[${CREATED}]`,
    'quyul5r5w08\t\t2026-08-20T11:06:45.000Z\t5\t5\t7\t7\tstep,deletable\n',
    'active?page=1',
  ],
  [
    'list expired --page 3',
    `[${EXPIRED}]`,
    'quyul5r5w08\t\t2026-08-19T11:06:45.000Z\t2026-08-20T11:06:45.000Z\tdeleted\n',
    'expired?page=3',
  ],
])('%s is GET of the state with the page', (line, body, stdout, path) =>
  expectSent(
    { answers: json(200, body), line, env: TOKEN },
    stdout,
    `GET ${API}/pushes/${path}\n${AUTHORIZED}`,
  ),
);

test.each([
  [
    'of API 2.1, with its features',
    VERSION,
    'version --json',
    `${VERSION.slice(0, -1)},"pwpush":"0.1.0","url":"https://pw.test"}\n`,
  ],
  [
    'where requests is a boolean, not an object, and the edition is not told',
    '{"application_version":"2.5.0","api_version":"2.1","features":{"requests":true}}',
    'version',
    'pwpush\t0.1.0\ninstance\thttps://pw.test\napplication\t2.5.0\napi\t2.1\nedition\t\n',
  ],
])('version is GET /version %s', (_what, body, line, stdout) =>
  expectSent({ answers: json(200, body), line }, stdout, `GET ${API}/version\n${HEADERS}`),
);
