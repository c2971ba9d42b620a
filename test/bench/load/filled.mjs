// Whether it matters how many pushes there are.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { median, table } from '../client/processes.mjs';
import { addDue, addExpired, nextDue } from './fill.mjs';
import { openPostgres } from './postgres.mjs';
import { folder, memory, startClient, startService } from './processes.mjs';
import { bearer, get, post } from './requests.mjs';
import { openSqlite } from './sqlite.mjs';

const FEW = 1000;
/** Fewer are swept before a look at the database can tell. */
const LEAST_DUE = 5000;
const CONNECTIONS = 4;
const ROUNDS = 3;
const PAGE = 50;
const LAST_PAGE = 200;

const path = '/api/v2/pushes';
const body = JSON.stringify({ push: { payload: 'correct horse battery staple' } });
const page = (token, number) => ({
  request: get(`${path}/active?page=${number}`, bearer(token)),
});

/** Name, job of the client, and what it gets besides; a page is the last that there is. */
const cases = [
  ['creation', 'create', () => ({ views: 1 })],
  ['view', 'view', () => ({})],
  ['list, first page', 'repeat', ({ token }) => page(token, 1)],
  [
    `list, page ${LAST_PAGE}`,
    'repeat',
    ({ token, active }) => page(token, Math.min(LAST_PAGE, active / PAGE)),
  ],
];

/**
 * The same requests to a service with a thousand pushes and to one with `count`, in turns; on the PostgreSQL at an
 * address, if one is given. A tenth of them are active, of one owner; half are due when the service starts, 5,000 at
 * least; the others have expired.
 */
export async function filled(count, seconds, address) {
  const sides = [await prepare(FEW, address), await prepare(count, address)];
  // What was written without syncing would be written while something is measured.
  spawnSync('sync');
  for (const side of sides) Object.assign(side, await start(side));
  const rows = [rowOf('sweep', ...sides.map(({ swept }) => swept))];
  for (const [name, what, more] of cases) {
    const rates = sides.map(() => []);
    // In the first round programs compile.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [at, side] of sides.entries()) {
        const { client, port } = side;
        const job = { port, connections: CONNECTIONS, seconds };
        if (what === 'view') await client.run('create', { ...job, views: 100, count: 1000 });
        const { rate } = await client.run(what, { ...job, ...more(side) });
        if (round > 0) rates[at].push(rate);
      }
    }
    rows.push(rowOf(name, ...rates.map(median)));
  }
  rows.push(rowOf('peak memory, MiB', ...sides.map((side) => memory(side).peak)));
  for (const { stop } of sides) await stop();
  const name = address ? 'PostgreSQL' : 'SQLite';
  return table([`${name}, a second`, `${FEW} pushes`, `${count} pushes`, 'ratio'], rows);
}

/** Says it at once, too, as the whole takes minutes. */
function rowOf(name, few, many) {
  const row = [name, few.toFixed(0), many.toFixed(0), (many / few).toFixed(2)];
  console.error(row.join('  '));
  return row;
}

/** A database with so many pushes. The active ones are made by the service, as only it can seal what it shows. */
async function prepare(count, address) {
  const data = join(folder, `filled-${count}`);
  const words = ['--data', data, '--rate-limit', 'off'];
  if (address) words.push('--database', databaseOf(address, `pushes_${count}`));
  const { port, token, stop } = await startService(...words);
  const client = startClient();
  const active = count / 10;
  const request = post(path, body, bearer(token));
  await client.run('repeat', { port, connections: 64, request, count: active });
  await stop();
  const database = address ? openPostgres(words.at(-1)) : openSqlite(join(data, 'pwpush.db'));
  const due = Math.max(count / 2, LEAST_DUE);
  addExpired(database, Math.max(count - active - due, 0));
  addDue(database, due);
  // As PostgreSQL does by itself, but later.
  if (address) database.exec('VACUUM ANALYZE');
  return { words, token, client, active, due, database };
}

function databaseOf(address, name) {
  openPostgres(address).exec(`CREATE DATABASE ${name}`);
  return address.replace('/postgres?', `/${name}?`);
}

/** Starts the service of a side, which sweeps at once; answers how many pushes a second that ended, too. */
async function start({ words, client, due, database }) {
  const first = nextDue(database);
  const starting = startService(...words);
  while (nextDue(database) === first) await wait(1);
  const began = performance.now();
  while (nextDue(database)) await wait(5);
  const swept = due / ((performance.now() - began) / 1000);
  database.close();
  const service = await starting;
  const stop = async () => {
    await client.stop();
    await service.stop();
  };
  return { pid: service.pid, port: service.port, swept, stop };
}
