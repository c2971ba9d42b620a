// What a person or a job waits for, and what a service does a second, beside what is wanted. Everything is a ratio within
// one run, of whole processes, in turns, on the Node.js that runs it. Needs a build, curl, openssl, bash, GNU time, and Linux.
// Usage: npm run bench [-- PART … --before PATH --binary PATH --keep]
// Without parts, all of `measured`. `--keep` writes the documents beside this file: RESULTS.md of those, PEERS.md, SIZES.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { besideAge, besideCurl } from './files.mjs';
import { peers } from './peers.mjs';
import { draw } from './plot.mjs';
import { middle, ratio, script, table } from './runner.mjs';
import { services } from './service.mjs';
import { sizes } from './sizes.mjs';
import { each, many, shortRuns, weights } from './starts.mjs';
import { withoutEach } from './tricks.mjs';
import { waiting } from './waiting.mjs';

/** Rounds of short runs, of those with files and of services; the size of a file in MiB; seconds of load; pushes. */
const numbers = { runs: 40, transfers: 5, rounds: 12, mebibytes: 1024, seconds: 1, pushes: 1_000_000 };
const paths = ['before', 'binary', 'before-binary', 'snappass', 'privatebin', 'password-pusher', 'python-client'];
const option = ([name, value]) => [name, { type: 'string', ...(value && { default: `${value}` }) }];
const options = [...Object.entries({ ...numbers, connections: '16,64' }), ...paths.map((name) => [name])].map(option);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { ...Object.fromEntries(options), postgres: { type: 'boolean' }, keep: { type: 'boolean' } },
});
const { runs, rounds, mebibytes, seconds, pushes, transfers } = Object.fromEntries(
  Object.keys(numbers).map((name) => [name, Number(values[name])]),
);
const connections = values.connections.split(',').map(Number);

/** The commands of what is measured: this build, the one of `--before`, and the executables of both. */
const programs = { now: [process.execPath, script] };
if (values.before) programs.before = [process.execPath, resolve(values.before)];
if (values.binary) programs['the executable'] = [resolve(values.binary)];
if (values['before-binary']) programs['the executable before'] = [resolve(values['before-binary'])];

/** The parts of a whole run: each returns its cases, whose names `wanted` has, and a text. */
const measured = {
  starts: () => shortRuns(programs, { runs }),
  each: () => each(programs),
  many: () => many(programs, { runs }),
  memory: () => weights(programs),
  files: () => besideCurl(programs, { mebibytes, rounds: transfers }),
  services: () => services(programs, { connections, rounds, seconds }),
};

const besideBefore = (names, ...rest) => names.map((name) => [name, 'to', `before: ${name}`, ...rest]);
const noHeavier = (...names) => besideBefore(names, 'mib', '≤', 1.03);
const noSlower = (...names) => besideBefore(names, 'rate', '≥', 0.95);

/** Names of cases, the figure in which one is compared to the other, and the most or the least it should be. */
// biome-ignore format: a row for each.
const wanted = [
  ['`pwpush push`, piped', 'to', '`node -e 0`', 'milliseconds', '≤', 2.35],
  ['`pwpush push --encrypt`, piped', 'to', '`node -e 0`', 'milliseconds', '≤', 2.65],
  ['`pwpush get LINK`', 'to', '`node -e 0`', 'milliseconds', '≤', 2.3],
  ['`pwpush --help`', 'to', '`node -e 0`', 'milliseconds', '≤', 1.4],
  ['`pwpush --version`', 'to', '`node -e 0`', 'milliseconds', '≤', 1.1],
  ['`pwpush push`, over https', 'to', '`node -e 0`', 'milliseconds', '≤', 3.6],
  ['`pwpush get LINK`, over https', 'to', '`node -e 0`', 'milliseconds', '≤', 3.6],
  ['`pwpush push`, over https with a CA file', 'to', '`node -e 0`', 'milliseconds', '≤', 3.9],
  ['`pwpush get LINK`, over https with a CA file', 'to', '`node -e 0`', 'milliseconds', '≤', 3.9],
  ['the executable: `pwpush --version`', 'to', '`node -e 0`', 'milliseconds', '≤', 0.5],
  ['the executable: `pwpush push`, piped', 'to', '`node -e 0`', 'milliseconds', '≤', 1.3],
  ['`pwpush push --each`', 'to', 'a bare undici pool', 'milliseconds', '≤', 3],
  ['`pwpush push`, 10,000 receipts', 'minus', '`pwpush push`, one receipt', 'milliseconds', '≤', 2],
  ['`pwpush get LINK`, 10,000 receipts', 'minus', '`pwpush get LINK`, one receipt', 'milliseconds', '≤', 2],
  ['`pwpush preview last`, 10,000 receipts', 'to', '`pwpush preview last`, one receipt', 'milliseconds', '≤', 1.05],
  ...noHeavier('`pwpush push`, piped', '`pwpush get LINK`', '`pwpush push --each`'),
  ...noHeavier('`pwpush serve`, at rest', '`pwpush serve`, after 10,000 pushes'),
  ['push: curl', 'to', 'push', 'seconds', '≥', 0.9],
  ['get: curl', 'to', 'get', 'seconds', '≥', 0.9],
  ['push', 'to', 'push, encrypted', 'seconds', '≥', 0.7],
  ['get', 'to', 'get, encrypted', 'seconds', '≥', 0.7],
  ['push, encrypted', 'minus', 'push', 'mib', '≤', 20],
  ['get, encrypted', 'minus', 'get', 'mib', '≤', 20],
  ['SQLite, 64: last views', 'to', 'SQLite, 64: views', 'rate', '≥', 0.65],
  ['SQLite, 64: creations with keys', 'to', 'SQLite, 64: creations', 'rate', '≥', 0.8],
  ['SQLite, 64: views with keys', 'to', 'SQLite, 64: views', 'rate', '≥', 0.8],
  ['SQLite, 64: last views with keys', 'to', 'SQLite, 64: last views', 'rate', '≥', 0.8],
  ...noSlower('SQLite, 64: creations', "SQLite, 64: owner's readings", 'SQLite, 64: views', 'SQLite, 64: last views'),
  ['PostgreSQL, 64: creations', 'to', 'SQLite, 64: creations', 'rate', '≥', 0.95],
  ["PostgreSQL, 64: owner's readings", 'to', "SQLite, 64: owner's readings", 'rate', '≥', 0.95],
  ['PostgreSQL, 64: views', 'to', 'SQLite, 64: views', 'rate', '≥', 0.9],
  ['PostgreSQL, 64: last views', 'to', 'SQLite, 64: last views', 'rate', '≥', 1.2],
  ['the executable: SQLite, 16: creations', 'to', 'SQLite, 16: creations', 'rate', '≥', 1.6],
  ['the executable: SQLite, 16: views', 'to', 'SQLite, 16: views', 'rate', '≥', 1.6],
];

