// Compiles the program and Bun's runtime into one executable: `npm run binary` for this platform, with --all for all of
// them. --pack makes archives, checksums and installers of all executables in `build/`: signing, which happens between the
// two, changes them. The runtimes are packages of the npm registry, pinned below and kept in a cache.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { zipSync } from 'fflate';
import {
  BUN,
  BUN_LICENSES,
  builtAt,
  completion,
  executableOf,
  license,
  listed,
  notices,
  root,
  run,
  suffixOf,
  version,
} from './build.mjs';
import { installers } from './installers.mjs';

const cache = join(root, 'node_modules/.cache/pwpush-runtimes');

/** By platform: the runtime's package, and the integrity of its archive in the registry. */
const runtimes = {
  'linux-x64': [
    'bun-linux-x64',
    'sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
  ],
  'linux-arm64': [
    'bun-linux-aarch64',
    'sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
  ],
  'linux-musl-x64': [
    'bun-linux-x64-musl',
    'sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==',
  ],
  'macos-arm64': [
    'bun-darwin-aarch64',
    'sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==',
  ],
  'macos-x64': [
    'bun-darwin-x64',
    'sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==',
  ],
  'windows-x64': [
    'bun-windows-x64',
    'sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==',
  ],
};

const thisPlatform = () => {
  const systems = { darwin: 'macos', win32: 'windows', linux: isMusl() ? 'linux-musl' : 'linux' };
  return `${systems[process.platform]}-${process.arch}`;
};
const isMusl = () => process.report.getReport().header.glibcVersionRuntime === undefined;

