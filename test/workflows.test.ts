import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Plain, yaml } from './helpers/yaml';

// What .github/workflows may do. `.ci/run` also checks them with GitHub's schema.

const folder = join(import.meta.dirname, '../.github/workflows');
const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
const workflows = texts.map((text) => yaml(text)[0]);
const jobs = workflows.flatMap(({ jobs }) => Object.entries<Plain>(jobs));
const steps = jobs.flatMap(([, job]): Plain[] => job.steps ?? []);
const commands = steps.flatMap(({ run }): string[] => run ?? []);

const jobsThat = (are: (job: Plain) => boolean) => jobs.filter(([, job]) => are(job)).map(([name]) => name);

test('actions are named by a commit and the version that it is, the same everywhere', () => {
  const uses = texts.flatMap((text) => [...text.matchAll(/^\s*(?:- )?uses: (?!\.\/)(.+)$/gm)]);
  const named = uses.map(([, one = '']) => one);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((one) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  const names = [...new Set(named)].map((one) => one.split('@')[0]);
  expect(names).toEqual([...new Set(names)]);
});

test('nothing is permitted but to jobs, each by name', () => {
  for (const { permissions } of workflows) expect(permissions).toEqual({});
  expect(jobsThat(({ permissions }) => typeof permissions !== 'object')).toEqual([]);
});

test('no job that may write runs code of a dependency', () => {
  const writes = (job: Plain) => Object.values(job.permissions).includes('write');
  expect(jobsThat(writes).length).toBeGreaterThan(3);
  const installs = (job: Plain) => /npm (ci|install|exec|run)|npx/.test(JSON.stringify(job));
  expect(jobsThat((job) => writes(job) && installs(job))).toEqual([]);
});

test('jobs end in time', () => {
  expect(jobsThat((job) => !job['timeout-minutes'] && !job.uses)).toEqual([]);
});

test('a checkout leaves no token in the files', () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
  expect(checkouts.length).toBeGreaterThan(3);
  for (const one of checkouts) expect(one.with).toMatchObject({ 'persist-credentials': false });
});

test('what others write is no part of a command, and is not built with secrets', () => {
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
  const outside = /pull_request_target|workflow_run|issue_comment/;
  expect(texts.filter((text) => outside.test(text))).toEqual([]);
  const pulled = texts.filter((text) => /^ {2}pull_request:/m.test(text));
  expect(pulled.length).toBeGreaterThan(0);
  expect(pulled.filter((text) => /secrets\.|environment:/.test(text))).toEqual([]);
});