/** What was measured beside what is wanted, and the same of processor time; what misses it is bold. */
function wantedTable(cases) {
  const named = (name) => cases.find((one) => one.name === name);
  const rows = wanted
    .filter(([name, , other]) => named(name) && named(other))
    .map(([name, how, other, figure, bound, limit]) => {
      const [one, two] = [named(name), named(other)];
      const value = how === 'to' ? ratio(one, two, figure) : middle(one, figure) - middle(two, figure);
      const misses = (value) => (bound === '≤' ? value > limit : value < limit);
      const said = (value) => (misses(value) ? `**${value.toFixed(2)}**` : value.toFixed(2));
      const isTime = how === 'to' && figure === 'milliseconds';
      const processor = isTime ? said(ratio(one, two, 'processor')) : '';
      return [`${name}, ${how} ${other}: ${figure}`, `${bound} ${limit}`, said(value), processor];
    });
  return table(['', 'wanted', 'measured', 'processor'], rows);
}

const measuredOn = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}`;

/** With `--keep`, writes a document, and the pictures of all. */
function keep(name, ...parts) {
  const text = parts.join('\n\n');
  if (!values.keep) return text;
  writeFileSync(new URL(name, import.meta.url), `${text}\n`);
  draw();
  return text;
}

/** What is measured by itself: each returns a text. */
const others = {
  tricks: () => withoutEach({ runs }),
  waiting: () => waiting(programs.now, { mebibytes, due: pushes / 10 }),
  async peers() {
    const own = { 'pwpush on Node.js': programs.now };
    if (values.binary) own['pwpush, the executable'] = programs['the executable'];
    const beside = await peers(own, { ...values, runs: 7 });
    const files = await besideAge(programs, { mebibytes, rounds: transfers });
    const how = 'Each program runs on the same machine as its clients, in turns with the others.';
    const parts = [`${measuredOn}, by \`npm run bench -- peers\`. ${how}`, beside, '## Encrypting a file', files];
    return keep('PEERS.md', '# Beside other programs', ...parts);
  },
  /** Puts a table in the place of the one that SIZES.md has of that database. */
  async sizes() {
    const store = values.postgres ? 'PostgreSQL' : 'SQLite';
    const text = await sizes(programs.now, { count: pushes, seconds, isOnPostgres: values.postgres });
    const [head, ...tables] = readFileSync(new URL('SIZES.md', import.meta.url), 'utf8')
      .trim()
      .split(/\n\n(?=## )/);
    const left = tables.filter((one) => !one.startsWith(`## ${store}\n`));
    return keep('SIZES.md', head, ...[...left, `## ${store}\n\n${measuredOn}:\n\n${text}`].sort().reverse());
  },
};

async function measure(chosen) {
  const cases = [];
  const texts = [];
  for (const name of chosen) {
    const result = await measured[name]();
    cases.push(...result.cases);
    texts.push(result.text);
  }
  const how = 'Ratios within one run; milliseconds and MiB are those of this machine.';
  const head = `${measuredOn}, by \`npm run bench\`. ${how}`;
  return ['# Measured', head, wantedTable(cases), `## Node ${process.versions.node}`, ...texts];
}

const unknown = positionals.filter((name) => !(name in measured) && !(name in others));
if (unknown.length > 0) throw new Error(`no such part: ${unknown}; ${Object.keys({ ...measured, ...others })}`);
if (positionals.length === 0) console.log(keep('RESULTS.md', ...(await measure(Object.keys(measured)))));
const chosen = positionals.filter((name) => name in measured);
if (chosen.length > 0) console.log((await measure(chosen)).join('\n\n'));
for (const name of positionals.filter((name) => name in others)) console.log(await others[name]());
