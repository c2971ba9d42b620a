import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import {
  AUDITED,
  CREATED,
  changed,
  EXPIRED,
  NOTIFIED,
  PREVIEWED,
  RETRIEVED,
  VERSION,
} from '../helpers/reference';
import { json } from '../helpers/wire';

// What goes over the wire, word for word as docs/wire.md and the specification have it; nothing here comes from
// src/contract, so that a mistake which client and service share shows.

const TOKEN = { PWPUSH_TOKEN: 't0ken' };
const HEADERS = 'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0';
const AUTHORIZED = `${HEADERS}\nauthorization: Bearer t0ken`;
const ONCE = 'idempotency-key: KEY';
const WITH_BODY = `${HEADERS}\ncontent-type: application/json\n${ONCE}\n\n`;

describe('a creation is one POST', () => {
  test('of the payload alone when nothing else is asked for', async () => {
    expect(await asking([json(201, CREATED)], ['push'], { stdin: 'hunter2\n' })).toEqual({
      code: 0,
      stdout: 'https://pw.test/p/quyul5r5w08/r\n',
      stderr: '',
      sent: [`POST https://pw.test/api/v2/pushes\n${WITH_BODY}{"push":{"payload":"hunter2"}}`],
      waits: [],
    });
  });

  test('of days only when days are asked for', async () => {
    const answer = json(201, CREATED.replace('"expire_after_days":7', '"expire_after_days":1'));
    const { code, sent } = await asking([answer], ['push', '--days', '1'], {
      stdin: 'hunter2',
      env: { PWPUSH_EDITION: 'oss' },
    });
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [
        `POST https://pw.test/api/v2/pushes\n${WITH_BODY}{"push":{"payload":"hunter2","expire_after_days":1}}`,
      ],
    });
  });

  test('of every field there is, with the token', async () => {
    const argv = [
      ...['push', '--kind', 'url', '--days', '3', '--views', '2', '--no-deletable'],
      ...['--no-retrieval-step', '--name', 'db', '--note', 'for Ann'],
      '--accept-limits',
    ];
    const { code, sent } = await asking([json(201, CREATED)], argv, {
      stdin: 'https://example.com/ü\n',
      env: { ...TOKEN, PWPUSH_PASSPHRASE: 'correct horse', PWPUSH_EDITION: 'oss' },
    });
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [
        `POST https://pw.test/api/v2/pushes\n${AUTHORIZED}\ncontent-type: application/json\n${ONCE}\n\n` +
          '{"push":{"payload":"https://example.com/ü","kind":"url",' +
          '"expire_after_views":2,"deletable_by_viewer":false,"retrieval_step":false,"expire_after_days":3,' +
          '"passphrase":"correct horse","name":"db","note":"for Ann"}}',
      ],
    });
  });
});

describe('a retrieval is one GET', () => {
  test('without a query when there is no passphrase', async () => {
    expect(await asking([json(200, RETRIEVED)], ['get', 'quyul5r5w08'])).toEqual({
      code: 0,
      stdout: 'hunter2',
      stderr: '',
      sent: [`GET https://pw.test/api/v2/pushes/quyul5r5w08\n${HEADERS}\n${ONCE}`],
      waits: [],
    });
  });

  test('with the passphrase as a query parameter, encoded as a form', async () => {
    const env = { ...TOKEN, PWPUSH_PASSPHRASE: 'a&b c+ü#' };
    const { code, sent } = await asking([json(200, RETRIEVED)], ['get', 'quyul5r5w08'], { env });
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [
        `GET https://pw.test/api/v2/pushes/quyul5r5w08?passphrase=a%26b+c%2B%C3%BC%23\n${AUTHORIZED}\n${ONCE}`,
      ],
    });
  });
});

test('preview is GET …/preview', async () => {
  expect(await asking([json(200, PREVIEWED)], ['preview', 'quyul5r5w08'])).toEqual({
    code: 0,
    stdout: 'https://pw.test/p/quyul5r5w08/r\n',
    stderr: '',
    sent: [`GET https://pw.test/api/v2/pushes/quyul5r5w08/preview\n${HEADERS}`],
    waits: [],
  });
});

test('expire is DELETE of the push', async () => {
  const argv = ['expire', 'quyul5r5w08'];
  expect(await asking([json(200, EXPIRED)], argv, { env: TOKEN })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
    sent: [`DELETE https://pw.test/api/v2/pushes/quyul5r5w08\n${AUTHORIZED}`],
    waits: [],
  });
});

test('audit is GET …/audit page by page, until an empty one', async () => {
  const argv = ['audit', 'quyul5r5w08'];
  const answers = [json(200, AUDITED), json(200, '{"logs":[]}')];
  expect(await asking(answers, argv, { env: TOKEN })).toEqual({
    code: 0,
    stdout:
      '2026-08-20T10:06:45.000Z\tview\t203.0.113.7\tcurl/8.5.0\t\n' +
      '2026-08-19T11:06:45.000Z\tcreation\t198.51.100.1\t\t\n',
    stderr: '',
    sent: [1, 2].map(
      (page) => `GET https://pw.test/api/v2/pushes/quyul5r5w08/audit?page=${page}\n${AUTHORIZED}`,
    ),
    waits: [],
  });
});

