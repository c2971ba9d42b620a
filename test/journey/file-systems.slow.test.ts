import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { keysIn } from '../helpers/key-file';
import { needsPrograms } from '../helpers/needs';
import { person, program, pwpush, serveBuilt } from '../helpers/program';
import { offering, whole } from '../helpers/transfer';

const somebody = person();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(somebody.folder, 'here-'));
});

/** What starts the program under strace(1), which is its grandchild, with these words for it. */
const traced = (...words: string[]) => ['strace', '-D', '-f', '-qq', ...words, ...program];

async function get(by: readonly string[], ...words: string[]) {
  const instance = await offering([{ filename: 'a', answer: whole('A') }], 'text', 0);
  const all = ['get', `${instance.url}/p/abc`, '--output', 'in/', ...words];
  const ended = await pwpush(all, { env: somebody.env, cwd: folder, by });
  await instance.close();
  return ended;
}

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('the config file', needsPrograms('strace'), () => {
  const RENAME = '?rename,?renameat,renameat2';
  const CHMOD = '?chmod,fchmod,fchmodat';
  const OLD = '{"profiles":{"old":{"url":"https://old.test"}}}';
  const config = () => join(folder, 'config.json');
  const profile = (by: readonly string[], ...words: string[]) => {
    writeFileSync(config(), OLD, { mode: 0o644 });
    const env = { ...somebody.env, PWPUSH_CONFIG_DIR: folder };
    return pwpush(['profile', ...words], { env, by });
  };
  const failing = (...calls: string[]) =>
    traced('-o', '/dev/null', ...calls.flatMap((call) => ['-e', `inject=${call}`]));

  test.each([
    ['syncs', [`fsync,fdatasync:error=EINVAL`], false],
    ['modes', [`${CHMOD}:error=EPERM`], false],
    ['replacing a file', [`${RENAME}:error=EBUSY`], false],
    ['replacing over file systems', [`${RENAME}:error=EXDEV`], false],
    ['both', [`${RENAME}:error=EBUSY`, `${CHMOD}:error=EPERM`], true],
  ])('is written without %s', async (_what, calls, isOpen) => {
    const { code, stderr } = await profile(failing(...calls), 'set', 'default', 'url', 'https://new.test');
    expect([code, stderr.includes('other users can read')]).toEqual([0, isOpen]);
    const { profiles } = JSON.parse(readFileSync(config(), 'utf8'));
    expect(Object.keys(profiles)).toEqual(['old', 'default']);
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('that a kill leaves in part is read from its copy, which the next change removes', async () => {
    const calls = [`${RENAME}:error=EBUSY`, 'ftruncate:signal=KILL'];
    const killed = await profile(failing(...calls), 'set', 'default', 'url', 'https://new.test');
    expect([killed.code === 0, read('config.json.old')]).toEqual([false, OLD]);
    writeFileSync(config(), read('config.json').slice(0, -1));
    const env = { ...somebody.env, PWPUSH_CONFIG_DIR: folder };
    const listed = await pwpush(['profile', 'list', '--json'], { env });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ profile: 'old' }]);
    expect((await pwpush(['profile', 'use', 'old'], { env })).code).toBe(0);
    expect(JSON.parse(readFileSync(config(), 'utf8'))).toMatchObject({ current: 'old' });
    expect(readdirSync(folder)).not.toContain('config.json.old');
  });
});

describe('what is saved', needsPrograms('strace'), () => {
  test('is on the disk before it has its name, and then the name', async () => {
    const log = join(folder, 'log');
    const calls = 'trace=fsync,?link,linkat,?rename,?renameat,renameat2';
    const { code } = await get(traced('-y', '-o', log, '-e', calls));
    const steps = readFileSync(log, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const synced = /fsync\(\d+<.*\/(?:\.([^/]+)\.[0-9a-f]{12}\.part[^/]*|(in))>/.exec(line);
        if (synced) return [`sync ${synced[1] ?? synced[2]}`];
        const named = /(?:link|rename)\w*\(.*"in\/([^/"]+)"[^"]*\) += 0/.exec(line);
        return named ? [`name ${named[1]}`] : [];
      });
    const each = (name: string) => [`sync ${name}`, `name ${name}`, 'sync in'];
    expect([code, steps]).toEqual([0, [...each('secret.txt'), ...each('a')]]);
  });

  describe.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'])('where calls fail: %s', (error) => {
    const without = (...calls: string[]) => traced('-o', '/dev/null', '-e', `inject=${calls}:error=${error}`);
    const links = ['?link', 'linkat'];

    test('for links, modes and syncs is saved, and nothing is overwritten', async () => {
      const unlinked = without(...links, '?chmod', 'fchmod', 'fchmodat', 'fsync', 'fdatasync');
      expect(await get(unlinked)).toMatchObject({ code: 0 });
      expect([read('in/secret.txt'), read('in/a')]).toEqual(['text', 'A']);
      writeFileSync(join(folder, 'in/a'), 'mine');
      expect(await get(unlinked)).toMatchObject({ code: 0 });
      expect([read('in/a'), read('in/a (2)'), read('in/secret (2).txt')]).toEqual([...['mine', 'A', 'text']]);
      expect(readdirSync(join(folder, 'in'))).toHaveLength(4);
    });

    test('for links, a service makes its key, and uses it again', async () => {
      const home = join(folder, 'home');
      mkdirSync(home);
      const env = { ...somebody.env, HOME: home };
      await (await serveBuilt(env, [], without(...links))).stop();
      const key = read('home/data/instance.key');
      expect(keysIn(key)).toHaveLength(1);
      await (await serveBuilt(env)).stop();
      expect(read('home/data/instance.key')).toBe(key);
    });
  });
});
