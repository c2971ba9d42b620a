import { describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { CREATED, EXPIRED, PREVIEWED, RETRIEVED } from '../helpers/reference';
import { html, json, type Literal } from '../helpers/wire';

const HEADERS = 'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0';
const AUTHORIZED = `${HEADERS}\nauthorization: Bearer t0ken`;
const BODY = 'content-type: application/json\n\n{"push":{"payload":"hunter2"}}';

const to = (location: string, status = 302): Literal => ({ status, headers: { location } });

const asked = (answers: Literal[], ...argv: string[]) =>
  asking(answers, argv, { stdin: 'hunter2', env: { PWPUSH_TOKEN: 't0ken' } });

describe('a redirect within the origin', () => {
  test.each([301, 302, 303, 307, 308])('%d of a GET is followed, token and all', async (status) => {
    const answers = [to('/api/v2/pushes/other/preview?x=1', status), json(200, PREVIEWED)];
    expect(await asked(answers, 'preview', 'quyul5r5w08')).toEqual({
      code: 0,
      stdout: 'https://pw.test/p/quyul5r5w08/r\n',
      stderr: '',
      sent: [
        `GET https://pw.test/api/v2/pushes/quyul5r5w08/preview\n${AUTHORIZED}`,
        `GET https://pw.test/api/v2/pushes/other/preview?x=1\n${AUTHORIZED}`,
      ],
      waits: [],
    });
  });

  test.each([307, 308])('%d of a POST is followed with its body', async (status) => {
    const answers = [to('https://pw.test/sub/api/v2/pushes', status), json(201, CREATED)];
    const { code, sent } = await asked(answers, 'push');
    expect({ code, sent }).toEqual({
      code: 0,
      sent: [
        `POST https://pw.test/api/v2/pushes\n${AUTHORIZED}\n${BODY}`,
        `POST https://pw.test/sub/api/v2/pushes\n${AUTHORIZED}\n${BODY}`,
      ],
    });
  });

  test.each([301, 302, 303])('%d of a POST is not: it would become a GET', async (status) => {
    expect(await asked([to('/api/v2/pushes/', status)], 'push')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `pwpush: the instance redirects (${status}) instead of responding\n` +
        'hint: check the address\n',
      sent: [`POST https://pw.test/api/v2/pushes\n${AUTHORIZED}\n${BODY}`],
      waits: [],
    });
  });

  test('301 of a DELETE is not either', async () => {
    const { code, sent } = await asked([to('/elsewhere', 301)], 'expire', 'quyul5r5w08');
    expect({ code, sent }).toEqual({
      code: 1,
      sent: [`DELETE https://pw.test/api/v2/pushes/quyul5r5w08\n${AUTHORIZED}`],
    });
  });

  test('308 of a DELETE is', async () => {
    const answers = [to('/api/v2/pushes/other', 308), json(200, EXPIRED)];
    const { code, sent } = await asked(answers, 'expire', 'quyul5r5w08');
    expect({ code, requests: sent.length }).toEqual({ code: 0, requests: 2 });
  });

  test('without end is given up', async () => {
    const answers = Array.from({ length: 6 }, (_, at) => to(`/hop/${at}`));
    const { code, stderr, sent } = await asked(answers, 'version');
    expect({ code, stderr, requests: sent.length }).toEqual({
      code: 1,
      stderr: 'pwpush: the instance redirects too many times\n',
      requests: 6,
    });
  });
});

describe('a redirect to another origin is reported, and nothing is sent there', () => {
  test.each([
    ['https://evil.test/api/v2/version', 'https://evil.test'],
    ['http://pw.test/api/v2/version', 'http://pw.test'],
    ['https://pw.test:8443/', 'https://pw.test:8443'],
    ['//evil.test/', 'https://evil.test'],
    ['https://pw.test.evil.test/', 'https://pw.test.evil.test'],
    ['https:\\\\evil.test\\', 'https://evil.test'],
  ])('%s', async (location, origin) => {
    expect(await asked([to(location)], 'version')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `pwpush: pw.test redirects to another origin, ${origin}; nothing was sent there\n` +
        `hint: if that is your instance, use its address: --url ${origin}, or pwpush profile set url ${origin}\n`,
      sent: [`GET https://pw.test/api/v2/version\n${AUTHORIZED}`],
      waits: [],
    });
  });

  test.each([
    ['get', 'https://pw.test/p/quyul5r5w08#k'],
    ['expire', 'https://pw.test/p/quyul5r5w08'],
    ['get', 'https://pw.test/r/quyul5r5w08'],
  ])('%s %s is told how the link is there, but not the link', async (command, link) => {
    const location = 'https://eu.pw.test/api/v2/pushes/quyul5r5w08';
    const { code, stderr } = await asked([to(location, 301)], command, link);
    expect([code, stderr.split('\n')[1]]).toEqual([
      1,
      'hint: if that is your instance, put https://eu.pw.test in place of https://pw.test in the link',
    ]);
  });

  test.each(['push', 'get', 'expire'])('by %s too, 307 or not', async (command) => {
    const argv = command === 'push' ? [command] : [command, 'quyul5r5w08'];
    const { code, sent } = await asked([to('https://evil.test/', 307)], ...argv);
    expect({ code, requests: sent.length }).toEqual({ code: 1, requests: 1 });
  });

  test('also by the second hop', async () => {
    const { code, sent } = await asked([to('/hop'), to('https://evil.test/')], 'version');
    expect({ code, sent }).toEqual({
      code: 1,
      sent: [
        `GET https://pw.test/api/v2/version\n${AUTHORIZED}`,
        `GET https://pw.test/hop\n${AUTHORIZED}`,
      ],
    });
  });

  test.each(['$(reboot)', '`reboot`', 'a;reboot;b', 'a&reboot&b', "a'b", 'a$IFS'])(
    'the name of its host is no command that the reader should type: %s',
    async (name) => {
      const { code, stderr } = await asked([to(`https://${name}.test/`)], 'version');
      expect({ code, hint: stderr.split('\n')[1] }).toEqual({
        code: 1,
        hint: 'hint: check the address',
      });
    },
  );

  test('with a user name in it is not followed, and the name is not printed', async () => {
    const { code, stderr, sent } = await asked([to('https://ann:pass@pw.test/')], 'version');
    expect({ code, told: /ann|pass@/.test(stderr), requests: sent.length }).toEqual({
      code: 1,
      told: false,
      requests: 1,
    });
  });
});

