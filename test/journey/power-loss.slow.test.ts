import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../src/client/link';
import { keptKey } from '../../src/keep/request-keys';
import type { LocatedItem } from '../../src/profile/references';
import { keysOf } from '../helpers/key-file';
import { inSteps, long } from '../helpers/long';
import { folders } from '../helpers/memory';
import { allOf, needsPrograms } from '../helpers/needs';
import {
  type Change,
  type Left,
  leftBy,
  remember,
  type Sync,
  syncsIn,
  type Trace,
  traced,
} from '../helpers/power-loss';
import { onNode, person, type Served, serveBuilt, serving, start } from '../helpers/program';
import { call, create, createWithFiles, filePart } from '../helpers/service';
import { logOf } from '../helpers/system-calls';
import {
  brokenOff,
  isSound,
  judge,
  MARKER,
  opened,
  overSocket,
  type Stock,
  session,
  stocked,
} from '../helpers/whole-session';

// What a process has done is recorded once. Then each state that a disk may be in, had the power failed meanwhile, is judged
// by the program that opens it; and the same where one sync had not been made, which must cost something.

const someone = person();
const newFolder = folders();
const service = serving(someone.env);

/** What a process has done, and who tells whether anything is lost. */
interface Scene {
  readonly trace: Trace;
  judge(folder: string, left: Left): Promise<void>;
}

const FIRST = 'the first start of serve';
const REKEY = 'serve rekey';
const FILES = 'get of files';

const SCENES: [name: string, record: (home: string) => Promise<Scene>][] = [
  ['a session of serve', aSession],
  [FIRST, aFirstStart],
  [REKEY, aRekey],
  ['serve backup', aBackup],
  ['get --output', aText],
  [FILES, aFile],
  ['get of what cannot be written', aRescue],
  ['request', aRequest],
  ['push, when receipts are compacted', aPush],
  ['profile set', aProfile],
];

const recorded = new Map<string, Promise<Scene>>();
async function sceneOf(name: string, record: (home: string) => Promise<Scene>): Promise<Scene> {
  const scene = recorded.get(name) ?? record(await newFolder());
  recorded.set(name, scene);
  return scene;
}

describe('a loss of power (needs strace)', allOf(needsPrograms('strace'), onNode), () => {
  test.each(SCENES)('loses nothing and gives no view twice: %s', async (name, record) => {
    const scene = await sceneOf(name, record);
    const all = [...leftBy(scene.trace)];
    // Of a service, a long run tries one state of about sixty.
    for (const left of inSteps(all, Math.ceil(all.length / (long ? 20 : 10))))
      expect(await loss(scene, left), left.where).toBeUndefined();
  });

  test.each(SCENES)('may lose something without any one sync: %s', async (name, record) => {
    const scene = await sceneOf(name, record);
    const needed = syncsIn(scene.trace).filter((sync) => !SPARE.some(([, is]) => is(sync, name)));
    expect(needed).not.toEqual([]);
    for (const sync of inSteps(needed, long ? 2 : needed.length)) {
      const lefts = [...leftBy(scene.trace, sync.events)].sort((a, b) => a.rank - b.rank);
      let lost: unknown;
      for (const left of lefts) lost ??= await loss(scene, left);
      expect(lost, `without ${sync.where}`).toBeDefined();
    }
  });
});

/** What is lost in that state: the error of the judge, if any. */
async function loss({ judge }: Scene, left: Left): Promise<unknown> {
  const folder = await newFolder();
  left.restore(folder);
  try {
    await judge(folder, left);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await rm(folder, { recursive: true });
    mkdirSync(folder);
  }
}

/** Why nothing is lost without some syncs: those of SQLite but one. */
const SPARE: [why: string, is: (sync: Sync, scene: string) => boolean][] = [
  [
    'it has a journal while page 1 alone changes, which says the mode, and for a copy that has no name yet',
    ({ last }) => namesIn(last).some((name) => name.endsWith('-journal')),
  ],
  ['both modes read the log', ({ name, changes }) => name === 'pwpush.db' && changes.length === 1],
  [
    'the sync of the next commit is also that of the header of the log',
    ({ changes, last }) => namesIn(last)[0] === 'pwpush.db-wal' && changes.every(isHeader),
  ],
  [
    'the next start makes the tables, as nothing was said',
    ({ last, isSilent }, scene) => scene === FIRST && isSilent && namesIn(last).includes('pwpush.db-wal'),
  ],
  ['a file of receipts that is not replaced yet has them, too', ({ last }) => namesIn(last).includes('receipts.jsonl')],
  [
    'SQLite syncs the folder with its log, before a new key is in use, or a note',
    ({ changes }, scene) => {
      const names = changes.flatMap(namesIn);
      if (scene === REKEY) return names.includes('pwpush.db-wal');
      return scene === FIRST && names.some((name) => /^instance.*\.lock$/.test(name));
    },
  ],
  [
    'a claim that is left is not one of the next version',
    ({ last }) => namesIn(last).every((name) => name.endsWith('.lock')),
  ],
  [
    'what was kept of a download before leads to the same files',
    ({ last }) => last.kind === 'names' && /^download-.*,\./.test(namesIn(last).join()),
  ],
  [
    'the folder that has both is synced with the name of the state folder before a file is asked for',
    ({ last }, scene) => scene === FILES && namesIn(last).includes('out'),
  ],
  ['our reserve holds nothing', ({ name }) => name === 'pwpush.reserve'],
];

