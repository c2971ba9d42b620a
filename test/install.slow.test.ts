import { type ExecFileOptions, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { installers } from '../.config/installers.mjs';
import { allOf, needsPrograms, only, onUnix } from './helpers/needs';
import { yaml } from './helpers/yaml';

// What `npm run release` makes for people who install: run with archives of a small program, from a server here.

const PLATFORMS = ['linux-x64', 'linux-arm64', 'linux-musl-x64', 'macos-arm64', 'macos-x64'];
// Windows names the temporary folder in short.
const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'pwpush-install-')));
const home = join(folder, 'home');
const temporary = join(folder, 'tmp');
const served = new Map<string, Buffer>();
let asked: string[] = [];
let server: Server;
let url: string;

/** An archive as `npm run release` packs it, with a program of sh that says its version. */
function archiveOf(version: string, program = `echo ${version}`): Buffer {
  const name = `pwpush-${version}-any`;
  const pages = ['man/pwpush.1', 'man/pwpush-get.1', 'man/pwpush-security.7'];
  const shells = ['bash', 'zsh', 'fish'].map((shell) => `completions/pwpush.${shell}`);
  for (const file of ['pwpush', 'LICENSE', ...pages, ...shells]) {
    const path = join(folder, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file === 'pwpush' ? `#!/bin/sh\n${program}\n` : `${file}\n`);
  }
  chmodSync(join(folder, name, 'pwpush'), 0o755);
  return execFileSync('tar', ['-C', folder, '-czf', '-', name]);
}

/** The one for Windows, with a text in place of the program. */
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
  const archive = archiveOf(version, program);
  const archives: [string, Buffer][] = [
    ...PLATFORMS.map((platform): [string, Buffer] => [`${platform}.tar.gz`, archive]),
    ['windows-x64.zip', zipOf(version)],
  ];
  const sums = archives.map(([end, archive]) => {
    const name = `pwpush-${version}-${end}`;
    served.set(`/${name}`, archive);
    return `${createHash('sha256').update(archive).digest('hex')}  ${name}\n`;
  });
  return installers({ version, url, home: 'https://pwpush.example', sums });
}
/** The script that installs a release. */
const installer = (version: string, program?: string) =>
  release(version, program)['install.sh'] ?? '';

const environment = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: temporary };

interface Ran {
  readonly code: number | null;
  readonly said: string;
}

/** Runs a program; not by spawnSync, as the server is in this process. */
const ran = (program: string, words: string[], options: ExecFileOptions) =>
  new Promise<Ran>((resolve) => {
    execFile(program, words, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, said: `${stdout}${stderr}` }),
    );
  });

function install(script: string, words: string[] = [], env: Record<string, string> = {}) {
  const path = join(folder, 'install.sh');
  writeFileSync(path, script);
  return ran('sh', [path, ...words], { env: { ...environment, ...env }, cwd: folder });
}

/** Installs; answers what is said when that succeeds. */
async function installs(...how: Parameters<typeof install>): Promise<string> {
  const { code, said } = await install(...how);
  expect({ code, said }).toMatchObject({ code: 0 });
  return said;
}

/** The same when it fails. */
async function fails(...how: Parameters<typeof install>): Promise<string> {
  const { code, said } = await install(...how);
  expect(code).toBe(1);
  return said;
}

/** A PATH on which these scripts come first. */
function pathWith(programs: Record<string, string>): string {
  const bin = mkdtempSync(join(folder, 'bin-'));
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}

const installed = (): string[] =>
  existsSync(home)
    ? readdirSync(home, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(home, name)).isFile())
        .sort()
    : [];

