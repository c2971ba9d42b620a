// Fills the installers and the manifests of package managers with the version and checksums of a release.
import { readFileSync } from 'node:fs';

const DESCRIPTION = 'Share a password, key or file as a link that expires after N views or N days';
const template = (name) => readFileSync(new URL(`install/${name}`, import.meta.url), 'utf8');

/**
 * Returns the files by their names.
 * @param release `url` is what the addresses of the archives begin with, `sums` the lines of `checksums.txt`, `home` the
 * home page
 */
export function installers({ version, url, home, sums }) {
  const of = Object.fromEntries(
    sums.map((line) => {
      const [sum, name] = line.trim().split(/ +/);
      return [
        name.replace(`pwpush-${version}-`, '').replace(/\.(tar\.gz|zip)$/, ''),
        { sum, name },
      ];
    }),
  );
  const link = (platform) => `${url}/${of[platform].name}`;
  const filled = (name) =>
    template(name)
      .replaceAll('@VERSION@', version)
      .replaceAll('@URL@', url)
      .replaceAll('@SUMS@', sums.join('').trimEnd())
      .replaceAll('@SUM_WINDOWS@', of['windows-x64'].sum);
  return {
    'install.sh': filled('install.sh'),
    'install.ps1': filled('install.ps1'),
    'homebrew/pwpush.rb': formula({ version, home, of, link }),
    'scoop/pwpush.json': `${JSON.stringify(scoop({ version, home, of, link }), undefined, 2)}\n`,
    ...winget({ version, home, of, link }),
  };
}

function formula({ version, home, of, link }) {
  const stanza = (platform) => `      url "${link(platform)}"\n      sha256 "${of[platform].sum}"`;
  return `class Pwpush < Formula
  desc "${DESCRIPTION}"
  homepage "${home}"
  version "${version}"
  license "MIT"

  on_macos do
    on_arm do
${stanza('macos-arm64')}
    end
    on_intel do
${stanza('macos-x64')}
    end
  end

  on_linux do
    on_arm do
${stanza('linux-arm64')}
    end
    on_intel do
${stanza('linux-x64')}
    end
  end

  def install
    bin.install "pwpush"
    man1.install Dir["man/*.1"]
    man7.install Dir["man/*.7"]
    bash_completion.install "completions/pwpush.bash" => "pwpush"
    zsh_completion.install "completions/pwpush.zsh" => "_pwpush"
    fish_completion.install "completions/pwpush.fish"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/pwpush --version").strip
    assert_match "no instance is configured", shell_output("#{bin}/pwpush list 2>&1", 2)
  end
end
`;
}

/** https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests */
function scoop({ version, home, of, link }) {
  return {
    version,
    description: DESCRIPTION,
    homepage: home,
    license: 'MIT',
    architecture: { '64bit': { url: link('windows-x64'), hash: of['windows-x64'].sum } },
    extract_dir: `pwpush-${version}-windows-x64`,
    bin: 'pwpush.exe',
  };
}

/** The three manifests of a package in winget-pkgs, in schema 1.6.0. */
function winget({ version, home, of, link }) {
  const id = 'pwpush.pwpush';
  const manifest = (type, fields) =>
    [
      `# yaml-language-server: $schema=https://aka.ms/winget-manifest.${type}.1.6.0.schema.json`,
      `PackageIdentifier: ${id}`,
      `PackageVersion: ${version}`,
      ...fields,
      `ManifestType: ${type}`,
      'ManifestVersion: 1.6.0',
      '',
    ].join('\n');
  return {
    [`winget/${id}.yaml`]: manifest('version', ['DefaultLocale: en-US']),
    [`winget/${id}.locale.en-US.yaml`]: manifest('defaultLocale', [
      'PackageLocale: en-US',
      'Publisher: The pwpush authors',
      'PackageName: pwpush',
      `PackageUrl: ${home}`,
      'License: MIT',
      `ShortDescription: ${DESCRIPTION}`,
    ]),
    [`winget/${id}.installer.yaml`]: manifest('installer', [
      'InstallerType: zip',
      'NestedInstallerType: portable',
      'NestedInstallerFiles:',
      `  - RelativeFilePath: pwpush-${version}-windows-x64\\pwpush.exe`,
      '    PortableCommandAlias: pwpush',
      'Installers:',
      '  - Architecture: x64',
      `    InstallerUrl: ${link('windows-x64')}`,
      `    InstallerSha256: ${of['windows-x64'].sum.toUpperCase()}`,
    ]),
  };
}
