import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memory } from './memory';
import { failRun } from './reporter';

/** What ends by itself, such as a service that was told to stop, may take so long. */
const GRACE_SECONDS = Number(process.env.PWPUSH_TEST_GRACE ?? 10);
/** Other programs of this user make files here in the meantime, and so do other runs. */
const SHARED = ['/dev/shm', '/var/tmp'].filter((place) => existsSync(place));
/** What is installed and built is no matter of the tests. */
const BUILT = /^(?:node_modules|dist|build|coverage|\.ci\/(?:node-[^/]+|workflows\/node_modules))\/$|\.tgz$/;
/** What browsers, npm and Ansible have at home; Firefox makes a folder for downloads. */
const PROGRAMS = /^(?:\.(?:ansible|cache|config|local|mozilla|npm|pki)|Downloads)$/;

/**
 * Runs in vitest's main process, around all else: tests have a home and folders for temporary files of this run alone,
 * and a run fails that leaves a process, a mount or a file: in these, in the tree, or where all programs make theirs. A
 * port that is left has a process.
 */
export default function setup(): () => Promise<void> {
  const mark = marked();
  const rooms = [...new Set([tmpdir(), memory])].map((place) => {
    const folder = mkdtempSync(join(place, 'pw-'));
    // As the system's is: some tests make other users of it.
    chmodSync(folder, 0o1777);
    return folder;
  });
  const [temporary, inMemory = temporary] = rooms;
  rooms.push(moveHome());
  Object.assign(process.env, { TMPDIR: temporary, TEMP: temporary, TMP: temporary });
  process.env.PWPUSH_TEST_MEMORY = inMemory;
  const others = new Set([...inTree(), ...inShared()]);
  const isMade = (file: string) => !others.has(file);
  return async () => {
    let left: string[] = [];
    for (let waited = 0; waited < GRACE_SECONDS; waited += 0.2) {
      const files = [...inTree().filter(isMade), ...inShared().filter(isMade).filter(isUnused)];
      left = [...processesOf(mark), ...mountsIn(rooms), ...files.map((file) => `file ${file}`)];
      if (left.length === 0) break;
      await pause(200);
    }
    for (const room of rooms) {
      const names = readdirSync(room).filter((name) => room !== process.env.HOME || !PROGRAMS.test(name));
      left.push(...names.map((name) => `file ${join(room, name)}`));
      rmSync(room, { recursive: true, force: true });
    }
    if (left.length > 0) failRun(`tests left these behind:\n  ${left.join('\n  ')}`);
  };
}

/** Tests have a home of their own, where npm and git find the settings of the user all the same. */
function moveHome(): string {
  const { env } = process;
  env.npm_config_userconfig ??= join(homedir(), '.npmrc');
  env.npm_config_cache ??= join(homedir(), '.npm');
  env.GIT_CONFIG_GLOBAL ??= join(homedir(), '.gitconfig');
  for (const name of ['CONFIG', 'CACHE', 'DATA', 'STATE']) delete env[`XDG_${name}_HOME`];
  env.HOME = mkdtempSync(join(tmpdir(), 'pw-'));
  chmodSync(env.HOME, 0o755);
  return env.HOME;
}

/** The files of which git does not know; people may change the others during a run. */
function inTree(): string[] {
  try {
    const words = ['--no-optional-locks', 'status', '--porcelain', '--ignored'];
    const lines = execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n');
    return lines.flatMap((line) => /^(?:\?\?|!!) (.+)$/.exec(line)?.[1] ?? []).filter((file) => !BUILT.test(file));
  } catch {
    // There is no git, or no repository.
    return [];
  }
}

/** Files of this user, without the folders of other runs. */
function inShared(): string[] {
  const files = SHARED.flatMap((place) => readdirSync(place).map((name) => join(place, name)));
  const isOwn = (file: string) => lstatSync(file, { throwIfNoEntry: false })?.uid === process.geteuid?.();
  return files.filter((file) => !file.includes('/pw-') && isOwn(file));
}

/** Whether no process knows of it: what belongs to another run is named by one. */
const isUnused = (file: string) =>
  processes(({ of, words }) => {
    const open = readdirSync(`${of}/fd`).map((fd) => readlinkSync(`${of}/fd/${fd}`));
    const told = ['environ', 'maps'].map((name) => readFileSync(`${of}/${name}`, 'utf8'));
    return [words, readlinkSync(`${of}/cwd`), ...open, ...told].some((text) => text.includes(file));
  }).length === 0;

/**
 * Marks this process and all that will descend from it, whatever their environment, folder, parent and session: by a
 * limit that none of them comes near, the bytes in POSIX message queues.
 */
function marked(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const mark = `${randomInt(100_000, 800_000)}`;
  try {
    execFileSync('prlimit', [`--pid=${process.pid}`, `--msgqueue=${mark}:`]);
  } catch (error) {
    if (process.env.PWPUSH_TEST_ALL === '1') throw error;
  }
  return mark;
}

function processesOf(mark: string | undefined): string[] {
  const isOurs = new RegExp(`^Max msgqueue size +${mark} `, 'm');
  return processes(
    // Workers of this run end after this.
    ({ of, words }) =>
      !/vitest\/dist\/workers|esbuild/.test(words) && isOurs.test(readFileSync(`${of}/limits`, 'utf8')),
  );
}

/** The processes of this machine, but for this one, that are so. */
function processes(are: (one: { readonly of: string; readonly words: string }) => boolean): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const of = `/proc/${pid}`;
      const words = readFileSync(`${of}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // Zombies have none.
      return words !== '' && are({ of, words }) ? [`process ${pid} ${words.slice(0, 200)}`] : [];
    } catch {
      // It has ended, or is of another user.
      return [];
    }
  });
}

function mountsIn(rooms: readonly string[]): string[] {
  if (process.platform !== 'linux') return [];
  const lines = readFileSync('/proc/mounts', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, at = ''] = line.split(' ');
    return rooms.some((room) => at.startsWith(`${room}/`)) ? [`mount ${at}`] : [];
  });
}
