// 10,000 pushes in one run, beside a bare undici pool that sends the same bodies, with the same token, over as many
// connections.
import { fileURLToPath } from 'node:url';
import { median, table } from './processes.mjs';

const bareScript = fileURLToPath(new URL('pool.mjs', import.meta.url));
const COUNT = 10_000;
const RUNS = 3;

export function many({ node, url, token, run, pwpush, peak }) {
  const lines = `${Array.from({ length: COUNT }, (_, at) => `secret number ${at}`).join('\n')}\n`;
  const ours = [];
  const bare = [];
  for (let round = 0; round < RUNS; round++) {
    bare.push(run([node, bareScript, url], lines, { BENCH_TOKEN: token }).milliseconds);
    const { milliseconds, stdout } = run(pwpush('push', '--each'), lines);
    ours.push(milliseconds);
    if (stdout.split('\n').length !== COUNT) throw new Error('not every push has its link');
  }
  const each = pwpush('push', '--each');
  const rate = (list) => COUNT / (median(list) / 1000);
  const few = lines.split('\n').slice(0, 1000).join('\n');
  const text = [
    `${COUNT.toLocaleString('en')} secrets, one a line, eight at a time (medians of ${RUNS}):`,
    table(
      ['', 'a second', 'to the pool'],
      [
        ['a bare undici pool', rate(bare).toFixed(0), '1.00'],
        ['`pwpush push --each`', rate(ours).toFixed(0), (rate(ours) / rate(bare)).toFixed(2)],
      ],
    ),
    `Peak memory with 1,000 and with ${COUNT.toLocaleString('en')} lines: ${peak(each, few).toFixed(0)} and ${peak(each, lines).toFixed(0)} MiB.`,
  ].join('\n\n');
  return { figures: { each: median(ours) / median(bare) }, text };
}
