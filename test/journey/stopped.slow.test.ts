import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as sendOn } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deferred } from '../helpers/deferred';
import { type Listening, listening } from '../helpers/listen';
import { times, upTo } from '../helpers/long';
import { needsFile } from '../helpers/needs';
import {
  type Ended,
  makePerson,
  type Person,
  person,
  pwpush,
  type Running,
  rescued,
  serving,
  start,
} from '../helpers/program';

// Retrievals of a last view that stand still, by SIGSTOP or because another one has to come first: whoever comes late,
// the secret is somewhere, and the view was used once.

const service = serving(person().env);
let proxy: Listening;
/** Called with a retrieval or download of which that share is on its way; it goes on when this resolves. */
let holding: (url: string) => Promise<unknown>;
let share: number;

beforeAll(async () => {
  proxy = await listening(async (request, response) => {
    const { method, url = '', headers } = request;
    const onward = sendOn(service.url + url, { method, headers });
    // The client may be gone by now.
    for (const one of [onward, response]) one.on('error', () => {});
    onward.end(await buffer(request));
    const [answer] = await once(onward, 'response');
    const body = await buffer(answer);
    const first = Math.floor(body.length * share);
    if (first > 0) {
      response.writeHead(answer.statusCode, answer.headers);
      await new Promise((resolve) => response.write(body.subarray(0, first), resolve));
    }
    await holding(url);
    if (first === 0) response.writeHead(answer.statusCode, answer.headers);
    response.end(body.subarray(first));
  });
});
afterAll(() => proxy.close());

let somebody: Person;
let env: Record<string, string>;
beforeEach(() => {
  holding = async () => {};
  share = 0;
  somebody = makePerson();
  env = { ...somebody.env, PWPUSH_URL: proxy.url };
});

/** Starts it, and ends it with the test. */
function started(words: readonly string[]): Running {
  const running = start(words, { env, input: '', cwd: somebody.folder });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  return running;
}

/** A push with one view, by its token. */
async function pushed(payload: string): Promise<string> {
  const push = { payload, expire_after_views: 1 };
  return (await service.ask('POST', '/pushes', { push })).json.url_token;
}

/** How many views were used, by the audit log. */
async function viewsOf(token: string): Promise<number> {
  const { json } = await service.ask('GET', `/pushes/${token}/audit`);
  return json.logs.filter(({ kind }: { kind: string }) => kind === 'view').length;
}