test('notify is POST …/notify_emails with the addresses, separated by commas', async () => {
  const argv = ['notify', 'quyul5r5w08', 'ann@example.com', 'bob@example.com', '--locale', 'fr'];
  expect(await asking([json(201, NOTIFIED)], argv, { env: TOKEN })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
    sent: [
      `POST https://pw.test/api/v2/pushes/quyul5r5w08/notify_emails\n${AUTHORIZED}\n` +
        'content-type: application/json\n\n' +
        '{"notify_emails_to":"ann@example.com,bob@example.com","notify_emails_to_locale":"fr"}',
    ],
    waits: [],
  });
});

test('a creation that e-mails its link is one POST too', async () => {
  const answer = json(201, changed(CREATED, { notify_emails_to: 'ann@example.com' }));
  const argv = ['push', '--notify', 'ann@example.com', '--locale', 'pt-BR'];
  expect(await asking([answer], argv, { env: TOKEN, stdin: 'hunter2' })).toEqual({
    code: 0,
    stdout: 'https://pw.test/p/quyul5r5w08/r?locale=pt-BR\n',
    stderr: '',
    sent: [
      `POST https://pw.test/api/v2/pushes\n${AUTHORIZED}\ncontent-type: application/json\n${ONCE}\n\n` +
        '{"push":{"payload":"hunter2","notify_emails_to":"ann@example.com","notify_emails_to_locale":"pt-BR"}}',
    ],
    waits: [],
  });
});

describe('list is GET of the state with the page', () => {
  test('active', async () => {
    const { code, stdout, sent } = await asking([json(200, `[${CREATED}]`)], ['list'], {
      env: TOKEN,
    });
    expect({ code, stdout, sent }).toEqual({
      code: 0,
      stdout: 'quyul5r5w08\t\t2026-08-20T11:06:45.000Z\t5\t5\t7\t7\tstep,deletable\n',
      sent: [`GET https://pw.test/api/v2/pushes/active?page=1\n${AUTHORIZED}`],
    });
  });

  test('expired, and another page', async () => {
    const argv = ['list', 'expired', '--page', '3'];
    const { code, stdout, sent } = await asking([json(200, `[${EXPIRED}]`)], argv, { env: TOKEN });
    expect({ code, stdout, sent }).toEqual({
      code: 0,
      stdout: 'quyul5r5w08\t\t2026-08-19T11:06:45.000Z\t2026-08-20T11:06:45.000Z\tdeleted\n',
      sent: [`GET https://pw.test/api/v2/pushes/expired?page=3\n${AUTHORIZED}`],
    });
  });
});

describe('version is GET /version', () => {
  const sent = [`GET https://pw.test/api/v2/version\n${HEADERS}`];

  test('of API 2.1, with its features', async () => {
    expect(await asking([json(200, VERSION)], ['version', '--json'])).toEqual({
      code: 0,
      stdout: `${VERSION.slice(0, -1)},"pwpush":"0.1.0","url":"https://pw.test"}\n`,
      stderr: '',
      sent,
      waits: [],
    });
  });

  test('of API 2.0, which has none', async () => {
    const body = '{"application_version":"2.4.0","api_version":"2.0","edition":"oss"}';
    expect(await asking([json(200, body)], ['version'])).toEqual({
      code: 0,
      stdout:
        'pwpush\t0.1.0\ninstance\thttps://pw.test\napplication\t2.4.0\napi\t2.0\nedition\toss\n',
      stderr: '',
      sent,
      waits: [],
    });
  });

  test('where requests is a boolean, not an object', async () => {
    const body = '{"application_version":"2.5.0","api_version":"2.1","features":{"requests":true}}';
    const { code, stdout } = await asking([json(200, body)], ['version']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'pwpush\t0.1.0\ninstance\thttps://pw.test\napplication\t2.5.0\napi\t2.1\nedition\t\n',
    });
  });
});

describe('an instance under a path prefix', () => {
  test('is asked below it', async () => {
    const link = 'https://pw.test/secrets/p/quyul5r5w08/r';
    const answer = json(201, CREATED.replace('https://pw.test/p/quyul5r5w08/r', link));
    expect(
      await asking([answer], ['push', '--url', 'https://pw.test/secrets/'], { stdin: 'hunter2' }),
    ).toEqual({
      code: 0,
      stdout: `${link}\n`,
      stderr: '',
      sent: [
        `POST https://pw.test/secrets/api/v2/pushes\n${WITH_BODY}{"push":{"payload":"hunter2"}}`,
      ],
      waits: [],
    });
  });

  test('is found in a pasted link, which gets no token of the instance at the root', async () => {
    const argv = ['get', 'https://pw.test/secrets/p/quyul5r5w08/r?locale=fr'];
    const { code, sent } = await asking([json(200, RETRIEVED)], argv, { env: TOKEN });
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [`GET https://pw.test/secrets/api/v2/pushes/quyul5r5w08\n${HEADERS}\n${ONCE}`],
    });
  });
});
