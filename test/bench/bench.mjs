// What a person or a job waits for, and what a service does a second, beside what is wanted. Everything is a ratio within
// one run, of whole processes, in turns. Needs a build, curl, openssl, GNU time, and Linux; on the Node.js that runs it.
// Usage: npm run bench [-- PART … --before PATH --binary PATH --keep]
// Without parts, all of `measured`. `--keep` writes the documents beside this file: RESULTS.md of those, PEERS.md, SIZES.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { besideAge, besideCurl } from './files.mjs';
import { peers } from './peers.mjs';
import { draw } from './plot.mjs';
import { script, table } from './runner.mjs';
import { services } from './service.mjs';
import { sizes } from './sizes.mjs';
import { each, many, shortRuns } from './starts.mjs';
import { waiting } from './waiting.mjs';

/** Rounds of short runs, of those with files and of services; the size of a file in MiB; seconds of load; pushes. */
const numbers = { runs: 30, 'file-runs': 5, rounds: 12, mebibytes: 1024, seconds: 1, pushes: 1_000_000 };
const lists = { connections: '16,64' };
const paths = ['before', 'binary', 'before-binary', 'snappass', 'privatebin', 'password-pusher', 'python-client'];
const option = ([name, value]) => [name, { type: 'string', ...(value && { default: `${value}` }) }];
const options = Object.fromEntries(
  [...Object.entries({ ...numbers, ...lists }), ...paths.map((name) => [name])].map(option),
);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { ...options, postgres: { type: 'boolean' }, keep: { type: 'boolean' } },
});
const [runs, fileRuns, rounds, mebibytes, seconds, pushes] = Object.keys(numbers).map((name) => Number(values[name]));
const connections = values.connections.split(',').map(Number);

/** The commands of what is measured: this build, the one of `--before`, and the executables of both. */
const programs = { now: [process.execPath, script] };
if (values.before) programs.before = [process.execPath, resolve(values.before)];
if (values.binary) programs['the executable'] = [resolve(values.binary)];
if (values['before-binary']) programs['the executable before'] = [resolve(values['before-binary'])];

/** Each returns figures of `wanted`, and a text. */
const measured = {
  starts: () => shortRuns(programs, { runs }),
  each: () => each(programs),
  many: () => many(programs, { runs }),
  files: () => besideCurl(programs, { mebibytes, rounds: fileRuns }),
  services: () => services(programs, { connections, rounds, seconds }),
};

const of = (what, bound) => ({ what, ...bound });
/** By name of the figure: what it is, and the most or the least it should be, if that is decided. */
const wanted = {
  push: of('`push`, piped, to `node -e 0`', { most: 2.3 }),
  pushEncrypted: of('`push --encrypt`, piped, to that', { most: 2.65 }),
  get: of('`get` to that', { most: 2.3 }),
  help: of('`--help` to that', { most: 1.35 }),
  version: of('`--version` to that', { most: 1.1 }),
  each: of('`push --each`, 10,000 lines, to the time of a bare undici pool of 8', { most: 3 }),
  receipts: of('`push` with 10,000 receipts minus with one, ms', { most: 2 }),
  show: of('`preview last` with 10,000 receipts to with one', { most: 1.05 }),
  pushFile: of('`push` of a file, speed to curl', { least: 0.9 }),
  getFile: of('`get` of a file, speed to curl', { least: 0.9 }),
  pushFileEncrypted: of('`push --encrypt` of a file, speed to plain', { least: 0.7 }),
  getFileEncrypted: of('`get` of an encrypted file, speed to `--no-decrypt`', { least: 0.7 }),
  pushEncryptedMemory: of('`push --encrypt` of that, peak minus plain, MiB', { most: 20 }),
  getEncryptedMemory: of('`get` of that, peak minus `--no-decrypt`, MiB', { most: 20 }),
  sqliteCreate16: of('`serve` on SQLite, 16 connections: creations a second'),
  sqliteView16: of('… views a second'),
  sqliteLast16: of('… last views a second'),
  lastToView64: of('`serve` on SQLite, 64 connections: last views to other views', { least: 0.65 }),
  keysToNone64: of('… creations with keys to those without', { least: 0.8 }),
  postgresCreate64: of('… creations on PostgreSQL to SQLite', { least: 0.95 }),
  postgresReading64: of("… owner's readings on PostgreSQL to SQLite", { least: 0.95 }),
  postgresView64: of('… views on PostgreSQL to SQLite', { least: 0.9 }),
  postgresLast64: of('… last views on PostgreSQL to SQLite', { least: 1.2 }),
  beforeCreate64: of('… creations, to the build of `--before`', { least: 0.95 }),
  beforeView64: of('… views, to the build of `--before`', { least: 0.95 }),
  beforeLast64: of('… last views, to the build of `--before`', { least: 0.95 }),
  binaryVersion: of('the executable: `--version` to `node -e 0`', { most: 0.5 }),
  binaryPush: of('the executable: `push`, piped, to `node -e 0`', { most: 1.3 }),
  binaryCreate16: of('the executable: creations, 16 connections, to Node.js', { least: 1.6 }),
  binaryView16: of('the executable: views, to Node.js', { least: 1.6 }),
};

/** The figures that were measured beside what is wanted; those that miss it are bold. */
function wantedTable(figures) {
  const rows = Object.entries(wanted)
    .filter(([name]) => Number.isFinite(figures[name]))
    .map(([name, { what, most, least }]) => {
      const figure = figures[name];
      const text = figure.toFixed(Math.abs(figure) < 100 ? 2 : 0);
      const bound = most ? `≤ ${most}` : least ? `≥ ${least}` : '';
      return [what, bound, figure > most || figure < least ? `**${text}**` : text];
    });
  return table(['', 'wanted', 'measured'], rows);
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

/** Each returns a text. */
const others = {
  waiting: () => waiting(programs.now, { mebibytes, due: pushes / 10 }),
  async peers() {
    const own = { 'pwpush on Node.js': programs.now };
    if (values.binary) own['pwpush, the executable'] = programs['the executable'];
    const beside = await peers(own, { ...values, runs: 7 });
    const files = await besideAge(programs, { mebibytes, rounds: fileRuns });
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
  const figures = {};
  const texts = [];
  for (const name of chosen) {
    const result = await measured[name]();
    Object.assign(figures, result.figures);
    texts.push(result.text);
  }
  const how = 'Ratios within one run; milliseconds and MiB are those of this machine.';
  return [
    '# Measured',
    `${measuredOn}, by \`npm run bench\`. ${how}`,
    wantedTable(figures),
    ...[`## Node ${process.versions.node}`, ...texts],
  ];
}

const unknown = positionals.filter((name) => !(name in measured) && !(name in others));
if (unknown.length > 0) throw new Error(`no such part: ${unknown}; ${Object.keys({ ...measured, ...others })}`);
if (positionals.length === 0) console.log(keep('RESULTS.md', ...(await measure(Object.keys(measured)))));
const chosen = positionals.filter((name) => name in measured);
if (chosen.length > 0) console.log((await measure(chosen)).join('\n\n'));
for (const name of positionals.filter((name) => name in others)) console.log(await others[name]());
