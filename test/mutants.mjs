// Plants small faults in two copies of this tree, one at a time in each, and runs tests until one notices it: the one that
// did so the last time, those that execute the place, those nearby that take long. A seed chooses the faults by the text of
// their places: where the code stays, so do they. Words after the options are parts of the names of files to plant in.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'rolldown/experimental';

const { values: options, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    /** Plants those that people made instead. */
    faults: { type: 'boolean', default: false },
    /** Fails if what is kept is not of this tree, or the table is not made of it. */
    check: { type: 'boolean', default: false },
    /** Makes the table again, and nothing else. */
    table: { type: 'boolean', default: false },
  },
});

const SEED = 1;
const FAULTS_A_FOLDER = 4;
/** Of one fault: what the tests in process take without it, and what those after them may take. */
const QUICK_SECONDS = 20;
const LONG_SECONDS = 60;
/** What takes longer hangs. */
const HUNG_SECONDS = 180;
const LEAST_NOTICED = 0.85;
const MOST_GONE = 1 / 20;
const RESULTS = 'test/mutants.jsonl';
const HAND_MADE = 'test/faults.jsonl';
/** It takes longer than others, and notices more. */
const TRANSCRIPTS = 'test/cases.test.ts';
const BUILT_TRANSCRIPTS = 'test/cases.slow.test.ts';
const TABLE = 'docs/architecture.md';
/** What is known already: a run that was ended is continued. */
const UNFINISHED = 'node_modules/.cache/mutants.jsonl';
const read = (file) => fs.readFileSync(file, 'utf8');
const rowsOf = (text) => text.split('\n').filter(Boolean);
const linesOf = (file) => (fs.existsSync(file) ? rowsOf(read(file)).map((line) => JSON.parse(line)) : []);
const filesIn = (...folder) =>
  rowsOf(execFileSync('git', ['ls-files', ...folder], { encoding: 'utf8' })).filter(fs.existsSync);
const short = (text) => text.replace(/\s+/g, ' ').slice(0, 100);

