import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { needsPrograms, needsRoot } from '../helpers/needs';
import { dist, makePerson, type Person, pwpush, shell } from '../helpers/program';

let somebody: Person;
let caches: string;
let env: Record<string, string>;

const at = (path: string) => join(somebody.folder, path);
beforeEach(() => {
  somebody = makePerson();
  const { XDG_CACHE_HOME: _, ...rest } = somebody.env;
  env = rest;
  caches = at('.cache/pwpush');
});

const folder = () => join(caches, readdirSync(caches)[0] ?? '');
const program = () => join(folder(), 'start.js');
/** A run that a machine holds up keeps nothing: until one was not. */
const keeping = (run: () => Promise<unknown>) =>
  expect.poll(async () => [await run(), existsSync(caches)][1], { message: 'code is kept' }).toBe(true);

/** How many chunks a run keeps, since one of them was compiled anew; it takes no time by its own clock. */
function anew(more: Record<string, string> = {}, first = ''): number {
  const script = `
    process.uptime = () => 0;
    ${first}
    const { keep, load } = require(${JSON.stringify(`${dist}load.js`)}).loaderFor(process);
    load('start.js');
    process.stdout.write(String(keep()));`;
  writeFileSync(at('script.cjs'), script);
  const options = { env: { ...env, ...more }, encoding: 'utf8', cwd: somebody.folder } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('script.cjs')], options);
  expect([status, stderr]).toEqual([0, '']);
  return Number(stdout);
}

/** Another one compiles it anew, and keeps it, for the next ones. */
function isReplaced(...how: Parameters<typeof anew>): void {
  expect(anew(...how)).toBeGreaterThan(0);
  expect(anew(...how)).toBe(0);
}

test('a run keeps its compiled code for nobody else, and the next one takes it', async () => {
  await keeping(() => shell('umask 000; $PWPUSH push --help', { env }));
  const modes = [at('.cache'), caches, folder(), program()].map((path) => lstatSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
  expect(anew()).toBe(0);
});

test('what a run was about is not in the code that it keeps', async () => {
  const words = ['push', 'MARKED-SECRET', '--dry-run', '--url', 'https://MARKED-HOST.example'];
  await keeping(async () => expect(await pwpush(words, { env })).toMatchObject({ code: 0 }));
  for (const name of readdirSync(folder()))
    for (const encoding of ['latin1', 'utf16le'] as const) {
      const text = readFileSync(join(folder(), name)).toString(encoding);
      const told = ['MARKED', 'marked-host', dist, somebody.folder];
      expect(told.filter((one) => text.includes(one))).toEqual([]);
    }
});

test('kept code that is cut short, empty or of another chunk is replaced', () => {
  anew();
  for (const damage of [
    (bytes: Buffer) => bytes.subarray(0, bytes.length - 1000),
    () => Buffer.alloc(0),
    (bytes: Buffer) => bytes.fill('x', bytes.length - 20),
  ]) {
    writeFileSync(program(), damage(readFileSync(program())));
    isReplaced();
  }
});

test('so is what else stands in its place', needsPrograms('mkfifo'), () => {
  anew();
  rmSync(program());
  execFileSync('mkfifo', [program()]);
  expect(anew()).toBeGreaterThan(0);
  renameSync(program(), at('elsewhere'));
  symlinkSync(at('elsewhere'), program());
  isReplaced();
  expect(lstatSync(program()).isFile()).toBe(true);
});

describe('code that another user may have put there is not run', () => {
  beforeEach(() => void anew());
  const places = {
    '~': () => at(''),
    '~/.cache': () => at('.cache'),
    '~/.cache/pwpush': () => caches,
    'the folder': () => folder(),
    'the file': () => program(),
  };
  type Place = keyof typeof places;

  /** A file is replaced; nothing is written to what is in such a folder. */
  function isNotUsed(place: Place): void {
    if (place !== 'the file') {
      writeFileSync(program(), '');
      expect(anew()).toBe(0);
      expect(readFileSync(program(), 'utf8')).toBe('');
    } else isReplaced();
  }

  test.each(Object.keys(places) as Place[])('others can write to %s', (place) => {
    chmodSync(places[place](), place === 'the file' ? 0o606 : 0o1770);
    isNotUsed(place);
  });

  // As sudo may leave it.
  test.each(['~', '~/.cache/pwpush', 'the file'] as const)('%s is foreign', needsRoot, (place) => {
    chownSync(places[place](), 1, 1);
    isNotUsed(place);
  });
});

test.each<[string, Record<string, string>, string?]>([
  ['whose home is empty', { HOME: '' }],
  ['whose home is a relative path', { HOME: 'relative' }],
  ['that is not to', { NODE_DISABLE_COMPILE_CACHE: '1' }],
  ['of a Node with flags of its own', { NODE_OPTIONS: '--max-old-space-size=200' }],
  ['whose XDG_CACHE_HOME is not there', { XDG_CACHE_HOME: '/nowhere' }],
  ['of more than five seconds', {}, 'process.uptime = () => 5.1;'],
])('a run %s keeps nothing', (_, more, first) => {
  expect(anew(more, first)).toBe(0);
  expect(readdirSync(somebody.folder)).toEqual(['script.cjs']);
});

test('a run does without a cache that cannot be read, or in which nothing can be written', async () => {
  symlinkSync('loop', at('loop'));
  expect(anew({ XDG_CACHE_HOME: at('loop') })).toBe(0);
  await keeping(async () => {
    const line = 'ulimit -f 0; $PWPUSH push --help | cat';
    const { code, stdout, stderr } = await shell(line, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: pwpush push');
  });
  expect(readdirSync(folder())).toEqual([]);
});

test('it goes to XDG_CACHE_HOME, if that is an absolute path, and on Windows to LOCALAPPDATA', () => {
  const [own, local] = [at('own'), at('Local')];
  for (const path of [own, local]) mkdirSync(path, 0o700);
  isReplaced({ XDG_CACHE_HOME: own });
  expect([readdirSync(own), existsSync(caches)]).toEqual([['pwpush'], false]);
  isReplaced({ XDG_CACHE_HOME: 'own' });
  expect(existsSync(caches)).toBe(true);
  const windows = "Object.defineProperty(process, 'platform', { value: 'win32' });";
  isReplaced({ LOCALAPPDATA: local }, windows);
  expect(readdirSync(join(local, 'pwpush'))).toEqual(['Cache']);
});

test('a chunk that could not be read is read when it is asked for again', () => {
  const copy = at('program');
  cpSync(dist, copy, { recursive: true });
  const script = `
    const { load } = require(${JSON.stringify(join(copy, 'load.js'))}).loaderFor(process);
    const { renameSync } = require('node:fs');
    process.chdir(${JSON.stringify(copy)});
    const codes = ['streams.js', 'start.js'].map((missing) => {
      renameSync(missing, 'aside');
      try {
        load('start.js');
      } catch ({ code }) {
        return code;
      } finally {
        renameSync('aside', missing);
      }
    });
    process.stdout.write([...codes, typeof load('start.js')].join());`;
  writeFileSync(at('script.cjs'), script);
  const { stdout } = spawnSync(process.execPath, [at('script.cjs')], { env, encoding: 'utf8' });
  expect(stdout).toBe('ENOENT,ENOENT,object');
});
