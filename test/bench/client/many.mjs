// 10,000 pushes in one run, beside a bare undici pool that sends the same bodies, with the same token, over as many
// connections, to a server that keeps nothing; and the memory that takes, at a service.
import { fileURLToPath } from 'node:url';
import { median, table } from './processes.mjs';
import { withStandIn } from './stand-in.mjs';

const bareScript = fileURLToPath(new URL('pool.mjs', import.meta.url));
export const COUNT = 10_000;
const RUNS = 3;

/** So many secrets, one a line. */
export const lines = (count) => Array.from({ length: count }, (_, at) => `secret number ${at}\n`).join('');

export async function many({ node, pwpush, peak }) {
  const each = pwpush('push', '--each');
  const [bare, ours] = await withStandIn(async ({ url, run }) => {
    const cases = [[node, bareScript, url], each].map((command) => ({ command, times: [] }));
    for (let round = 0; round < RUNS; round++) {
      for (const { command, times } of cases) {
        const { milliseconds, stdout } = await run(command, lines(COUNT));
        times.push(milliseconds);
        if (stdout.split('\n').length !== COUNT + 1) throw new Error('not every push has its link');
      }
    }
    return cases.map(({ times }) => median(times));
  });
  const row = (name, time) => [name, (time / 1000).toFixed(2), (time / bare).toFixed(2)];
  const count = COUNT.toLocaleString('en');
  const [few, all] = [1000, COUNT].map((one) => peak(each, lines(one)).toFixed(0));
  const text = [
    `${count} secrets, one a line, eight at a time, to a server that keeps nothing (medians of ${RUNS}):`,
    table(['', 's', 'to the pool'], [row('a bare undici pool', bare), row('`pwpush push --each`', ours)]),
    `Peak memory with 1,000 and with ${count} lines, to a service: ${few} and ${all} MiB.`,
  ].join('\n\n');
  return { figures: { each: ours / bare }, text };
}