/** The places of a file where a fault can be planted: an expression, and what is replaced by what. */
function placesOf(file) {
  const code = read(file);
  const found = [];
  const times = new Map();
  const add = (kind, within, { start, end }, from, to, became) => {
    const text = `${file} ${kind} ${within} ${code.slice(start, end)} ${from - start} ${became}`;
    const nth = times.get(text) ?? 0;
    times.set(text, nth + 1);
    const hash = createHash('sha256').update(`${SEED} ${text} ${nth}`).digest('hex');
    found.push({ id: hash.slice(0, 12), file, kind, was: code.slice(from, to), became, start, end, from, to });
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
      const became = node.operator.length === 2 ? node.operator[0] : `${node.operator}=`;
      add('limit', within, node, at, at + node.operator.length, became);
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

function groupBy(all, keyOf) {
  const groups = new Map();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** The files of each folder; folders of one or two count with the one above. */
function folders() {
  const byFolder = groupBy(
    filesIn('src').filter((file) => /(?<!\.d)\.ts$/.test(file)),
    dirname,
  );
  for (const [folder, own] of [...byFolder].sort(([one], [other]) => other.length - one.length)) {
    if (own.length > 2 || folder === 'src') continue;
    byFolder.get(dirname(folder)).push(...own);
    byFolder.delete(folder);
  }
  return [...byFolder].sort();
}

/** So many faults a folder, of each kind one first. */
function choose() {
  return folders().flatMap(([, own]) => {
    const all = own.flatMap(placesOf).sort((one, other) => (one.id < other.id ? -1 : 1));
    const rank = new Map();
    for (const of of groupBy(all, ({ kind }) => kind).values())
      for (const [at, place] of of.entries()) rank.set(place, at);
    return all.sort((one, other) => rank.get(one) - rank.get(other)).slice(0, FAULTS_A_FOLDER);
  });
}

/** The faults that people made: a text that its file has once is replaced by another. */
function handMade() {
  return linesOf(HAND_MADE).map((fault) => {
    const [before, ...after] = read(fault.file).split(fault.was);
    if (after.length !== 1) throw new Error(`${fault.file} has this ${after.length} times, not once: ${fault.was}`);
    if (!fs.existsSync(fault.by)) throw new Error(`${fault.by} is not there, which notices: ${fault.harm}`);
    return { ...fault, id: fault.harm, kind: 'fault', from: before.length, to: before.length + fault.was.length };
  });
}

const isEqual = ({ why }) => /^equal\b/.test(why ?? '');
const isNoticed = ({ by }) => by !== undefined;

/** A row for each folder, and one for all. */
function tableOf(results) {
  const row = (name, of) => [name, of.length, of.filter(isEqual).length, of.filter(isNoticed).length];
  const rows = folders().map(([folder, own]) =>
    row(
      `\`${folder}\``,
      results.filter(({ file }) => own.includes(file)),
    ),
  );
  const head = [
    ['folder', 'planted', 'equal', 'noticed'],
    ['---', '--:', '--:', '--:'],
  ];
  return [...head, ...rows, row('all', results)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The document with the table of the results. */
const withTable = () =>
  read(TABLE).replace(/(?<=<!-- mutants -->\n\n).*(?=\n\n<!-- \/mutants -->)/s, () => tableOf(linesOf(RESULTS)));

/** What is wrong with what is kept. */
function problems() {
  const results = linesOf(RESULTS);
  const files = [...new Set(results.map(({ file }) => file))].filter(fs.existsSync);
  const there = new Set(files.flatMap(placesOf).map(({ id }) => id));
  const gone = results.filter(({ id }) => !there.has(id));
  const counted = results.filter((one) => !isEqual(one));
  const wrong = results.filter((one) => isNoticed(one) === /^(equal|harmless): ./.test(one.why ?? ''));
  return [
    gone.length > results.length * MOST_GONE && `gone: ${gone.map(({ file, was }) => `${file} ${was}`).join(', ')}`,
    ...wrong.map(({ file, was }) => `neither a test nor a word why, or both: ${file} ${was}`),
    counted.filter(isNoticed).length < counted.length * LEAST_NOTICED && `fewer than ${LEAST_NOTICED} are noticed`,
    withTable() !== read(TABLE) && `the table in ${TABLE} is not that of ${RESULTS}: node test/mutants.mjs --table`,
  ].filter(Boolean);
}

if (options.table) fs.writeFileSync(TABLE, withTable());
handMade();
if (options.check && problems().length > 0) throw new Error(problems().join('\n'));
if (options.table || options.check) process.exit();

const all = options.faults ? handMade() : choose();
const faults = all.filter(({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)));
const root = process.cwd();
const tree = fs.mkdtempSync(join(tmpdir(), 'pwm-'));
fs.chmodSync(tree, 0o755);
const running = new Set();
let runs = 0;
process.on('exit', () => {
  for (const child of running) kill(child);
  // Disks of tests that were ended.
  const mounts = fs.existsSync('/proc/mounts') ? read('/proc/mounts') : '';
  for (const [, folder] of mounts.matchAll(/^\S+ (\S+)/gm))
    if (folder.startsWith(`${tree}/`)) execFileSync('umount', ['-l', folder]);
  fs.rmSync(tree, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const setup = `import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
const seen = new Set();
const file = expect.getState().testPath;
globalThis.mutantPlace = (id) => seen.add(id);
afterAll(() => { for (const id of seen) appendFileSync('${tree}/hits', id + ' ' + file + '\\n'); });
`;
const config = `import config from './vitest.config.mts';
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
  if (recording) test.setupFiles.push('mutants-setup.mjs');
}
export default config;
`;

/** A copy of the tree, in which a fault can be planted; of the packages, which are large, hard links where they can be made. */
function copyTree(name) {
  const copy = join(tree, name);
  for (const file of filesIn()) fs.cpSync(file, join(copy, file));
  execFileSync('sh', ['-c', 'cp -al node_modules "$0" 2>&1 || cp -a node_modules "$0"', copy]);
  fs.rmSync(join(copy, 'node_modules/.cache'), { recursive: true, force: true });
  fs.writeFileSync(join(copy, 'mutants-setup.mjs'), setup);
  fs.writeFileSync(join(copy, 'mutants.config.mts'), config);
  return copy;
}

/** How it ended: `passed`, `failed`, or `hung` for longer than so many seconds. What it leaves, such as services, is ended. */
function node(copy, seconds, args, env = {}) {
  const TMPDIR = join(tree, `t${runs++}`);
  fs.mkdirSync(TMPDIR);
  fs.chmodSync(TMPDIR, 0o1777);
  const surroundings = { ...process.env, TMPDIR, ...env };
  const child = spawn(process.execPath, args, { cwd: copy, env: surroundings, stdio: 'ignore', detached: true });
  running.add(child);
  const timer = setTimeout(kill, seconds * 1000, child);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      running.delete(child);
      kill(child);
      resolve(code === null ? 'hung' : code === 0 ? 'passed' : 'failed');
    });
  });
}

function kill({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {}
}

const rolldown = 'node_modules/rolldown/bin/cli.mjs --logLevel silent -c .config/rolldown.config.mjs'.split(' ');
/** A fault may let the build fail, but it never hangs. */
const build = async (copy) => (await node(copy, 600, rolldown)) === 'passed';

/** Runs test files one after the other, unless it records, until one fails, and says what each of them took. */
async function run(copy, seconds, files, more = {}) {
  const report = join(tree, `${runs}.json`);
  const vitest = 'node_modules/vitest/vitest.mjs run --config mutants.config.mts --reporter=json'.split(' ');
  const env = { MUTANTS: JSON.stringify({ files, ...more }) };
  const ended = await node(copy, seconds, [...vitest, `--outputFile=${report}`, ...files], env);
  const results = fs.existsSync(report) ? JSON.parse(read(report)).testResults : [];
  const ran = results.map(({ name, status, startTime, endTime }) => {
    return { name: relative(copy, name), passed: status === 'passed', seconds: (endTime - startTime) / 1000 };
  });
  if (ended === 'passed') return { ran };
  const otherwise = ended === 'hung' ? 'the time limit' : 'the end of the run';
  return { ran, by: ran.find(({ passed }) => !passed)?.name ?? otherwise };
}

function plant(copy, file, edits) {
  let code = read(join(root, file));
  for (const [from, to, by] of edits.sort(([one], [other]) => other - one))
    code = code.slice(0, from) + by + code.slice(to);
  fs.writeFileSync(join(copy, file), code);
}
const restore = (copy, file) => fs.copyFileSync(join(root, file), join(copy, file));

const isLong = (test) => /\.(slow|page)\.test\.ts$|^test\/journey\//.test(test);
const known = filesIn('test').filter((file) => file.endsWith('.test.ts'));
/** 0 for the test of that file by its name, 1 for those of its folder, 2 for those of its room, 3 for the others. */
function farFrom({ file }, test) {
  const mirror = dirname(file).replace('src', 'test');
  if (basename(test).startsWith(basename(file, '.ts'))) return 0;
  if (dirname(test) === mirror) return 1;
  return dirname(test) !== 'test' && `${mirror}/`.startsWith(`${dirname(test)}/`) ? 2 : 3;
}

/** Which quick tests execute the place of a fault, those of its folder first; what fails without any fault is left out. */
async function cover(copy) {
  const sources = groupBy(faults, ({ file }) => file);
  const mark = ({ id, start, end }) => [
    [start, start, `(globalThis.mutantPlace?.('${id}'), `],
    [end, end, ')'],
  ];
  for (const [file, own] of sources) plant(copy, file, own.flatMap(mark));
  // Those at the top look at the tree, and fail as soon as anything has changed.
  const quick = known.filter((test) => !isLong(test) && (dirname(test) !== 'test' || test === TRANSCRIPTS));
  const { ran } = await run(copy, 1800, quick, { recording: 2 });
  for (const file of sources.keys()) restore(copy, file);
  const failing = ran.filter(({ passed }) => !passed).map(({ name }) => name);
  if (failing.length > 0) console.log(`without a fault fail: ${failing.join(', ')}`);
  const executed = new Set(read(join(tree, 'hits')).split('\n'));
  return (fault) => {
    const far = ({ name }) => farFrom(fault, name);
    let seconds = 0;
    return ran
      .filter((one) => far(one) < 2 || (one.passed && executed.has(`${fault.id} ${join(copy, one.name)}`)))
      .sort((one, other) => far(one) - far(other) || one.seconds - other.seconds)
      .filter((one, at) => {
        seconds += one.seconds;
        return at === 0 || seconds <= QUICK_SECONDS || one.name === TRANSCRIPTS;
      })
      .map(({ name }) => name);
  };
}

const earlier = new Map(linesOf(RESULTS).map((one) => [one.id, one]));
const noticing = [...linesOf(HAND_MADE), ...earlier.values()].filter(({ by }) => known.includes(by));

/** The tests that take long and are likely to notice a fault: those that did so in its file or folder, and those nearby. */
function longTests(fault) {
  const far = (test) => farFrom(fault, test);
  const near = ({ file }) => [file === fault.file, dirname(file) === dirname(fault.file)].indexOf(true);
  const did = noticing.filter((one) => near(one) >= 0).sort((one, other) => near(one) - near(other));
  const tells = (test) => test === BUILT_TRANSCRIPTS && /^src\/(commands|main)/.test(fault.file);
  const others = known.filter((test) => far(test) < 2 || tells(test)).sort((one, other) => far(one) - far(other));
  return [...new Set([...did.map(({ by }) => by), ...others])].filter(isLong);
}

const alone = new Map();
/** Whether tests pass without any fault. */
function passAlone(tests) {
  const names = tests.join(' ');
  const passes = alone.get(names) ?? run(sound, HUNG_SECONDS, tests).then(({ by }) => by === undefined);
  alone.set(names, passes);
  return passes;
}

/**
 * Which of these tests notices a fault.
 * @param isBuilt whether the program is built with it; then tests run one at a time, for so long
 */
async function attempt(copy, fault, tests, isBuilt) {
  if (tests.length === 0) return undefined;
  plant(copy, fault.file, [[fault.from, fault.to, fault.became]]);
  let by = !isBuilt || (await build(copy)) ? undefined : 'the build';
  const until = Date.now() + LONG_SECONDS * 1000;
  for (let left = tests; left.length > 0 && !by && Date.now() < until; ) {
    const group = isBuilt ? left.slice(0, 1) : left;
    const failed = (await run(copy, HUNG_SECONDS, group)).by;
    const isTest = known.includes(failed);
    // A machine that is busy is slow without any fault.
    if (failed && (await passAlone(isTest ? [failed] : group))) by = failed;
    left = left.filter((test) => (isTest && !isBuilt ? test !== failed : !group.includes(test)));
  }
  restore(copy, fault.file);
  if (isBuilt) fs.cpSync(join(sound, 'dist'), join(copy, 'dist'), { recursive: true });
  return by;
}

/** Which test notices a fault, beginning with the one that did so before. */
async function notice(copy, fault) {
  const { by } = earlier.get(fault.id) ?? fault;
  const before = known.filter((test) => test === by);
  if (options.faults) return attempt(copy, fault, before, true);
  const quick = [...new Set([...before, ...quickTests(fault)])].filter((test) => !isLong(test));
  const first = before.some(isLong) && (await attempt(copy, fault, before, true));
  return first || (await attempt(copy, fault, quick, false)) || attempt(copy, fault, longTests(fault), true);
}

const sound = copyTree('sound');
// For tests in process that start the built program too.
if (!(await build(sound))) throw new Error('the tree cannot be built');
const copies = ['one', 'other'].map(copyTree);
for (const copy of copies) fs.cpSync(join(sound, 'dist'), join(copy, 'dist'), { recursive: true });
const done = new Map((options.faults ? [] : linesOf(UNFINISHED)).map((one) => [one.id, one]));
if (done.size > 0) console.log(`continues a run: ${UNFINISHED}`);
// What changed nothing does not where it is the same.
const wanted = faults.filter(({ id }) => !done.has(id) && !isEqual(earlier.get(id) ?? {}));
const quickTests = options.faults ? () => [] : await cover(copies[0]);
await Promise.all(
  copies.map(async (copy) => {
    for (let fault = wanted.shift(); fault; fault = wanted.shift()) {
      const { id, file, kind, was, became } = fault;
      const by = await notice(copy, fault);
      console.log(`${by ? 'noticed' : 'NOT'} ${file} ${kind}: ${short(was)} → ${short(became)} ${by ?? ''}`);
      done.set(id, { id, file, kind, was: short(was), became: short(became), by });
      if (!options.faults) fs.appendFileSync(UNFINISHED, `${JSON.stringify(done.get(id))}\n`);
    }
  }),
);

for (const { id, file, was, by } of options.faults ? faults : earlier.values())
  if (by && done.has(id) && !isNoticed(done.get(id))) {
    process.exitCode = 1;
    console.log(`noticed no more: ${file}: ${short(was)}, before by ${by}`);
  }
if (!options.faults) {
  const results = choose().flatMap(({ id }) => {
    const [now, then] = [done.get(id), earlier.get(id)];
    return now && !isNoticed(now) ? [{ ...now, why: then?.why ?? '' }] : (now ?? then ?? []);
  });
  fs.writeFileSync(RESULTS, results.map((one) => `${JSON.stringify(one)}\n`).join(''));
  fs.rmSync(UNFINISHED, { force: true });
  fs.writeFileSync(TABLE, withTable());
  console.log(`\n${tableOf(results)}`);
}
