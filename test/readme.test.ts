import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { commands, wholeProgram } from '../src/commands/program';
import { variables } from '../src/commands/serve/serve-options';
import type { Context } from '../src/platform/context';
import { exitStatus } from '../src/platform/errors';
import { settingNames } from '../src/profile/settings';
import { plot, plotSizes } from './bench/plot.mjs';
import { variablesInSource } from './helpers/source-variables';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string) => readdirSync(join(root, folder)).map((name) => join(folder, name));
const documents = ['.', 'docs'].flatMap(filesIn).filter((name) => name.endsWith('.md'));
const helpTexts = ['src/commands/help', 'src/cli/help'].flatMap(filesIn).filter((name) => name.endsWith('.txt'));
/** The documents of a user: the README and what it leaves to others. */
const readme = ['README.md', 'SECURITY.md', 'docs/configuration.md', 'docs/json.md'].map(read).join('\n');

function codeIn(text: string) {
  const block = /^```\w*\n(.*?)^```/gms;
  const lines = [...text.matchAll(block)].flatMap(([, inside = '']) => inside.split('\n'));
  const spans = [...text.replace(block, '').matchAll(/`([^`\n]+)`/g)].map(([, one]) => one ?? '');
  return { lines, spans };
}

/** The cells of the table under a heading, without its two head lines. */
function table(heading: string): string[][] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => line.split('|').slice(1, -1));
}

const codes = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');

/** What follows the word pwpush wherever it is run. */
const runsIn = (lines: readonly string[]) =>
  lines
    .flatMap((line) => line.replace(/ (#|--) .*/, '').split(/\||&&|;|\$\(/))
    .flatMap((part) => /^[\s$]*pwpush (.+)/.exec(part)?.[1] ?? [])
    .map((rest) => rest.split(/[\s)]+/));
const runs = [
  ...[...documents, 'skills/pwpush/SKILL.md'].flatMap((path) => {
    const { lines, spans } = codeIn(read(path));
    return runsIn([...lines, ...spans]);
  }),
  ...helpTexts.flatMap((path) => runsIn(read(path).split('\n'))),
];

const context = { version: '0.1.0', env: {} } as Context;
const names = commands.map(({ name }) => name);
const program = await wholeProgram(context);

function flagsOf(command: Command): string[] {
  const own = command.createHelp().visibleOptions(command);
  const flags = own.flatMap(({ short, long }) => [short, long]).filter((flag) => flag != null);
  return [...flags, ...command.commands.flatMap(flagsOf)] as string[];
}

function optionsOf(name: string): string[] {
  return program.commands.filter((one) => one.name() === name).flatMap(flagsOf);
}

describe('documents', () => {
  test('have the exit codes of the program', () => {
    const [success, ...rows] = table('Exit codes').map(([code, name]) => [codes(name)[0], Number(code)]);
    expect(success).toEqual([undefined, 0]);
    expect(rows).toEqual(Object.entries(exitStatus));
  });

  test('run commands that exist', () => {
    const words = runs.map(([word]) => word ?? '').filter((word) => !word.startsWith('-'));
    expect(words.length).toBeGreaterThan(20);
    expect(words.filter((word) => ![...names, 'help'].includes(word))).toEqual([]);
  });

  test.each(names)('show options of %s that exist', (name) => {
    const shown = runs
      .filter((words) => words.find((word) => names.includes(word)) === name)
      .flatMap((words) => words.map((word) => word.replace(/=.*/, '')));
    const flags = optionsOf(name);
    const wrong = shown.filter((word) => /^-./.test(word) && !flags.includes(word));
    expect(wrong).toEqual([]);
  });

  test('name options that exist', () => {
    const flags = names.flatMap(optionsOf);
    const shown = codeIn(readme).spans.flatMap((span) => /^--?\w[\w-]*/.exec(span)?.[0] ?? []);
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.filter((flag) => !flags.includes(flag))).toEqual([]);
  });

  test.each(documents)('%s names paths that exist', (document) => {
    const text = read(document);
    const linked = [...text.matchAll(/\]\((?!https:)([^)#]+)|(?:src|srcset)="([^"]+)"/g)].map(([, to, picture]) =>
      join(dirname(document), to ?? picture ?? ''),
    );
    const paths = [...text.matchAll(/`((?:bin|src|test|man|docs)\/[\w./-]*)`/g)].map(([, to = '']) => to);
    expect([...linked, ...paths].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

test('the recipes for CI encrypt what they push', () => {
  const blocks = ['README.md', 'docs/ci.md'].flatMap((path) => {
    const [, section = ''] = read(path).split(/^## (?:In CI|Recipes)$/m);
    return [...section.matchAll(/^```\w+\n(.*?)^```/gms)].map(([, inside = '']) => inside);
  });
  const pushing = blocks.filter((block) => /pwpush(?:@0)?,? push\b/.test(block));
  expect(pushing.length).toBeGreaterThan(4);
  expect(pushing.filter((block) => !/PWPUSH_ENCRYPT ?[:=] ?'?link/.test(block))).toEqual([]);
});

test('the README says first how to test a clone, as .ci/run does', () => {
  const [block = ''] = read('README.md').match(/(?<=^```sh\n).*?(?=^```)/ms) ?? [];
  const [, line = ''] = block.split('\n');
  const part = /^fast\(\) \{\n(.*?)^\}/ms.exec(read('.ci/run'))?.[1] ?? '';
  // With variables before a command, and the function that runs failed files again.
  const commands = part.split('\n').map((text) => text.replace(/^ +(?:\w+=\S+ )?(?:tests )?|(?: --)$/g, ''));
  const tested = line.replace(/ +#.*/, '').split(' && ');
  expect(tested).toEqual(['npm ci', 'npm test']);
  expect(commands.filter((command) => tested.includes(command))).toEqual(tested);
});

describe("the readme's configuration", () => {
  const rows = table('Configuration');

  test('names variables that the program reads, and all that are its own', () => {
    const ofServe = [...variables.values()];
    const known = [...variablesInSource(), ...ofServe];
    const listed = rows.flatMap(([, , cell]) => codes(cell));
    // Read by Node.js itself.
    const foreign = ['NODE_EXTRA_CA_CERTS'];
    expect(listed.filter((name) => ![...known, ...foreign].includes(name))).toEqual([]);
    const named = readme.match(/\bPWPUSH_\w+/g) ?? [];
    expect(named.filter((name) => ![...listed, ...ofServe].includes(name))).toEqual([]);
    // Those of serve follow a rule.
    const own = known.filter((name) => name.startsWith('PWPUSH_') && !ofServe.includes(name));
    expect(own.filter((name) => !listed.includes(name))).toEqual([]);
  });

  test('names the settings of a profile', () => {
    const listed = rows.flatMap(([, , , cell]) => codes(cell)).filter((one) => !one.includes(' '));
    expect(listed.sort()).toEqual([...settingNames].sort());
  });
});

test('no printed command pipes what it retrieves into a program that could lose it', () => {
  const inMan = filesIn('man').map((path) => read(path).replaceAll('\\-', '-'));
  const others = [...helpTexts, 'action.yml', 'skills/pwpush/SKILL.md'].map(read);
  const inDocuments = documents.flatMap((path) => {
    const { lines, spans } = codeIn(read(path));
    return [lines.join('\n'), ...spans];
  });
  // A line goes on after its end is a pipe, an operator or a backslash.
  const lines = [...inMan, ...others, ...inDocuments].flatMap((text) =>
    text.replace(/(?:\\|(\||&&))\n\s*/g, '$1 ').split('\n'),
  );
  const retrievals = lines.filter((line) => /\bpwpush get\b|\bcurl\b.*(?:LINK|\/p\/)/.test(line));
  expect(retrievals.length).toBeGreaterThan(30);
  const piped = /(?:\bpwpush get\b|\bcurl\b.*(?:LINK|\/p\/))[^|&;)]*\|(?!\|)/;
  expect(retrievals.filter((line) => piped.test(line))).toEqual([]);
});

test('docs/performance.md shows the figures that the bench has written', () => {
  const [results, peers] = ['RESULTS.md', 'PEERS.md'].map((name) => read(`test/bench/${name}`));
  expect(read('docs/pictures/performance.svg')).toBe(plot(results ?? '', peers ?? ''));
  expect(read('docs/pictures/size.svg')).toBe(plotSizes(read('test/bench/SIZES.md')));
});

interface Servers {
  readonly pwpush: { readonly command: string; readonly args: string[] };
}

test('docs/agents.md has configurations that start the server', () => {
  const blocks = [...read('docs/agents.md').matchAll(/^```(json|toml)\n(.*?)^```/gms)];
  expect(blocks).toHaveLength(3);
  const mcp = program.commands.find((one) => one.name() === 'mcp')?.exitOverride();
  for (const [, form, text = ''] of blocks) {
    const [servers] = Object.values((form === 'toml' ? parse : JSON.parse)(text));
    const { command, args } = (servers as Servers).pwpush;
    expect([command, args[0]]).toEqual(['pwpush', 'mcp']);
    expect(mcp?.parseOptions(args.slice(1))).toEqual({ operands: [], unknown: [] });
  }
});
