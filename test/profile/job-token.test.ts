import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRequest, Transport } from '../../src/platform/context';
import { deferred } from '../helpers/deferred';
import { BASE, instance, overFetch } from '../helpers/instance';
import { issuer, trust } from '../helpers/issuer';
import { served } from '../helpers/mcp';
import type { Outcome, PlaceOptions } from '../helpers/run';
import { onSqlite } from '../helpers/stores';
import { answering, broken, json, type Literal, rewriting } from '../helpers/wire';

/** The runner of GitHub, which gives identity tokens to a job that has its bearer token. */
const RUNNER = 'https://runner.test/token?api-version=2.0';
const GITHUB = {
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: RUNNER,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-secret',
};
const HEADER = 'eyJhbGciOiJSUzI1NiJ9';

/** An identity token with this payload, and a signature that only an instance looks at. */
const identity = (payload: object) => `${HEADER}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.c2ln`;
const ended = { access_token: 'pwp_0000000000000000', token_type: 'Bearer', expires_in: 600 };
const ok = (body: object) => json(200, JSON.stringify(body));

const store = onSqlite();

interface Exchanging {
  readonly env?: PlaceOptions['env'];
  /** What `/version` has of the exchange, in place of what the service has. */
  readonly feature?: unknown;
  /** Answers of the exchange, in turn, before those of the service. */
  readonly answers?: readonly Literal[];
  /** Answers of the runner, in turn; then it gives identity tokens. */
  readonly runner?: readonly (Literal | 'cut')[];
  readonly identities?: (audience: string) => string;
  /** Called with each response of the service; what it throws takes the place of the response. */
  readonly arrived?: (request: HttpRequest) => void;
}

/** A service that trusts an issuer, whose identity tokens a runner gives; what all of them are asked is noted. */
async function exchanging({ env = GITHUB, feature, answers = [], runner = [], identities, arrived }: Exchanging = {}) {
  const asked: HttpRequest[] = [];
  const [refusals, failures] = [[...answers], [...runner]];
  const [exchanged, given, statuses]: [string[], string[], number[]] = [[], [], []];
  const send: Transport = async (request) => {
    const { hostname, pathname, searchParams } = new URL(request.url);
    asked.push(request);
    if (hostname === 'runner.test') {
      const failure = failures.shift();
      if (failure === 'cut') throw broken(true);
      const aud = searchParams.get('audience') ?? '';
      return answering(failure ?? ok({ value: identities?.(aud) ?? from.token({ aud }) }));
    }
    if (pathname.endsWith('/version') && feature !== undefined)
      return answering(ok({ edition: 'oss', features: { token_exchange: feature } }));
    if (!pathname.endsWith('/token')) {
      const response = await over(request);
      statuses.push(response.status);
      arrived?.(request);
      return response;
    }
    exchanged.push(new URLSearchParams(request.body as string).get('subject_token') ?? '');
    const refusal = refusals.shift();
    if (refusal) return answering(refusal);
    return rewriting(over, (body) => {
      given.push(JSON.parse(body).access_token);
      return body;
    })(request);
  };
  const room = await store.room();
  const settings = { ...room.settings, publicUrl: BASE, anonymous: false };
  const here = await instance({ env: { PWPUSH_TOKEN_FROM: 'ci', ...env }, settings, send });
  const from = await issuer({ now: here.service.clock.now, audience: BASE });
  await trust(room, from);
  const over: Transport = overFetch(here.service);
  const paths = () => asked.map(({ url }) => new URL(url).pathname.replace('/api/v2', ''));
  const push = (...words: string[]) => here.under({ stdin: 'x' }).run('push', ...words);
  return { ...here, asked, exchanged, given, statuses, paths, push, issue: from.token };
}

const SECRET = /runner-secret|eyJ|pwp_|c2ln/;
const PUSHED = ['/version', '/token', '/token', '/pushes'];

/** The exit code and the lines of an error, in which there is no secret. */
function refusal({ code, stdout, stderr }: Outcome) {
  expect([stdout, stderr.replace(/^::add-mask::.*\n/gm, '')]).toEqual(['', expect.not.stringMatching(SECRET)]);
  return [code, ...stderr.split('\n').filter((line) => /^(pwpush|hint):/.test(line))];
}

