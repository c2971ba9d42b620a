import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { scratch } from '../helpers/memory';
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
    const { told, stderr } = await asked([to(location)], 'version');
    expect(told).toEqual([1, getting('/api/v2/version')]);
    expect(stderr).toContain(` --url ${origin}, `);
  });

  test.each([
    ['get', 'https://pw.test/p/quyul5r5w08#k'],
    ['expire', 'https://pw.test/p/quyul5r5w08'],
    ['get', 'https://pw.test/r/quyul5r5w08'],
  ])('%s %s is told how the link is there, but not the link', async (command, link) => {
    const location = 'https://eu.pw.test/api/v2/pushes/quyul5r5w08';
    const { told, stderr } = await asked([to(location, 301)], command, link);
    expect(told[0]).toBe(1);
    expect(stderr).toMatch(/https:\/\/eu\.pw\.test .*https:\/\/pw\.test /);
    expect(stderr).not.toMatch(/quyul5r5w08|#k/);
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
      const { told, stderr } = await asked([to(`https://${name}.test/`)], 'version');
      expect([told[0], stderr.split('\n')[1]?.includes('.test')]).toEqual([1, false]);
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
    const { told, stderr } = await asked([to(location)], 'push');
    expect(told).toEqual([1, creating('/api/v2/pushes')]);
    expect(stderr).toContain('first-run');
  },
);

describe('the login page of an access proxy', () => {
  const LOGIN = 'https://team.cloudflareaccess.com/cdn-cgi/access/login/pw.test?kid=x';
  const page = '<!DOCTYPE html><html><title>Sign in ・ Cloudflare Access</title>';
  const cloudflare = 'CF-Access-Client-Id';

  test.each([
    [LOGIN, cloudflare],
    ['/cdn-cgi/access/login/pw.test', cloudflare],
    ['/oauth2/start?rd=%2Fapi', '--headers-file'],
    ['https://sso.test/login?next=/', '--headers-file'],
    ['https://auth.test/?rd=https%3A%2F%2Fpw.test%2F', '--headers-file'],
    ['https://idp.test/realms/x/protocol/openid-connect/auth?x=1', '--headers-file'],
  ])('by a redirect to %s', async (location, option) => {
    const { told, stderr } = await asked([to(location)], 'push');
    expect(told).toEqual([1, creating('/api/v2/pushes')]);
    expect(stderr).toContain(option);
  });

  test.each([
    [200, page, cloudflare],
    [403, page, cloudflare],
    [401, '<html><form><input type="password">', '--headers-file'],
    [200, '\n<html><body><h1>Log in with SSO</h1>', '--headers-file'],
  ])('as HTML with status %d', async (status, body, option) => {
    for (const command of ['push', 'list']) {
      const { told, stderr } = await asked([html(status, body)], command);
      expect([told[0], stderr.includes(option)]).toEqual([1, true]);
    }
  });

  test('in spite of a service token says that this was refused', async () => {
    const path = join(scratch, 'headers');
    writeFileSync(path, 'CF-Access-Client-Id: id', { mode: 0o600 });
    onTestFinished(() => rmSync(path));
    for (const answer of [to(LOGIN), html(403, page)]) {
      const { stderr } = await asked([answer], 'list', '--headers-file', path);
      expect(stderr).not.toContain('headers-file');
    }
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
