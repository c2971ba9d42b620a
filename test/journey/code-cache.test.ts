import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dist, person, pwpush, serveBuilt } from '../helpers/program';

let somebody: ReturnType<typeof person>;
let caches: string;
let env: Record<string, string>;

beforeEach(() => {
  somebody = person();
  const { XDG_CACHE_HOME: _, ...rest } = somebody.env;
  env = rest;
  caches = join(somebody.folder, '.cache', 'pwpush');
});
afterEach(() => somebody.remove());

/** Runs `push --help`, which loads the biggest of the chunks that need no instance. */
const help = async (more: Record<string, string> = {}) => {
  const ended = await pwpush(['push', '--help'], { env: { ...env, ...more } });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toContain('Usage: pwpush push');
};

const folder = () => join(caches, readdirSync(caches)[0] ?? '');
const program = () => join(folder(), 'program.js');

/** How many chunks a run keeps, since one of them was compiled anew. */
function anew(more: Record<string, string> = {}): number {
  const script = `
    const { keep, load } = require(${JSON.stringify(`${dist}load.js`)}).loaderFor(process);
    load('program.js');
    process.stdout.write(String(keep()));`;
  const path = join(somebody.folder, 'script.cjs');
  writeFileSync(path, script);
  return Number(
    spawnSync(process.execPath, [path], { env: { ...env, ...more }, encoding: 'utf8' }).stdout,
  );
}

it('a run keeps its compiled code for nobody else to change, and the next one takes it', async () => {
  await help();
  expect(readdirSync(folder())).toContain('program.js');
  expect(lstatSync(join(somebody.folder, '.cache')).mode & 0o777).toBe(0o700);
  expect(lstatSync(folder()).mode & 0o777).toBe(0o700);
  expect(lstatSync(program()).mode & 0o777).toBe(0o600);
  expect(anew()).toBe(0);
});

it('a run with an instance takes what one like it kept', async () => {
  const service = await serveBuilt(env);
  for (const words of [['push'], ['push', '--each']]) {
    await pwpush(words, { env, input: 'secret' });
    const kept = () => readdirSync(folder()).map((name) => lstatSync(join(folder(), name)).ino);
    const before = kept();
    expect(await pwpush(words, { env, input: 'secret' })).toMatchObject({ code: 0 });
    expect(kept()).toEqual(before);
  }
  await service.stop();
});

it('--version and a run that fails keep nothing', async () => {
  await pwpush(['--version'], { env });
  await pwpush(['push', '--view', '1'], { env });
  await pwpush(['correct horse battery staple'], { env });
  expect(existsSync(join(somebody.folder, '.cache'))).toBe(false);
});

it('what a run was about is not in the code that it keeps', async () => {
  const words = ['push', 'MARKED-SECRET', '--dry-run', '--url', 'https://MARKED-HOST.example'];
  expect(await pwpush(words, { env })).toMatchObject({ code: 0 });
  for (const name of readdirSync(folder()))
    expect(readFileSync(join(folder(), name), 'latin1')).not.toMatch(/MARKED|marked-host/);
});

describe('kept code is compiled anew, and kept again', () => {
  beforeEach(() => help());

  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ['cut short', (bytes) => bytes.subarray(0, bytes.length - 1000)],
    ['empty', () => Buffer.alloc(0)],
    ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
    ['zeroed in the middle', (bytes) => bytes.fill(0, 40_000, 44_096)],
    ['flipped in one bit', (bytes) => bytes.fill((bytes[5000] ?? 0) ^ 1, 5000, 5001)],
    ['of another chunk', (bytes) => bytes.fill('x', bytes.length - 20)],
  ];
  it.each(damages)('%s', async (_, damage) => {
    writeFileSync(program(), damage(readFileSync(program())));
    expect(anew()).toBeGreaterThan(0);
    expect(anew()).toBe(0);
    await help();
  });
});

describe('code that another user may have put there is not run', () => {
  beforeEach(() => help());

  it('a folder that others can write to', () => {
    chmodSync(folder(), 0o777);
    const before = readFileSync(program());
    expect(anew()).toBe(0);
    expect(readFileSync(program())).toEqual(before);
    writeFileSync(program(), '');
    expect(anew()).toBe(0);
    expect(readFileSync(program(), 'utf8')).toBe('');
  });

  it.skipIf(process.geteuid?.() !== 0)('a home of somebody else, as sudo may leave it', () => {
    chownSync(somebody.folder, 1, 1);
    writeFileSync(program(), '');
    expect(anew()).toBe(0);
    expect(readFileSync(program(), 'utf8')).toBe('');
  });
});

it('nothing is kept where there is no home, where it is not wanted, and for a Node with flags of its own', async () => {
  for (const more of [
    { HOME: join(somebody.folder, 'nowhere') },
    { HOME: '' },
    { HOME: 'relative' },
    { NODE_DISABLE_COMPILE_CACHE: '1' },
    { NODE_OPTIONS: '--max-old-space-size=200' },
  ])
    await help(more);
  expect(existsSync(join(somebody.folder, 'nowhere'))).toBe(false);
  expect(existsSync(join(somebody.folder, '.cache'))).toBe(false);
});

it('a home that cannot be written to is no trouble', async () => {
  writeFileSync(join(somebody.folder, '.cache'), 'a file is in the way');
  await help();
});

it('XDG_CACHE_HOME is where it goes, if it is there and an absolute path', async () => {
  const XDG_CACHE_HOME = join(somebody.folder, 'own');
  await help({ XDG_CACHE_HOME });
  expect(existsSync(XDG_CACHE_HOME)).toBe(false);
  mkdirSync(XDG_CACHE_HOME);
  await help({ XDG_CACHE_HOME });
  expect(readdirSync(XDG_CACHE_HOME)).toEqual(['pwpush']);
  expect(existsSync(join(somebody.folder, '.cache'))).toBe(false);
});

it('code of versions that nobody used for a month is removed', async () => {
  await help();
  const [name = ''] = readdirSync(caches);
  const old = join(caches, '0.0.1-20.0.0');
  cpSync(folder(), old, { recursive: true });
  cpSync(folder(), join(caches, '0.0.2-20.0.0'), { recursive: true });
  utimesSync(old, 0, 0);
  const XDG_CACHE_HOME = join(somebody.folder, '.cache');
  cpSync(process.execPath, join(somebody.folder, 'node'));
  const path = join(somebody.folder, 'script.cjs');
  anew();
  // Another Node than that which keeps its code there.
  spawnSync(join(somebody.folder, 'node'), [path], { env: { ...env, XDG_CACHE_HOME } });
  const left = readdirSync(caches);
  expect(left).toHaveLength(3);
  expect(left).toContain(name);
  expect(left).toContain('0.0.2-20.0.0');
});