/** The runtime of a platform. Fetched once, and compared with its integrity each time. */
function runtimeFor(platform) {
  const [name, integrity] = runtimes[platform] ?? [];
  if (name === undefined)
    throw new Error(`no runtime for ${platform}: choose ${Object.keys(runtimes).join(', ')}`);
  const archive = join(cache, `oven-${name}-${BUN}.tgz`);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(archive))
    run('npm', ['pack', '--silent', '--pack-destination', cache, `@oven/${name}@${BUN}`]);
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) {
    rmSync(archive);
    throw new Error(`@oven/${name}@${BUN} has the integrity ${found} instead of ${integrity}`);
  }
  const folder = join(cache, `${name}-${BUN}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1']);
  return join(folder, 'bin', `bun${suffixOf(platform)}`);
}

/**
 * What a runtime must not know, and what it has in its place, of the same length. Variables that load code, make the
 * executable another program, or report what it does: no name of a variable contains `=`. And where the runtime sends
 * the stack of a crash, which it does by itself on macOS and Windows.
 */
const doors = {
  BUN_OPTIONS: 'BUN=OPTIONS',
  BUN_BE_BUN: 'BUN=BE_BUN',
  BUN_INSPECT: 'BUN=INSPECT',
  BUN_CONFIG_VERBOSE_FETCH: 'BUN=CONFIG_VERBOSE_FETCH',
  BUN_BYTECODE_: 'BUN=BYTECODE_',
  BUN_CRASH_REPORT_URL: 'BUN=CRASH_REPORT_URL',
  BUN_JSC_: 'BUN=JSC_',
  BUN_ENABLE_CRASH_REPORTING: 'BUN=ENABLE_CRASH_REPORTING',
  'https://bun.report': 'about:blank#report',
};

const byte = (value) => `\\x${value.toString(16).padStart(2, '0')}`;

/**
 * By processor, the code that compares the name of a variable with `BUN_JSC_`, one character after another. The engine's
 * options have no other text in the runtime that could be replaced.
 */
const comparisons = {
  x64: {
    // cmp byte [register + index], character
    character: (code, index) => `\\x80[\\x78-\\x7f]${byte(index)}${byte(code)}`,
    // jne, and the prefix of a register above the eighth
    next: 'u.A?',
    // jmp
    always: () => 0xeb,
  },
  arm64: {
    // cmp register, character
    character: (code) => {
      const bits = (code & 0x3f) << 2;
      return `.[${byte(bits)}-${byte(bits | 3)}]${byte(code >> 6)}q`;
    },
    // b.ne, ldrb
    next: '.{3}T.{3}9',
    // b.al
    always: (jump) => jump ^ 0xf,
  },
};

/** Makes every name differ from `BUN_JSC_` at its second character. */
function sealOptions(bytes, { character, next, always }) {
  const codes = [...'BUN_JSC_'].map((one, index) => character(one.charCodeAt(0), index));
  const found = [...bytes.latin1Slice().matchAll(new RegExp(codes.slice(1).join(next), 'gs'))];
  if (found.length !== 1) throw new Error(`the runtime has ${found.length} times BUN_JSC_`);
  const jump = found[0].index + 4;
  bytes[jump] = always(bytes[jump]);
}

/** A copy of a runtime without those doors. */
function sealed(runtime, platform) {
  const bytes = readFileSync(runtime);
  for (const [door, wall] of Object.entries(doors)) {
    let at = bytes.indexOf(door);
    if (at < 0) throw new Error(`the runtime has no ${door}`);
    for (; at >= 0; at = bytes.indexOf(door, at)) bytes.write(wall, at);
  }
  sealOptions(bytes, comparisons[platform.split('-').at(-1)]);
  const path = `${runtime}-sealed`;
  writeFileSync(path, bytes, { mode: 0o755 });
  return path;
}

/** Compiles `build/pwpush-<platform>` and returns its path. */
function compile(platform, host) {
  const [name] = runtimes[platform];
  const out = executableOf(platform);
  mkdirSync(dirname(out), { recursive: true });
  rmSync(out, { force: true });
  const parsers = readdirSync(join(root, 'dist'))
    .filter((file) => file.endsWith('.wasm'))
    .map((file) => `dist/${file}`);
  run(
    host,
    [
      'build',
      '--compile',
      `--target=${name}`,
      `--compile-executable-path=${sealed(runtimeFor(platform), platform)}`,
      '--minify',
      '--bytecode',
      // Most runs end before machine code pays off; binary-entry.cjs ends this for the others.
      '--compile-jit-policy=100',
      // The current folder must not configure the program.
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      '--no-compile-autoload-tsconfig',
      '--no-compile-autoload-package-json',
      // Only for Node.js without node:sqlite, which the runtime has.
      '--external=libsql',
      // The files that the program reads are in the executable. The default is their folder on this machine.
      `--define=__dirname="${platform.startsWith('windows') ? 'B:/~BUN' : '/$bunfs'}/root"`,
      '--asset-naming=[name].[ext]',
      '.config/binary-entry.cjs',
      ...parsers,
      `--outfile=${out}`,
    ],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (platform === 'macos-x64') removeSignature(out);
  return out;
}

/**
 * Removes the signature of the runtime from an executable for Intel Macs: it is that of other bytes, and the hardened
 * runtime that it asks for ends programs whose pages do not match. None is better; for ARM64, which requires one, Bun
 * makes its own. The offsets are those of mach-o/loader.h.
 */
function removeSignature(path) {
  const bytes = readFileSync(path);
  const [count, size] = [bytes.readUInt32LE(16), bytes.readUInt32LE(20)];
  const commands = [];
  for (let at = 32; commands.length < count; at += bytes.readUInt32LE(at + 4)) commands.push(at);
  const signature = commands.findLast((at) => bytes.readUInt32LE(at) === 0x1d);
  const lastSegment = commands.findLast((at) => bytes.readUInt32LE(at) === 0x19);
  const start = bytes.readUInt32LE(signature + 8);
  const length = bytes.readUInt32LE(signature + 12);
  if (start + length !== bytes.length) throw new Error(`${path} does not end with its signature`);
  // The sizes of __LINKEDIT, in memory in pages and in the file.
  const left = bytes.readBigUInt64LE(lastSegment + 48) - BigInt(length);
  bytes.writeBigUInt64LE((left + 0x3fffn) & ~0x3fffn, lastSegment + 32);
  bytes.writeBigUInt64LE(left, lastSegment + 48);
  bytes.copyWithin(signature, signature + 16, 32 + size);
  bytes.fill(0, 32 + size - 16, 32 + size);
  bytes.writeUInt32LE(count - 1, 16);
  bytes.writeUInt32LE(size - 16, 20);
  writeFileSync(path, bytes.subarray(0, start));
}

/**
 * Packs an executable with manual pages, completions, licences and its bill of materials, which is also written beside the
 * archive; returns the archive's path.
 */
function pack(platform, binary) {
  const folder = join(root, 'build', `pwpush-${version}-${platform}`);
  rmSync(folder, { recursive: true, force: true });
  const bill = billOfMaterials(platform);
  const copied = (from) => readFileSync(join(root, from));
  const files = {
    [`pwpush${suffixOf(platform)}`]: readFileSync(binary),
    ...manuals(),
    ...completions(),
    'README.md': copied('README.md'),
    'CHANGELOG.md': copied('CHANGELOG.md'),
    LICENSE: copied('LICENSE'),
    'THIRD-PARTY-NOTICES': notices(),
    'sbom.cdx.json': bill,
  };
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes, { mode: name.startsWith('pwpush') ? 0o755 : 0o644 });
  }
  const archive = platform.startsWith('windows') ? zip(folder) : tar(folder);
  rmSync(folder, { recursive: true });
  writeFileSync(`${folder}.cdx.json`, bill);
  return archive;
}

function manuals() {
  const names = readdirSync(join(root, 'man')).sort();
  return Object.fromEntries(
    names.map((name) => [`man/${name}`, readFileSync(join(root, 'man', name))]),
  );
}

/** The completion scripts, as the program prints them. */
function completions() {
  return Object.fromEntries(
    ['bash', 'zsh', 'fish', 'powershell'].map((shell) => [
      `completions/pwpush.${shell}`,
      completion(shell),
    ]),
  );
}

function tar(folder) {
  const archive = `${folder}.tar.gz`;
  const words = ['--sort=name', `--mtime=@${builtAt}`, '--owner=0', '--group=0', '--numeric-owner'];
  const packed = execFileSync(
    'tar',
    ['-C', dirname(folder), ...words, '--mode=go-w', '-cf', '-', relative(dirname(folder), folder)],
    { maxBuffer: 2 ** 30 },
  );
  writeFileSync(archive, execFileSync('gzip', ['-9n'], { input: packed, maxBuffer: 2 ** 30 }));
  return archive;
}

function zip(folder) {
  const archive = `${folder}.zip`;
  const entries = {};
  // A zip has local time, which must not be that of this machine.
  const mtime = new Date((builtAt + new Date(builtAt * 1000).getTimezoneOffset() * 60) * 1000);
  for (const name of readdirSync(folder, { recursive: true }).sort()) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const named = relative(dirname(folder), path).replaceAll('\\', '/');
    entries[named] = [readFileSync(path), { mtime }];
  }
  writeFileSync(archive, zipSync(entries, { level: 9 }));
  return archive;
}

/** The software bill of materials, in CycloneDX 1.6: the bundled packages, by the heads of their notices. */
function billOfMaterials(platform) {
  const notices = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
  const packages = [...notices.matchAll(/^(@?[\w./-]+) (\d+\.\d+\.\d+\S*) \((.+)\)$/gm)];
  const component = ([, name, at, licence]) => ({
    type: 'library',
    name,
    version: at,
    purl: `pkg:npm/${name.replace('@', '%40')}@${at}`,
    licenses: [{ license: { name: licence } }],
  });
  const [runtime, integrity] = runtimes[platform];
  const hash = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(builtAt * 1000).toISOString(),
      component: {
        type: 'application',
        name: 'pwpush',
        version,
        licenses: [{ license: { id: license } }],
      },
    },
    components: [
      {
        ...component(['', `@oven/${runtime}`, BUN]),
        licenses: [{ license: { name: 'MIT, LGPL-2.0, LGPL-2.1 and others', url: BUN_LICENSES } }],
        hashes: [{ alg: 'SHA-512', content: hash }],
      },
      ...packages.map(component),
    ],
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

function compileAll(platforms) {
  const host = runtimeFor(thisPlatform());
  for (const platform of platforms) listed(compile(platform, host));
  writeNotices();
}

/** For the image. */
function writeNotices() {
  writeFileSync(join(root, 'build/THIRD-PARTY-NOTICES'), notices());
}

function packAll() {
  writeNotices();
  const sums = Object.keys(runtimes).map((platform) => {
    const archive = pack(platform, executableOf(platform));
    listed(archive);
    const sum = createHash('sha256').update(readFileSync(archive)).digest('hex');
    return `${sum}  ${relative(join(root, 'build'), archive)}\n`;
  });
  writeFileSync(join(root, 'build/checksums.txt'), sums.join(''));
  const { PWPUSH_RELEASE_URL: url, PWPUSH_HOME_PAGE: home = url } = process.env;
  if (url === undefined) {
    console.log('no installers: PWPUSH_RELEASE_URL does not say where the archives will be');
    return;
  }
  for (const [name, text] of Object.entries(installers({ version, url, home, sums }))) {
    const path = join(root, 'build', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
    console.log(relative(root, path));
  }
}

const { values } = parseArgs({
  options: {
    all: { type: 'boolean' },
    pack: { type: 'boolean' },
    platform: { type: 'string', multiple: true },
  },
});
if (values.all) compileAll(Object.keys(runtimes));
else if (!values.pack) compileAll(values.platform ?? [thisPlatform()]);
if (values.pack) packAll();
