import { spawn } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { build } from 'rolldown';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { storedProfiles } from '../../src/profile/config-file';
import { updateProfiles } from '../../src/profile/store';
import { onUnix } from '../helpers/needs';
import { eachPlace } from '../helpers/run';

const here = eachPlace();
let folder: string;
let path: string;
beforeEach(() => {
  folder = here.file('a/b');
  path = join(folder, 'config.json');
});

const user = process.geteuid?.();
const tools = {
  now: () => new Date(),
  sleep: async () => void (await setImmediate()),
  keepingSignals: <T>(load: () => Promise<T>) => load(),
  uid: user,
};
const entryOf = (more = {}) => ({
  context: {
    env: { PWPUSH_CONFIG_DIR: folder },
    platform: process.platform,
    home: here.folder,
    ...tools,
    ...more,
  },
  say: { warn: async () => {} },
});
const readProfiles = (PWPUSH_CONFIG_DIR = folder) =>
  storedProfiles({ env: { PWPUSH_CONFIG_DIR }, platform: process.platform, home: here.folder, uid: user });
const mode = (of: string) => (statSync(of).mode & 0o777).toString(8);
const write = (text: string) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text);
};
const storeOne = (more = {}) => updateProfiles(entryOf(more), () => ({ profiles: { a: {} } }));

const UPDATING = `
const { updateProfiles } = require('./store.js');
const [, , folder, name] = process.argv;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const context = {
  env: { PWPUSH_CONFIG_DIR: folder }, platform: process.platform, home: folder,
  now: () => new Date(), sleep, keepingSignals: (load) => load(), uid: process.geteuid?.(),
};
(async () => {
  for (let at = 0; at < 2; at++)
    await updateProfiles({ context }, ({ profiles }) => ({ profiles: { ...profiles, [name + '-' + at]: {} } }));
})();
`;

describe('the file', () => {
  test.each([0o000, 0o022, 0o077])('is 0600 in a folder of 0700, umask %o', async (umask) => {
    const before = process.umask(umask);
    await updateProfiles(entryOf(), () => ({ profiles: { a: { token: 'secret' } } }));
    process.umask(before);
    const made = [mode(path), mode(folder), ...readdirSync(folder)];
    expect(made).toEqual(['600', '700', 'config.json']);
  });

  test('is replaced, and so becomes that when it was more open; a folder that was there is left as it is', async () => {
    write('{"profiles":{}}');
    chmodSync(path, 0o644);
    chmodSync(folder, 0o755);
    await storeOne();
    expect([mode(path), mode(folder)]).toEqual(['600', '755']);
  });

  // With `SNAP` in the environment, conf would write into it.
  test.each(['', '/snap/x'])('is replaced, not rewritten: a reader sees the old or the new; SNAP=%s', async (snap) => {
    vi.stubEnv('SNAP', snap || undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    write('{"profiles":{}}');
    const before = statSync(path).ino;
    await storeOne();
    expect(statSync(path).ino).not.toBe(before);
  });

  test('comes from a file of a name that was not there, and nothing else is made', async () => {
    mkdirSync(folder, { recursive: true });
    const seen = new Set<string | null>();
    const watcher = watch(folder, (_event, name) => seen.add(name));
    await storeOne();
    await expect.poll(() => [...seen], { message: 'the name of the file' }).toContain('config.json');
    watcher.close();
    const others = [...seen].filter((name) => name !== 'config.json').sort();
    expect(others).toEqual([
      expect.stringMatching(/^\.config\.json\.[0-9a-f]{12}\.part$/),
      expect.stringMatching(/^\.config\.json\.[0-9a-f]{12}\.part\.tmp-\d{10}[0-9a-f]{6}$/),
      'config.json.new.0.lock',
    ]);
  });

  test('stays where a symbolic link leads', onUnix, async () => {
    write('{"profiles":{}}');
    const real = here.file('a/real.json');
    renameSync(path, real);
    chmodSync(real, 0o644);
    symlinkSync(real, path);
    await storeOne();
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ profiles: { a: {} } });
    expect([mode(real), ...readdirSync(here.file('a')).sort()]).toEqual(['600', 'b', 'real.json']);
  });

  test('takes the place of a symbolic link that leads nowhere', onUnix, async () => {
    mkdirSync(folder, { recursive: true });
    symlinkSync(here.file('none'), path);
    await storeOne();
    expect(lstatSync(path).isFile()).toBe(true);
  });

  test('is read back as it was written, odd names and all', async () => {
    const stored = {
      current: 'pw.example.com',
      profiles: {
        'pw.example.com': { url: 'https://pw.example.com', token: 't', days: 1, deletable: false },
        other: { click: true, 'ca-file': '/ca.pem', insecure: true, views: 2 },
      },
    };
    const answered = await updateProfiles(entryOf(), () => stored);
    expect([answered, { ...readProfiles() }]).toEqual([stored, stored]);
  });
});

