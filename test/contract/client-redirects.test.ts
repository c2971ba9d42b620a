import { describe, expect, test } from 'vitest';
import type { Api } from '../../src/client/client';
import { phrase } from '../../src/platform/errors';
import { asking, failing } from '../helpers/foreign';
import { CREATED, EXPIRED, PREVIEWED, RETRIEVED } from '../helpers/reference';
import { html, json, type Literal } from '../helpers/wire';

// What is said of a redirect is told by test/cases/redirects.txt and access-proxy.txt.

const HEADERS = 'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0';
const AUTHORIZED = `${HEADERS}\nauthorization: Bearer t0ken`;
const BODY =
  'content-type: application/json\nidempotency-key: KEY\n\n{"push":{"payload":"hunter2"}}';

const to = (location: string, status = 302): Literal => ({ status, headers: { location } });
const getting = (path: string) => `GET https://pw.test${path}\n${AUTHORIZED}`;
const creating = (path: string) => `POST https://pw.test${path}\n${AUTHORIZED}\n${BODY}`;

const push = (api: Api) => api.create({ payload: 'hunter2' });

async function asked(answers: Literal[], ...argv: string[]) {
  const conditions = { stdin: 'hunter2', env: { PWPUSH_TOKEN: 't0ken' } };
  const { code, stdout, stderr, sent } = await asking(answers, argv, conditions);
  return { stdout, stderr, sent, told: [code, ...sent] };
}

