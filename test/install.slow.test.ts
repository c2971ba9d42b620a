import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { installers } from '../.config/installers.mjs';
import type { Listening } from './helpers/listen';
import { allOf, needsPrograms, only, onUnix } from './helpers/needs';
import { script as programAt, pwpush } from './helpers/program';
import { archiveOf, offering, sumOf } from './helpers/release';
import { yaml } from './helpers/yaml';

// What `npm run release` makes for people who install: run with archives of a small program, from a server here.

const PLATFORMS = ['linux-x64', 'linux-arm64', 'linux-musl-x64', 'macos-arm64', 'macos-x64'];
// Windows names the temporary folder in short.
const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'pwpush-install-')));
const home = join(folder, 'home');
const temporary = join(folder, 'tmp');
const served = new Map<string, Buffer>();
let server: Listening;

/** An archive with a program of sh that says its version. */
function tarOf(version: string, program = `echo ${version}`): Buffer {
  const pages = ['man/pwpush.1', 'man/pwpush-get.1', 'man/pwpush-security.7'];
  const shells = ['bash', 'zsh', 'fish'].map((shell) => `completions/pwpush.${shell}`);
  const all = ['pwpush', 'LICENSE', ...pages, ...shells].map((file) => [file, `#!/bin/sh\n${program}\n`]);
  return archiveOf(folder, `pwpush-${version}-any`, Object.fromEntries(all));
}

function zipOf(version: string): Buffer {
  const files = ['pwpush.exe', 'README.md', 'man/pwpush.1', 'completions/pwpush.powershell'];
  const named = files.map((name) => [
    `pwpush-${version}-windows-x64/${name}`,
    Buffer.from(name === 'pwpush.exe' ? version : 'x'),
  ]);
  return Buffer.from(zipSync(Object.fromEntries(named)));
}

/** Offers a release, and returns its installers. */
function release(version: string, program?: string): Record<string, string> {
  const archive = tarOf(version, program);
  const archives: [string, Buffer][] = [
    ...PLATFORMS.map((platform): [string, Buffer] => [`${platform}.tar.gz`, archive]),
    ['windows-x64.zip', zipOf(version)],
  ];
  const sums = archives.map(([end, archive]) => {
    const name = `pwpush-${version}-${end}`;
    served.set(`/${name}`, archive);
    return sumOf(archive, name);
  });
  return installers({ version, url: server.url, home: 'https://pwpush.example', sums });
}
const installer = (version: string, program?: string) => release(version, program)['install.sh'] ?? '';

const environment = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: temporary };

/** Installs with words for the script; answers what is said when that ends with this code. */
async function installs(code: number, text: string, words: string[] = [], more = {}) {
  const path = join(folder, 'install.sh');
  writeFileSync(path, text);
  const env = { ...environment, ...more };
  const ended = await pwpush([path, ...words], { by: ['sh'], env, cwd: folder });
  expect(ended).toMatchObject({ code });
  return ended.stdout + ended.stderr;
}

function pathWith(programs: Record<string, string>): string {
  const bin = mkdtempSync(join(folder, 'bin-'));
  for (const [name, lines] of Object.entries(programs)) programAt(join(bin, name), lines);
  return `${bin}:${process.env.PATH}`;
}

const installed = (): string[] =>
  existsSync(home)
    ? readdirSync(home, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(home, name)).isFile())
        .sort()
    : [];

beforeAll(async () => {
  server = await offering((path) => served.get(path), '0.0.3');
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  for (const one of [home, temporary]) {
    rmSync(one, { recursive: true, force: true });
    mkdirSync(one);
  }
  server.seen.splice(0);
});

const packing = needsPrograms('tar', 'gzip', 'sed', 'grep');

