import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { contents } from '../helpers/contents';
import { eachFault } from '../helpers/faults';
import { BASE, overFetch } from '../helpers/instance';
import { memory } from '../helpers/memory';
import { onLinux } from '../helpers/needs';
import { type Outcome, type Place, place } from '../helpers/run';
import { create, createWithFiles, type TestService, testService } from '../helpers/service';
import { holding, once, onceAsFile, PART, SECRET } from '../helpers/whole-secret';

// Each operation on files that a command makes fails in turn: the first until none does. Alone in its process: conf is
// loaded when functions of files have been changed (vitest.config.mts).

let service: TestService;
beforeEach(async () => {
  service = await testService();
  return () => service.close();
});

interface Run extends Outcome {
  readonly here: Place;
  /** What is below the place, and among temporary files, which are on a disk without faults. */
  readonly files: Record<string, string>;
}

/** Runs a command once a fault, each time at a new place. Returns which operations failed, once each. */
async function withFaults(
  prepare: (here: Place) => Promise<{ words: string[]; stdin?: string; owner?: boolean }>,
  check: (run: Run) => Promise<void>,
): Promise<string[]> {
  const failed = await eachFault(async (failing) => {
    const temporary = mkdtempSync(join(memory, 'pwpush-'));
    const env = { PWPUSH_URL: BASE, TMPDIR: temporary, PATH: process.env.PATH };
    const here = place({ send: overFetch(service), now: service.clock.now, env });
    mkdirSync(here.file('mine'));
    try {
      const { words, stdin = '', owner = false } = await prepare(here);
      const token = owner ? { PWPUSH_TOKEN: service.adminToken } : {};
      const under = here.under({ stdin, env: { XDG_RUNTIME_DIR: here.file('mine'), ...token } });
      const outcome = await failing(here.folder, () => under.run(...words));
      expect(outcome.stderr).not.toMatch(PART);
      await check({
        ...outcome,
        here,
        files: { ...contents(here.folder), ...contents(temporary) },
      });
    } finally {
      here.close();
      rmSync(temporary, { recursive: true });
    }
  });
  return operationsOf(failed);
}

/** The operations of `write state/file` and others, once each. */
const operationsOf = (failed: string[]) => [...new Set(failed.map((one) => one.split(' ')[0] ?? ''))].sort();

const owner = (here: Place, stdin = '') => here.under({ stdin, env: { PWPUSH_TOKEN: service.adminToken } });

