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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { partOf } from '../helpers/long';
import { needsPrograms, needsRoot } from '../helpers/needs';
import { dist, makePerson, type Person, pwpush, serveBuilt, shell } from '../helpers/program';

let somebody: Person;
let caches: string;
let env: Record<string, string>;

/** A path below the home. */
const at = (path: string) => join(somebody.folder, path);
beforeEach(() => {
  somebody = makePerson();
  const { XDG_CACHE_HOME: _, ...rest } = somebody.env;
  env = rest;
  caches = at('.cache/pwpush');
});

/** A run that a machine holds up keeps nothing: until one was not. */
const keeping = (run: () => Promise<unknown>, place = caches) =>
  expect
    .poll(async () => {
      await run();
      return existsSync(place);
    })
    .toBe(true);

/** Runs `push --help`, which loads the biggest of the chunks that need no instance. */
const help = async (more: Record<string, string> = {}) => {
  const ended = await pwpush(['push', '--help'], { env: { ...env, ...more } });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toContain('Usage: pwpush push');
};

const folder = () => join(caches, readdirSync(caches)[0] ?? '');
const program = () => join(folder(), 'start.js');
const mode = (path: string) => lstatSync(path).mode & 0o777;
const keepsNothing = () => expect(existsSync(at('.cache'))).toBe(false);

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
  return Number(spawnSync(process.execPath, [at('script.cjs')], options).stdout);
}

/** It is compiled anew, and kept again. */
function isReplaced(): void {
  expect(anew()).toBeGreaterThan(0);
  expect(anew()).toBe(0);
}

test.each(partOf(['000', '022', '777'], 0))(
  'with umask %s a run keeps its compiled code for nobody else, and the next one takes it',
  async (mask) => {
    await keeping(() => shell(`umask ${mask}; $PWPUSH push --help`, { env }));
    expect([at('.cache'), caches, folder(), program()].map(mode)).toEqual([
      0o700, 0o700, 0o700, 0o600,
    ]);
    expect(anew()).toBe(0);
  },
);

test('a run with an instance takes what one like it kept', async () => {
  const service = await serveBuilt(env);
  onTestFinished(async () => void (await service.stop()));
  const kept = () => `${readdirSync(folder()).map((name) => lstatSync(join(folder(), name)).ino)}`;
  for (const words of [['push'], ['push', '--each']]) {
    const run = async () => {
      expect(await pwpush(words, { env, input: 'secret' })).toMatchObject({ code: 0 });
    };
    await keeping(run);
    const changesNothing = async () => {
      const before = kept();
      await run();
      return kept() === before;
    };
    await expect.poll(changesNothing).toBe(true);
  }
});

test('--version and a run that fails keep nothing', async () => {
  await pwpush(['--version'], { env });
  await pwpush(['push', '--view', '1'], { env });
  await pwpush(['correct horse battery staple'], { env });
  keepsNothing();
});

test('a run of more than five seconds keeps nothing', () => {
  expect(anew({}, 'process.uptime = () => 6;')).toBe(0);
  keepsNothing();
  expect(anew({}, 'process.uptime = () => 5;')).toBeGreaterThan(0);
});

test('what a run was about is not in the code that it keeps', async () => {
  const words = ['push', 'MARKED-SECRET', '--dry-run', '--url', 'https://MARKED-HOST.example'];
  await keeping(async () => expect(await pwpush(words, { env })).toMatchObject({ code: 0 }));
  for (const name of readdirSync(folder()))
    for (const encoding of ['latin1', 'utf16le'] as const) {
      const text = readFileSync(join(folder(), name)).toString(encoding);
      expect(text).not.toMatch(/MARKED|marked-host/);
      expect(text).not.toContain(dist);
      expect(text).not.toContain(somebody.folder);
    }
});

describe('kept code is compiled anew, and kept again', () => {
  beforeEach(() => void anew());

  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ['cut short', (bytes) => bytes.subarray(0, bytes.length - 1000)],
    ['empty', () => Buffer.alloc(0)],
    ['flipped in one bit', (bytes) => bytes.fill((bytes[5000] ?? 0) ^ 1, 5000, 5001)],
    ['of another chunk', (bytes) => bytes.fill('x', bytes.length - 20)],
  ];
  test.each(partOf(damages, 0, 2))('%s', (_, damage) => {
    writeFileSync(program(), damage(readFileSync(program())));
    isReplaced();
  });

  test('where something else stands in its place', needsPrograms('mkfifo'), () => {
    rmSync(program());
    execFileSync('mkfifo', [program()]);
    expect(anew()).toBeGreaterThan(0);
    renameSync(program(), at('elsewhere'));
    symlinkSync(at('elsewhere'), program());
    isReplaced();
    expect(lstatSync(program()).isFile()).toBe(true);
  });
});