describe('PWPUSH_TOKEN_FROM=ci', () => {
  test('is a token that can push only for doctor, whose end needs no word', async () => {
    const { stdout } = await (await exchanging()).run('doctor');
    const message = 'from PWPUSH_TOKEN_FROM, accepted: it can push, and reach only that';
    expect(stdout).toContain(`\nok\ttoken\t${message}\t\n`);
  });

  test('exchanges an identity token for the address, and masks both before anything can print them', async () => {
    const here = await exchanging();
    const { code, stdout, stderr } = await here.push('--debug');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^https:\S+\n$/)]);
    expect(here.paths()).toEqual(PUSHED);
    const [version, runner, exchange, push] = here.asked;
    const of = (request?: HttpRequest) => request?.headers.authorization;
    expect([version, runner, exchange, push].map(of)).toEqual([
      undefined,
      'Bearer runner-secret',
      undefined,
      `Bearer ${here.given[0]}`,
    ]);
    expect(runner?.url).toBe(`${RUNNER}&audience=https%3A%2F%2Fpw.test`);
    expect(Object.fromEntries(new URLSearchParams(exchange?.body as string))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: here.exchanged[0],
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    });
    const lines = stderr.split('\n').map((line) => line.replace(/ \d+ ms$/, ''));
    expect(lines).toEqual([
      'debug: GET pw.test/api/v2/version 200',
      `::add-mask::${here.exchanged[0]}`,
      'debug: POST pw.test/api/v2/token 200',
      `::add-mask::${here.given[0]}`,
      'debug: POST pw.test/api/v2/pushes 201',
      ...lines.slice(5),
    ]);
    expect(lines.slice(5).join('\n')).not.toMatch(SECRET);
  });

  test('exchanges once in a process until the token has ended, however many calls begin together', async () => {
    const here = await exchanging();
    const first = deferred();
    async function* lines() {
      yield Buffer.from('one\n');
      await first.promise;
      here.service.clock.advance(600_000);
      yield Buffer.from('two\nthree\nfour\n');
    }
    const piped = here.under({ arriving: lines(), printed: () => first.resolve() });
    expect((await piped.run('push', '--each')).code).toBe(0);
    expect(here.paths()).toEqual([...PUSHED, ...PUSHED, '/pushes', '/pushes']);
  });

  test('creates one push where its token ends before a lost response is asked for again', async () => {
    const keys: unknown[] = [];
    const here = await exchanging({
      arrived: ({ method, headers }) => {
        if (method !== 'POST') return;
        keys.push(headers['idempotency-key']);
        if (keys.length !== 2) return;
        here.service.clock.advance(20_000);
        throw broken(true);
      },
    });
    const first = deferred();
    async function* lines() {
      yield Buffer.from('one\n');
      await first.promise;
      here.service.clock.advance(585_000);
      yield Buffer.from('two\n');
    }
    const piped = here.under({ arriving: lines(), printed: () => first.resolve() });
    expect((await piped.run('push', '--each')).code).toBe(0);
    expect([here.given.length, here.statuses.slice(-1)]).toEqual([2, [201]]);
    expect(here.statuses).toContain(401);
    expect(keys).toEqual([keys[0], ...Array(3).fill(keys[1])]);
  });

  test('is refused once for all lines, which ask for no other identity token', async () => {
    const refused = json(400, JSON.stringify({ error: 'invalid_request', error_description: 'no trust matches' }));
    const here = await exchanging({ answers: [refused] });
    const { code, stderr } = await here.under({ stdin: 'one\ntwo\nthree\n' }).run('push', '--each');
    expect([code, stderr.match(/refused the identity token/g)?.length]).toEqual([3, 3]);
    expect(here.paths()).toEqual(PUSHED.slice(0, 3));
  });

  test('is masked where no coding agent reads what is printed, which would have it in its transcript', async () => {
    const here = await exchanging();
    const agent = here.under({ stdin: 'x', env: { AI_AGENT: 'x' } });
    expect(await agent.run('push', '--debug')).toMatchObject({ code: 0, stderr: expect.not.stringMatching(SECRET) });
    const { call, transcript } = await served(here);
    await call('push', { generate: true });
    await call('list');
    expect(here.given.length).toBe(3);
    expect(transcript.join('\n')).not.toMatch(SECRET);
  });

  test('exchanges another identity token when the token has ended by its time', async () => {
    const here = await exchanging();
    const { stdout } = await here.push();
    expect(await here.run('wait', stdout.trim(), '--for', '1h')).toMatchObject({ code: 12 });
    expect(here.given.length).toBeGreaterThan(4);
    expect(new Set(here.exchanged).size).toBe(here.given.length);
    expect(here.statuses).not.toContain(401);
  });

  test('exchanges once more when the instance refuses the token, and not a third time', async () => {
    const once = await exchanging({ answers: [ok(ended)] });
    expect((await once.push()).code).toBe(0);
    expect(once.paths()).toEqual([...PUSHED, '/version', '/token', '/token', '/pushes']);
    const always = await exchanging({ answers: Array(9).fill(ok(ended)) });
    expect(refusal(await always.push())).toEqual([
      3,
      'pwpush: the instance refused the token from PWPUSH_TOKEN_FROM',
      expect.stringMatching(/^hint: /),
    ]);
    expect(always.exchanged.length).toBe(2);
    const other = await exchanging();
    expect((await other.run('list')).code).toBe(4);
    expect(other.paths()).toEqual([...PUSHED.slice(0, 3), '/pushes/active']);
  });

  test.each<[string, Exchanging, string[], number, RegExp, RegExp?]>([
    [
      'no permission',
      { env: { ...GITHUB, ACTIONS_ID_TOKEN_REQUEST_URL: '' } },
      ['/version'],
      2,
      /this job has no identity token$/,
      /permissions: \{ id-token: write \}/,
    ],
    [
      'no id_tokens',
      { env: { GITLAB_CI: 'true' } },
      ['/version'],
      2,
      /this job has no identity token$/,
      /id_tokens: \{ PWPUSH_ID_TOKEN: \{ aud: https:\/\/pw\.test \} \};/,
    ],
    [
      'an unknown system',
      { env: { CI: 'true' } },
      ['/version'],
      2,
      /this job has no identity token$/,
      /name it with PWPUSH_ID_TOKEN_FILE or PWPUSH_ID_TOKEN$/,
    ],
    [
      'an instance that takes none',
      { feature: { enabled: false } },
      ['/version'],
      3,
      /pw\.test takes no identity tokens$/,
      /pwpush serve trust add/,
    ],
    [
      'an instance that knows none',
      { feature: null },
      ['/version'],
      3,
      /pw\.test takes no identity tokens$/,
      /API token$/,
    ],
    [
      'another audience of the instance',
      { feature: { enabled: true, audience: `https://x.test/\u001b${'a'.repeat(999)}` } },
      ['/version'],
      2,
      /pw\.test takes identity tokens for https:\/\/x\.test\/\\x1ba{1,300}…, not for https:\/\/pw\.test; none was asked for$/,
      /PWPUSH_TOKEN_AUDIENCE$/,
    ],
    ['plain http', { env: { ...GITHUB, PWPUSH_URL: 'http://pw.test' } }, [], 2, /over plain http to pw\.test/, /https/],
    [
      'a runner over plain http',
      { env: { ...GITHUB, ACTIONS_ID_TOKEN_REQUEST_URL: 'http://runner.test/' } },
      ['/version'],
      2,
      /ACTIONS_ID_TOKEN_REQUEST_URL is not an https address$/,
    ],
    [
      'a runner that redirects',
      { runner: [{ status: 302, headers: { location: 'https://x.test' } }] },
      ['/version', '/token'],
      1,
      /runner\.test gave the job no identity token \(302\)$/,
    ],
    [
      'a runner that is away',
      { runner: ['cut', 'cut', 'cut'] },
      ['/version', '/token', '/token', '/token'],
      9,
      /no complete response/,
    ],
    [
      'a runner that fails',
      { runner: Array(3).fill({ status: 502 }) },
      ['/version', '/token', '/token', '/token'],
      9,
      /runner\.test gave the job no identity token \(502\)$/,
    ],
    [
      'a token for another',
      { identities: () => identity({ aud: 'https://x.test' }) },
      ['/version', '/token'],
      2,
      /from ACTIONS_ID_TOKEN_REQUEST_URL is not for the audience https:\/\/pw\.test; it was not sent$/,
      /GitLab/,
    ],
    ['a token for nobody', { identities: () => identity({}) }, ['/version', '/token'], 2, /it was not sent$/, /GitLab/],
    [
      'two parts',
      { identities: () => identity({ aud: BASE }).replace('.c2ln', '') },
      ['/version', '/token'],
      2,
      /JSON Web Token; it was not sent$/,
    ],
    [
      'a token of 16 KiB and more',
      { identities: () => identity({ aud: BASE }) + 'c2lu'.repeat(4096) },
      ['/version', '/token'],
      2,
      /JSON Web Token; it was not sent$/,
    ],
  ])('sends no identity token: %s', async (_, options, paths, code, message, hint) => {
    const here = await exchanging(options);
    const [exit, said, advice] = refusal(await here.push());
    expect([exit, said, here.paths()]).toEqual([code, expect.stringMatching(message), paths]);
    if (hint) expect(advice).toMatch(hint);
  });

  test('tries an instance only as often as a call does, and a runner three times', async () => {
    const here = await exchanging({
      runner: ['cut', { status: 503 }],
      answers: [json(503, '{"error":"temporarily_unavailable"}', { 'retry-after': '2' })],
    });
    expect((await here.push()).code).toBe(0);
    expect(here.paths()).toEqual(['/version', '/token', '/token', '/token', '/token', '/token', '/pushes']);
  });

  test.each<[string, Literal, number, RegExp]>([
    [
      'a refusal, in its words',
      json(400, JSON.stringify({ error: 'invalid_request', error_description: 'no trust matches\u001b[31m' })),
      3,
      /the instance refused the identity token: no trust matches\\x1b\[31m$/,
    ],
    [
      'a refusal that repeats the token',
      json(400, JSON.stringify({ error: 'invalid_request', error_description: identity({ aud: BASE }) })),
      3,
      /the instance refused the identity token: /,
    ],
    ['no end', ok({ ...ended, expires_in: null }), 1, /unexpected response/],
    ['an end that has passed', ok({ ...ended, expires_in: 0 }), 1, /unexpected response/],
    ['another type', ok({ ...ended, token_type: 'mac' }), 1, /unexpected response/],
    ['a word as a token', ok({ ...ended, access_token: 'true' }), 1, /unexpected response/],
    ['a header in the token', ok({ ...ended, access_token: 'pwp_0000000000000\r\nX: y' }), 1, /unexpected response/],
    [
      'a redirect elsewhere',
      { status: 307, headers: { location: 'https://x.test/api/v2/token' } },
      1,
      /redirects to another origin/,
    ],
  ])('gets no token of the instance: %s', async (_, answer, code, message) => {
    const here = await exchanging({ answers: [answer] });
    expect(refusal(await here.push()).slice(0, 2)).toEqual([code, expect.stringMatching(message)]);
    expect(here.paths()).toEqual(PUSHED.slice(0, 3));
  });

  test('is a token to doctor that does what it can, and to no command of push --into that then fails', async () => {
    const here = await exchanging();
    const { stdout } = await here.run('doctor', '--json');
    expect(JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'token')).toEqual({
      name: 'token',
      status: 'ok',
      message: 'from PWPUSH_TOKEN_FROM, accepted: it can push, and reach only that',
    });
    expect((await here.run()).stdout).toMatch(/^ {2}token +yes \(PWPUSH_TOKEN_FROM\)$/m);
    const env = { ACTIONS_ID_TOKEN_REQUEST_URL: '', PATH: process.env.PATH };
    const started = here.file('started');
    const into = ['push', '--generate', '--into', '--', 'sh', '-c', `touch ${started}`];
    expect([(await here.under({ env }).run(...into)).code, existsSync(started)]).toEqual([2, false]);
  });

  test('sends nothing over plain http, even where a profile accepts that for tokens', async () => {
    const here = await exchanging({ env: { ...GITHUB, PWPUSH_TOKEN_FROM: '', PWPUSH_URL: '' } });
    const work = { url: 'http://pw.test', insecure: true, 'token-from': 'ci' } as const;
    await here.keep({ current: 'work', profiles: { work } });
    const message = 'pwpush: refusing to send an identity token over plain http to pw.test';
    expect([...refusal(await here.push()), here.asked]).toEqual([2, message, 'hint: use https', []]);
  });

  test('sends nothing to whoever has any certificate, as --insecure accepts', async () => {
    const here = await exchanging();
    const message = 'pwpush: refusing to send an identity token to pw.test, whose certificate is not verified';
    expect([...refusal(await here.push('--insecure')), here.asked]).toEqual([
      2,
      message,
      expect.stringMatching(/--ca-file$/),
      [],
    ]);
  });

  test('is not for another address than its own', async () => {
    const here = await exchanging();
    await here.run('get', 'https://x.test/p/abc');
    await here.run('push', '--dry-run', 'x');
    await here.run('get', 'abc', '--anonymous');
    expect(here.exchanged).toEqual([]);
  });
});

