// How many pushes the service takes and hands out a second, how fast, and in how much memory. Needs Linux (/proc), a
// build, and a folder for temporary files (or BENCH_TMPDIR) that is on a disk. One of:
//   node test/bench/service.mjs [--seconds 5] [--connections 1,16,64]   beside a bare node:http server, in one run
//   node test/bench/service.mjs --pushes 1000000 [--seconds 2] [--keep] with so many pushes beside a thousand; kept in
//                                                                       SIZES.md, of which plot-sizes.mjs draws
//   node test/bench/service.mjs --minutes 10                            what it does to the memory
// With --postgres they use a PostgreSQL of their own, where one is installed. The service is the
// executable that BENCH_BINARY names, if any.
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { filled } from './load/filled.mjs';
import { minutes } from './load/minutes.mjs';
import { startPostgres } from './load/postgres.mjs';
import { folder, startClient } from './load/processes.mjs';
import { rates } from './load/rates.mjs';
import { commitsPerSecond } from './load/sqlite.mjs';
import { keepSizes } from './plot-sizes.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    pushes: { type: 'string' },
    keep: { type: 'boolean' },
    minutes: { type: 'string' },
    postgres: { type: 'boolean' },
  },
});
const seconds = Number(options.seconds);

console.log(`Node ${process.version}, ${cpus().length} cores, ${new Date().toISOString()}`);
console.log(`one row a commit, synced: ${commitsPerSecond(join(folder, 'probe.db')).toFixed(0)}/s\n`);

const address = options.postgres ? startPostgres() : undefined;
if (options.postgres && !address) throw new Error('no PostgreSQL was found');
const store = address ? ['--database', address] : [];

if (options.minutes) await minutes(startClient(), Number(options.minutes), store);
else if (options.pushes) {
  const figures = await filled(Number(options.pushes), seconds, address);
  console.log(figures);
  if (options.keep) keepSizes(address ? 'PostgreSQL' : 'SQLite', figures);
} else await rates(startClient(), options.connections.split(',').map(Number), seconds, store);