describe('writing at once', () => {
  test('30 updates all survive', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `p${at}`);
    const updates = names.map((name) =>
      updateProfiles(entryOf(), ({ profiles }) => ({ profiles: { ...profiles, [name]: { days: 1 } } })),
    );
    await Promise.all(updates);
    expect(Object.keys(readProfiles().profiles).sort()).toEqual(names.sort());
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('updates of 6 processes all survive', async () => {
    await build({
      input: join(import.meta.dirname, '../../src/profile/store.ts'),
      platform: 'node',
      logLevel: 'silent',
      output: { file: here.file('store.js'), format: 'cjs', codeSplitting: false },
    });
    writeFileSync(here.file('updating.js'), UPDATING);
    mkdirSync(folder, { recursive: true });
    const ended = await Promise.all(
      Array.from({ length: 6 }, (_, at) => {
        const child = spawn(process.execPath, ['updating.js', folder, `p${at}`], { cwd: here.folder });
        return new Promise((resolve) => child.once('close', resolve));
      }),
    );
    expect(ended.filter((code) => code !== 0)).toEqual([]);
    expect(Object.keys(readProfiles().profiles)).toHaveLength(12);
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('waits for a program that is writing, and then applies to what that wrote', async () => {
    mkdirSync(folder, { recursive: true });
    const claim = join(folder, 'config.json.new.0.lock');
    writeFileSync(claim, '');
    const sleep = async () => {
      write('{"profiles":{"theirs":{}}}');
      rmSync(claim);
    };
    const { profiles } = await updateProfiles(entryOf({ sleep }), (stored) => ({
      profiles: { ...stored.profiles, ours: {} },
    }));
    expect(Object.keys(profiles)).toEqual(['theirs', 'ours']);
  });

  test('does not wait for programs that died, and removes what they left', async () => {
    mkdirSync(folder, { recursive: true });
    const claims = ['config.json.new.0.lock', 'config.json.new.1.lock'];
    for (const [at, name] of claims.entries()) {
      writeFileSync(join(folder, name), '');
      // The clock may have been set back meanwhile.
      const made = new Date(Date.now() + (at === 0 ? -20_000 : 20_000));
      utimesSync(join(folder, name), made, made);
    }
    const sleep = () => Promise.reject(new Error('waits'));
    await storeOne({ sleep });
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('an update that fails changes nothing and holds up nobody', async () => {
    await storeOne();
    const failing = updateProfiles(entryOf(), () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await updateProfiles(entryOf(), (stored) => ({ ...stored, current: 'a' }));
    expect(readProfiles()).toEqual({ current: 'a', profiles: { a: {} } });
  });
});

describe('a config file that is not what pwpush writes', () => {
  // Which is wrong is told by test/cases/config-file-broken.txt.
  test.each([
    ...['{', 'hunter2', 'null', '"x"', '{"current":1}', '{"profiles":[]}'],
    ...['{"url":1}', '{"days":"1"}', '{"token":null}', '{"insecure":1}', '{"edition":"x"}'].map(
      (profile) => `{"profiles":{"a":${profile}}}`,
    ),
  ])('%s is refused and left as it is', async (text) => {
    write(text);
    const error = expect.objectContaining({ code: 'usage' });
    expect(() => readProfiles()).toThrow(error);
    await expect(storeOne()).rejects.toEqual(error);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test.each(['', ' \n', '{}', '{"profiles":{}}'])('%j means no profiles', (text) => {
    write(text);
    expect(readProfiles()).toEqual({ profiles: {} });
  });

  test('none at all, or a file where its folder should be, means no profiles', () => {
    writeFileSync(here.file('file'), '');
    for (const of of [folder, here.file('file')]) expect(readProfiles(of)).toEqual({ profiles: {} });
  });

  test('a profile called __proto__ is a profile, and nothing else', () => {
    write('{"profiles":{"__proto__":{"url":"https://evil.test"}}}');
    expect(Object.keys(readProfiles().profiles)).toEqual(['__proto__']);
    expect({}).not.toHaveProperty('url');
  });

  test('unknown settings are kept for a later version', async () => {
    write('{"profiles":{"a":{"later":true}}}');
    await updateProfiles(entryOf(), (stored) => ({ ...stored, current: 'a' }));
    const kept = { current: 'a', profiles: { a: { later: true } } };
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(kept);
  });
});
