import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandEntry } from '../src/cli/command-tree';
import { eachPlace, openPlace } from './helpers/run';

/**
 * Names of commands and options that the program had once: nothing may tell a person to type them.
 *
 * To add a row, give the name as `command` (the words after `pwpush`) or as `option`. `line` is what a person types who
 * still knows the name; the program refuses it (exit 2), and `hint` is a part of what it then says. An option that only
 * some commands have lost has their names in `of`: it is looked for in texts and lines about them alone. Where a text has
 * to mention the name, for another reason than to have it typed, `except` matches that line.
 */
interface GoneName {
  readonly command?: string;
  readonly option?: string;
  readonly of?: readonly string[];
  readonly except?: RegExp;
  readonly line: string;
  readonly hint: string;
}

/** Options of `serve` that are variables alone. */
const byVariable = 'max-buffer max-connections min-rate max-failures keep-days reserve max-data metrics-host';

const gone: readonly GoneName[] = [
  { option: '--local', line: 'list --local', hint: 'did you mean list receipts?' },
  { command: 'show', line: 'show LINK', hint: 'did you mean preview?' },
  ...byVariable.split(' ').map((name) => ({
    option: `--${name}`,
    line: `serve --${name} 1`,
    hint: `set PWPUSH_SERVE_${name.replace('-', '_').toUpperCase()}\n`,
    except: /^ +(?:maxData|metricsHost): /,
  })),
  { option: '--filename', line: 'push --filename x', hint: 'did you mean --file -=NAME?', except: /kubectl/ },
  {
    option: '--generate-passphrase',
    line: 'push --generate-passphrase',
    hint: 'did you mean --passphrase-out -?',
  },
  { option: '--no-receipt', line: 'push --no-receipt', hint: 'push with PWPUSH_RECEIPTS=off?' },
  { option: '--recipients-file', line: 'push --recipients-file x', hint: 'did you mean --to?' },
  { option: '-R', line: 'push -R x', hint: 'did you mean --to?' },
  { command: 'notify', line: 'notify LINK', hint: 'did you mean push --notify?' },
];

type Name = Omit<GoneName, 'line' | 'hint'>;

/** What is searched, and a name that is in each of its parts: the search finds what is there. */
const present: Readonly<Record<string, Name>> = {
  help: { command: 'expire' },
  'help --json': { option: '--encrypt', of: ['push'] },
  completion: { option: '--passphrase-file' },
  manual: { option: '--passphrase-file' },
  documents: { command: 'expire' },
  'docs/json.md': { command: 'expire' },
  'docs/schemas': { command: 'expire' },
  'README.md': { command: 'push' },
  skills: { option: '--into' },
  action: { option: '--no-files' },
  deploy: { command: 'serve' },
  source: { option: '--passphrase-file' },
};

/** A text that people read; `about` is the command that all of it is about. */
interface Text {
  readonly name: string;
  readonly about?: string | undefined;
  readonly lines: readonly string[];
}

const root = join(import.meta.dirname, '..');
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'];

