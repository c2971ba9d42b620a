import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { changed, RETRIEVED } from '../helpers/reference';
import { html, json, type Literal } from '../helpers/wire';

// What instances in the world refuse with, and the status and words that come of it.

/** Not a bare token, which may be that of a request: the instance is asked whether it has any. */
const LINK = 'https://pw.test/p/quyul5r5w08';
const TOKEN = { PWPUSH_TOKEN: 't0ken' };

async function refused(answer: Literal, argv: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr, sent } = await asking([answer], argv, { env, stdin: 'hunter2' });
  return { code, stdout, stderr, requests: sent.length };
}

const saying = (code: number, stderr: string) => ({ code, stdout: '', stderr, requests: 1 });

describe('401', () => {
  test('with an empty body on a call that needs a token', async () => {
    expect(await refused({ status: 401 }, ['list'])).toEqual(
      saying(
        3,
        'pwpush: the instance requires a token\nhint: log in with pwpush login, or set PWPUSH_TOKEN\n',
      ),
    );
  });

  test('with an empty body when a token was sent: it is refused', async () => {
    expect(await refused({ status: 401 }, ['list'], TOKEN)).toEqual(
      saying(
        3,
        'pwpush: the instance refused the token from PWPUSH_TOKEN\nhint: set a valid one there, or log in with pwpush login\n',
      ),
    );
  });

  test.each(['get', 'preview', 'expire'])('on public %s points at --anonymous', async (command) => {
    const answer = json(401, '{"error":"You need to sign in or sign up before continuing."}');
    expect(await refused(answer, [command, 'quyul5r5w08'], TOKEN)).toEqual(
      saying(
        3,
        `pwpush: the instance refused the token from PWPUSH_TOKEN\n` +
          'hint: set a valid one there, log in with pwpush login, or use --anonymous to send none\n',
      ),
    );
  });

  const passphrase = json(
    401,
    `{"error":"That passphrase is incorrect.","message":"This push has a passphrase: \
pass it in the passphrase parameter.","status":"unauthorized"}`,
  );

  test('for want of a passphrase', async () => {
    expect(await refused(passphrase, ['get', 'quyul5r5w08'])).toEqual(
      saying(
        7,
        'pwpush: the push requires a passphrase\n' +
          'hint: use -p to type it, --passphrase-file PATH, or PWPUSH_PASSPHRASE\n',
      ),
    );
  });

  test('for a wrong passphrase, which is not repeated', async () => {
    const env = { PWPUSH_PASSPHRASE: 'wrong horse' };
    expect(await refused(passphrase, ['get', 'quyul5r5w08'], env)).toEqual(
      saying(
        7,
        'pwpush: wrong passphrase\n' +
          'hint: ask the sender of the link; only a few attempts per minute are allowed\n',
      ),
    );
  });

  test('is what the reference says where the specification has 403: not deletable', async () => {
    const answer = json(401, '{"error":"That push is not deletable by viewers."}');
    expect(await refused(answer, ['expire', 'quyul5r5w08'])).toEqual(
      saying(
        4,
        'pwpush: the instance refused the request: That push is not deletable by viewers.\n' +
          'hint: log in as its owner with pwpush login; if it was created without a token, it can only expire by its limits\n',
      ),
    );
  });
});

describe('403', () => {
  test("of somebody else's audit log", async () => {
    const answer = json(403, '{"error":"That push does not belong to you."}');
    expect(await refused(answer, ['audit', 'quyul5r5w08'], TOKEN)).toEqual(
      saying(
        4,
        'pwpush: the instance refused the request: That push does not belong to you.\nhint: the token belongs to another user, or the push was created without one\n',
      ),
    );
  });

  test('as text is how instances before July 2024 throttle', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = { status: 403, headers, body: 'Throttled\n' };
    expect(await refused(answer, ['get', 'quyul5r5w08'])).toEqual(
      saying(10, 'pwpush: rate limited by the instance\n'),
    );
  });
});

describe('404', () => {
  test('of a push', async () => {
    expect(await refused(json(404, '{"error":"not-found"}'), ['get', LINK])).toEqual(
      saying(
        5,
        'pwpush: no such push on this instance\n' +
          'hint: check the link for missing characters, and the instance with pwpush version\n',
      ),
    );
  });

  test('as a page where the API should be', async () => {
    const answer = html(404, '<!DOCTYPE html>\n<h1>Not here</h1>');
    expect(await refused(answer, ['version'])).toEqual(
      saying(
        5,
        'pwpush: no API v2 at this address: text/html, "<!DOCTYPE html>"\n' +
          'hint: check the address and its path; API v2 requires Password Pusher 2.4 or later\n',
      ),
    );
  });
});

describe('422 and 400', () => {
  test('say what each field suffers from', async () => {
    const answer = json(
      422,
      '{"payload":["Payload is required."],"note":["is too long"],"base":["Nothing doing."]}',
    );
    expect(await refused(answer, ['push'])).toEqual(
      saying(
        8,
        'pwpush: the instance refused the request: Payload is required; note is too long; Nothing doing\n',
      ),
    );
  });

  test('of a page out of range', async () => {
    const answer = json(400, '{"error":"page must be less than or equal to 200"}');
    expect(await refused(answer, ['list'], TOKEN)).toEqual(
      saying(
        8,
        'pwpush: the instance refused the request: page must be less than or equal to 200\n',
      ),
    );
  });

  test('never repeat a secret, however the instance quotes it', async () => {
    const answer = json(422, '{"payload":["hunter2 is too weak"],"base":["t0ken asked for it"]}');
    expect(await refused(answer, ['push'], TOKEN)).toEqual(
      saying(
        8,
        'pwpush: the instance refused the request: its response is not shown, as it repeats what was sent\n',
      ),
    );
  });

  test('413 comes from a proxy', async () => {
    expect(await refused(html(413, '<h1>413</h1>'), ['push'])).toEqual(
      saying(
        8,
        'pwpush: the instance refused the request: text/html, "<h1>413</h1>"\n' +
          'hint: it is larger than the instance or a proxy in front of it allows\n',
      ),
    );
  });
});

describe('an expired push is answered with 200', () => {
  test.each([
    [{ payload: null }],
    [{ payload: null, files: undefined }],
    [{ payload: undefined, files: undefined }],
  ])('%j', async (fields) => {
    const answer = json(200, changed(RETRIEVED, { expired: true, views_remaining: 0, ...fields }));
    expect(await refused(answer, ['get', 'quyul5r5w08'])).toEqual(
      saying(6, 'pwpush: the push has expired\nhint: ask the sender for a new one\n'),
    );
  });

  test('a last view is none: it comes with its text', async () => {
    const answer = json(200, changed(RETRIEVED, { views_remaining: 0 }));
    expect(await refused(answer, ['get', 'quyul5r5w08'])).toEqual({
      code: 0,
      stdout: 'hunter2',
      stderr: '',
      requests: 1,
    });
  });
});

test('with --json a refusal is one line of JSON on stderr', async () => {
  const argv = ['get', LINK, '--json'];
  expect(await refused(json(404, '{"error":"not-found"}'), argv)).toEqual(
    saying(
      5,
      '{"error":{"code":"not_found","message":"no such push on this instance",' +
        '"hint":"check the link for missing characters, and the instance with pwpush version","status":404}}\n',
    ),
  );
});

test('control characters of an instance are made visible', async () => {
  const answer = json(422, '{"base":["\\u001b[2Jgone\\u202e"]}');
  expect(await refused(answer, ['push'])).toEqual(
    saying(8, 'pwpush: the instance refused the request: \\x1b[2Jgone\\u202e\n'),
  );
});
