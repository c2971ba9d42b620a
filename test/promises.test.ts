import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lineOf, promises, unwitnessed } from '../.ci/promises.mjs';
import { judge, type Outcome } from './helpers/promises';

const file = 'test/take/encrypted-files.test.ts';
const promise = { document: 'docs/reliability.md', file, title: 'memory' };
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

test.each<[string, string, Outcome[], Parameters<typeof judged>[1]]>([
  ['a test that passed', 'witnessed', [outcome({ state: 'failed' }), outcome()], {}],
  ['one that passed in a part of its file', 'witnessed', [outcome()], { whole: [] }],
  ['one in a group of it', 'witnessed', [outcome()], { one: { ...promise, title: 'armor' } }],
  ['all rows of its table', 'witnessed', [outcome()], { one: { ...promise, title: 'armor > %s much memory' } }],
  [
    'one row of its table that failed',
    'missing',
    [outcome(), outcome({ state: 'failed' })],
    { one: { ...promise, title: 'armor > %s' } },
  ],
  ['no test of that name', 'missing', [outcome({ fullName: 'armor > opens' })], {}],
  ['a test that failed', 'missing', [outcome({ state: 'failed' })], {}],
  ['one that was skipped', 'missing', [outcome({ state: 'skipped' })], {}],
  ['one that failed in a part of its file', 'open', [outcome({ state: 'failed' })], { whole: [] }],
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
  expect(others.length).toBeGreaterThan(150);
  expect(unwitnessed(promises().map(lineOf))).toEqual([]);
  expect(unwitnessed(others.map(lineOf))).toEqual([first]);
});

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What the entries of the sections about protections and encrypted pushes are called. */
const entries = read('man/pwpush-security.7')
  .split(/^\.Sh /m)
  .filter((section) => /^(PROTECTIONS|ENCRYPTED)/.test(section))
  .flatMap((section) => [...section.matchAll(/^\.It (.+)$/gm)].map(([, attack]) => attack));

const parts = read('docs/promises.md').split(/^### /m).slice(1);

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

  test('names files of tests that exist, and the first lines of transcripts', () => {
    expect(promises().filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
    for (const { file, title } of promises())
      if (file.endsWith('.txt'))
        expect(
          read(file)
            .split('\n')
            .filter((line, at) => line === title || (at === 0 && line.includes(title))),
        ).toHaveLength(1);
  });
});
