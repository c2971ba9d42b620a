// How many pushes the service takes and hands out a second, how fast, and in how much memory, beside a bare node:http
// server that answers as many bytes, in one run. Needs Linux (/proc), a build, and a disk that is none in memory.
// Usage: node test/bench/service.mjs [--seconds 5] [--connections 1,16,64] [--database postgres://…]
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { folder, memory, startBare, startClient, startService } from './load/processes.mjs';
import { get, post } from './load/requests.mjs';
import { commitsPerSecond } from './load/sqlite.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,16,64' },
    database: { type: 'string' },
  },
});
const seconds = Number(options.seconds);
const levels = options.connections.split(',').map(Number);

const row = (name, connections, { rate, p50, p99 }, base) =>
  console.log(
    [
      name.padEnd(12),
      String(connections).padStart(4),
      `${rate.toFixed(0).padStart(7)}/s`,
      base ? (rate / base).toFixed(2).padStart(6) : '      ',
      `p50 ${p50.toFixed(2).padStart(7)} ms`,
      `p99 ${p99.toFixed(2).padStart(7)} ms`,
    ].join('  '),
  );

console.log(`Node ${process.version}, ${cpus().length} cores, ${new Date().toISOString()}`);
console.log(
  `one row a commit, synced: ${commitsPerSecond(join(folder, 'probe.db')).toFixed(0)}/s\n`,
);
console.log('             connections     rate  to bare');

const client = startClient();
const bare = await startBare();
const base = {};
for (const connections of levels) {
  const job = { port: bare.port, connections, seconds: Math.min(seconds, 3) };
  const write = await client.run('repeat', {
    ...job,
    request: post(
      '/',
      '{"push":{"payload":"correct horse battery staple","expire_after_views":1}}',
    ),
    expected: 201,
  });
  const read = await client.run('repeat', { ...job, request: get('/') });
  base[connections] = { write: write.rate, read: read.rate };
  row('bare POST', connections, write);
  row('bare GET', connections, read);
}
await bare.stop();

const place = options.database ? ['--database', options.database] : [];
const service = await startService('--data', join(folder, 'data'), ...place);
console.log(`\nat rest ${memory(service).now} MiB`);
for (const connections of levels) {
  const job = { port: service.port, connections, seconds };
  const { write, read } = base[connections];
  row('create', connections, await client.run('create', { ...job, views: 1 }), write);
  await client.run('create', { ...job, connections: 16, views: 100, count: 1000 });
  row('view', connections, await client.run('view', job), read);
  row('last view', connections, await client.run('last', job), read);
}
const { peak, now } = memory(service);
console.log(`\npeak ${peak} MiB, at the end ${now} MiB`);
await service.stop();
client.stop();
