// How many pushes a second, beside a bare server.
import { join } from 'node:path';
import { folder, memory, startBare, startService } from './processes.mjs';
import { get, post } from './requests.mjs';
import { row } from './rows.mjs';

const body = '{"push":{"payload":"correct horse battery staple","expire_after_views":1}}';

/** Creations, views, and last views, which destroy the secret, at each number of connections. */
export async function rates(client, levels, seconds) {
  console.log('             connections     rate  to bare');
  const base = await bareRates(client, levels, Math.min(seconds, 3));
  const service = await startService('--data', join(folder, 'rates'));
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
  console.log(`peak ${peak} MiB, at the end ${now} MiB`);
  await service.stop();
  client.stop();
}

async function bareRates(client, levels, seconds) {
  const base = {};
  const { port, stop } = await startBare();
  for (const connections of levels) {
    const job = { port, connections, seconds };
    const write = await client.run('repeat', { ...job, request: post('/', body) });
    const read = await client.run('repeat', { ...job, request: get('/') });
    base[connections] = { write: write.rate, read: read.rate };
    row('bare POST', connections, write);
    row('bare GET', connections, read);
  }
  await stop();
  return base;
}
