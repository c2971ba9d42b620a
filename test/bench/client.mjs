// What a person or a job waits for, and what a service does a second, beside what is wanted: see wanted.mjs. Everything
// is a ratio within one run, of whole processes, interleaved. Needs a build, curl, GNU time, and Linux.
// Usage: npm run bench [-- [PART …] --runs 30 --node PATH … --binary build/pwpush-linux-x64]
//   with the part `before`: --before PATH [--before-binary PATH] [--mebibytes 1024]
// Without parts, all of them, and test/bench/RESULTS.md is written. With --peers, see peers.mjs instead, and PEERS.md
// is. Either is drawn by plot.mjs. With --waiting, see load/waiting.mjs.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { besideBefore } from './client/before.mjs';
import { calls } from './client/calls.mjs';
import { executable } from './client/executable.mjs';
import { many } from './client/many.mjs';
import { memory } from './client/memory.mjs';
import { withService } from './client/processes.mjs';
import { receipts } from './client/receipts.mjs';
import { onPostgres, onSqlite } from './client/services.mjs';
import { starts } from './client/starts.mjs';
import { transfers } from './files-client.mjs';
import { waiting } from './load/waiting.mjs';
import { peers } from './peers.mjs';
import { draw } from './plot.mjs';
import { wantedTable } from './wanted.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '30' },
    binary: { type: 'string' },
    before: { type: 'string' },
    'before-binary': { type: 'string' },
    mebibytes: { type: 'string', default: '1024' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
    peers: { type: 'boolean' },
    waiting: { type: 'boolean' },
    snappass: { type: 'string' },
    privatebin: { type: 'string' },
    'password-pusher': { type: 'string' },
    'python-client': { type: 'string' },
  },
});
const { binary, before } = values;
const runs = Number(values.runs);
const mebibytes = Number(values.mebibytes);

/** Each returns figures of wanted.mjs and a text; those of `onNode` are of the program on one Node. */
const onNode = {
  calls: (service) => ({ text: calls(service, runs) }),
  each: many,
  receipts: (service) => ({ figures: receipts(service, Math.min(runs, 9)) }),
  memory: (service) => ({ text: memory(service) }),
};
const parts = {
  starts: async () => ({ figures: await starts(['push', 'help', 'version'], runs) }),
  executable: async () => {
    if (!binary) return {};
    const { push, version } = await starts(['push', 'version'], runs, [resolve(binary)]);
    const text = await withService(values.node[0], (service) => executable(service, binary, runs));
    return {
      figures: { binaryPush: push, binaryVersion: version },
      text: `### The executable, beside Node ${process.versions.node}\n\n${text}`,
    };
  },
  files: async () => {
    const { figures, text } = await transfers(mebibytes, 5, binary);
    return { figures, text: `One file over loopback, medians of 5 interleaved runs:\n\n${text}` };
  },
  sqlite: () => onSqlite(binary),
  postgres: onPostgres,
  before: async () => {
    if (!before) return {};
    const beforeBinary = values['before-binary'];
    const { figures, text } = await besideBefore({ before, binary, beforeBinary, mebibytes, runs });
    return { figures, text: `### Beside an earlier build\n\n${text}` };
  },
};

const measuredOn = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}`;

async function bench() {
  const all = { ...onNode, ...parts };
  const chosen = positionals.length > 0 ? positionals : Object.keys(all);
  const unknown = chosen.filter((name) => !(name in all));
  if (unknown.length > 0) throw new Error(`no such part: ${unknown}; ${Object.keys(all)}`);
  const figures = {};
  const texts = [];
  const measure = async (of, ...words) => {
    for (const name of chosen.filter((one) => one in of)) {
      const result = await of[name](...words);
      // The figures of the first Node are those that are wanted.
      Object.assign(figures, { ...result.figures, ...figures });
      if (result.text) texts.push(result.text);
    }
  };
  for (const node of values.node) {
    if (!chosen.some((name) => name in onNode)) break;
    await withService(node, async (service) => {
      texts.push(`## Node ${service.version}`);
      await measure(onNode, service);
    });
  }
  texts.push('## Beside others');
  await measure(parts);
  const text = [
    '# Measured',
    `${measuredOn}, by \`npm run bench\`. Ratios within one run; milliseconds and MiB are those of this machine.`,
    wantedTable(figures),
    ...texts,
  ].join('\n\n');
  if (positionals.length === 0) {
    keep('RESULTS.md', text);
  }
  return text;
}

async function besidePeers() {
  const text = [
    '# Beside other programs',
    `${measuredOn}, by \`npm run bench -- --peers\`. Each program runs on the same machine as its clients, in turns\n` +
      'with the others.',
    await peers(values),
  ].join('\n\n');
  keep('PEERS.md', text);
  return text;
}

/** Writes a file of results, and the plot of them. */
function keep(name, text) {
  writeFileSync(new URL(name, import.meta.url), `${text}\n`);
  draw();
}

if (values.waiting) console.log(await waiting());
else console.log(values.peers ? await besidePeers() : await bench());
