import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as sendOn } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { partOf } from '../helpers/long';
import {
  afterScript,
  type Ended,
  makePerson,
  type Person,
  person,
  serving,
  start,
} from '../helpers/program';

// A signal between a request and its response: the service has done what it was asked, and the response comes once the
// program has heard the signal.

const home = person();
const service = serving(home.env);

/** Makes the program say on stderr that it got a signal, right before it learns of it. */
const hearing = join(home.folder, 'hearing.cjs');
beforeAll(() =>
  writeFileSync(
    hearing,
    `for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(name, () => process.stderr.write('heard\\n'));`,
  ),
);

/** The requests whose responses are held back, such as `GET /path`. */
let held: RegExp | undefined;
/** Half of the response is sent at once. */
let halved = false;
/** Called when the response, or half of it, is there; it goes on when this resolves. */
let holding: () => Promise<unknown>;

/** A proxy in front of the service. */
const proxy = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request;
  const onward = sendOn(service.url + url, { method, headers });
  onward.end(await buffer(request));
  const [answer] = await once(onward, 'response');
  const body = await buffer(answer);
  response.writeHead(answer.statusCode, answer.headers);
  const late = held?.test(`${method} ${url}`) ?? false;
  const half = late && halved ? body.length >> 1 : 0;
  if (half > 0) response.write(body.subarray(0, half));
  if (late) await holding();
  response.end(body.subarray(half));
});
beforeAll(async () => {
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(() => proxy.close());

let somebody: Person;
let env: Record<string, string>;
beforeEach(() => {
  held = undefined;
  halved = false;
  somebody = makePerson();
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  env = { ...somebody.env, PWPUSH_URL: url, PWPUSH_TOKEN: service.token };
});

const linkOf = (kind: 'p' | 'r', { json }: { json: { url_token: string } }) =>
  `${env.PWPUSH_URL}/${kind}/${json.url_token}`;
const lastView = async () => {
  const push = { payload: 'hunter2', expire_after_views: 1 };
  return linkOf('p', await service.ask('POST', '/pushes', { push }));
};
const asked = async () =>
  linkOf('r', await service.ask('POST', '/requests', { request: { request: 'Which?' } }));
/** Links may go on after it. */
const tokenOf = (link: string) => /\/[pr]\/([\w-]+)/.exec(link)?.[1];
const respond = (link: string) =>
  service.ask('PATCH', `/requests/${tokenOf(link)}/respond`, {
    request: { response: 'hunter2' },
  });
const payloadOf = async (link: string) =>
  (await service.ask('GET', `/pushes/${tokenOf(link)}`)).json.payload;

/** What the links on stdout open. */
const opened = ({ stdout }: Ended) => Promise.all(stdout.trim().split('\n').map(payloadOf));

/** What was rescued. */
function rescued(): string[] {
  const folder = env.PWPUSH_STATE_DIR ?? '';
  const files = readdirSync(folder).filter((name) => /^(secret|text|response|link)-/.test(name));
  return files.map((name) => readFileSync(join(folder, name), 'utf8'));
}

/**
 * Runs a command line. Once `requests` responses are held back it sends the signals, one after the other is heard, and then
 * lets the responses go.
 */
async function interrupted(
  words: readonly string[],
  input: string,
  signals: readonly NodeJS.Signals[],
  requests = 1,
): Promise<Ended> {
  const left = [...signals];
  const running = start(words, { env, input, cwd: somebody.folder, by: afterScript(hearing) });
  let heard = '';
  let done = () => {};
  const allHeard = new Promise<void>((resolve) => {
    done = resolve;
  });
  const next = () => {
    const signal = left.shift();
    if (signal) running.child.kill(signal);
    else done();
  };
  running.child.stderr?.on('data', (chunk) => {
    const before = heard.split('heard').length;
    heard += chunk;
    if (heard.split('heard').length > before) next();
  });
  let waiting = 0;
  holding = () => {
    waiting += 1;
    if (waiting === requests) next();
    return allHeard;
  };
  const ended = await running.ended;
  held = undefined;
  // As a shell reports it: Node.js may have to end by the signal itself.
  const code = ended.code ?? 128 + constants.signals[ended.signal as NodeJS.Signals];
  return { ...ended, code };
}

const SIGNALS = [
  [['SIGINT'], 130],
  [['SIGTERM'], 143],
  [['SIGHUP'], 129],
  // As npx does with Ctrl-C.
  [['SIGINT', 'SIGINT'], 130],
  [['SIGTERM', 'SIGINT'], 143],
] as const;

describe.each(partOf(SIGNALS, 0, 3))(
  '%j between a request and its response loses',
  (signals, code) => {
    test('no secret of a last view', async () => {
      const link = await lastView();
      held = /^GET .*\/pushes\//;
      const ended = await interrupted(['get', link, '--anonymous'], '', signals);
      expect({ code: ended.code, secret: ended.stdout }).toEqual({ code, secret: 'hunter2' });
      expect(await payloadOf(link)).toBeNull();
    });

    test('no link of a new push', async () => {
      held = /^POST .*\/pushes$/;
      const ended = await interrupted(['push'], 'hunter2', signals);
      expect({ code: ended.code, secrets: await opened(ended) }).toEqual({
        code,
        secrets: ['hunter2'],
      });
    });
  },
);

describe('SIGTERM between a request and its response loses', () => {
  const ended = (words: readonly string[], input = '', requests = 1) =>
    interrupted(words, input, ['SIGTERM'], requests);

  test('no secret of which half is there', async () => {
    const link = await lastView();
    held = /^GET .*\/pushes\//;
    halved = true;
    expect(await ended(['get', link, '--anonymous'])).toMatchObject({
      code: 143,
      stdout: 'hunter2',
    });
  });

  test('no secret for run, which starts nothing', async () => {
    const words = ['run', await lastView(), '--anonymous', '--as', 'A', '--', 'env'];
    held = /^GET .*\/pushes\//;
    const { code, stdout } = await ended(words);
    expect({ code, stdout, saved: rescued() }).toEqual({
      code: 143,
      stdout: '',
      saved: ['hunter2'],
    });
  });

  test('no answer to a request', async () => {
    const link = await asked();
    await respond(link);
    held = /^GET .*\/requests\/[\w-]+$/;
    expect(await ended(['get', link])).toMatchObject({ code: 143, stdout: 'hunter2' });
  });

  test('no link of a push with files', async () => {
    held = /^POST .*\/pushes$/;
    const pushed = await ended(['push', '--file', hearing, '--message', 'hunter2']);
    expect({ code: pushed.code, secrets: await opened(pushed) }).toEqual({
      code: 143,
      secrets: ['hunter2'],
    });
  });

  test('no links of push --each', async () => {
    held = /^POST .*\/pushes$/;
    const pushed = await ended(['push', '--each'], 'a\nb\n', 2);
    expect({ code: pushed.code, secrets: await opened(pushed) }).toEqual({
      code: 143,
      secrets: ['a', 'b'],
    });
  });

  test('no link of a new request', async () => {
    held = /^POST .*\/requests$/;
    const { code, stdout } = await ended(['request', 'Which?', '--no-encrypt']);
    expect([code, (await respond(stdout.trim())).status]).toEqual([143, 200]);
  });

  test('no word that an answer arrived', async () => {
    const link = await asked();
    held = /^PATCH /;
    const { code, stderr } = await ended(['respond', link], 'hunter2');
    expect({ code, said: stderr.split('\n').includes('the answer was sent') }).toEqual({
      code: 143,
      said: true,
    });
  });

  test('no word that a push was expired', async () => {
    const link = await lastView();
    held = /^DELETE /;
    const { code, stdout } = await ended(['expire', link, '--json']);
    expect({ code, expired: JSON.parse(stdout)[0].expired }).toEqual({ code: 143, expired: true });
  });
});

test('Ctrl-C that arrives twice, as through npx, lets a request of serve finish', async () => {
  const words = ['serve', '--ephemeral', '--port', '0', '--json'];
  const serve = start(words, { env, input: '', by: afterScript(hearing) });
  const [first] = await once(serve.child.stdout as NodeJS.ReadableStream, 'data');
  const { url, token } = JSON.parse(String(first));
  const heard = async () => {
    const next = new Promise<void>((resolve) => {
      serve.child.stderr?.on('data', (chunk) => String(chunk).includes('heard') && resolve());
    });
    serve.child.kill('SIGINT');
    await next;
  };
  const push = sendOn(`${url}/api/v2/pushes`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      expect: '100-continue',
    },
  });
  push.flushHeaders();
  await once(push, 'continue');
  await heard();
  await heard();
  push.end('{"push":{"payload":"hunter2"}}');
  const [{ statusCode }] = await once(push, 'response');
  expect({ statusCode, code: (await serve.ended).code }).toEqual({ statusCode: 201, code: 0 });
});
