// What must not get lost by accident: how soon the program is there, how little there is to install, what the promises of
// the service cost, and that no text of a stranger keeps others waiting.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Times of runs, to that of `node -e 0`. */
const ofRuns = { push: 2.65, get: 2.6, help: 1.5, version: 1.4 };
/** Times of requests: of a last view to another one, and with a key to without. */
const ofRequests = { lastView: 1.54, keyOfCreation: 1.25, keyOfView: 1.25, keyOfLastView: 1.25 };
/** The wait beside the worst text is to that beside a plain one of the same size. */
export const limits = { ...ofRuns, ...ofRequests, kib: 1536, wait: 20 };
const repeated = Object.keys({ ...ofRuns, ...ofRequests });
// Most times the first run suffices: few rounds, and more runs for a machine that is busy.
const RUNS = 6;
const ROUNDS = 11;
const LOAD = { connections: 64, seconds: 1 };

/** The figures of the best run, each by itself, as others may use the machine during a run. */
export const best = (runs) =>
  Object.fromEntries(repeated.map((name) => [name, Math.min(...runs.map((run) => run[name]))]));

/** A line for each figure above its limit; one that is missing or no number is above it. */
export const failures = (figures) =>
  Object.entries(limits)
    .filter(([name, limit]) => !(figures[name] <= limit))
    .map(([name, limit]) => `${name}: ${figures[name]?.toFixed(2)}, more than ${limit}`);

function packageSize(root) {
  const packing = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const packed = JSON.parse(execFileSync('npm', packing, { cwd: root, encoding: 'utf8' }));
  // An array in some versions of npm, an object by name in others.
  return Object.values(packed)[0].size / 1024;
}

async function measure() {
  const kib = packageSize(fileURLToPath(new URL('..', import.meta.url)));
  // Here, as they make a folder and listen to signals, which the test of this file needs not.
  const { script } = await import('../test/bench/runner.mjs');
  const { promisedService } = await import('../test/bench/service.mjs');
  const { starts } = await import('../test/bench/starts.mjs');
  const { worstTexts } = await import('../test/bench/worst-texts.mjs');
  const waits = Object.entries(await worstTexts(limits.wait)).toSorted(([, a], [, b]) => b - a);
  console.log(Object.fromEntries(waits.slice(0, 3)));
  const [[, wait]] = waits;
  const service = await promisedService([process.execPath, script], LOAD);
  const runs = [];
  let figures;
  do {
    runs.push({ ...(await starts(Object.keys(ofRuns), ROUNDS)), ...(await service.round()) });
    figures = { ...best(runs), kib, wait };
  } while (failures(figures).length > 0 && runs.length < RUNS);
  await service.stop();
  console.log(figures);
  return failures(figures);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = await measure();
  if (failed.length > 0) throw new Error(failed.join('\n'));
}