describe('install.sh', allOf(onUnix, packing), () => {
  const version = (prefix = '.local') => execFileSync(join(home, prefix, 'bin/pwpush'), { encoding: 'utf8' }).trimEnd();

  test('installs the program, its pages and completions, upgrades and removes them', async () => {
    const [first, second] = [installer('0.0.1'), installer('0.0.2')];
    const said = await installs(0, first);
    expect(said).toContain(`installed pwpush 0.0.1 as ${home}/.local/bin/pwpush`);
    expect(said).toContain(`export PATH="${home}/.local/bin:$PATH"`);
    expect(installed()).toEqual([
      '.local/bin/pwpush',
      '.local/share/bash-completion/completions/pwpush',
      '.local/share/fish/vendor_completions.d/pwpush.fish',
      '.local/share/man/man1/pwpush-get.1',
      '.local/share/man/man1/pwpush.1',
      '.local/share/man/man7/pwpush-security.7',
      '.local/share/zsh/site-functions/_pwpush',
    ]);
    const path = join(home, '.local/bin/pwpush');
    expect([version(), statSync(path).mode & 0o777]).toEqual(['0.0.1', 0o755]);
    const env = { PATH: `${home}/.local/bin:${process.env.PATH}` };
    expect(await installs(0, second, [], env)).not.toContain('PATH');
    expect(version()).toBe('0.0.2');
    writeFileSync(join(home, '.local/bin/other'), '');
    await installs(0, second, ['--uninstall']);
    expect(installed()).toEqual(['.local/bin/other']);
    await installs(1, second, ['--uninstall']);
    const without = { HOME: '' };
    await installs(0, second, ['--prefix', join(home, 'a b')], without);
    expect(version('a b')).toBe('0.0.2');
    expect(await installs(1, second, [], without)).toContain('HOME is not set');
  });

  test('writes nothing if the archive is another one, cut, or there is none', async () => {
    const [another, cut] = [installer('0.0.2'), installer('0.0.3')];
    const other = tarOf('6.6.6');
    for (const name of served.keys()) if (name.includes('0.0.2')) served.set(name, other);
    expect(await installs(1, another)).toMatch(
      /the checksum is [0-9a-f]{64} instead of [0-9a-f]{64}; nothing was installed/,
    );
    const missing = installer('0.0.4');
    const cutOff = await installs(1, cut);
    served.clear();
    for (const said of [cutOff, await installs(1, missing)])
      expect(said).toContain('the download failed; nothing was installed');
    const PATH = pathWith({ uname: 'echo Plan9' });
    const said = await installs(1, installer('0.0.1'), [], { PATH });
    expect(said).toContain('there is no binary for Plan9; with Node.js use: npm install --global');
    expect([installed(), readdirSync(temporary)]).toEqual([[], []]);
  });

  const linux = { uname: 'test "$1" = -s && echo Linux || echo x86_64' };
  const alpine = {
    ...linux,
    ls: 'echo /lib/ld-musl-x86_64.so.1',
    ldd: 'echo "musl libc (x86_64)" >&2; exit 1',
  };
  test.each([
    ['musl', 'linux-musl-x64', alpine],
    ['glibc, and the package musl', 'linux-x64', { ...alpine, ldd: 'echo "ldd (GNU libc) 2.41"' }],
    ['glibc', 'linux-x64', { ...alpine, ls: 'exit 2' }],
  ])('on Linux with %s takes the archive %s', async (_, platform, programs) => {
    await installs(0, installer('0.0.1'), [], { PATH: pathWith(programs) });
    expect(server.seen).toEqual([`GET /pwpush-0.0.1-${platform}.tar.gz`]);
  });

  test('writes nothing if the program does not start, or the disk is full', async () => {
    const why = 'Error loading shared library libstdc++.so.6: No such file or directory';
    const first = installer('0.0.1');
    const broken = installer('0.0.2', `echo '${why}' >&2; exit 127`);
    await installs(0, first);
    const before = installed();
    const said = await installs(1, broken);
    expect(said).toContain(`the program does not start; nothing was installed\n${why}\n`);
    expect(said).not.toContain('apk');
    expect(await installs(1, broken, [], { PATH: pathWith(alpine) })).toContain(
      `${why}\nit requires the library libstdc++: apk add libstdc++`,
    );
    // The archive is smaller than this, and what it contains is larger.
    const small = `ulimit -f 100\n${installer('0.0.2', `echo 0.0.2\n#${' '.repeat(1e6)}`)}`;
    expect(await installs(1, small)).toContain('cannot be unpacked; nothing was installed');
    expect([installed(), version()]).toEqual([before, '0.0.1']);
  });

  test('follows no link that another user planted where it writes', async () => {
    const script = installer('0.0.1');
    await installs(0, script);
    const kept = join(home, 'kept');
    writeFileSync(kept, 'mine', { mode: 0o600 });
    const files = installed().filter((name) => name !== 'kept');
    for (const name of files) {
      rmSync(join(home, name));
      for (const planted of [name, `${name}.new`]) symlinkSync(kept, join(home, planted));
    }
    await installs(0, script);
    expect([readFileSync(kept, 'utf8'), statSync(kept).mode & 0o777]).toEqual(['mine', 0o600]);
    for (const name of files) expect(lstatSync(join(home, name)).isFile()).toBe(true);
    expect(version()).toBe('0.0.1');
  });

  test('writes nothing if a folder cannot be made, or is where a file should be', async () => {
    const script = installer('0.0.1');
    mkdirSync(join(home, 'a'));
    writeFileSync(join(home, 'a/share'), '');
    const said = await installs(1, script, ['--prefix', join(home, 'a')]);
    expect(said).toMatch(/cannot create .*; nothing was/);
    const program = join(home, 'b/bin/pwpush');
    mkdirSync(program, { recursive: true });
    expect(await installs(1, script, ['--prefix', join(home, 'b')])).toContain(
      `${program} is a folder; nothing was installed`,
    );
    expect(installed()).toEqual(['a/share']);
  });

  test('that is cut on its way into a shell does nothing', async () => {
    const script = installer('0.0.1');
    const cuts = [...script.matchAll(/\n|$/g)].map(({ index }) => index);
    for (const end of [...cuts.filter((end) => end < script.length - 2), script.length - 2]) {
      const stdio = ['pipe', 'ignore', 'ignore'] as const;
      const child = spawn('sh', ['-s'], { env: environment, cwd: folder, stdio: [...stdio] });
      child.stdin?.on('error', () => {}).end(script.slice(0, end));
      await once(child, 'close');
      expect([end, server.seen, installed(), readdirSync(temporary)]).toEqual([end, [], [], []]);
    }
  });
});

