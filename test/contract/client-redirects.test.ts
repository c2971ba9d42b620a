import { describe, expect, test } from 'vitest';
import { phrase } from '../../src/platform/errors';
import { asking, clientOver, failureOf } from '../helpers/foreign';
import { CREATED, RETRIEVED } from '../helpers/reference';
import { json, type Literal, wire } from '../helpers/wire';

// What is said of a redirect is told by test/cases/redirects.txt and access-proxy.txt.

const HEADERS = 'accept: application/json\naccept-encoding: identity\nuser-agent: pwpush/0.1.0';
const AUTHORIZED = `${HEADERS}\nauthorization: Bearer t0ken`;
const BODY = 'content-type: application/json\nidempotency-key: KEY\n\n{"push":{"payload":"hunter2"}}';

const to = (location: string, status = 302): Literal => ({ status, headers: { location } });
const getting = (path: string) => `GET https://pw.test${path}\n${AUTHORIZED}`;
const creating = (path: string) => `POST https://pw.test${path}\n${AUTHORIZED}\n${BODY}`;

async function asked(answers: Literal[], line: string) {
  const conditions = { stdin: 'hunter2', env: { PWPUSH_TOKEN: 't0ken', PWPUSH_EDITION: 'oss' } };
  const { code, sent } = await asking(answers, line.split(' '), conditions);
  return [code, ...sent];
}

describe('a redirect within the origin', () => {
  test.each([301, 302, 303, 307, 308])('%d of a GET is followed, token and all', async (status) => {
    const answers = [to('/api/v2/pushes/other?x=1', status), json(200, `[${CREATED}]`)];
    const paths = ['active?page=1', 'other?x=1'];
    const sent = paths.map((path) => getting(`/api/v2/pushes/${path}`));
    expect(await asked(answers, 'list')).toEqual([0, ...sent]);
  });

  test.each([307, 308])('%d of a POST is followed with its body', async (status) => {
    const answers = [to('https://pw.test/sub/api/v2/pushes', status), json(201, CREATED)];
    const sent = ['/api/v2/pushes', '/sub/api/v2/pushes'].map(creating);
    expect(await asked(answers, 'push')).toEqual([0, ...sent]);
  });

  test.each([301, 302, 303])('%d of a POST is not: it would become a GET', async (status) => {
    const told = await asked([to('/api/v2/pushes/', status)], 'push');
    expect(told).toEqual([1, creating('/api/v2/pushes')]);
    const deleting = await asked([to('/api/v2/pushes/other', status)], 'expire quyul5r5w08');
    expect([deleting[0], deleting.length]).toEqual([1, 2]);
  });

  test('is followed to the letter: the passphrase goes along only where it says so', async () => {
    const answers = [to('/api/v2/pushes/quyul5r5w08.json'), json(200, RETRIEVED)];
    const env = { PWPUSH_PASSPHRASE: 'horse' };
    const { sent } = await asking(answers, ['get', 'quyul5r5w08'], { env });
    expect(sent.map((one) => one.split('\n')[0])).toEqual([
      'GET https://pw.test/api/v2/pushes/quyul5r5w08?passphrase=horse',
      'GET https://pw.test/api/v2/pushes/quyul5r5w08.json',
    ]);
  });
});

const failing = (location: string) => failureOf(clientOver({ send: wire([to(location)]).send }).version());

describe('a redirect elsewhere is reported, and nothing is sent there:', () => {
  test.each([
    ['https://evil.test/api/v2/version', 'https://evil.test'],
    ['http://pw.test/api/v2/version', 'http://pw.test'],
    ['https://pw.test.evil.test/', 'https://pw.test.evil.test'],
    ['https:\\\\evil.test\\', 'https://evil.test'],
  ])('%s', async (location, origin) => {
    expect(await failing(location)).toMatchObject({
      facts: [phrase('leaves-origin', 'pw.test', origin)],
      hints: [phrase('use-address', origin)],
    });
  });

  test('by the second hop', async () => {
    const told = await asked([to('/hop'), to('https://evil.test/')], 'version');
    expect(told).toEqual([1, getting('/api/v2/version'), getting('/hop')]);
  });

  const names = ['$(reboot)', '`reboot`', 'a;reboot;b', 'a&reboot&b', "a'b", 'a$IFS'];
  test.each(names)('the name of its host is no command for the reader: %s', async (name) => {
    const { hints } = await failing(`https://${name}.test/`);
    expect(hints).toEqual([phrase('check-address')]);
  });
});

test('five redirects one after the other are followed, and no sixth', async () => {
  const hops = Array(5).fill(to('/hop'));
  expect((await asked([...hops, json(200, '[]')], 'list'))[0]).toBe(0);
  expect(await asked([...hops, to('/hop')], 'list')).toHaveLength(7);
});

test.each(['/first_run', '/users/sign_in', '/login/'])(
  'the path %s within the origin is that of a setup',
  async (path) => {
    expect(await failing(path)).toMatchObject({ facts: [phrase('setup-redirect')] });
  },
);

// biome-ignore format: a table
const logins = [
  '/cdn-cgi/access/login', '/oauth2/start', 'https://id.test/login', 'https://id.test/log-in', 'https://id.test/a/signin',
  'https://id.test/sign-in', 'https://id.test/sign_in', 'https://id.test/auth', 'https://id.test/authorize',
  'https://id.test/sso', 'https://id.test/saml', 'https://id.test/x-saml2.html', 'https://id.test/?rd=x',
  'https://id.test/?redirect_uri=x', 'https://id.test/?redirect_url=x', 'https://id.test/?return_to=x',
  'https://id.test/?SAMLRequest=x',
];
test.each(logins)('%s is the login of a proxy in front', async (location) => {
  const there = location.startsWith('/') ? '' : 'id.test';
  expect(await failing(location)).toMatchObject({ facts: [phrase('login-redirect', 'pw.test', there)] });
});
