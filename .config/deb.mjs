// Packs the executables for Linux in `build/` as Debian packages: `npm run deb`. The other files of the package are in
// `deploy/debian/`. PWPUSH_MAINTAINER and PWPUSH_HOME_PAGE say who releases them. With --quick they are compressed less,
// which takes seconds instead of two minutes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  aboutRuntime,
  builtAt,
  version as builtVersion,
  completion,
  executableOf,
  listed,
  notices,
  root,
  run,
} from './build.mjs';

process.umask(0o022);
const read = (path) => readFileSync(join(root, path), 'utf8');

/** Names of a platform: ours, and that of Debian. */
const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };
/** Names of a license: that of npm packages, and that of Debian. */
const licenses = {
  MIT: 'Expat',
  ISC: 'ISC',
  'Apache-2.0': 'Apache-2.0',
  'Apache 2.0': 'Apache-2.0',
  Unlicense: 'Unlicense',
  'BSD-3-Clause': 'BSD-3-Clause',
  'CC BY 3.0 US': 'CC-BY-3.0-US',
};

// A pre-release sorts before its release.
const version = builtVersion.replace('-', '~');
const {
  PWPUSH_HOME_PAGE: home = 'https://pwpush.example',
  PWPUSH_MAINTAINER: maintainer = 'The pwpush authors <maintainers@pwpush.example>',
} = process.env;
const gzip = (text) => execFileSync('gzip', ['-9n'], { input: text });
const filled = (name, values) =>
  read(`deploy/debian/${name}`).replaceAll(/@([A-Z]+)@/g, (_, key) => values[key]);

/** A paragraph of the copyright file for each notice in the bundle. */
function bundled() {
  const bundle = read('dist/THIRD-PARTY-NOTICES').split(`\n${'-'.repeat(80)}\n\n`);
  return bundle.map((notice) => {
    const [, name, license] = /^(.+?)(?: \d[\w.+-]*)? \((.+)\)$/m.exec(notice) ?? [];
    if (!(license in licenses)) throw new Error(`the license of ${name} is unknown: ${license}`);
    const holders = [...notice.matchAll(/^ ?Copyright (?:\(c\) )?(.+?)\s*$/gim)]
      .map(([, holder]) => holder)
      .filter((holder) => !/^(?:notice|license|owner|holder|\[)/i.test(holder));
    const files = `bundled/${name.replaceAll(' ', '-')}/*`;
    const copyright = holders.length > 0 ? holders.join('\n ') : 'its authors';
    return `Files: ${files}\nCopyright: ${copyright}\nLicense: ${licenses[license]}\n`;
  });
}

/** The files of the package, as `[content, mode]` by path. */
function contents(binary) {
  const changelog = `pwpush (${version}) unstable; urgency=medium

  * Version ${version}, see CHANGELOG.md.gz.

 -- ${maintainer}  ${new Date(builtAt * 1000).toUTCString().replace('GMT', '+0000')}
`;
  const manuals = readdirSync(join(root, 'man')).map((name) => [
    `usr/share/man/man${name.at(-1)}/${name}.gz`,
    gzip(read(`man/${name}`)),
  ]);
  const doc = 'usr/share/doc/pwpush';
  const runtime = aboutRuntime.trim().replace(/^/gm, ' ').replace(/^ $/gm, ' .');
  const fields = { MAINTAINER: maintainer, HOME: home, RUNTIME: runtime };
  return {
    'usr/bin/pwpush': [readFileSync(binary), 0o755],
    ...Object.fromEntries(manuals.map(([path, text]) => [path, [text]])),
    'usr/share/bash-completion/completions/pwpush': [completion('bash')],
    'usr/share/zsh/vendor-completions/_pwpush': [completion('zsh')],
    'usr/share/fish/vendor_completions.d/pwpush.fish': [completion('fish')],
    'usr/lib/systemd/system/pwpush.service': [read('deploy/debian/pwpush.service')],
    'usr/lib/systemd/system/pwpush.socket': [read('deploy/debian/pwpush.socket')],
    'usr/share/lintian/overrides/pwpush': [read('deploy/debian/lintian-overrides')],
    // Settings can be secret, such as the password of a database.
    'etc/pwpush/serve.env': [read('deploy/debian/serve.env'), 0o600],
    [`${doc}/copyright`]: [filled('copyright', { ...fields, BUNDLED: bundled().join('\n') })],
    [`${doc}/changelog.gz`]: [gzip(changelog)],
    [`${doc}/CHANGELOG.md.gz`]: [gzip(read('CHANGELOG.md'))],
    [`${doc}/THIRD-PARTY-NOTICES.gz`]: [gzip(notices())],
  };
}

/**
 * Packs `build/pwpush_<version>_<arch>.deb` and returns its path. The name has the version without `~`, which GitHub
 * replaces in the names of files of a release: checksums.txt would list others.
 */
function pack(binary, arch) {
  const deb = join(root, 'build', `pwpush_${builtVersion}_${arch}.deb`);
  const folder = join(root, 'build', `deb-${arch}`);
  rmSync(folder, { recursive: true, force: true });
  const write = (path, text, mode = 0o644) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), mode);
  };
  const files = Object.entries(contents(binary));
  for (const [path, [text, mode]] of files) write(path, text, mode);
  chmodSync(join(folder, 'etc/pwpush'), 0o700);
  const fields = { VERSION: version, ARCH: arch, MAINTAINER: maintainer, HOME: home };
  const size = files.reduce((sum, [, [text]]) => sum + Math.ceil(text.length / 1024), 0);
  write('DEBIAN/control', filled('control', { ...fields, SIZE: `${size}` }));
  write('DEBIAN/conffiles', '/etc/pwpush/serve.env\n');
  const sums = files
    .filter(([path]) => !path.startsWith('etc/'))
    .map(([path, [text]]) => `${createHash('md5').update(text).digest('hex')}  ${path}\n`);
  write('DEBIAN/md5sums', sums.sort().join(''));
  for (const script of ['postinst', 'prerm', 'postrm'])
    write(`DEBIAN/${script}`, read(`deploy/debian/${script}`), 0o755);
  const compression = values.quick ? ['-Zgzip', '-z1'] : ['-Zxz'];
  run('dpkg-deb', ['--root-owner-group', ...compression, '--build', folder, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: `${builtAt}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(folder, { recursive: true });
  return deb;
}

const { values } = parseArgs({ options: { quick: { type: 'boolean' } } });
for (const [platform, arch] of Object.entries(architectures)) {
  const binary = executableOf(platform);
  if (!existsSync(binary)) continue;
  listed(pack(binary, arch));
}
