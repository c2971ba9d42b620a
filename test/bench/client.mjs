// What a person or a job waits for: start, whole calls beside curl's, many pushes at once beside a bare undici pool,
// and memory. Everything is a ratio within one run, of whole processes, interleaved. Needs a build, curl, GNU time, and
// Linux.
// Usage: npm run bench [-- --runs 30 --node PATH … --binary build/pwpush-linux-x64]     writes test/bench/RESULTS.md
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { calls } from './client/calls.mjs';
import { executable } from './client/executable.mjs';
import { many } from './client/many.mjs';
import { memory } from './client/memory.mjs';
import { withService } from './client/processes.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '30' },
    binary: { type: 'string' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
  },
});

const results = fileURLToPath(new URL('RESULTS.md', import.meta.url));
const parts = [
  '# Measured',
  `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}, by \`npm run bench\`. ` +
    'Ratios within one run; milliseconds and MiB are those of this machine.',
];
for (const node of values.node) {
  await withService(node, async (service) => {
    parts.push(`## Node ${service.version}`);
    parts.push(calls(service, Number(values.runs)));
    parts.push(await many(service));
    parts.push(memory(service));
  });
}
if (values.binary) {
  await withService(values.node[0], async (service) => {
    parts.push(`## The executable, beside Node ${service.version}`);
    parts.push(await executable(service, values.binary, Number(values.runs)));
  });
}
const text = `${parts.join('\n\n')}\n`;
writeFileSync(results, text);
console.log(text);
