// How fast `run --mask` replaces secrets in output, in memory: by the number and length of the secrets.
// Usage: node test/bench/mask.mjs [MB]     (64)
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const bytes = Number(process.argv[2] ?? 64) * 1e6;
const { automatonOf, streamMask, formsOf } = await built();

async function built() {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
  try {
    const names = ['automaton', 'mask', 'secret-forms'];
    const entry = (name) => fileURLToPath(new URL(`../../src/run/${name}.ts`, import.meta.url));
    const input = Object.fromEntries(names.map((name) => [name, entry(name)]));
    const bundle = await rolldown({ input, platform: 'node' });
    await bundle.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
    const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
    return Object.assign({}, ...(await Promise.all(names.map(load))));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const base64 = (length) => randomBytes(length).toString('base64').slice(0, length);
const lines = (length) => base64(length).replace(/.{64}/g, '$&\n');
const many = (number) => Array.from({ length: number }, () => base64(24));

const log = Buffer.from(
  Array.from({ length: 10_000 }, (_, at) => `${at} GET /api/users/${at * 7919} 200 ${at % 977} ms\n`).join(''),
);
const outputs = { 'a log': log, base64: Buffer.from(base64(400_000)), bytes: randomBytes(400_000) };
const secrets = {
  '1 of 24 characters': many(1),
  '3 of 24 characters': many(3),
  '50 of 24 characters': many(50),
  'a key of 3 KiB': [lines(3072)],
  'a text of 30 KiB': [lines(30 * 1024)],
  'a text of 1 MiB': [lines(1024 * 1024)],
};

console.log('secrets                  built in ms   MB/s of', Object.keys(outputs).join(', '));
for (const [name, texts] of Object.entries(secrets)) {
  const start = performance.now();
  const forms = formsOf(texts.map((text, at) => ({ name: `${at}`, text })));
  const automaton = automatonOf(forms.patterns);
  const build = performance.now() - start;
  const rates = Object.values(outputs).map((output) => rate(automaton, output).toFixed(0));
  console.log(name.padEnd(24), build.toFixed(1).padStart(11), '  ', rates.join(', '));
}

/** The best of some runs, by the time of the processor. */
function rate(automaton, output) {
  let best = 0;
  for (let run = 0; run < 5; run++) {
    const mask = streamMask(automaton);
    const start = process.cpuUsage();
    for (let done = 0; done < bytes / 5; done += output.length)
      for (let at = 0; at < output.length; at += 65_536) mask.push(output.subarray(at, at + 65_536));
    mask.end();
    best = Math.max(best, bytes / 5 / process.cpuUsage(start).user);
  }
  return best;
}