describe('operations on files that fail (needs Linux)', onLinux, () => {
  let token: string;
  const saved = expect.stringMatching(/^(state|pwpush-rescue-\w+)\/secret-/);
  /** Where the text is by the code: 2 says that it was not taken, 1 that it could not be saved where it belongs. */
  const places: Record<number, unknown[]> = { 0: ['mine/secret'], 1: [saved], 2: [] };

  test.each([false, true])('get --output: the text is saved or left there (%s)', async (force) => {
    const failed = await withFaults(
      async (here) => {
        token = await create(service, once);
        if (force) writeFileSync(here.file('mine/secret'), 'older');
        const words = ['get', token, '--output', here.file('mine/secret')];
        return { words: force ? [...words, '--force'] : words };
      },
      async ({ here, code, files }) => {
        expect(holding(files)).toEqual(places[code]);
        if (code === 2) expect((await here.run('get', token)).stdout).toBe(SECRET);
        if (force && code > 0) expect(files['mine/secret']).toBe('older');
      },
    );
    expect(failed).toEqual(['fsync', force ? 'rename' : 'link', 'open', 'write'].sort());
  });

  test('get of a file: it is saved, or can be resumed', async () => {
    const failed = await withFaults(
      async (here) => {
        token = await createWithFiles(service, ...onceAsFile);
        return { words: ['get', token, '--output', `${here.file('mine')}/`] };
      },
      async ({ here, code, files, stderr }) => {
        const held = holding(files);
        if (code === 0) {
          expect(held).toEqual([expect.stringMatching(/^(mine|(state|pwpush-rescue-\w+)\/files-[^/]+)\/secret$/)]);
          return;
        }
        expect([code, held]).toEqual([code === 2 ? 2 : 1, []]);
        const path = /get --resume '?(\S+?)'?$/m.exec(stderr)?.[1];
        // Where no name could be changed, the claim of that run remains, whose process has ended meanwhile.
        const ended = path?.replace(/-\d+-\d+\.claim$/, '-0-0.claim') ?? 'none';
        if (path !== undefined && path !== ended) renameSync(path, ended);
        const again = code === 2 ? [token] : ['--resume', ended];
        const whole = `${here.file('again')}/`;
        expect((await here.run('get', ...again, '--output', whole)).code).toBe(0);
        expect(holding(contents(here.folder))).toEqual(['again/secret']);
      },
    );
    expect(failed).toEqual(['fsync', 'link', 'mkdir', 'open', 'rename', 'write']);
  });

  test('run --file: the command has it, or it is saved, and no file of it is left', async () => {
    await withFaults(
      async () => {
        token = await create(service, once);
        return { words: ['run', token, '--file', 'F', '--', 'sh', '-c', 'cat "$F"'] };
      },
      async ({ here, code, stdout, files }) => {
        expect(readdirSync(here.file('mine'))).toEqual([]);
        const held = holding(files);
        if (code === 0) return expect([stdout, held]).toEqual([SECRET, []]);
        expect([code, held]).toEqual([1, [saved]]);
      },
    );
  });

  test('push: the link is printed, and the secret is nowhere', async () => {
    const failed = await withFaults(
      async () => ({ owner: true, words: ['push', '--views', '1'], stdin: SECRET }),
      async ({ here, code, stdout, files }) => {
        expect([code, holding(files)]).toEqual([0, []]);
        expect((await here.run('get', stdout.trim())).stdout).toBe(SECRET);
        // A half of a receipt does not harm those that follow.
        const more = await owner(here, 'x').run('push', '--views', '3');
        expect([more.code, (await owner(here).run('list', '--json')).code]).toEqual([0, 0]);
      },
    );
    expect(failed).toEqual(['fsync', 'mkdir', 'open', 'write']);
  });

  test('request: whoever has the link has the key', async () => {
    const failed = await withFaults(
      async () => ({ owner: true, words: ['request', 'The password?'] }),
      async ({ here, code, stdout, files }) => {
        const keys = Object.keys(files).filter((name) => name.endsWith('.key'));
        if (code > 0) return expect([code, stdout, keys]).toEqual([1, '', []]);
        await here.under({ stdin: SECRET }).run('respond', stdout.trim());
        expect((await owner(here).run('get', stdout.trim())).stdout).toBe(SECRET);
      },
    );
    expect(failed).toEqual(['fsync', 'mkdir', 'open', 'rename', 'write']);
  });

  test('get of an answer: it is saved, or the key is still there', async () => {
    const failed = await withFaults(
      async (here) => {
        token = (await owner(here).run('request', 'The password?')).stdout.trim();
        await here.under({ stdin: SECRET }).run('respond', token);
        return { owner: true, words: ['get', token, '--output', here.file('mine/secret')] };
      },
      async ({ here, code, files }) => {
        expect(holding(files)).toEqual(places[code]);
        if (code === 2) expect((await owner(here).run('get', token)).stdout).toBe(SECRET);
      },
    );
    expect(failed).toEqual(['fsync', 'link', 'open', 'write']);
  });

  const work = { url: 'https://work.test', token: 'MARKER-of-work' };
  /** More than a page, of which disks may have room for the first alone. */
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`work-${n}`, work]));

  test.each([
    ['none', {}],
    ['one', { work }],
    ['many', many],
  ])('login: the config file is the old one or the new, and had %s', async (_, profiles) => {
    const token = service.adminToken;
    const added = { url: 'https://pw.test', edition: 'pwpush', token, encrypt: 'link' };
    const after = { current: 'default', profiles: { ...profiles, default: added } };
    const failed = await eachFault(async (failing) => {
      const here = place({ send: overFetch(service), stdin: token });
      const [current] = Object.keys(profiles);
      if (current !== undefined) await here.keep({ current, profiles });
      const before = here.kept();
      const login = () => here.run('login', 'https://pw.test');
      const { code, stdout, stderr } = await failing(here.folder, login);
      expect(stdout + stderr).not.toMatch(new RegExp(`MARKER|${token}`));
      expect(code === 0 ? [0, after] : [1, before]).toEqual([code, here.kept()]);
      const folder = here.file('config');
      // What conf began it removes while the program goes on, or when it ends.
      await expect
        .poll(() => (existsSync(folder) ? readdirSync(folder) : []), { message: 'unfinished config files are removed' })
        .toEqual(here.kept() ? ['config.json'] : []);
      expect([(await login()).code, here.kept()]).toEqual([0, after]);
      here.close();
    });
    expect(operationsOf(failed)).toEqual(['fsync', 'mkdir', 'open', 'rename', 'write']);
  });
});
