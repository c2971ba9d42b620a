// How many pushes a second, beside a bare server.
import { join } from 'node:path';
import { folder, memory, processorTime, startBare, startClient, startService } from './processes.mjs';
import { get, post } from './requests.mjs';
import { row } from './rows.mjs';

const body = '{"push":{"payload":"correct horse battery staple","expire_after_views":1}}';

/** Creations, views, last views, which destroy the secret, and an owner's readings, at each number of connections. */
export async function rates(client, levels, seconds, store) {
  console.log('              connections      rate  to bare                              processor');
  const base = await bareRates(client, levels, Math.min(seconds, 3));
  const service = await startService('--data', join(folder, 'rates'), ...store);
  const owner = startClient('owner', service.token);
  console.log(`\nat rest ${memory(service).now} MiB`);
  for (const connections of levels) {
    const job = { connections, seconds };
    const { write, read } = base[connections];
    const create = await counted(client, service, 'create', { ...job, views: 1 });
    row('create', connections, create, write);
    await client.run('create', { ...job, port: service.port, views: 100, count: 1000 });
    row('view', connections, await counted(client, service, 'view', job), read);
    row('last view', connections, await counted(client, service, 'last', job), read);
    await owner.run('create', { ...job, port: service.port, views: 100, count: 1000 });
    row('reading', connections, await counted(owner, service, 'view', job), read);
  }
  const { peak, now } = memory(service);
  console.log(`peak ${peak} MiB, at the end ${now} MiB`);
  await service.stop();
  await client.stop();
  await owner.stop();
}

/** Figures of a job, processor time a request included: the one that says most where others use the machine, too. */
async function counted(client, server, what, job) {
  const before = processorTime(server);
  const result = await client.run(what, { ...job, port: server.port });
  return { ...result, processor: (processorTime(server) - before) / result.count };
}

async function bareRates(client, levels, seconds) {
  const base = {};
  const server = await startBare();
  for (const connections of levels) {
    const job = { connections, seconds };
    const write = await counted(client, server, 'repeat', { ...job, request: post('/', body) });
    const read = await counted(client, server, 'repeat', { ...job, request: get('/') });
    base[connections] = { write: write.rate, read: read.rate };
    row('bare POST', connections, write);
    row('bare GET', connections, read);
  }
  await server.stop();
  return base;
}