describe('a redirect within the origin', () => {
  test.each([301, 302, 303, 307, 308])('%d of a GET is followed, token and all', async (status) => {
    const answers = [to('/api/v2/pushes/other/preview?x=1', status), json(200, PREVIEWED)];
    const { told, stdout } = await asked(answers, 'preview', 'quyul5r5w08');
    const paths = ['quyul5r5w08/preview', 'other/preview?x=1'];
    expect(told).toEqual([0, ...paths.map((path) => getting(`/api/v2/pushes/${path}`))]);
    expect(stdout).toBe('https://pw.test/p/quyul5r5w08/r\n');
  });

  test.each([307, 308])('%d of a POST is followed with its body', async (status) => {
    const answers = [to('https://pw.test/sub/api/v2/pushes', status), json(201, CREATED)];
    const sent = ['/api/v2/pushes', '/sub/api/v2/pushes'].map(creating);
    expect((await asked(answers, 'push')).told).toEqual([0, ...sent]);
  });

  test.each([301, 302, 303])('%d of a POST is not: it would become a GET', async (status) => {
    const { told } = await asked([to('/api/v2/pushes/', status)], 'push');
    expect(told).toEqual([1, creating('/api/v2/pushes')]);
  });

  test.each([
    [301, 1, 1],
    [308, 0, 2],
  ])('%d of a DELETE ends with %d', async (status, code, requests) => {
    const answers = [to('/api/v2/pushes/other', status), json(200, EXPIRED)].slice(0, requests);
    const { told, sent } = await asked(answers, 'expire', 'quyul5r5w08');
    expect([told[0], sent.length]).toEqual([code, requests]);
  });

  test('without end is given up', async () => {
    const answers = Array.from({ length: 6 }, (_, at) => to(`/hop/${at}`));
    const { told, sent } = await asked(answers, 'version');
    expect([told[0], sent.length]).toEqual([1, 6]);
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
    expect(await failing([to(location)], (api) => api.version())).toMatchObject({
      facts: [phrase('leaves-origin', 'pw.test', origin)],
      steps: [phrase('use-address', origin)],
    });
  });

  test.each([
    ['get', 'https://pw.test/p/quyul5r5w08#k'],
    ['expire', 'https://pw.test/p/quyul5r5w08'],
    ['get', 'https://pw.test/r/quyul5r5w08'],
  ])('%s %s is not told the link', async (command, link) => {
    const location = 'https://eu.pw.test/api/v2/pushes/quyul5r5w08';
    const { told, stderr } = await asked([to(location, 301)], command, link);
    expect([told[0], /quyul5r5w08|#k/.test(stderr)]).toEqual([1, false]);
  });

  test.each(['push', 'get', 'expire'])('by %s too, 307 or not', async (command) => {
    const argv = command === 'push' ? [command] : [command, 'quyul5r5w08'];
    const { told } = await asked([to('https://evil.test/', 307)], ...argv);
    expect([told[0], told.length]).toEqual([1, 2]);
  });

  test('also by the second hop', async () => {
    const { told } = await asked([to('/hop'), to('https://evil.test/')], 'version');
    expect(told).toEqual([1, getting('/api/v2/version'), getting('/hop')]);
  });

  test.each(['$(reboot)', '`reboot`', 'a;reboot;b', 'a&reboot&b', "a'b", 'a$IFS'])(
    'the name of its host is no command that the reader should type: %s',
    async (name) => {
      const { steps } = await failing([to(`https://${name}.test/`)], (api) => api.version());
      expect(steps).toEqual([phrase('check-address')]);
    },
  );

  test('with a user name in it is not followed, and the name is not printed', async () => {
    const { told, stderr } = await asked([to('https://ann:pass@pw.test/')], 'version');
    expect([told[0], told.length, /ann|pass@/.test(stderr)]).toEqual([1, 2, false]);
  });
});

test.each(['/first_run', '/users/sign_in', '/en/users/sign_in/'])(
  'a redirect of an instance that is not set up, to %s, is not followed',
  async (location) => {
    expect((await failing([to(location)], push)).facts).toEqual([phrase('setup-redirect')]);
  },
);

describe('the login page of an access proxy', () => {
  const LOGIN = 'https://team.cloudflareaccess.com/cdn-cgi/access/login/pw.test?kid=x';
  const page = '<!DOCTYPE html><html><title>Sign in ・ Cloudflare Access</title>';
  const cloudflare = phrase('make-service-token');
  const other = phrase('send-headers');

  test.each([
    [LOGIN, 'team.cloudflareaccess.com', cloudflare],
    ['/cdn-cgi/access/login/pw.test', '', cloudflare],
    ['/oauth2/start?rd=%2Fapi', '', other],
    ['https://sso.test/login?next=/', 'sso.test', other],
    ['https://auth.test/?rd=https%3A%2F%2Fpw.test%2F', 'auth.test', other],
    ['https://idp.test/realms/x/protocol/openid-connect/auth?x=1', 'idp.test', other],
  ])('by a redirect to %s', async (location, host, step) => {
    expect(await failing([to(location)], push)).toMatchObject({
      facts: [phrase('login-redirect', 'pw.test', host)],
      steps: [step],
    });
  });

  test.each([
    [200, page, cloudflare],
    [403, page, cloudflare],
    [401, '<html><form><input type="password">', other],
    [200, '\n<html><body><h1>Log in with SSO</h1>', other],
  ])('as HTML with status %d', async (status, body, step) => {
    for (const ask of [push, (api: Api) => api.list('active', 1)])
      expect(await failing([html(status, body)], ask)).toMatchObject({
        facts: [phrase('login-page', status)],
        steps: [step],
      });
  });

  test('in spite of a service token says that this was refused', async () => {
    const headers = { 'cf-access-client-id': 'id' };
    for (const answer of [to(LOGIN), html(403, page)])
      expect((await failing([answer], push, { headers })).steps).toEqual([
        phrase('check-service-token'),
      ]);
  });
});

test.each(['http://', 'https://[', 'ftp://pw.test/'])(
  'a redirect to nowhere (%j) is not followed',
  async (location) => {
    const { told } = await asked([to(location)], 'get', 'quyul5r5w08');
    expect([told[0], told.length]).toEqual([1, 2]);
  },
);

test('a redirect is followed to the letter: the passphrase goes along only where it says so', async () => {
  const { sent } = await asking(
    [to('/api/v2/pushes/quyul5r5w08.json'), json(200, RETRIEVED)],
    ['get', 'quyul5r5w08'],
    { env: { PWPUSH_PASSPHRASE: 'horse' } },
  );
  expect(sent).toEqual([
    `GET https://pw.test/api/v2/pushes/quyul5r5w08?passphrase=horse\n${HEADERS}\nidempotency-key: KEY`,
    `GET https://pw.test/api/v2/pushes/quyul5r5w08.json\n${HEADERS}\nidempotency-key: KEY`,
  ]);
});