const isHeader = (change: Change) =>
  change.kind === 'truncate' || (change.kind === 'write' && change.bytes.length === 32);
const namesIn = (change: Change) => (change.kind === 'names' ? change.set.map(([name]) => name) : [change.node.name]);

const SECRET = `${MARKER}correct-horse-battery-staple`.repeat(100);

const envOf = (home: string) => ({
  ...someone.env,
  HOME: home,
  PWPUSH_URL: service.url,
  PWPUSH_CONFIG_DIR: join(home, 'config'),
  PWPUSH_STATE_DIR: join(home, 'state'),
});

async function ran(home: string, words: string[], { input = '', to = '', code = 0, more = {} } = {}) {
  const read = remember(home);
  const log = join(await newFolder(), 'log');
  const by = [...(to ? ['sh', '-c', `exec "$@" >${to}`, 'sh'] : []), ...traced(log)];
  const running = start(words, { env: { ...envOf(home), ...more }, input, by });
  const ended = await running.ended;
  expect(ended, ended.stderr).toMatchObject({ code });
  return { ...ended, trace: read(await logOf(log, running.child.pid)) };
}

/** What a service does until it ends as `during` has it end. */
async function servedIn<T>(home: string, data: string, during: (served: Served) => Promise<T>) {
  const read = remember(home);
  const log = join(await newFolder(), 'log');
  const served = await serveBuilt(someone.env, ['--data', data], traced(log));
  const answers = await during(served);
  return { answers, served, trace: read(await logOf(log, served.pid)) };
}

/** Data with the pushes and requests of a stock. */
async function dataWithStock(home: string) {
  const data = join(home, 'data');
  mkdirSync(data);
  return { data, stock: await stocked({ data }) };
}

const toldBy = ({ said }: Left, to: 'stdout' | 'stderr') =>
  said
    .filter((one) => one.to === to)
    .map(({ text }) => text)
    .join('');

const responses = ({ said }: Left) =>
  said.filter(({ to, text }) => to === 'socket' && text.startsWith('HTTP/1.1 ')).length;

async function aSession(home: string): Promise<Scene> {
  const { data, stock } = await dataWithStock(home);
  let then = 0;
  const { answers, trace } = await servedIn(home, data, async (served) => {
    const answers = await session(overSocket(served), stock);
    then = Date.now();
    await served.stop();
    return answers;
  });
  return {
    trace,
    async judge(folder, left) {
      const data = join(folder, 'data');
      // As if at once, while repetitions are answered.
      const again = await opened({ data }, () => Date.now() - then);
      await judge(again, stock, brokenOff(answers, responses(left)), left);
      await again.close();
      await isSound(data);
    },
  };
}