describe('code that another user may have put there is not run', () => {
  beforeEach(() => void anew());

  /** Makes it unfit, and finds that nothing is written to it. */
  const isLeftAlone = () => {
    writeFileSync(program(), '');
    expect(anew()).toBe(0);
    expect(readFileSync(program(), 'utf8')).toBe('');
  };
  test.each(partOf(['', '.cache', '.cache/pwpush'], 0))('others can write to ~/%s', (path) => {
    chmodSync(at(path), 0o1777);
    isLeftAlone();
  });

  test('others can write to the folder', () => {
    chmodSync(folder(), 0o770);
    isLeftAlone();
  });

  test('others can write to the file', () => {
    chmodSync(program(), 0o666);
    isReplaced();
  });

  // As sudo may leave it.
  test.each(['', '.cache/pwpush'])('~/%s is of another user', needsRoot, (path) => {
    chownSync(at(path), 1, 1);
    isLeftAlone();
  });

  test('a file of another user', needsRoot, () => {
    chownSync(program(), 1, 1);
    isReplaced();
  });
});

test('nothing is kept where there is no home, where it is not wanted, and for a Node with flags of its own', async () => {
  for (const more of [
    { HOME: at('nowhere') },
    { HOME: '' },
    { HOME: 'relative' },
    { NODE_DISABLE_COMPILE_CACHE: '1' },
    { NODE_OPTIONS: '--max-old-space-size=200' },
  ])
    await help(more);
  expect(existsSync(at('nowhere'))).toBe(false);
  keepsNothing();
});

describe('a run does without', () => {
  test('a cache that cannot be read', async () => {
    symlinkSync('loop', at('loop'));
    await help({ XDG_CACHE_HOME: at('loop') });
  });

  test('a home that cannot be written to', async () => {
    writeFileSync(at('.cache'), 'a file is in the way');
    await help();
  });

  test('a cache in which nothing can be written', async () => {
    await keeping(async () => {
      const { code, stdout, stderr } = await shell('ulimit -f 0; $PWPUSH push --help | cat', {
        env,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('Usage: pwpush push');
    });
    expect(readdirSync(folder())).toEqual([]);
  });
});

describe('on Windows', () => {
  const windows = "Object.defineProperty(process, 'platform', { value: 'win32' });";

  test('it goes to LOCALAPPDATA, beside the data', () => {
    const LOCALAPPDATA = at('Local');
    const data = join(LOCALAPPDATA, 'pwpush', 'Data');
    mkdirSync(data, { recursive: true });
    utimesSync(data, 0, 0);
    expect(anew({ LOCALAPPDATA }, windows)).toBeGreaterThan(0);
    expect(anew({ LOCALAPPDATA }, windows)).toBe(0);
    expect(readdirSync(join(LOCALAPPDATA, 'pwpush')).sort()).toEqual(['Cache', 'Data']);
  });

  test.each(['', 'relative'])('it does not go to the current folder (LOCALAPPDATA=%s)', (own) => {
    expect(anew({ LOCALAPPDATA: own }, windows)).toBe(0);
    expect(readdirSync(somebody.folder)).toEqual(['script.cjs']);
  });
});

test('XDG_CACHE_HOME is where it goes, if it is there and an absolute path', async () => {
  const XDG_CACHE_HOME = at('own');
  await help({ XDG_CACHE_HOME });
  expect(existsSync(XDG_CACHE_HOME)).toBe(false);
  mkdirSync(XDG_CACHE_HOME, 0o700);
  await keeping(() => help({ XDG_CACHE_HOME }), join(XDG_CACHE_HOME, 'pwpush'));
  expect(readdirSync(XDG_CACHE_HOME)).toEqual(['pwpush']);
  keepsNothing();
  await keeping(() => help({ XDG_CACHE_HOME: 'own' }));
});

test('another build of the same Node in the same place takes none of it', () => {
  const node = at('node');
  cpSync(process.execPath, node);
  anew();
  const run = () => Number(spawnSync(node, [at('script.cjs')], { env, encoding: 'utf8' }).stdout);
  expect(run()).toBeGreaterThan(0);
  expect(run()).toBe(0);
  utimesSync(node, 0, 0);
  expect(run()).toBeGreaterThan(0);
});
