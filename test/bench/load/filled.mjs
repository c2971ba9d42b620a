// Whether it matters how many pushes there are.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addDue, countDue, examples, fill } from './fill.mjs';
import { folder, memory, startService } from './processes.mjs';
import { bearer, get } from './requests.mjs';
import { row } from './rows.mjs';
import { openSqlite } from './sqlite.mjs';

const FEW = 40_000;
const DUE = 20_000;
const CONNECTIONS = 4;

/** The same requests to a database of 40,000 pushes and to one of `count`, by turns; ratios are many to few. */
export async function filled(startClient, count, seconds) {
  const few = await prepare(FEW);
  const many = await prepare(count);
  // What was written without syncing would be written while something is measured.
  spawnSync('sync');
  console.log(`                                  rate, and many (${count}) to few (${FEW})`);
  await few.start(startClient());
  await many.start(startClient());
  report('sweep', few.swept, many.swept);
  const job = { connections: CONNECTIONS, seconds };
  const compare = async (name, what, more = () => ({})) => {
    const run = ({ client, port, ...one }) => client.run(what, { ...job, port, ...more(one) });
    report(name, await run(few), await run(many));
  };
  for (const [name, request] of Object.entries(requests)) {
    await compare(name, 'repeat', (one) => ({ request: request(one) }));
  }
  for (const { client, port } of [few, many]) {
    await client.run('create', { ...job, port, views: 100, count: 500 });
  }
  await compare('claim', 'view');
  await compare('create', 'create', () => ({ views: 1 }));
  await compare('last view', 'last');
  console.log(`peak ${memory(few).peak} MiB with few, ${memory(many).peak} MiB with many`);
  await few.stop();
  await many.stop();
}

const pushes = '/api/v2/pushes';
const requests = {
  'list active': ({ token }) => get(`${pushes}/active`, bearer(token)),
  'list active, 200th': ({ token }) => get(`${pushes}/active?page=200`, bearer(token)),
  'list expired': ({ token }) => get(`${pushes}/expired`, bearer(token)),
  'list expired, 200th': ({ token }) => get(`${pushes}/expired?page=200`, bearer(token)),
  audit: ({ token, active }) => get(`${pushes}/${active}/audit`, bearer(token)),
  preview: ({ active }) => get(`${pushes}/${active}/preview`),
  'an expired push': ({ expired }) => get(`${pushes}/${expired}`),
};

function report(name, few, many) {
  row(name, CONNECTIONS, few);
  row('', CONNECTIONS, many, few.rate);
}

/** A folder with so many pushes, and what there is to start on it. */
async function prepare(count) {
  const data = join(folder, `filled-${count}`);
  const path = join(data, 'pwpush.db');
  const { token, stop } = await startService('--data', data);
  await stop();
  fill(path, count);
  addDue(path, DUE);
  const one = { ...examples(path), token };
  one.start = async (client) => {
    const starting = startService('--data', data, '--quiet');
    const swept = await sweep(path);
    const { pid, port, stop: end } = await starting;
    const stop = async () => {
      client.stop();
      await end();
    };
    Object.assign(one, { client, pid, port, swept, stop });
  };
  return one;
}

/** How many pushes a second the first sweep ends, from when it begins. */
async function sweep(path) {
  const database = openSqlite(path);
  let left = DUE;
  let began = 0;
  for (let seen = left; left > 0; seen = left) {
    left = countDue(database);
    if (left < seen && began === 0) began = performance.now();
    await wait(2);
  }
  database.close();
  return { rate: DUE / ((performance.now() - began) / 1000), p50: 0, p99: 0 };
}