/** Stops a process, and lets it go on once something is done. */
async function standStill<T>(pid: number, meanwhile: () => Promise<T>): Promise<T> {
  process.kill(pid, 'SIGSTOP');
  try {
    const state = () => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    await expect.poll(state).toBe('T');
    return await meanwhile();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Seconds without data until a program gives up: more than a busy machine takes for what is not held. */
const LIMIT = '3';

/** For longer than that, with all that is held on its way to the program. */
const overdue = (letGo: () => void) => async () => {
  letGo();
  await pause(7000);
};

/** Resolves once `holding` is called, and lets go of what is held. */
function held() {
  const { promise: released, resolve: letGo } = deferred();
  const { promise: arrived, resolve: arrives } = deferred();
  holding = () => {
    // What comes after it is not held.
    holding = async () => {};
    arrives();
    return released;
  };
  onTestFinished(() => letGo());
  return { arrived, letGo };
}

/** That the secret was printed or rescued, or else that it is said what may have become of the view. */
async function nothingIsLost({ code, stdout, stderr }: Ended, token: string, secret: string) {
  const views = await viewsOf(token);
  if (stdout === secret) return expect([code, views], stderr).toEqual([0, 1]);
  const found = rescued(env).includes(secret);
  const said = code === 11 && stderr.includes('a view may have been used');
  expect([stdout, found || said], stderr).toEqual(['', true]);
  expect(views).toBeLessThan(2);
}

describe('a program that stands still (needs /proc)', needsFile('/proc/self/stat'), () => {
  test.each([
    ['before its response comes', 0],
    ['in the middle of its response', 0.5],
  ])('%s, for longer than its limit, loses no secret', async (_when, part) => {
    const secret = 'hunter2 '.repeat(50_000);
    const token = await pushed(secret);
    share = part;
    const { arrived, letGo } = held();
    const { child, ended } = started(['get', token, '--timeout', LIMIT]);
    await arrived;
    await standStill(child.pid ?? 0, overdue(letGo));
    await nothingIsLost(await ended, token, secret);
  });

  test('in the middle of a file, for longer than its limit, saves it or keeps the rest', async () => {
    const content = 'hunter2 '.repeat(200_000);
    writeFileSync(join(somebody.folder, 'file.txt'), content);
    const owned = { ...env, PWPUSH_TOKEN: service.token };
    const pushing = ['push', '--views', '1', '--json', '--file', 'file.txt'];
    const { stdout } = await pwpush(pushing, { env: owned, cwd: somebody.folder });
    const token = JSON.parse(stdout).url_token;
    const { arrived, letGo } = held();
    const retrieval = holding;
    // The retrieval passes, the download is held.
    holding = async () => {
      holding = retrieval;
      share = 0.5;
    };
    const words = ['get', token, '--output', 'in/'];
    const { child, ended } = started([...words, '--timeout', LIMIT]);
    await arrived;
    await standStill(child.pid ?? 0, overdue(letGo));
    const { code, stderr } = await ended;
    const [, kept] = /--resume '(.*)'\n/.exec(stderr) ?? [];
    const again =
      kept === undefined ? undefined : await started([...words, '--resume', kept]).ended;
    expect([again?.code ?? code, await viewsOf(token)], stderr).toEqual([0, 1]);
    expect(readFileSync(join(somebody.folder, 'in/file.txt'), 'utf8') === content).toBe(true);
  });
});

describe('a service that stands still (needs /proc)', needsFile('/proc/self/stat'), () => {
  test('is asked again when it goes on, and gives the view once', async () => {
    const token = await pushed('hunter2');
    const running = await standStill(service.pid, async () => {
      const running = started(['get', token, '--timeout', LIMIT, '--debug']);
      await running.says('failed', 'stderr');
      return running;
    });
    await nothingIsLost(await running.ended, token, 'hunter2');
  });
});

describe('two programs that write one file', () => {
  /** Two secrets of the same length, retrieved into the same file; both responses come when both were asked for. */
  async function both(...words: string[]) {
    const secrets = ['a', 'b'].map((letter) => letter.repeat(300_000));
    const tokens = await Promise.all(secrets.map((secret) => pushed(secret)));
    let waiting = 0;
    const { promise: released, resolve: letGo } = deferred();
    holding = () => {
      waiting += 1;
      if (waiting === 2) letGo();
      return released;
    };
    const running = tokens.map((token) => started(['get', token, '--output', 'file', ...words]));
    const ended = await Promise.all(running.map((one) => one.ended));
    const views = await Promise.all(tokens.map(viewsOf));
    expect(views).toEqual([1, 1]);
    expect(readdirSync(somebody.folder).filter((name) => name.includes('file'))).toEqual(['file']);
    return { secrets, ended, file: readFileSync(join(somebody.folder, 'file'), 'utf8') };
  }

  const rounds = upTo(times(2));

  test.each(rounds)('one wins, and the secret of the other is in a rescue file (%i)', async () => {
    const { secrets, ended, file } = await both();
    const winner = ended.findIndex(({ code }) => code === 0);
    const loser = ended[1 - winner];
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(file === secrets[winner]).toBe(true);
    expect(rescued(env).map((text) => secrets.indexOf(text))).toEqual([1 - winner]);
    expect(loser?.stderr).toContain('already exists');
  });

  test.each(rounds)('with --force both write it, and it is one of them, whole (%i)', async () => {
    const { secrets, ended, file } = await both('--force');
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(secrets).toContain(file);
    expect(rescued(env)).toEqual([]);
  });
});