// Not on somebody's own Windows: it changes the PATH of the user.
const shells = process.platform === 'win32' && process.env.CI ? ['powershell', 'pwsh'] : [];
describe('install.ps1 (needs Windows, in CI)', only('Windows in CI', shells.length > 0), () => {
  const target = join(home, 'a b');
  async function run(shell: string, script: string, words: string[] = []) {
    const path = join(folder, 'install.ps1');
    writeFileSync(path, script);
    const all = ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', path, '-Folder', target];
    const env = { ...process.env, NO_COLOR: '1' } as Record<string, string>;
    const { code, stdout, stderr } = await pwpush([...all, ...words], { by: [shell], env });
    return { code, said: squeezed(stdout + stderr) };
  }
  /** Messages are wrapped where the line of a terminal ends, within words too. */
  const squeezed = (text: string) => text.replace(/[\s|]+/g, '');
  const path = () => execFileSync('reg', ['query', 'HKCU\\Environment', '/v', 'Path'], { encoding: 'utf8' });
  const found = () => installed().map((name) => name.replaceAll('\\', '/'));
  const script = (version: string) => release(version)['install.ps1'] ?? '';

  test.each(shells)('%s installs, upgrades, removes, and else writes nothing', async (shell) => {
    for (const version of ['0.0.1', '0.0.2']) {
      const { code, said } = await run(shell, script(version));
      expect({ code, said }).toMatchObject({ code: 0 });
      const program = join(target, 'pwpush.exe');
      expect(said).toContain(squeezed(`installed pwpush ${version} as ${program}`));
      expect(readFileSync(join(target, 'pwpush.exe'), 'utf8')).toBe(version);
      expect(path().split(target)).toHaveLength(2);
    }
    const pages = ['a b/completions/pwpush.powershell', 'a b/man/pwpush.1'];
    expect(found()).toEqual(['a b/README.md', ...pages, 'a b/pwpush.exe']);
    writeFileSync(join(target, 'other'), '');
    expect(await run(shell, script('0.0.2'), ['-Uninstall'])).toMatchObject({ code: 0 });
    expect(found()).toEqual(['a b/other']);
    expect(path()).not.toContain(target);
    expect(await run(shell, script('0.0.2'), ['-Uninstall'])).toMatchObject({ code: 1 });
    const { code, said } = await run(shell, script('0.0.2'));
    expect([code, said.includes(squeezed('has other files'))]).toEqual([1, true]);
    rmSync(target, { recursive: true });

    const other = script('0.0.2');
    served.set('/pwpush-0.0.2-windows-x64.zip', zipOf('6.6.6'));
    const missing = script('0.0.4');
    served.delete('/pwpush-0.0.4-windows-x64.zip');
    for (const one of [other, script('0.0.3'), missing]) {
      const { code, said } = await run(shell, one);
      expect([code, said.includes(squeezed('nothing was installed'))]).toEqual([1, true]);
      expect(installed()).toEqual([]);
    }
    expect(path()).not.toContain(target);
  });
});

describe('manifests', packing, () => {
  test('name the version and its archive', () => {
    const all = release('1.2.3');
    for (const [name, text] of Object.entries(all))
      expect([name, text.match(/@[A-Z_]+@|undefined/g)]).toEqual([name, null]);
    const windows = {
      url: `${server.url}/pwpush-1.2.3-windows-x64.zip`,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect(JSON.parse(all['scoop/pwpush.json'] ?? '')).toMatchObject({
      version: '1.2.3',
      architecture: { '64bit': windows },
    });
    const winget = Object.entries(all).filter(([name]) => name.startsWith('winget/'));
    const named = { PackageIdentifier: 'pwpush.pwpush', PackageVersion: '1.2.3' };
    expect(winget.map(([, text]) => yaml(text)[0])).toMatchObject([named, named, named]);
  });

  test('of Homebrew is Ruby (needs ruby)', needsPrograms('ruby'), () => {
    const formula = join(folder, 'pwpush.rb');
    writeFileSync(formula, release('1.2.3')['homebrew/pwpush.rb'] ?? '');
    expect(spawnSync('ruby', ['-c', formula], { encoding: 'utf8' }).stdout).toBe('Syntax OK\n');
    expect(readFileSync(formula, 'utf8').match(/sha256 "[0-9a-f]{64}"/g)).toHaveLength(4);
  });
});