async function aFirstStart(home: string): Promise<Scene> {
  const { answers, served, trace } = await servedIn(home, join(home, 'new', 'data'), async (served) => {
    const token = await create(overSocket(served), { payload: SECRET, expire_after_views: 1 });
    // By then, strace has written down the response.
    await call(overSocket(served), 'GET', '/api/v2/version');
    await served.kill();
    return token;
  });
  return {
    trace,
    async judge(folder, left) {
      const data = join(folder, 'new', 'data');
      // Without the note, a change of the key for other data would remove it.
      if (responses(left) > 0)
        expect(readFileSync(join(data, 'instance.key'), 'utf8')).toMatch(/\n# used by:\n# .* SQLite /);
      const again = await opened({ data });
      const view = await call(again, 'GET', `/api/v2/pushes/${answers}`);
      if (responses(left) > 0) expect(view.text).toContain(SECRET);
      const { status } = await call(again, 'GET', '/api/v2/pushes/active', { token: served.token });
      if (toldBy(left, 'stdout').includes(served.token)) expect(status).toBe(200);
      await again.close();
      await isSound(data);
    },
  };
}

/** That a service with that data still has the push of its stock. */
async function holds(data: string, stock: Stock) {
  const again = await opened({ data });
  const { text } = await call(again, 'GET', `/api/v2/pushes/${stock.held}`);
  expect(text).toContain(`${MARKER}held`);
  await again.close();
  await isSound(data);
}

async function aRekey(home: string): Promise<Scene> {
  const { data, stock } = await dataWithStock(home);
  const { trace } = await ran(home, ['serve', 'rekey', '--data', data]);
  return {
    trace,
    async judge(folder, { over }) {
      const keys = keysOf(join(folder, 'data/instance.key'));
      if (over) expect(keys).toHaveLength(1);
      await holds(join(folder, 'data'), stock);
    },
  };
}

async function aBackup(home: string): Promise<Scene> {
  const { data, stock } = await dataWithStock(home);
  const { trace } = await ran(home, ['serve', 'backup', '--data', data, join(home, 'copy')]);
  return {
    trace,
    async judge(folder, { over }) {
      const [copy, restored] = [join(folder, 'copy'), join(folder, 'restored')];
      if (over) expect(existsSync(copy)).toBe(true);
      if (!existsSync(copy)) return;
      mkdirSync(restored);
      copyFileSync(copy, join(restored, 'pwpush.db'));
      copyFileSync(join(folder, 'data/instance.key'), join(restored, 'instance.key'));
      await holds(restored, stock);
    },
  };
}

/** Judges that a file has the whole secret or does not exist; that it does, once its process has ended. */
const whole = (name: string) => async (folder: string, left: Left) => {
  const path = join(folder, name);
  if (left.over || existsSync(path)) expect(readFileSync(path, 'utf8')).toBe(SECRET);
};

async function aText(home: string): Promise<Scene> {
  const token = await create(overSocket(service), { payload: SECRET, expire_after_views: 1 });
  const { trace } = await ran(home, ['get', token, '--output', join(home, 'it')]);
  return { trace, judge: whole('it') };
}

async function aFile(home: string): Promise<Scene> {
  const owned = { ...overSocket(service), adminToken: service.token };
  const views = { name: 'push[expire_after_views]', value: '1' };
  const token = await createWithFiles(owned, filePart('secret', SECRET), views);
  const { trace } = await ran(home, ['get', token, '--output', `${join(home, 'out')}/`]);
  return {
    trace,
    async judge(folder, left) {
      await whole('out/secret')(folder, left);
      const asked = left.said.some(({ to, text }) => to === 'socket' && /^GET \/files\//.test(text));
      if (!asked || existsSync(join(folder, 'out/secret'))) return;
      const state = join(folder, 'state');
      const [name = ''] = readdirSync(state).filter((name) => name.startsWith('download-'));
      const { push } = JSON.parse(readFileSync(join(state, name), 'utf8'));
      expect(push.files).toHaveLength(1);
    },
  };
}

async function aRescue(home: string): Promise<Scene> {
  const token = await create(overSocket(service), { payload: SECRET, expire_after_views: 1 });
  const { trace } = await ran(home, ['get', token], { to: '/dev/full', code: 1 });
  return {
    trace,
    async judge(folder, left) {
      const said = toldBy(left, 'stderr').includes('/state/secret-');
      const state = join(folder, 'state');
      const names = existsSync(state) ? readdirSync(state) : [];
      const contents = names
        .filter((name) => /^secret-[^.]*$/.test(name))
        .map((name) => readFileSync(join(state, name), 'utf8'));
      expect(said ? [[SECRET]] : [[], [SECRET]]).toContainEqual(contents);
    },
  };
}

async function aRequest(home: string): Promise<Scene> {
  const { trace, stdout } = await ran(home, ['request', 'Which password?'], {
    more: { PWPUSH_TOKEN: service.token },
  });
  const { token } = parseReference(stdout.trim());
  return {
    trace,
    async judge(folder, left) {
      if (!toldBy(left, 'stdout').includes(token)) return;
      const places = { env: envOf(folder), platform: 'linux', home: folder } as const;
      const machine = { ...places, uid: process.getuid?.(), now: () => new Date() };
      const target = { base: service.url, inUse: true };
      const item = { token, base: service.url, target } as LocatedItem;
      expect(keptKey(machine, item)).toBeDefined();
    },
  };
}

async function aPush(home: string): Promise<Scene> {
  const file = join(home, 'state', 'receipts.jsonl');
  mkdirSync(join(home, 'state'));
  const receipt = (name: string, expires_at: string) =>
    `\n${JSON.stringify({ base: 'https://pw.test', url_token: name, expires_at })}`;
  const old = receipt('expired', '2020-01-01T00:00:00.000Z');
  // With the next one it has grown by another 64 KiB, and has more than 2,000 lines.
  const kept = receipt('kept', '2999-01-01T00:00:00.000Z');
  const all = (kept + old.repeat(1 + 196_400 / old.length)).slice(0, 196_400);
  writeFileSync(file, all, { mode: 0o600 });
  const { trace } = await ran(home, ['push'], { input: SECRET });
  expect(readFileSync(file).length).toBeLessThan(1000);
  return {
    trace,
    judge: async (folder) => {
      const left = readFileSync(join(folder, 'state', 'receipts.jsonl'), 'utf8');
      expect(left).toContain(kept);
    },
  };
}

async function aProfile(home: string): Promise<Scene> {
  await ran(home, ['profile', 'set', 'one', 'days', '2']);
  const { trace } = await ran(home, ['profile', 'set', 'two', 'days', '3']);
  return {
    trace,
    async judge(folder, left) {
      const config = readFileSync(join(folder, 'config', 'config.json'), 'utf8');
      const { one, two } = JSON.parse(config).profiles;
      expect([one, left.over ? two : { days: 3 }]).toEqual([{ days: 2 }, { days: 3 }]);
    },
  };
}
