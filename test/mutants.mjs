// Plants small faults in a copy of this tree, one at a time, and runs the tests that execute the place of each, those of
// its folder first, then the quickest, until one fails. A seed chooses the faults by the text of their places: where the
// code stays, so do they.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'rolldown/experimental';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    /** Faults a folder. */
    each: { type: 'string', default: '6' },
    /** So many test files a fault at most, the quickest first: for a machine that is slow, or busy. */
    tests: { type: 'string', default: 'Infinity' },
    /** Words before each command, such as "nice -n 19". */
    with: { type: 'string', default: '' },
    /** The results, a line of JSON for each fault: `test/mutants.jsonl`, of which the table in the documents is made, unless `--from` is given. */
    to: { type: 'string' },
    /** Results of another tree, such as that of an older commit: the same faults are planted, as far as their places are there, and must be noticed again. */
    from: { type: 'string' },
    /** Tries those of the results that no test in process notices with the tests of the built program too, which takes longer. */
    journeys: { type: 'boolean', default: false },
    /** Makes the table again, and nothing else. */
    table: { type: 'boolean', default: false },
    /** Fails if the table is not the one that would be made. */
    check: { type: 'boolean', default: false },
    /** Prints the faults only. */
    list: { type: 'boolean', default: false },
  },
});

/** More test time than this is not spent on one fault. */
const BUDGET_SECONDS = 40;
const RESULTS = 'test/mutants.jsonl';
const TABLE = 'docs/architecture.md';
/** What is known already: a run that was ended is continued. */
const UNFINISHED = 'node_modules/.cache/mutants.jsonl';
const to = options.to ?? (options.from ? undefined : RESULTS);
const looksAtPages = (file) => file.endsWith('.page.test.ts');
const ofProgram = (file) => file.startsWith('test/journey/') || looksAtPages(file);
/** Scripts of pages do not say which of their places a browser executes. */
const ofBrowser = (file) => file.startsWith('src/server/page/browser/');
const read = (file) => fs.readFileSync(file, 'utf8');

/** The places of a file where a fault can be planted: an expression, and what is replaced by what. */
function placesOf(file) {
  const code = read(file);
  const found = [];
  const times = new Map();
  const add = (kind, within, { start, end }, from, to, by) => {
    const text = `${file} ${kind} ${within} ${code.slice(start, end)} ${from - start} ${by}`;
    const nth = times.get(text) ?? 0;
    times.set(text, nth + 1);
    const hash = createHash('sha256').update(`${options.seed} ${text} ${nth}`).digest('hex');
    const line = code.slice(0, from).split('\n').length;
    const was = code.slice(from, to);
    found.push({ id: hash.slice(0, 12), file, line, kind, was, by, start, end, from, to });
  };
  const visit = (node, outer) => {
    if (typeof node?.type !== 'string' || /^Import(?!Expr)/.test(node.type)) return;
    if (/^TS(?!As|Satisfies|NonNull)/.test(node.type)) return;
    const within = node.id?.name ?? node.key?.name ?? outer;
    const { type, test, value } = node;
    if (test && /^(If|While|Conditional)/.test(type))
      add('condition', within, test, test.start, test.end, `!(${code.slice(test.start, test.end)})`);
    if (/^(Expression|Throw)Statement$/.test(type) && !node.directive)
      add('statement', within, node.expression ?? node.argument, node.start, node.end, ';');
    if (type === 'BinaryExpression' && /^[<>]=?$/.test(node.operator)) {
      const at = code.indexOf(node.operator, node.left.end);
      const by = node.operator.length === 2 ? node.operator[0] : `${node.operator}=`;
      add('limit', within, node, at, at + node.operator.length, by);
    }
    if (type === 'Literal' && /^(boolean|number)$/.test(typeof value)) {
      const kind = typeof value === 'number' ? 'limit' : 'boolean';
      add(kind, within, node, node.start, node.end, String(kind === 'limit' ? value + 1 : !value));
    }
    for (const [key, child] of Object.entries(node))
      if (key !== 'key' || node.computed) for (const one of [child].flat()) visit(one, within);
  };
  visit(parseSync(file, code).program, '');
  return found;
}

