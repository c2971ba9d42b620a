// What a long load does to the memory.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { folder, memory, startService } from './processes.mjs';
import { row } from './rows.mjs';

/** Creations and last views in turns for so many minutes, over 64 connections, and a look at the memory after each. */
export async function minutes(client, number, store) {
  const service = await startService('--data', join(folder, 'minutes'), ...store);
  console.log(`at rest ${memory(service).now} MiB`);
  for (let minute = 1; minute <= number; minute += 1) {
    const job = { port: service.port, connections: 64, seconds: 60 };
    row(`minute ${minute}`, 64, await client.run('mixed', job));
    const { peak, now } = memory(service);
    console.log(`${''.padEnd(20)} peak ${peak} MiB, now ${now} MiB`);
  }
  await wait(10_000);
  console.log(`ten seconds later ${memory(service).now} MiB`);
  await service.stop();
  client.stop();
}
