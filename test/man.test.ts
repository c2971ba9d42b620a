import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { commands, wholeProgram } from '../src/commands/program';
import { variables } from '../src/commands/serve/serve-options';
import type { Context } from '../src/platform/context';
import { exitStatus } from '../src/platform/errors';
import { MARKERS, systems } from '../src/platform/surroundings';
import { settingNames } from '../src/profile/settings';
import { needsPrograms } from './helpers/needs';
import { variablesInSource } from './helpers/source-variables';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = commands.map(({ name }) => name);
const files = readdirSync(join(root, 'man')).sort();
const pages = new Map(files.map((file) => [file, pageOf(file)]));
const page = (file: string) => pages.get(file) ?? [];
const main = page('pwpush.1');

/** A page's source, one line each, escapes undone. */
function pageOf(file: string): readonly string[] {
  const source = readFileSync(join(root, 'man', file), 'utf8');
  return source.replaceAll('\\-', '-').replaceAll('\\(aq', "'").split('\n');
}

/** The lines of one section, without its heading. */
function section(lines: readonly string[], title: string): readonly string[] {
  const from = lines.indexOf(`.Sh ${title}`) + 1;
  const length = lines.slice(from).findIndex((line) => line.startsWith('.Sh '));
  return from === 0 ? [] : lines.slice(from, length === -1 ? undefined : from + length);
}

/** The options that have an entry of their own: `.It Fl d , Fl -days Ar n` gives `-d` and `--days <value>`. */
const described = (lines: readonly string[]) =>
  sorted(
    lines
      .filter((line) => line.startsWith('.It Fl '))
      .flatMap((line) => line.slice('.It '.length).split(' , '))
      .map((text) => `-${text.split(' ')[1]}${/ Ar /.test(text) ? ' <value>' : ''}`),
  );

const sorted = (all: readonly string[]) => [...new Set(all)].sort();

/** All options that a page names, in its text and in its examples. */
function named(lines: readonly string[]): string[] {
  const inText = lines
    .filter((line) => line.startsWith('.'))
    .flatMap((line) => [...line.matchAll(/\bFl (-?\w[\w-]*)/g)].map(([, flag]) => `-${flag}`));
  const inExamples = lines
    .filter((line) => /^\$ |^ {4}/.test(line))
    // What stands behind -- is another program's.
    .flatMap((line) => line.replace(/ -- .*/, '').split('|'))
    .filter((part) => /\bpwpush |^ {4}--/.test(part))
    .flatMap((part) => [...part.matchAll(/(?<= )--?[a-zA-Z][\w-]*/g)].map(([flag]) => flag));
  return [...inText, ...inExamples];
}

// Declaring options touches nothing of the context but its version.
const context = { version: '0.1.0', env: {} } as Context;

const program = await wholeProgram(context);

function commandOf(name: string): Command {
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  return command;
}

const withSubcommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubcommands)];

const optionsOf = (command: Command): Option[] => [...command.createHelp().visibleOptions(command)];

/** The global options, which `pwpush.1` describes, and the command's own. */
const isGlobal = (option: Option) => option.helpGroupHeading === 'Global options:';

const flagsOf = (option: Option) => [option.short, option.long].filter((flag) => flag != null);

/** As they are to be described: `-d` and `--days` stand in one entry, whose value comes after the last. */
const expectedOf = (options: readonly Option[]) =>
  sorted(
    options.flatMap((option) =>
      flagsOf(option).map((flag) => `${flag}${flag === option.long && /[<[]/.test(option.flags) ? ' <value>' : ''}`),
    ),
  );

describe('the manual', () => {
  test('has a page for every command, and those of the whole, of its security and of operating a server', () => {
    const others = ['pwpush.1', 'pwpush-operation.7', 'pwpush-security.7'];
    expect(files).toEqual([...others, ...names.map((name) => `pwpush-${name}.1`)].sort());
  });

  test('is installed whole', () => {
    const { man } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect([...man].sort()).toEqual(files.map((file) => `./man/${file}`));
  });

  test('lists every command in pwpush.1, in the order of the program', () => {
    const listed = section(main, 'COMMANDS').filter((line) => line.startsWith('.It Cm '));
    const terms = commands.map(({ name, alias }) => (alias ? `${name} , Cm ${alias}` : name));
    expect(listed).toEqual(terms.map((term) => `.It Cm ${term}`));
  });

  test.each(files)('%s: refers to pages that exist', (file) => {
    const references = page(file).flatMap((line) => /^\.Xr (pwpush\S*) 1/.exec(line)?.[1] ?? []);
    expect(references.filter((name) => !pages.has(`${name}.1`))).toEqual([]);
  });

  test('is in order for mandoc', needsPrograms('mandoc'), () => {
    const paths = files.map((file) => join('man', file));
    const { stdout, stderr } = spawnSync('mandoc', ['-Tlint', '-Wwarning', ...paths], {
      cwd: root,
      encoding: 'utf8',
    });
    // A reader looks for examples first; mandoc wants them near the end.
    const said = `${stdout}${stderr}`.split('\n').filter((line) => !/order: Sh DESCRIPTION$/.test(line));
    expect(said.join('\n')).toBe('');
  });

  test.each(files.filter((file) => file.endsWith('.1')))(
    '%s: has examples first, then what can be lost, where a command has that',
    (file) => {
      const titles = page(file).flatMap((line) => /^\.Sh (.*)/.exec(line)?.[1] ?? []);
      const caveats = /-(?:push|get|run|serve)\.1$/.test(file) ? ['CAVEATS'] : [];
      expect(titles.slice(1, 4 + caveats.length)).toEqual(['SYNOPSIS', 'EXAMPLES', ...caveats, 'DESCRIPTION']);
      expect(titles.filter((title) => title === 'CAVEATS')).toEqual(caveats);
    },
  );
});

