// Whether it matters how many pushes there are.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { median, table } from '../client/processes.mjs';
import { addDue, addExpired, nextDue, unsafely } from './fill.mjs';
import { newDatabase, openPostgres } from './postgres.mjs';
import { folder, memory, startClient, startService } from './processes.mjs';
import { bearer, get, post } from './requests.mjs';
import { openSqlite } from './sqlite.mjs';

const FEW = 1000;
/** Fewer are swept before a look at the database can tell. */
const LEAST_DUE = 5000;
const CONNECTIONS = 4;
const ROUNDS = 5;
const ROWS = 50;

const path = '/api/v2/pushes';
const body = JSON.stringify({ push: { payload: 'correct horse battery staple' } });

/** The same page of each, as a later one reads more of the index, however many there are after it. */
const list = (name, number) => ({
  name,
  job: 'repeat',
  isFor: ({ active }) => active >= number * ROWS,
  more: ({ token }) => ({ request: get(`${path}/active?page=${number}`, bearer(token)) }),
});

/** Lists come first, as the others add pushes; `before` has what a job uses up. */
const cases = [
  list('list, first page', 1),
  list('list, page 20', 20),
  list('list, page 200', 200),
  { name: 'creation', job: 'create', more: () => ({ views: 1 }) },
  { name: 'view', job: 'view', before: { views: 100, count: 200 } },
  { name: 'last view', job: 'last', before: { views: 1, count: 1000 } },
];

/**
 * The same requests, over four connections, to services with a thousand pushes, ten thousand, and so on up to `count`, in turns; on the
 * PostgreSQL at an address, if one is given. A tenth of them are active, of one owner, a thousand at least; half are
 * due when the service starts, 5,000 at least; the others have expired. Returns a table.
 */
export async function filled(count, seconds, address) {
  const sizes = [];
  for (let size = FEW; size < count; size *= 10) sizes.push(size);
  const sides = [];
  for (const size of [...sizes, count]) {
    const began = performance.now();
    sides.push(await prepare(size, address));
    console.error(`${size} pushes: made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
  // What was written without syncing would be written while something is measured.
  spawnSync('sync');
  for (const side of sides) Object.assign(side, await start(side));
  const rows = [
    rowOf(
      'sweep',
      sides.map(({ swept }) => swept),
    ),
  ];
  for (const { name, job, isFor = () => true, more = () => ({}), before } of cases) {
    const rates = sides.map(() => []);
    // In the first round programs compile.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [at, side] of sides.entries()) {
        if (!isFor(side)) continue;
        const { client, port } = side;
        if (before) await client.run('create', { port, connections: 64, ...before });
        const load = { port, connections: CONNECTIONS, seconds, ...more(side) };
        const { rate } = await client.run(job, load);
        if (round > 0) rates[at].push(rate);
      }
    }
    if (rates.some((some) => some.length > 0)) rows.push(rowOf(name, rates.map(median)));
  }
  const taken = sides.map(memory);
  rows.push(
    rowOf(
      'memory, MiB',
      taken.map(({ now }) => now),
    ),
  );
  rows.push(
    rowOf(
      'peak memory, MiB',
      taken.map(({ peak }) => peak),
    ),
  );
  for (const { stop } of sides) await stop();
  return table(['a second', ...sides.map(({ count }) => count.toLocaleString('en'))], rows);
}

/** Figures with their ratio to that of the fewest pushes. Says it at once, too, as the whole takes minutes. */
function rowOf(name, figures) {
  const [first] = figures.filter((one) => one !== undefined);
  const cells = figures.map((one) => (one === undefined ? '' : `${one.toFixed(0)} (${(one / first).toFixed(2)})`));
  console.error([name, ...cells].join('  '));
  return [name, ...cells];
}

/** A database with so many pushes. The active ones are made by the service, as only it can seal what it shows. */
async function prepare(count, address) {
  const data = join(folder, `filled-${count}`);
  const words = ['--data', data, '--rate-limit', 'off'];
  if (address) words.push('--database', newDatabase(address, `pushes_${count}`));
  const { port, token, stop } = await startService(...words);
  const client = startClient();
  const active = Math.max(count / 10, FEW);
  const request = post(path, body, bearer(token));
  await client.run('repeat', { port, connections: 64, request, count: active });
  await stop();
  const database = address ? openPostgres(words.at(-1)) : openSqlite(join(data, 'pwpush.db'));
  const due = Math.max(count / 2, LEAST_DUE);
  unsafely(database, () => {
    addExpired(database, Math.max(count - active - due, 0));
    addDue(database, due);
  });
  // As PostgreSQL does by itself, but later.
  if (address) database.exec('VACUUM ANALYZE');
  return { count, words, token, client, active, due, database };
}

/** Starts the service of a side, which sweeps at once; answers how many pushes a second that ended, too. */
async function start({ words, client, due, database }) {
  const first = nextDue(database);
  const starting = startService(...words);
  while (nextDue(database) === first) await wait(1);
  const began = performance.now();
  // A look at PostgreSQL is a process, which takes what is measured.
  while (nextDue(database)) await wait(database.isPostgres ? 100 : 10);
  const swept = due / ((performance.now() - began) / 1000);
  database.close();
  const service = await starting;
  const stop = async () => {
    await client.stop();
    await service.stop();
  };
  return { pid: service.pid, port: service.port, swept, stop };
}
