import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contents } from '../helpers/contents';
import { inSteps, long, upTo } from '../helpers/long';
import { folders } from '../helpers/memory';
import { allOf, needsPrograms } from '../helpers/needs';
import { type Ended, onNode, person, program, pwpush, serving, start } from '../helpers/program';
import { seed } from '../helpers/seed';
import { call, create, createWithFiles } from '../helpers/service';
import { type CallName, counted, countsIn, logOf, type Tampering, tampered } from '../helpers/system-calls';
import { holding, once, onceAsFile, PART, SECRET } from '../helpers/whole-secret';
import { overSocket } from '../helpers/whole-session';

// Something happens at each system call of a client that takes a last view, or makes a push. Errors of opening and
// writing are planted in process (test/commands/faults.slow.test.ts): here they would break Node.js itself.

const someone = person();
const newFolder = folders();
const service = serving(someone.env);

/** While a run goes on, or after it was killed, it may have a part. */
const UNFINISHED = /\.part(\.[^.]+\.claim)?$/;

const ERRORS: CallName[] = ['mode', 'sync', 'link', 'unlink', 'folder', 'rename'];
const KILLS: CallName[] = ['write', 'writev', ...ERRORS];

interface Run extends Ended {
  readonly where: string;
  /** What is at home, among temporary files, and where the command saves files. */
  readonly files: Record<string, string>;
  readonly log: string;
}

/** Runs a command to its end, and then once more for each of some calls, to which something happens. */
async function each(
  prepare: (home: string) => Promise<{ words: string[]; input?: string; to?: string }>,
  check: (run: Run) => Promise<void>,
): Promise<void> {
  const run = async (by: (log: string) => readonly string[], where: string) => {
    const home = await newFolder();
    mkdirSync(join(home, 'tmp'));
    const { words, input = '', to } = await prepare(home);
    const log = join(await newFolder(), 'log');
    const env = {
      ...someone.env,
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      PWPUSH_URL: service.url,
      PWPUSH_CONFIG_DIR: join(home, 'config'),
      PWPUSH_STATE_DIR: join(home, 'state'),
      // All calls of the pool are counted together.
      UV_THREADPOOL_SIZE: '1',
    };
    const shell = to ? ['sh', '-c', `exec "$@" >${to}`, 'sh'] : [];
    const running = start(words, { env, input, by: [...shell, ...by(log)] });
    const ended = await running.ended;
    const text = await logOf(log, running.child.pid);
    expect(ended.stderr, where).not.toMatch(PART);
    await check({ ...ended, where, log: text, files: contents(home) });
    rmSync(home, { recursive: true });
    mkdirSync(home);
    return text;
  };
  const counts = countsIn(await run((log) => counted(log), 'nothing'));
  const places = (effect: Tampering['effect'], names: readonly CallName[]) =>
    names.flatMap((call) => upTo(counts[call]).map((nth) => ({ call, effect, when: `${nth}` })));
  const all = [...places('KILL', KILLS), ...places('EIO', ERRORS)];
  for (const place of inSteps(all, long ? 7 : 21)) {
    const where = `${place.effect} at ${place.call} ${place.when}, seed ${seed}`;
    await run((log) => tampered({ ...place, log }), where);
  }
}

const needed = allOf(needsPrograms('strace'), onNode);

describe('a client at whose system calls something happens (needs strace)', needed, () => {
  let token: string;
  const again = () => call(overSocket(service), 'GET', `/api/v2/pushes/${token}`);

  /** The secret is somewhere, once, and no file that looks whole has a part of it. */
  async function judge({ where, stdout, files, log, signal }: Run) {
    const here = holding(files, UNFINISHED).length > 0 || stdout === SECRET;
    const there = (await again()).text.includes(SECRET);
    expect([here, there], `${where}: given twice`).not.toEqual([true, true]);
    // Between its response and the first write of it nobody else has it: SIGKILL cannot be met.
    const calls = log.split('\n').filter((line) => !line.includes('+++'));
    const done = signal === 'SIGKILL' ? calls.slice(0, -1) : calls;
    const begun = done.some((line) => /write\(.*MARKER.* = \d/.test(line));
    if (signal !== 'SIGKILL' || begun) expect(here || there, `${where}: is lost`).toBe(true);
    return { here, there };
  }

  test.each([
    ['to a pipe', [], undefined],
    ['to a full disk', [], '/dev/full'],
    ['to a file', ['--output', 'OUT'], undefined],
  ] as const)('get %s loses nothing', async (_, more, to) => {
    await each(
      async (home) => {
        token = await create(overSocket(service), once);
        const words = ['get', token, ...more].map((word) => word.replace('OUT', join(home, 'it')));
        return { words, ...(to ? { to } : {}) };
      },
      async (run) => void (await judge(run)),
    );
  });

  test('get of a file saves it, or leaves it to be resumed', async () => {
    await each(
      async (home) => {
        const owned = { ...overSocket(service), adminToken: service.token };
        token = await createWithFiles(owned, ...onceAsFile);
        return { words: ['get', token, '--output', `${join(home, 'out')}/`] };
      },
      async ({ where, files, code, stderr, signal }) => {
        const held = holding(files, UNFINISHED);
        for (const name of held) expect(name, where).toMatch(/(secret|\.part(\.[^.]+\.claim)?)$/);
        const here = held.length > 0;
        if (code === 0) expect(here, where).toBe(true);
        const there = stderr.includes('--resume') || (await again()).json.files.length > 0;
        if (signal !== 'SIGKILL') expect(here || there, `${where}: is lost`).toBe(true);
      },
    );
  });

  test('push prints links of pushes only, and leaves its secret nowhere', async () => {
    await each(
      async () => ({ words: ['push', '--views', '1'], input: SECRET }),
      async ({ where, stdout, files, code }) => {
        expect(Object.values(files).join(), where).not.toMatch(PART);
        if (code === 0) expect(stdout, where).toMatch(/^http/);
        if (stdout === '') return;
        const env = { ...someone.env, PWPUSH_URL: service.url };
        const got = await pwpush(['get', stdout.trim()], { env });
        expect(got.stdout, where).toBe(SECRET);
      },
    );
  });
});

test('the limit of open files is named where it is met, whatever is opened', onNode, async () => {
  const said: string[] = [];
  for (let most = 16; most < 30; most++) {
    const limited = ['sh', '-c', `ulimit -n ${most}; exec "$@"`, 'sh', ...program];
    const env = { ...someone.env, PWPUSH_URL: service.url };
    said.push((await start(['push'], { env, input: 'x', by: limited }).ended).stderr);
  }
  const unreachable = said.filter((text) => text.includes('cannot be reached'));
  expect(unreachable.length).toBeGreaterThan(0);
  for (const text of unreachable) expect(text).toContain('(EMFILE)');
});