describe('options', () => {
  test('the global ones stand in pwpush.1, and no other', () => {
    expect(described(main)).toEqual(expectedOf(optionsOf(program)));
    const flags = withSubcommands(program).flatMap(optionsOf).flatMap(flagsOf);
    expect(named(main).filter((flag) => !flags.includes(flag))).toEqual([]);
  });

  test.each(names)('%s: its own stand in its page, and the page names no other', (name) => {
    const lines = page(`pwpush-${name}.1`);
    const all = withSubcommands(commandOf(name)).flatMap(optionsOf);
    const own = expectedOf(all.filter((option) => !isGlobal(option)));
    const entries = described(lines);
    expect(entries.filter((entry) => own.includes(entry))).toEqual(own);
    const known = expectedOf(all);
    expect(entries.filter((entry) => !known.includes(entry))).toEqual([]);
    const flags = all.flatMap(flagsOf);
    expect(named(lines).filter((flag) => !flags.includes(flag))).toEqual([]);
  });
});

describe('tables', () => {
  test('pwpush.1 has every exit code and its name', () => {
    const listed = section(main, 'EXIT STATUS')
      .map((line) => /^\.It (\d+) Ic (\w+)$/.exec(line))
      .filter((match) => match !== null)
      .map(([, code, name]) => [name, Number(code)]);
    expect(Object.fromEntries(listed)).toEqual(exitStatus);
    expect(listed).toHaveLength(Object.keys(exitStatus).length);
  });

  test('pwpush.1 and pwpush-run.1 have every variable by which agents are known', () => {
    expect(section(main, 'ENVIRONMENT')).toContain(`.It Ev ${MARKERS.join(' , ')}`);
    const text = page('pwpush-run.1').join('\n');
    expect(MARKERS.filter((name) => !text.includes(`.Ev ${name}`))).toEqual([]);
  });

  test('pwpush.1 and docs/ci.md have every variable by which CI systems are known', () => {
    const names = Object.values(systems).flatMap(({ variables }) => variables);
    expect(section(main, 'ENVIRONMENT')).toContain(`.It Ev ${names.join(' , ')}`);
    const text = readFileSync(new URL('../docs/ci.md', import.meta.url), 'utf8');
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  test('pwpush.1 has every PWPUSH variable that the program reads, and no other', () => {
    const listed = section(main, 'ENVIRONMENT')
      .filter((line) => line.startsWith('.It Ev '))
      .flatMap((line) => line.match(/\bPWPUSH_\w+/g) ?? []);
    expect(listed.filter((name) => name !== 'PWPUSH_SERVE_').sort()).toEqual(
      variablesInSource().filter((name) => name.startsWith('PWPUSH_')),
    );
    const elsewhere = files.flatMap(
      (file) =>
        page(file)
          .join('\n')
          .match(/\bPWPUSH_\w+/g) ?? [],
    );
    const known = [...listed, ...variables.values()];
    expect(elsewhere.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('pwpush-serve.1 has the variable of every option of serve, and no other', () => {
    const text = section(page('pwpush-serve.1'), 'ENVIRONMENT').join('\n');
    const listed = [...text.matchAll(/^\.It Ev (PWPUSH_SERVE_\w+)\n(?:\.Fl -([\w-]+))?/gm)];
    const serve = commandOf('serve');
    const shown = serve.options.filter(({ hidden }) => !hidden);
    const options = new Map(shown.map((one) => [one.attributeName(), one.name()]));
    const expected = [...variables].map(([name, variable]) => [variable, options.get(name)?.replace(/^no-/, '')]);
    expect(listed.map(([, variable, flag]) => [variable, flag?.replace(/^no-/, '')]).sort()).toEqual(expected.sort());
  });

  test('pwpush-profile.1 has every setting', () => {
    const listed = section(page('pwpush-profile.1'), 'SETTINGS')
      .filter((line) => line.startsWith('.It Cm '))
      .map((line) => line.slice('.It Cm '.length));
    expect(listed).toEqual(settingNames);
  });
});
