import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lineOf, patternOf, promises, unwitnessed } from '../.ci/promises.mjs';
import { judge, type Outcome } from './helpers/promises';

const file = 'test/take/encrypted-files.test.ts';
const promise = { document: 'docs/reliability.md', file, title: 'armor > takes much memory' };
const armor = { ...promise, title: 'armor > %s' };
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  file,
  name: 'takes much memory',
  fullName: 'armor > takes much memory',
  state: 'passed',
  ...more,
});
const without = (elsewhere: boolean) => outcome({ state: 'skipped', skipped: { without: 'SPIN', elsewhere } });

function judged(tests: readonly Outcome[], { one = promise, strict = false, whole = [file] } = {}) {
  const { witnessed, missing } = judge([one], new Set(whole), tests, strict);
  if (witnessed.length > 0) return 'witnessed';
  return missing.length > 0 ? 'missing' : 'open';
}

const transcript = { ...promise, file: 'test/cases/run-variables.txt' };
const told = (more: Partial<Outcome> = {}) => {
  const name = 'run-variables.txt';
  return [outcome({ file: 'test/cases.test.ts', name, fullName: name, ...more })];
};

const failed = outcome({ state: 'failed' });
const opens = outcome({ fullName: 'armor > opens' });

test.each<[string, string, Outcome[], Parameters<typeof judged>[1]]>([
  ['a test that passed', 'witnessed', [opens, outcome()], {}],
  ['one that passed in a part of its file', 'witnessed', [outcome()], { whole: [] }],
  ['one with a longer name', 'missing', [outcome({ fullName: 'armor > takes much memory, twice' })], {}],
  ['one in a group of that name', 'missing', [outcome()], { one: { ...promise, title: 'armor' } }],
  ['two tests of that name', 'missing', [outcome(), outcome()], {}],
  ['no test of that name', 'missing', [opens], {}],
  ['all rows of a table', 'witnessed', [opens, outcome()], { one: armor }],
  ['one row of a table that failed', 'missing', [opens, failed], { one: armor }],
  ['one row of a table that has no tool', 'witnessed', [opens, without(false)], { one: armor }],
  [
    'one row of a table in a part of its file',
    'open',
    [opens, outcome({ state: 'skipped' })],
    { one: armor, whole: [] },
  ],
  ['no row of a table', 'missing', [outcome({ fullName: 'opens' })], { one: armor }],
  ['all tests of a file', 'witnessed', [opens, outcome()], { one: { ...promise, title: '' } }],
  ['one of a file that failed', 'missing', [opens, failed], { one: { ...promise, title: '' } }],
  ['a test that failed', 'missing', [failed], {}],
  ['one that was skipped', 'missing', [outcome({ state: 'skipped' })], {}],
  ['one that failed in a part of its file', 'open', [failed], { whole: [] }],
  ['a test of another file', 'missing', [outcome({ file: 'test/keep/rescue.test.ts' })], {}],
  ['one without its tool', 'open', [without(false)], {}],
  ['one without its tool in CI', 'missing', [without(false)], { strict: true }],
  ['one that another run has', 'open', [without(true)], { strict: true }],
  ['a transcript', 'witnessed', told(), { one: transcript }],
  ['another transcript', 'open', told({ name: 'run.txt' }), { one: transcript }],
])('of a promise, %s makes it %s', (_, said, tests, how) => {
  expect(judged(tests, how)).toBe(said);
});

test('runs that are judged together leave no promise open, nor one whose file is gone', () => {
  const [first, ...others] = promises();
  expect(others.length).toBeGreaterThan(400);
  expect(unwitnessed(promises().map(lineOf))).toEqual([]);
  expect(unwitnessed(others.map(lineOf))).toEqual([first]);
  const elsewhere = promises().filter(({ system }) => system);
  expect(elsewhere.map(({ system }) => system)).toEqual(['PowerShell']);
  expect(unwitnessed(promises().flatMap((one) => (one.system ? [] : lineOf(one))))).toEqual([]);
});

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What the entries of the sections about protections and encrypted pushes are called. */
const entries = read('man/pwpush-security.7')
  .split(/^\.Sh /m)
  .filter((section) => /^(PROTECTIONS|ENCRYPTED)/.test(section))
  .flatMap((section) => [...section.matchAll(/^\.It (.+)$/gm)].map(([, attack]) => attack));

const parts = read('docs/promises.md').split(/^### /m).slice(1);

const hole = /%[sdijfo#]|\$\{[^}]*\}|\$[a-z][\w.]*/gi;

/** What may be a title in a line of code: what is between quotes, and says more than its placeholders. */
const quotedIn = (line: string) =>
  [...line.matchAll(/'((?:\\.|[^'])+)'|"([^"]+)"|`([^`]+)`/g)]
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? '').replace(/\\(?=['"])/g, ''))
    .filter((text) => text.replace(hole, '').length > 5);

/** The text of a file of tests, with what of test/ it imports, and all that may be a title there. */
function codeOf(file: string) {
  const own = read(file);
  const imported = [...own.matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, path = '']) =>
    join(file, '..', `${path}.ts`),
  );
  const text = [own, ...imported.filter((path) => existsSync(join(root, path))).map(read)].join('\n');
  const sources = [...new Set(text.split('\n').flatMap(quotedIn))].map(
    (one) => patternOf(one.replace(hole, '%s')).source,
  );
  return { text, titles: sources.map((one) => new RegExp(one.replaceAll('.*', '(.*)'), 's')) };
}

/** Those of a file that it has not: a line, once, or each part of a full name, as a title with what its row has. */
function absent(file: string, names: readonly string[]): string[] {
  if (file.endsWith('.txt')) {
    const lines = read(file).split('\n');
    return names.filter((name) => lines.filter((line) => line === name).length !== 1);
  }
  const { text, titles } = codeOf(file);
  const ofRow = (value: string) => /^\d*$/.test(value) || text.includes(value.replace(/^"|"$/g, ''));
  const isThere = (part: string) =>
    text.includes(part) || titles.some((one) => one.exec(part.replace(hole, '0'))?.slice(1).every(ofRow));
  return names.filter((name) => !name.split(' > ').every(isThere));
}

describe('pwpush-security(7)', () => {
  test('names attacks, each once, and docs/promises.md their tests, in the same order', () => {
    expect(entries.length).toBeGreaterThan(20);
    expect(new Set(entries).size).toBe(entries.length);
    expect(parts.map((part) => part.split('\n', 1).join())).toEqual(entries);
    const rows = parts.map((part) => part.match(/^\| .+$/gm)?.slice(1) ?? []);
    expect(rows.filter(({ length }) => length === 0)).toEqual([]);
    const named = promises().filter(({ document, title }) => document === 'docs/promises.md' && title);
    expect(named).toHaveLength(rows.flat().length);
  });

  test('has at most 400 lines', () => {
    expect(read('man/pwpush-security.7').split('\n').length - 1).toBeLessThanOrEqual(400);
  });

  test('names files that exist, tests whose words are there, and a line of a transcript', () => {
    expect(promises().filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
    const namesOf = (file: string) => promises().flatMap((one) => (one.file === file && one.title) || []);
    const files = [...new Set(promises().map(({ file }) => file))];
    expect(files.flatMap((file) => absent(file, namesOf(file)))).toEqual([]);
  });
});
