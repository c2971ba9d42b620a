import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { place } from './helpers/run';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the program had before its first release, and the documents must not promise. */
const gone = [
  ...'accounts commands edit receive requests'.split(' ').map((name) => `pwpush ${name}`),
  ...'clear-after concurrency edit gitlab-dotenv header notify-locale passphrase-env'
    .split(' ')
    .map((name) => `--${name}`),
  ...['management_token', 'management token', 'createClient', 'docs/library.md'],
  ...['help ci', 'help security', 'PWPUSH_NOTIFY', 'OSC 777'],
];
/** Options that another command has still. */
const goneOptions = {
  get: ['--as', '--only', '--allow'],
  push: ['--tls-cert', '--tls-key'],
  request: ['--tls-cert', '--tls-key'],
};
const named = new RegExp(`(?<![\\w-])(${gone.join('|')})(?![\\w-])`, 'g');

const filesIn = (path: string): string[] =>
  statSync(join(root, path)).isDirectory()
    ? readdirSync(join(root, path)).flatMap((name) => filesIn(`${path}/${name}`))
    : [path];
const documents = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs', 'man', 'skills', 'action']
  .concat('action.yml', 'deploy', 'src/commands/help', 'src/cli/help')
  .flatMap(filesIn)
  .filter((path) => !/\.(png|svg)$/.test(path));

test('what left the program is named neither in its documents nor in its help and completion', async () => {
  const here = place({});
  const shells = ['bash', 'zsh', 'fish', 'powershell'].map((shell) => ['completion', shell]);
  const said = [['help', '--json'], ['help', 'environment'], ...shells].map(async (words) => {
    const { code, stdout } = await here.run(...words);
    expect(code).toBe(0);
    return [words.join(' '), stdout] as const;
  });
  const texts = documents.map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [path, path.startsWith('man/') ? text.replaceAll('\\-', '-') : text] as const;
  });
  const found = [...texts, ...(await Promise.all(said))].flatMap(([where, text]) =>
    // A manual's `Fl -name` is `--name`.
    [
      ...text
        .replaceAll(/^\.Nm(?: pwpush)?(?:\n\.|$)/gm, 'pwpush ')
        .replaceAll(/\b(?:Fl (?=-)|Cm )/g, (macro) => (macro === 'Cm ' ? '' : '-'))
        .matchAll(named),
    ].map(([what]) => `${where}: ${what}`),
  );
  expect(found).toEqual([]);
  const { stdout } = await here.run('help', '--json');
  const commands: { name: string; options: { long: string }[] }[] = JSON.parse(stdout).commands;
  for (const [command, gone] of Object.entries(goneOptions)) {
    const { options = [] } = commands.find(({ name }) => name === command) ?? {};
    expect(options.map(({ long }) => long)).toEqual(expect.not.arrayContaining(gone));
    expect(options).not.toEqual([]);
  }
  here.close();
});