const place = openPlace();
const tree: readonly CommandEntry[] = JSON.parse(await printed('help', '--json')).commands;
const entries = tree.flatMap((entry) => below(entry, []));
const completions = entries.flatMap(({ words: [word = ''], name }) =>
  word === name ? ['', '-'].map((start) => ['__complete', word, start]) : [],
);
const searched: Readonly<Record<keyof typeof present, readonly Text[]>> = {
  help: await texts([
    ...['help', 'help options', 'help environment', 'help exit-codes'].map((line) => line.split(' ')),
    ...entries.map(({ words }) => ['help', ...words]),
  ]),
  'help --json': entries.map(({ words, usage, description, options }) => ({
    name: words.join(' '),
    about: words[0],
    lines: [`pwpush ${words.join(' ')}`, usage, description, ...options.map(({ flags }) => flags)],
  })),
  completion: await texts([...SHELLS.map((shell) => ['completion', shell]), ...completions]),
  manual: files('man'),
  documents: [
    ...files('docs', /\.md$/),
    ...['SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].flatMap((path) => files(path)),
  ],
  'docs/json.md': files('docs/json.md'),
  'docs/schemas': files('docs/schemas'),
  'README.md': files('README.md'),
  skills: files('skills'),
  action: [...files('action.yml'), ...files('action')],
  deploy: files('deploy'),
  // Sentences, hints and the tools of agents. Names in `other-names.json` are there to be refused.
  source: files('src', /(?<!other-names)\.(?:ts|txt|json)$/),
};
place.close();

async function printed(...words: string[]): Promise<string> {
  const { code, stdout } = await place.run(...words);
  expect([words, code, stdout === '']).toEqual([words, 0, false]);
  return stdout;
}

function texts(all: readonly (readonly string[])[]): Promise<Text[]> {
  const read = async (words: readonly string[]) => {
    const [command, about] = words;
    const lines = (await printed(...words)).split('\n');
    return { name: words.join(' '), about: command === 'completion' ? undefined : about, lines };
  };
  return Promise.all(all.map(read));
}

function below(entry: CommandEntry, above: readonly string[]): (CommandEntry & { words: string[] })[] {
  const words = [...above, entry.name];
  return [{ ...entry, words }, ...entry.commands.flatMap((child) => below(child, words))];
}

function files(path: string, wanted = /./): Text[] {
  if (statSync(join(root, path)).isDirectory())
    return readdirSync(join(root, path)).flatMap((name) => files(`${path}/${name}`, wanted));
  if (!wanted.test(path)) return [];
  const text = readFileSync(join(root, path), 'utf8').replaceAll('\\-', '-');
  // The name of a schema or of a manual page has that of its command.
  const [, about] = /^man\/pwpush-(\w+)\.1$/.exec(path) ?? [];
  return [{ name: path, about, lines: [path, ...text.split('\n')] }];
}

/** How texts write a name that a person types. */
function patternOf({ command, option }: Name): RegExp {
  // mdoc puts a dash before what follows `Fl`.
  if (option) return new RegExp(`(?:(?<![\\w-])${option}|\\bFl ${option.slice(1)})(?![\\w-])`);
  const [word = ''] = `${command}`.split(' ').slice(-1);
  const ways = [
    `\\bpwpush(?:[ -]| --?\\S+ )${command}\\b`,
    `\\bNm pwpush Cm ${command}\\b`,
    `^\\.It Cm ${word}\\b`,
    `\`${word}[\` ]`,
    `^ *"command": "${command}"`,
    `/${word}\\.1\\.json\\b`,
    `^## ${command}$`,
    `^ *${word}(?:\t|  )`,
  ];
  return new RegExp(ways.join('|'));
}

function found(name: Name, all: readonly Text[]): string[] {
  const { of, except } = name;
  const pattern = patternOf(name);
  // A subcommand may have the name of a command that is gone.
  const others = entries.filter(({ words }) => words.length > 1 && words.at(-1) === name.command);
  const parents = others.flatMap(({ words }) => words[0] ?? []);
  const isMeant = (line: string, about: string | undefined) => {
    const names = (word: string) => about === word || new RegExp(`\\b${word}\\b`).test(line);
    return !except?.test(line) && !parents.some(names) && (!of || of.some(names));
  };
  return all.flatMap(({ name, about, lines }) =>
    lines.flatMap((line, index) =>
      pattern.test(line) && isMeant(line, about) ? [`${name}:${index}: ${line.trim()}`] : [],
    ),
  );
}

describe.each(Object.entries(searched))('%s', (part, all) => {
  test('has names that exist', () => {
    expect(found(present[part] ?? {}, all)).not.toEqual([]);
  });

  test.each(gone.map((name) => [name.command ?? name.option, name]))('has no %s', (_, name) => {
    expect(found(name as Name, all)).toEqual([]);
  });
});

const here = eachPlace();

test.each(gone)('pwpush $line: says the word to use', async ({ line, hint }) => {
  const { code, stdout, stderr } = await here.run(...line.split(' '));
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(hint)]);
});
