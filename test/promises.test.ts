import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { complaint, lineOf, promises, unwitnessed } from '../.ci/promises.mjs';
import { judge, type Outcome } from './helpers/promises';

const file = 'test/take/decrypt.test.ts';
const promise = { document: 'docs/reliability.md', file, title: 'memory' };
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  ...{ file, name: 'takes much memory', fullName: 'armor > takes much memory', state: 'passed' },
  ...more,
});
const without = (elsewhere: boolean) =>
  outcome({ state: 'skipped', skipped: { without: 'SPIN', elsewhere } });

/** What a run of that file, with these tests, says of the promise. */
function judged(tests: readonly Outcome[], { one = promise, strict = false, whole = [file] } = {}) {
  const { witnessed, missing } = judge([one], new Set(whole), tests, strict);
  if (witnessed.length > 0) return 'witnessed';
  return missing.length > 0 ? 'missing' : 'open';
}

describe('a promise', () => {
  test('has a witness if a test passed whose name, or that of its group, contains its title', () => {
    const failed = outcome({ state: 'failed' });
    expect(judged([failed, outcome()])).toBe('witnessed');
    expect(judged([outcome()], { one: { ...promise, title: 'armor' } })).toBe('witnessed');
    expect(judged([outcome()], { one: { ...promise, title: '' } })).toBe('witnessed');
    expect(judged([outcome()], { whole: [] })).toBe('witnessed');
  });

  test.each<[string, Outcome[]]>([
    ['stands in no name, as in a comment only', [outcome({ fullName: 'armor > opens' })]],
    ['is that of a test that failed', [outcome({ state: 'failed' })]],
    ['is that of a test that was skipped', [outcome({ state: 'skipped' })]],
    ['is that of a test of another file', [outcome({ file: 'test/keep/rescue.test.ts' })]],
  ])('has none if its title %s', (_, tests) => {
    expect(judged(tests)).toBe('missing');
    expect(judged(tests, { whole: [] })).toBe('open');
  });

  test('may wait for a machine that has the tool, but not in CI, or for another run', () => {
    expect(judged([without(false)])).toBe('open');
    expect(judged([without(false)], { strict: true })).toBe('missing');
    expect(judged([without(true)], { strict: true })).toBe('open');
  });

  test('of a transcript is witnessed by the test that has its name, in any tier', () => {
    const one = { ...promise, file: 'test/cases/run-variables.txt' };
    const told = (more: Partial<Outcome>) => {
      const name = 'run-variables.txt';
      const test = outcome({ file: 'test/cases.test.ts', name, fullName: name, ...more });
      return judged([test], { one, whole: [test.file] });
    };
    expect(told({})).toBe('witnessed');
    expect(told({ file: 'test/cases.slow.test.ts' })).toBe('witnessed');
    expect(told({ state: 'skipped' })).toBe('missing');
    expect(told({ name: 'run.txt' })).toBe('open');
  });
});

test('runs that are judged together leave no promise open, nor one whose file is gone', () => {
  const [first, ...others] = promises();
  expect(others.length).toBeGreaterThan(150);
  expect(unwitnessed(promises().map(lineOf))).toEqual([]);
  expect(unwitnessed(others.map(lineOf))).toEqual([first]);
});

test('a complaint names the document, and the test as it does', () => {
  const said = `no test passed of docs/reliability.md: ${file}`;
  expect(complaint(promise)).toBe(`${said}, memory`);
  expect(complaint({ ...promise, title: '' })).toBe(said);
});

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The entries of the sections about protections and encrypted pushes. */
const entries = read('man/pwpush-security.7')
  .split(/^\.Sh /m)
  .filter((section) => /^(PROTECTIONS|ENCRYPTED)/.test(section))
  .flatMap((section) => section.split(/^\.It /m).slice(1));

describe('pwpush-security(7)', () => {
  test('names attacks, each once, with the tests that carry them out', () => {
    const attacks = entries.map((entry) => entry.split('\n')[0] ?? '');
    expect(attacks.length).toBeGreaterThan(20);
    expect(new Set(attacks).size).toBe(attacks.length);
    expect(entries.filter((entry) => !/^\.Pa test\/\S+ :\n\.Dq .+$/m.test(entry))).toEqual([]);
  });

  test('names files of tests that exist, and the first lines of transcripts', () => {
    expect(promises().filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
    for (const { file, title } of promises())
      if (file.endsWith('.txt')) expect(read(file).split('\n', 1).join()).toContain(title);
  });

  test('is pointed to by the manual and the readme', () => {
    for (const file of ['man/pwpush.1', 'README.md'])
      expect([file, /pwpush-security(\(7\)| 7|`\(7\))/.test(read(file))]).toEqual([file, true]);
  });
});
