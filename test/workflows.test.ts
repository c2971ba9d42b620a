import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../package.json';

// What .github/workflows may do, read from their lines. `.ci/run` also checks them with GitHub's schema.

const root = join(import.meta.dirname, '..');
const folder = join(root, '.github/workflows');
const files = readdirSync(folder).map((name) => `.github/workflows/${name}`);
const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n');
const all = [...files, 'action.yml'].filter((file) => existsSync(join(root, file)));

/** The lines of each job, by its name. */
function jobs(file: string): [string, string[]][] {
  const own = lines(file);
  const found: [string, string[]][] = [];
  for (const line of own.slice(own.indexOf('jobs:') + 1)) {
    const name = /^ {2}([\w-]+):$/.exec(line)?.[1];
    if (name === undefined) found.at(-1)?.[1].push(line);
    else found.push([name, []]);
  }
  return found;
}
const everyJob = files.flatMap((file) =>
  jobs(file).map(([name, own]) => [`${file} ${name}`, own] as const),
);

/** The step of a line: from its dash to the next. */
function step(own: readonly string[], at: number): string {
  const from = own.findLastIndex((line, index) => index <= at && /^ {6}- /.test(line));
  const after = own.slice(from + 1).findIndex((line) => !/^ {7}|^$/.test(line));
  return own.slice(from, after < 0 ? undefined : from + 1 + after).join('\n');
}

/** The lines of commands: `run: …`, or those below `run: |`. */
function commands(file: string): string[] {
  let depth = -1;
  return lines(file).filter((line) => {
    const indent = line.search(/\S/);
    if (depth >= 0 && (indent < 0 || indent > depth)) return true;
    const begins = /^( *(?:- )?)run:/.exec(line);
    depth = begins ? (begins[1] ?? '').length : -1;
    return begins !== null;
  });
}

test('the workflows were read', () => {
  expect(files).toContain('.github/workflows/release.yml');
  expect(everyJob.map(([name]) => name)).toContain('.github/workflows/release.yml npm');
  expect(commands('.github/workflows/test.yml').join('\n')).toContain('run: .ci/run');
});

test('actions are named by a commit and the version that it is, the same everywhere', () => {
  const uses = all.flatMap((file) =>
    lines(file).flatMap((line) => /^\s*(?:- )?uses: (.+)$/.exec(line)?.[1] ?? []),
  );
  const others = uses.filter((one) => !one.startsWith('./'));
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter((one) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  const names = [...new Set(others)].map((one) => one.split('@')[0]);
  expect(names).toEqual([...new Set(names)]);
});

test('nothing is permitted but to jobs, each by name', () => {
  for (const file of files)
    expect([file, lines(file)]).toEqual([file, expect.arrayContaining(['permissions: {}'])]);
  const without = everyJob.filter(([, own]) => !own.some((line) => /^ {4}permissions:/.test(line)));
  expect(without.map(([name]) => name)).toEqual([]);
  const broad = everyJob.filter(([, own]) => /^ {4}permissions: \w/m.test(own.join('\n')));
  expect(broad.map(([name]) => name)).toEqual([]);
});

test('no job that may write runs code of a dependency', () => {
  const writing = everyJob.filter(([, own]) =>
    own.some((line) => /^ {6}[\w-]+: write$/.test(line)),
  );
  expect(writing.length).toBeGreaterThan(3);
  const installing = writing.filter(([, own]) =>
    /npm (ci|install|exec|run)|npx/.test(own.join('\n')),
  );
  expect(installing.map(([name]) => name)).toEqual([]);
});

test('jobs end in time', () => {
  const endless = everyJob.filter(
    ([, own]) => !own.some((line) => /^ {4}(timeout-minutes: \d+|uses: \.\/)/.test(line)),
  );
  expect(endless.map(([name]) => name)).toEqual([]);
});

test('a checkout leaves no token in the files', () => {
  for (const [name, own] of everyJob)
    for (const [at, line] of own.entries())
      if (line.includes('actions/checkout@'))
        expect([name, step(own, at)]).toEqual([
          name,
          expect.stringContaining('persist-credentials: false'),
        ]);
});

describe('what others write', () => {
  test('is no part of a command: values come in variables', () => {
    for (const file of all)
      expect(commands(file).filter((line) => line.includes('${{'))).toEqual([]);
  });

  test('is not built with secrets', () => {
    for (const file of files)
      expect(
        lines(file).filter((line) => /pull_request_target|workflow_run|issue_comment/.test(line)),
      ).toEqual([]);
    const pulled = files.filter((file) =>
      lines(file).some((line) => /^ {2}pull_request:/.test(line)),
    );
    const secret = pulled.filter((file) =>
      lines(file).some((line) => /secrets\.|environment:/.test(line)),
    );
    expect([pulled.length > 0, secret]).toEqual([true, []]);
  });
});

test('scripts that workflows run exist', () => {
  const wanted = files.flatMap((file) =>
    [
      ...commands(file)
        .join('\n')
        .matchAll(/npm run ([\w-]+)(?! --if-present)\b/g),
    ].map(([, name]) => name),
  );
  expect(wanted.filter((name) => !Object.hasOwn(manifest.scripts, name ?? ''))).toEqual([]);
  const programs = files.flatMap((file) =>
    [
      ...commands(file)
        .join('\n')
        .matchAll(/(?<![\w/])((?:\.ci|\.config|test)\/[\w./-]+)/g),
    ].map(([, path]) => path ?? ''),
  );
  expect(programs.length).toBeGreaterThan(5);
  expect(programs.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