describe('the audience', () => {
  const audiences = async (env: Record<string, string>, ...words: string[]) => {
    const feature = { enabled: true, audience: null };
    const here = await exchanging({ env: { ...GITHUB, ...env }, feature });
    await here.keep({
      current: 'a',
      profiles: { a: { url: `${BASE}/a`, 'token-from': 'ci', 'token-audience': 'ours' } },
    });
    await here.push(...words);
    return here.asked.flatMap(({ url }) => new URL(url).searchParams.getAll('audience'));
  };

  test('is the address in use without a final slash, or what the job names for that address', async () => {
    expect(await audiences({ PWPUSH_URL: `${BASE}/` })).toEqual([BASE]);
    expect(await audiences({ PWPUSH_TOKEN_AUDIENCE: 'api://pw' })).toEqual(['api://pw']);
    const profile = { PWPUSH_TOKEN_FROM: '' };
    expect(await audiences({ ...profile, PWPUSH_URL: '' })).toEqual(['ours']);
    // The variable is for the address of the environment.
    expect(await audiences({ ...profile, PWPUSH_TOKEN_AUDIENCE: 'api://pw' }, '--profile', 'a')).toEqual(['ours']);
  });
});

describe('an identity token', () => {
  test('is read anew from its file, which comes first', async () => {
    const here = await exchanging({
      env: { ...GITHUB, PWPUSH_ID_TOKEN: 'not.it' },
      answers: [ok(ended)],
    });
    const file = here.file('token');
    const token = here.issue({ aud: [BASE, 'other'] });
    writeFileSync(file, `${token}\n`);
    expect((await here.under({ stdin: 'x', env: { PWPUSH_ID_TOKEN_FILE: file } }).run('push')).code).toBe(0);
    expect(here.exchanged).toEqual([token, token]);
    const PWPUSH_ID_TOKEN = here.issue();
    expect((await here.under({ stdin: 'x', env: { PWPUSH_ID_TOKEN } }).run('push')).code).toBe(0);
    expect(here.exchanged[2]).toBe(PWPUSH_ID_TOKEN);
    expect(here.paths()).not.toContain('runner.test');
  });

  test.each([
    ['Buildkite', 'BUILDKITE', 'buildkite-agent', `oidc request-token --audience ${BASE}`, true],
    ['CircleCI', 'CIRCLECI', 'circleci', `run oidc get --claims {"aud":"${BASE}"}`, false],
  ])('comes from the program of %s, which also masks it where it can', async (_, variable, name, words, masks) => {
    const here = await exchanging({ env: { [variable]: 'true' } });
    const [log, redacted] = [here.file('log'), here.file('redacted')];
    const token = here.issue();
    const text = `#!/bin/sh\n[ "$1" = redactor ] && exec cat >>'${redacted}'\necho "$*" >>'${log}'\nenv | grep PWPUSH_ >>'${log}'\necho ${token}\n`;
    writeFileSync(here.file(name), text, { mode: 0o755 });
    const path = `${here.folder}:${process.env.PATH}`;
    const { code, stderr } = await here.under({ stdin: 'x', env: { PATH: path } }).run('push');
    expect([code, stderr, readFileSync(log, 'utf8')]).toEqual([0, expect.not.stringMatching(SECRET), `${words}\n`]);
    expect(existsSync(redacted) && readFileSync(redacted, 'utf8')).toBe(masks && token + here.given[0]);
  });

  test('comes from no program of a folder without an absolute path, such as the workspace', async () => {
    const here = await exchanging({ env: { BUILDKITE: 'true' } });
    writeFileSync(here.file('buildkite-agent'), '#!/bin/sh\necho x', { mode: 0o755 });
    const PATH = relative(process.cwd(), here.folder);
    expect(refusal(await here.under({ stdin: 'x', env: { PATH } }).run('push'))).toEqual([
      2,
      'pwpush: buildkite-agent oidc request-token cannot be started: there is no program "buildkite-agent"',
    ]);
  });
});

describe('the setting token-from', () => {
  test('is a token of the profile, in the place of another', async () => {
    const here = await exchanging({ env: { ...GITHUB, PWPUSH_TOKEN_FROM: '', PWPUSH_URL: '' } });
    await here.keep({ current: 'work', profiles: { work: { url: BASE, token: 'old' } } });
    expect(await here.run('profile', 'set', '.', 'token-from', 'ci')).toMatchObject({
      code: 0,
      stderr: 'the token that was stored in the profile was removed\n',
    });
    expect((await here.run('profile', 'show')).stdout).toMatch(/^token\tyes\ntoken-from\tci$/m);
    expect((await here.push()).code).toBe(0);
    expect(here.given.length).toBe(1);
    expect((await here.run('profile', 'set', '.', 'token-from', 'gitlab')).code).toBe(2);
  });

  test('is not made by login, which saves no token of a job', async () => {
    const here = await exchanging();
    expect(refusal(await here.run('login'))).toEqual([
      2,
      'pwpush: login saves no token that a job gets by its identity',
      expect.stringMatching(/pwpush profile set NAME token-from ci$/),
    ]);
    expect([here.asked, here.kept()]).toEqual([[], undefined]);
  });
});