describe('an instance that is not set up', () => {
  test.each(['/first_run', '/users/sign_in', '/en/users/sign_in/'])(
    'redirects to %s: said, not followed',
    async (location) => {
      expect(await asked([to(location)], 'push')).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'pwpush: the instance redirects to its sign-in or first-run page instead of responding\n' +
          'hint: open the instance in a browser and finish setting it up, or check the address\n',
        sent: [`POST https://pw.test/api/v2/pushes\n${AUTHORIZED}\n${BODY}`],
        waits: [],
      });
    },
  );
});

describe('the login page of an access proxy', () => {
  const HINT =
    'send the headers that it requires (pwpush profile set headers-file PATH, PWPUSH_HEADERS_FILE or --header) or a client certificate (--cert, --cert-key); see ACCESS PROXIES in pwpush(1)';
  const TOKEN =
    'create a service token of Cloudflare Access, put CF-Access-Client-Id and CF-Access-Client-Secret into a file that only you can read, and name it with pwpush profile set headers-file PATH or PWPUSH_HEADERS_FILE';
  const LOGIN = 'https://team.cloudflareaccess.com/cdn-cgi/access/login/pw.test?kid=x';

  test.each([
    [LOGIN, ' on team.cloudflareaccess.com', TOKEN],
    ['/cdn-cgi/access/login/pw.test', '', TOKEN],
    ['/oauth2/start?rd=%2Fapi', '', HINT],
    ['https://sso.test/login?next=/', ' on sso.test', HINT],
    ['https://auth.test/?rd=https%3A%2F%2Fpw.test%2F', ' on auth.test', HINT],
    ['https://idp.test/realms/x/protocol/openid-connect/auth?x=1', ' on idp.test', HINT],
  ])('by a redirect to %s', async (location, where, hint) => {
    expect(await asked([to(location)], 'push')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `pwpush: an access proxy in front of pw.test redirects to its login page${where}; nothing was sent there\n` +
        `hint: ${hint}\n`,
      sent: [`POST https://pw.test/api/v2/pushes\n${AUTHORIZED}\n${BODY}`],
      waits: [],
    });
  });

  const page = '<!DOCTYPE html><html><title>Sign in ・ Cloudflare Access</title>';
  test.each([
    [200, page, TOKEN],
    [403, page, TOKEN],
    [401, '<html><form><input type="password">', HINT],
    [200, '\n<html><body><h1>Log in with SSO</h1>', HINT],
  ])('as HTML with status %d', async (status, body, hint) => {
    for (const command of ['push', 'list']) {
      const { code, stderr } = await asked([html(status, body)], command);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `pwpush: a login page answered instead of the instance (${status})\nhint: ${hint}\n`,
      });
    }
  });

  test('in spite of a service token says that this was refused', async () => {
    const header = ['--header', 'CF-Access-Client-Id: id'];
    for (const answer of [to(LOGIN), html(403, page)]) {
      const { stderr } = await asked([answer], 'list', ...header);
      expect(stderr).toContain('hint: Cloudflare Access refused the service token');
    }
  });

  test('of nginx, without a client certificate', async () => {
    const body = '<html><head><title>400 No required SSL certificate was sent</title></head>';
    const { code, stderr } = await asked([html(400, body)], 'list');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'pwpush: the instance, or a proxy in front of it, requires a client certificate\n' +
        'hint: send a client certificate that it trusts, with --cert and --cert-key\n',
    });
  });
});

test('a redirect to a regional host keeps the path of the instance in its hint', async () => {
  const { stderr } = await asked([to('https://eu.pw.test/sub/api/v2/version', 301)], 'version');
  expect(stderr).toContain('use its address: --url https://eu.pw.test/sub, or');
});

test.each(['http://', 'https://[', 'ftp://pw.test/'])(
  'a redirect to nowhere (%j) is not followed',
  async (location) => {
    const { code, sent } = await asked([to(location)], 'get', 'quyul5r5w08');
    expect({ code, requests: sent.length }).toEqual({ code: 1, requests: 1 });
  },
);

test('a redirect is followed to the letter: the passphrase goes along only where it says so', async () => {
  const { sent } = await asking(
    [to('/api/v2/pushes/quyul5r5w08.json'), json(200, RETRIEVED)],
    ['get', 'quyul5r5w08'],
    { env: { PWPUSH_PASSPHRASE: 'horse' } },
  );
  expect(sent).toEqual([
    `GET https://pw.test/api/v2/pushes/quyul5r5w08?passphrase=horse\n${HEADERS}`,
    `GET https://pw.test/api/v2/pushes/quyul5r5w08.json\n${HEADERS}`,
  ]);
});