/** So many faults a folder, of each kind one first; folders of one or two files count with the one above. */
function choose() {
  const files = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' }).split('\n');
  const byFolder = groupBy(
    files.filter((file) => /(?<!\.d)\.ts$/.test(file)),
    dirname,
  );
  for (const [folder, own] of [...byFolder].sort(([one], [other]) => other.length - one.length)) {
    if (own.length > 2 || folder === 'src') continue;
    byFolder.get(dirname(folder)).push(...own);
    byFolder.delete(folder);
  }
  return [...byFolder].sort().flatMap(([folder, own]) => {
    const all = own.flatMap(placesOf).sort((one, other) => (one.id < other.id ? -1 : 1));
    const rank = new Map();
    for (const of of groupBy(all, ({ kind }) => kind).values())
      for (const [at, place] of of.entries()) rank.set(place, at);
    const order = all.sort((one, other) => rank.get(one) - rank.get(other));
    return order.slice(0, Number(options.each)).map((place) => ({ ...place, folder }));
  });
}

function groupBy(all, keyOf) {
  const groups = new Map();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

const linesOf = (file) =>
  fs.existsSync(file)
    ? read(file)
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

/** Those of another run, where they are now, with the tests to try, first of all the one that noticed it. */
function again(file) {
  return linesOf(file).flatMap(({ id, file, folder, tests, by }) => {
    const place = fs.existsSync(file) && placesOf(file).find((one) => one.id === id);
    if (!place) console.log(`gone: ${file} ${id}`);
    const noticing = by?.replace(/\.test\.ts: .*/s, '.test.ts');
    const order = [...new Set([noticing, ...(tests ?? [])])];
    const known = order.filter((one) => one && fs.existsSync(one));
    return place ? [{ ...place, folder, tests: known, before: by }] : [];
  });
}

const noticed = ({ by }) => by !== undefined;

/** A row for each folder, and one for all: how many faults are planted, and of how many each column holds. */
function tableOf(results, ...columns) {
  const folders = [...groupBy(results, ({ folder }) => folder)].sort();
  const rows = [...folders.map(([folder, own]) => [`\`${folder}\``, own]), ['all', results]];
  const lines = [
    ['folder', 'planted', ...columns.map(([name]) => name)],
    ['---', '--:', ...columns.map(() => '--:')],
    ...rows.map(([name, own]) => [...[name, own.length], ...columns.map(([, holds]) => own.filter(holds).length)]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The document with the table of the results. */
function withTable() {
  const table = tableOf(linesOf(RESULTS), ['noticed', noticed]);
  return read(TABLE).replace(/(?<=<!-- mutants -->\n\n).*(?=\n\n<!-- \/mutants -->)/s, () => table);
}
const writeTable = () => fs.writeFileSync(TABLE, withTable());

if (options.table) writeTable();
if (options.check && withTable() !== read(TABLE))
  throw new Error(`the table in ${TABLE} is not that of ${RESULTS}: node test/mutants.mjs --table`);
if (options.table || options.check) process.exit();

const chosen = options.from ? again(options.from) : choose();
if (chosen.length === 0) throw new Error('none of the places is there: was it another --seed?');
// One of each folder first: a run that is ended early has some of all.
const turn = new Map();
for (const own of groupBy(chosen, ({ folder }) => folder).values())
  for (const [at, fault] of own.entries()) turn.set(fault, at);
const faults = chosen.sort((one, other) => turn.get(one) - turn.get(other));
if (options.list) {
  for (const { file, line, kind, was, by } of faults)
    console.log(`${file}:${line} ${kind}: ${was.replace(/\s+/g, ' ')} → ${by.replace(/\s+/g, ' ')}`);
  console.log(faults.length);
  process.exit();
}

const root = process.cwd();
const tree = fs.mkdtempSync(join(tmpdir(), 'pwm-'));
process.on('exit', () => {
  // Disks of tests that were ended.
  const mounts = fs.existsSync('/proc/mounts') ? read('/proc/mounts') : '';
  for (const [, folder] of mounts.matchAll(/^\S+ (\S+)/gm))
    if (folder.startsWith(`${tree}/`)) execFileSync('umount', ['-l', folder]);
  fs.rmSync(tree, { recursive: true, force: true });
});
let running;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    if (running) process.kill(-running.pid, 'SIGKILL');
    process.exit(1);
  });
const hits = join(tree, 'hits');
const temporary = join(tree, 't');
const copy = join(tree, 'copy');
const [command, ...words] = [...options.with.split(' ').filter(Boolean), process.execPath];

/** How it ended: `passed`, `failed`, or `hung` for longer than so many seconds. */
function node(seconds, args, env = {}) {
  fs.mkdirSync(temporary, { recursive: true, mode: 0o1777 });
  const child = spawn(command, [...words, ...args], {
    cwd: copy,
    env: { ...process.env, TMPDIR: temporary, ...env },
    stdio: 'ignore',
    detached: true,
  });
  running = child;
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    process.kill(-child.pid, 'SIGKILL');
  }, seconds * 1000);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      running = undefined;
      // What a test that was ended left: services, databases.
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {}
      try {
        fs.rmSync(temporary, { recursive: true, force: true });
      } catch {}
      resolve(code === 0 ? 'passed' : hung ? 'hung' : 'failed');
    });
  });
}