beforeAll(async () => {
  server = createServer(({ url: path = '' }, response) => {
    asked.push(path);
    const body = served.get(path);
    if (!body) return response.writeHead(404).end('<html>');
    response.writeHead(200, { 'content-length': body.length });
    if (path.includes('0.0.5')) return response.write(body.subarray(0, 50));
    if (path.includes('0.0.3'))
      return response.write(body.subarray(0, 50), () => response.destroy());
    return response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary);
  asked = [];
});

const packing = needsPrograms('tar', 'gzip', 'sed', 'grep');

describe('install.sh', allOf(onUnix, packing), () => {
  const version = (prefix = '.local') =>
    execFileSync(join(home, prefix, 'bin/pwpush'), { encoding: 'utf8' }).trimEnd();

  test('installs the program, its pages and completions, and says what is missing', async () => {
    const said = await installs(installer('0.0.1'));
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
    expect(version()).toBe('0.0.1');
    expect(statSync(join(home, '.local/bin/pwpush')).mode & 0o777).toBe(0o755);
    const env = { PATH: `${home}/.local/bin:${process.env.PATH}` };
    expect(await installs(installer('0.0.1'), [], env)).not.toContain('PATH');
  });

  test('upgrades, into another folder too, and removes what it installed', async () => {
    const prefix = ['--prefix', join(home, 'a b')];
    const [first, second] = [installer('0.0.1'), installer('0.0.2')];
    for (const script of [first, second]) await installs(script, prefix);
    expect(version('a b')).toBe('0.0.2');
    writeFileSync(join(home, 'a b/bin/other'), '');
    await installs(second, [...prefix, '--uninstall']);
    expect(installed()).toEqual(['a b/bin/other']);
    await fails(second, [...prefix, '--uninstall']);
  });

  test('writes nothing if the archive is another one, cut, or not there', async () => {
    const [another, cut] = [installer('0.0.2'), installer('0.0.3')];
    const other = archiveOf('6.6.6');
    for (const name of served.keys()) if (name.includes('0.0.2')) served.set(name, other);
    expect(await fails(another)).toMatch(
      /the checksum is [0-9a-f]{64} instead of [0-9a-f]{64}; nothing was installed/,
    );
    const missing = installer('0.0.4');
    const cutOff = await fails(cut);
    served.clear();
    for (const said of [cutOff, await fails(missing)])
      expect(said).toContain('the download failed; nothing was installed');
    expect([installed(), readdirSync(temporary)]).toEqual([[], []]);
  });

  test('on a system without a binary names the package', async () => {
    const said = await fails(installer('0.0.1'), [], { PATH: pathWith({ uname: 'echo Plan9' }) });
    expect(said).toContain('there is no binary for Plan9; with Node.js use: npm install --global');
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
    await installs(installer('0.0.1'), [], { PATH: pathWith(programs) });
    expect(asked).toEqual([`/pwpush-0.0.1-${platform}.tar.gz`]);
  });

  test('writes nothing if the program does not start, and says what is missing', async () => {
    const why = 'Error loading shared library libstdc++.so.6: No such file or directory';
    const first = installer('0.0.1');
    const broken = installer('0.0.2', `echo '${why}' >&2; exit 127`);
    const said = await fails(broken);
    expect(said).toContain(`the program does not start; nothing was installed\n${why}\n`);
    expect(said).not.toContain('apk');
    expect(installed()).toEqual([]);
    await installs(first);
    const before = installed();
    expect(await fails(broken, [], { PATH: pathWith(alpine) })).toContain(
      `${why}\nit requires the library libstdc++: apk add libstdc++`,
    );
    expect([installed(), version()]).toEqual([before, '0.0.1']);
  });

  test('writes nothing to a full disk', async () => {
    const [first, second] = [
      installer('0.0.1'),
      installer('0.0.2', `echo 0.0.2\n#${' '.repeat(1e6)}`),
    ];
    // The archive is smaller than this, and what it contains is larger.
    const small = `ulimit -f 100\n${second}`;
    expect(await fails(small)).toContain('cannot be unpacked; nothing was installed');
    expect(installed()).toEqual([]);
    await installs(first);
    const before = installed();
    await fails(small);
    expect([installed(), version()]).toEqual([before, '0.0.1']);
    await installs(second, ['--uninstall']);
    expect(installed()).toEqual([]);
  });

  test('follows no link that another user planted where it writes', async () => {
    const script = installer('0.0.1');
    await installs(script);
    const kept = join(home, 'kept');
    writeFileSync(kept, 'mine', { mode: 0o600 });
    const files = installed().filter((name) => name !== 'kept');
    for (const name of files) {
      rmSync(join(home, name));
      for (const planted of [name, `${name}.new`]) symlinkSync(kept, join(home, planted));
    }
    await installs(script);
    expect([readFileSync(kept, 'utf8'), statSync(kept).mode & 0o777]).toEqual(['mine', 0o600]);
    for (const name of files) expect(lstatSync(join(home, name)).isFile()).toBe(true);
    expect(version()).toBe('0.0.1');
  });

  test('writes nothing if a folder cannot be made, or is where a file should be', async () => {
    const script = installer('0.0.1');
    mkdirSync(join(home, 'a'));
    writeFileSync(join(home, 'a/share'), '');
    const said = await fails(script, ['--prefix', join(home, 'a')]);
    expect(said).toMatch(/cannot create .*; nothing was/);
    const program = join(home, 'b/bin/pwpush');
    mkdirSync(program, { recursive: true });
    expect(await fails(script, ['--prefix', join(home, 'b')])).toContain(
      `${program} is a folder; nothing was installed`,
    );
    expect(installed()).toEqual(['a/share']);
  });

  test('needs a home only for its folder', async () => {
    const script = installer('0.0.1');
    const env = { HOME: '' };
    await installs(script, ['--help'], env);
    await installs(script, ['--prefix', join(home, 'a')], env);
    expect(await fails(script, [], env)).toContain('HOME is not set');
  });

  test('that is cut on its way into a shell does nothing', async () => {
    const script = installer('0.0.1');
    const cuts = [...script.matchAll(/\n|$/g)].map(({ index }) => index);
    for (const end of [...cuts.filter((end) => end < script.length - 2), script.length - 2]) {
      const stdio = ['pipe', 'ignore', 'ignore'] as const;
      const child = spawn('sh', ['-s'], { env: environment, cwd: folder, stdio: [...stdio] });
      child.stdin?.on('error', () => {}).end(script.slice(0, end));
      await once(child, 'close');
      expect([end, asked, installed(), readdirSync(temporary)]).toEqual([end, [], [], []]);
    }
  });

  test('leaves no temporary folder when its terminal is closed', async () => {
    writeFileSync(join(folder, 'install.sh'), installer('0.0.5'));
    const how = { env: environment, detached: true, stdio: 'ignore' } as const;
    const child = spawn('sh', [join(folder, 'install.sh')], how);
    const ended = once(child, 'close');
    await vi.waitUntil(() => asked.length > 0, { timeout: 60_000 });
    process.kill(-Number(child.pid), 'SIGHUP');
    expect([await ended, readdirSync(temporary)]).toEqual([[129, null], []]);
  });
});

// Not on somebody's own Windows: it changes the PATH of the user.
const shells = process.platform === 'win32' && process.env.CI ? ['powershell', 'pwsh'] : [];
describe('install.ps1 (needs Windows, in CI)', only('Windows in CI', shells.length > 0), () => {
  const target = join(home, 'a b');
  async function run(shell: string, script: string, words: string[] = []): Promise<Ran> {
    const path = join(folder, 'install.ps1');
    writeFileSync(path, script);
    const all = ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', path, '-Folder', target];
    const env = { ...process.env, NO_COLOR: '1' };
    const { code, said } = await ran(shell, [...all, ...words], { env });
    return { code, said: squeezed(said) };
  }
  /** Messages are wrapped where the line of a terminal ends, within words too. */
  const squeezed = (text: string) => text.replace(/[\s|]+/g, '');
  const path = () =>
    execFileSync('reg', ['query', 'HKCU\\Environment', '/v', 'Path'], { encoding: 'utf8' });
  const found = () => installed().map((name) => name.replaceAll('\\', '/'));
  const script = (version: string) => release(version)['install.ps1'] ?? '';

  test.each(shells)('%s installs, upgrades, and removes what it installed', async (shell) => {
    for (const version of ['0.0.1', '0.0.2']) {
      const { code, said } = await run(shell, script(version));
      expect({ code, said }).toMatchObject({ code: 0 });
      const program = join(target, 'pwpush.exe');
      expect(said).toContain(squeezed(`installed pwpush ${version} as ${program}`));
      expect(readFileSync(join(target, 'pwpush.exe'), 'utf8')).toBe(version);
      expect(path().split(target)).toHaveLength(2);
    }
    expect(found()).toEqual([
      'a b/README.md',
      'a b/completions/pwpush.powershell',
      'a b/man/pwpush.1',
      'a b/pwpush.exe',
    ]);
    writeFileSync(join(target, 'other'), '');
    expect(await run(shell, script('0.0.2'), ['-Uninstall'])).toMatchObject({ code: 0 });
    expect(found()).toEqual(['a b/other']);
    expect(path()).not.toContain(target);
    expect(await run(shell, script('0.0.2'), ['-Uninstall'])).toMatchObject({ code: 1 });
    const { code, said } = await run(shell, script('0.0.2'));
    expect([code, said.includes(squeezed('has other files'))]).toEqual([1, true]);
  });

  test.each(shells)(
    '%s writes nothing if the archive is another one, cut or missing',
    async (shell) => {
      const other = script('0.0.2');
      served.set('/pwpush-0.0.2-windows-x64.zip', zipOf('6.6.6'));
      const missing = script('0.0.4');
      served.delete('/pwpush-0.0.4-windows-x64.zip');
      for (const one of [other, script('0.0.3'), missing]) {
        const { code, said } = await run(shell, one);
        const nothing = expect.stringContaining(squeezed('nothing was installed'));
        expect([code, said]).toEqual([1, nothing]);
        expect(installed()).toEqual([]);
      }
      expect(path()).not.toContain(target);
    },
  );
});

describe('.config/build.mjs', () => {
  const root = join(import.meta.dirname, '..');
  function evaluated(cwd: string, name: string, env: Record<string, string> = {}): string {
    const script = `import('./.config/build.mjs').then((all) => console.log(${name}))`;
    const { SOURCE_DATE_EPOCH: _, ...own } = process.env;
    return execFileSync(process.execPath, ['-e', script], {
      cwd,
      encoding: 'utf8',
      env: { ...own, ...env },
    });
  }

  test('without a repository takes the time of the source', () => {
    const source = join(folder, 'source');
    for (const file of ['.config/build.mjs', 'package.json'])
      cpSync(join(root, file), join(source, file), { recursive: true });
    utimesSync(join(source, 'package.json'), 1234, 1234);
    expect(evaluated(source, 'all.builtAt')).toBe('1234\n');
    expect(evaluated(source, 'all.builtAt', { SOURCE_DATE_EPOCH: '5' })).toBe('5\n');
  });

  test('has notices of the bundled packages and of the runtime', () => {
    const packages = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
    const notices = evaluated(root, 'all.notices()');
    expect(notices.startsWith(packages)).toBe(true);
    expect(notices.slice(packages.length)).toMatch(/Bun [\d.]+ \(MIT.*JavaScriptCore of WebKit/s);
  });
});

describe('manifests', packing, () => {
  const files = () => release('1.2.3');

  test('have no placeholder left, and name the version and its archive', () => {
    const all = files();
    for (const [name, text] of Object.entries(all))
      expect([name, text.match(/@[A-Z_]+@|undefined/g)]).toEqual([name, null]);
    expect(JSON.parse(all['scoop/pwpush.json'] ?? '')).toMatchObject({
      version: '1.2.3',
      extract_dir: 'pwpush-1.2.3-windows-x64',
      architecture: {
        '64bit': {
          url: `${url}/pwpush-1.2.3-windows-x64.zip`,
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
    });
    const head = { PackageIdentifier: 'pwpush.pwpush', PackageVersion: '1.2.3' };
    const winget = Object.entries(all).filter(([name]) => name.startsWith('winget/'));
    expect(winget).toHaveLength(3);
    for (const [, text] of winget)
      expect(yaml(text)).toMatchObject([{ ...head, ManifestVersion: '1.6.0' }]);
  });

  test('of Homebrew is Ruby (needs ruby)', needsPrograms('ruby'), () => {
    const formula = join(folder, 'pwpush.rb');
    writeFileSync(formula, files()['homebrew/pwpush.rb'] ?? '');
    expect(spawnSync('ruby', ['-c', formula], { encoding: 'utf8' }).stdout).toBe('Syntax OK\n');
    expect(readFileSync(formula, 'utf8').match(/sha256 "[0-9a-f]{64}"/g)).toHaveLength(4);
  });
});
