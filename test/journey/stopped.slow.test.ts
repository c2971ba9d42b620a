import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { deferred } from '../helpers/deferred';
import { type Late, lateProxy } from '../helpers/late-proxy';
import type { Listening } from '../helpers/listen';
import { needsFile } from '../helpers/needs';
import { makePerson, type Person, person, pushed, rescued, serving, started } from '../helpers/program';

// Retrievals of a last view that stand still, by SIGSTOP or because another one comes first: whoever comes late,
// the secret is somewhere, and the view was used once.

const service = serving(person().env);
const late: Late = { share: 0, holding: () => {} };
let proxy: Listening;
beforeAll(async () => {
  proxy = await lateProxy(service, late);
  return proxy.close;
});

let somebody: Person;
let env: Record<string, string>;
beforeEach(() => {
  Object.assign(late, { share: 0, holding: () => {} });
  somebody = makePerson();
  env = { ...somebody.env, PWPUSH_URL: proxy.url };
});

const getting = (...words: string[]) => started(['get', ...words], { env, input: '', cwd: somebody.folder });

const once = async (payload: string) => {
  const link = await pushed(service, payload, { expire_after_views: 1 });
  return /\/p\/([\w-]+)/.exec(link)?.[1] ?? '';
};

async function viewsOf(token: string): Promise<number> {
  const { json } = await service.ask('GET', `/pushes/${token}/audit`);
  return json.logs.filter(({ kind }: { kind: string }) => kind === 'view').length;
}

/** Seconds without data until a program gives up: more than a busy machine takes for what is not held. */
const LIMIT = '3';

test.each([
  ['before its response comes', 0],
  ['in the middle of its response', 0.5],
])(
  'a program that stands still %s, for longer than its limit, loses no secret (needs /proc)',
  needsFile('/proc/self/stat'),
  async (_when, part) => {
    const secret = 'hunter2 '.repeat(50_000);
    const token = await once(secret);
    late.share = part;
    const [arrived, released] = [deferred(), deferred()];
    late.holding = () => {
      // What comes after it is not held.
      late.holding = () => {};
      arrived.resolve();
      return released.promise;
    };
    onTestFinished(() => released.resolve());
    const running = getting(token, '--timeout', LIMIT);
    await arrived.promise;
    const { pid = 0 } = running.child;
    process.kill(pid, 'SIGSTOP');
    const state = () => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    await expect.poll(state, { message: 'the process stands still' }).toBe('T');
    released.resolve();
    await pause(7000);
    process.kill(pid, 'SIGCONT');
    const { code, stdout, stderr } = await running.ended;
    const views = await viewsOf(token);
    if (stdout === secret) return expect([code, views], stderr).toEqual([0, 1]);
    const said = code === 11 && stderr.includes('a view may have been used');
    expect([stdout, rescued(env).includes(secret) || said], stderr).toEqual(['', true]);
    expect(views).toBeLessThan(2);
  },
);

test('of two programs that write one file one wins, and the secret of the other is in a rescue file', async () => {
  const secrets = ['a', 'b'].map((letter) => letter.repeat(300_000));
  const tokens = await Promise.all(secrets.map(once));
  // Both responses come when both were asked for.
  let waiting = 0;
  const both = deferred();
  late.holding = () => {
    waiting += 1;
    if (waiting === 2) both.resolve();
    return both.promise;
  };
  const running = tokens.map((token) => getting(token, '--output', 'file'));
  const ended = await Promise.all(running.map((one) => one.ended));
  expect(await Promise.all(tokens.map(viewsOf))).toEqual([1, 1]);
  expect(readdirSync(somebody.folder).filter((name) => name.includes('file'))).toEqual(['file']);
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
  const winner = ended.findIndex(({ code }) => code === 0);
  expect(readFileSync(join(somebody.folder, 'file'), 'utf8') === secrets[winner]).toBe(true);
  expect(rescued(env).map((text) => secrets.indexOf(text))).toEqual([1 - winner]);
});