/** Runs test files one after the other until one fails, and says what each file took. */
async function run(files, seconds, more = {}) {
  const report = join(tree, 'report.json');
  fs.rmSync(report, { force: true });
  const args = ['run', '--config', 'mutants.config.mts', '--reporter=json'];
  const env = { MUTANTS: JSON.stringify({ files, ...more }) };
  const vitest = 'node_modules/vitest/vitest.mjs';
  const ended = await node(seconds, [vitest, ...args, `--outputFile=${report}`, ...files], env);
  const results = fs.existsSync(report) ? JSON.parse(read(report)).testResults : [];
  return {
    ended,
    files: results.map(({ name, status, startTime, endTime, assertionResults }) => ({
      name: relative(copy, name),
      passed: status === 'passed',
      seconds: (endTime - startTime) / 1000,
      failed: assertionResults.find((one) => one.status === 'failed')?.fullName,
    })),
  };
}

const build = async () =>
  'passed' ===
  (await node(100, ['node_modules/rolldown/bin/cli.mjs', '--logLevel', 'silent', '-c', '.config/rolldown.config.mjs']));

/** Tells which process runs which test file, and, from there and from programs that it starts, what they execute. */
const recorder = `const fs = require('node:fs');
let seen = new Set();
let owner;
const find = (pid) => {
  if (pid < 2) return 'nobody';
  try { return fs.readFileSync('${hits}/' + pid, 'utf8'); } catch {}
  try { return find(Number(/ \\d+/.exec(fs.readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/.*\\) \\w/s, ''))[0])); } catch { return 'nobody'; }
};
globalThis.mutantPlace = (id) => {
  if (seen.has(id)) return;
  seen.add(id);
  try { fs.appendFileSync('${hits}/all', id + ' ' + (owner ??= find(process.pid)) + '\\n'); } catch {}
};
module.exports = (file) => {
  owner = file;
  seen = new Set();
  fs.writeFileSync('${hits}/' + process.pid, file);
};
`;
const setup = `import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { expect } from 'vitest';
createRequire('${copy}/')('${tree}/recorder.cjs')(relative('${copy}', expect.getState().testPath));
`;
const config = `import config from './vitest.config.mts';
import { join } from 'node:path';
const { files, recording } = JSON.parse(process.env.MUTANTS);
const at = (spec) => files.findIndex((file) => spec.moduleId.endsWith('/' + file));
class Sequencer {
  shard(specs) { return specs; }
  sort(specs) { return specs.sort((one, other) => at(one) - at(other)); }
}
Object.assign(config.test, { sequence: { sequencer: Sequencer }, bail: recording ? 0 : 1, maxWorkers: recording ?? 1 });
// One worker takes all of them in this order, whatever projects they are in.
for (const { test } of config.test.projects) {
  delete test.maxWorkers;
  delete test.sequence;
  if (recording) Object.assign(test, { isolate: true, setupFiles: ['mutants-setup.mjs'] });
}
export default config;
`;

function copyTree() {
  fs.mkdirSync(copy);
  fs.mkdirSync(hits, { mode: 0o777 });
  fs.chmodSync(tree, 0o755);
  fs.chmodSync(hits, 0o777);
  fs.writeFileSync(join(hits, 'all'), '');
  fs.chmodSync(join(hits, 'all'), 0o666);
  for (const file of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0')) {
    if (!fs.existsSync(file) || file === '') continue;
    fs.mkdirSync(dirname(join(copy, file)), { recursive: true });
    fs.copyFileSync(file, join(copy, file));
  }
  // Hard links where they can be made: the packages are large.
  const packages = [join(root, 'node_modules'), join(copy, 'node_modules')];
  try {
    execFileSync('cp', ['-al', ...packages], { stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', ...packages]);
  }
  fs.rmSync(join(copy, 'node_modules/.cache'), { recursive: true, force: true });
  fs.writeFileSync(join(tree, 'recorder.cjs'), recorder);
  fs.writeFileSync(join(copy, 'mutants-setup.mjs'), setup);
  fs.writeFileSync(join(copy, 'mutants.config.mts'), config);
}

const changed = (file, edits) => {
  let code = read(join(root, file));
  for (const [from, to, by] of edits.sort(([one], [other]) => other - one))
    code = code.slice(0, from) + by + code.slice(to);
  fs.writeFileSync(join(copy, file), code);
};
const restore = (file) => fs.copyFileSync(join(root, file), join(copy, file));

/** Which tests execute which of the places, and how long each takes; tests that fail without any fault are left out. */
async function cover(tests, wanted) {
  const sources = groupBy(wanted, ({ file }) => file);
  for (const [file, own] of sources)
    changed(
      file,
      own.flatMap(({ id, start, end }) => [
        [start, start, `(globalThis.mutantPlace?.('${id}'), `],
        [end, end, ')'],
      ]),
    );
  const bin = 'bin/pwpush.js';
  changed(bin, [[read(bin).indexOf('\n') + 1, read(bin).indexOf('\n') + 1, `require('${tree}/recorder.cjs');\n`]]);
  if (!(await build())) throw new Error('the tree with the marks cannot be built');
  const files = [];
  for (let at = 0; at < tests.length; at += 25)
    files.push(...(await run(tests.slice(at, at + 25), 900, { recording: 2 })).files);
  for (const file of [bin, ...sources.keys()]) restore(file);
  const failing = files.filter(({ passed }) => !passed);
  if (failing.length > 0)
    console.log(`without a fault fail: ${failing.map((one) => `${one.name} (${one.failed})`).join(', ')}`);
  const executed = new Set(read(join(hits, 'all')).trim().split('\n'));
  return ({ id, file }) => {
    const all = files.filter(
      ({ name, passed }) => passed && (executed.has(`${id} ${name}`) || (ofBrowser(file) && looksAtPages(name))),
    );
    all.sort((one, other) => farFrom(file, one.name) - farFrom(file, other.name) || one.seconds - other.seconds);
    let seconds = 0;
    return all
      .filter((one, at) => {
        seconds += one.seconds;
        return at === 0 || seconds < BUDGET_SECONDS;
      })
      .map(({ name }) => name);
  };
}

/** 0 for the test of that file by its name, 1 for those of its folder, 2 for the others. */
const farFrom = (file, test) =>
  basename(test).startsWith(basename(file, '.ts')) ? 0 : dirname(test) === dirname(file).replace('src', 'test') ? 1 : 2;

copyTree();
// For tests in process that start the built program too.
if (!(await build())) throw new Error('the tree cannot be built');
const unfinished = linesOf(UNFINISHED);
if (unfinished.length > 0) console.log(`continues a run: ${UNFINISHED}`);
const earlier = options.journeys && to ? linesOf(to) : [];
const done = new Map([...earlier, ...unfinished].map((one) => [one.id, one]));
const known = execFileSync('git', ['ls-files', 'test'], { encoding: 'utf8' }).split('\n');
const layer = options.journeys ? 'journeys' : 'in process';
const tests = known.filter(
  (file) => /\.test\.ts$/.test(file) && fs.existsSync(file) && ofProgram(file) === options.journeys,
);
const wanted = faults.filter(({ id }) => !done.get(id)?.by && !done.get(id)?.tried?.includes(layer));

/** Writes which tests are tried, or what came of it. */
function keep({ id, folder, file, line, kind, was, by: became }, more) {
  done.set(id, { id, folder, file, line, kind, was, became, ...done.get(id), ...more });
  write(UNFINISHED, [...done.values()]);
}

function write(file, results) {
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, results.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

const uncovered = wanted.filter((fault) => !(fault.tests ?? done.get(fault.id)?.tests) || options.journeys);
if (uncovered.length > 0) {
  const executing = await cover(tests, uncovered);
  for (const fault of uncovered) keep(fault, { tests: executing(fault) });
}
await attempt(wanted);
// Those that are noticed no more, by tests that did not exist or had not been tried then.
const lost = wanted.filter(({ id, before }) => before && !done.get(id).by);
if (lost.length > 0) {
  const executing = await cover(tests, lost);
  await attempt(lost.map((fault) => ({ ...fault, tests: executing(fault) })));
}

async function attempt(all) {
  for (const fault of all) {
    const { id, file, line, kind, was } = fault;
    const known = fault.tests ?? done.get(id).tests;
    const candidates = known.slice(0, Number(options.tests));
    changed(file, [[fault.from, fault.to, fault.by]]);
    const builds = options.journeys || candidates.some(ofProgram);
    let by;
    if (builds && !(await build())) by = 'the build';
    else if (candidates.length > 0) {
      const { ended, files } = await run(candidates, 60 + 4 * BUDGET_SECONDS);
      const failed = files.find(({ passed }) => !passed);
      if (failed) by = `${failed.name}: ${failed.failed}`;
      else if (ended === 'hung') by = 'the time limit';
      else if (ended === 'failed') by = 'the end of the run';
    }
    restore(file);
    // Tests in process start the built program too.
    if (builds && !options.journeys) await build();
    keep(fault, { tests: known, tried: [...(done.get(id)?.tried ?? []), layer], by });
    const text = was.replace(/\s+/g, ' ').slice(0, 80);
    console.log(`${by ? 'noticed' : 'NOT'} ${file}:${line} ${kind}: ${text} [${candidates.length}] ${by ?? ''}`);
  }
}

const results = faults.flatMap(({ id }) => done.get(id) ?? []);
results.sort((one, other) => (`${one.file} ${one.id}` < `${other.file} ${other.id}` ? -1 : 1));
if (to)
  write(
    to,
    results.map(({ tried: _, ...kept }) => kept),
  );
if (to === RESULTS) writeTable();
fs.rmSync(UNFINISHED, { force: true });
const before = new Map(faults.map(({ id, before }) => [id, before]));
const noticedBefore = ({ id }) => before.get(id) !== undefined;
const columns = options.from
  ? [
      ['noticed before', noticedBefore],
      ['noticed now', noticed],
    ]
  : [['noticed', noticed]];
console.log(`\n${tableOf(results, ...columns)}`);
const noMore = results.filter((one) => noticedBefore(one) && !noticed(one));
for (const { id, file, line, kind, was, became } of noMore)
  console.log(`noticed no more: ${file}:${line} ${kind}: ${was} → ${became}, then by ${before.get(id)}`);
if (noMore.length > 0) process.exitCode = 1;
