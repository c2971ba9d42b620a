// Whether it matters how many pushes there are: the same requests to services with a thousand, ten thousand, and so on.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addDue, addExpired, nextDue, openPostgres, openSqlite, startPostgres, unsafely } from './databases.mjs';
import { folder, inTurns, loader, memory, middle, ratio, serve, table } from './runner.mjs';

const FEW = 1000;
/** Fewer are swept before a look at the database can tell. */
const LEAST_DUE = 5000;
const CONNECTIONS = 4;
const ROUNDS = 5;
const ROWS = 50;
/** The most times as long as the first page that the last one of a list should take. */
const MOST_OF_LAST_PAGE = 2;

const path = '/api/v2/pushes';
const bearer = (token) => ({ Authorization: `Bearer ${token}` });

/** The same page of each, as a later one reads more of the index, however many there are after it. */
const list = (name, number) => ({
  name,
  job: 'repeat',
  isFor: ({ active }) => active >= number * ROWS,
  more: ({ token }) => ({ path: `${path}/active?page=${number}`, fields: bearer(token) }),
});

const LAST_PAGE = 'list, page 200';

/** Lists come first, as the others add pushes; `before` has what a job uses up. */
const jobs = [
  list('list, first page', 1),
  list('list, page 20', 20),
  list(LAST_PAGE, 200),
  { name: 'creation', job: 'create' },
  { name: 'creation with a key', job: 'create', kind: 'keys' },
  { name: 'view', job: 'view', before: { views: 100, count: 200 } },
  { name: 'last view', job: 'last', before: { views: 1, count: 1000 } },
];

/**
 * Services with up to `count` pushes, in turns. A tenth of them are active, of one owner, a thousand at least; half are due
 * when the service starts, 5,000 at least; the others have expired. Returns a table.
 */
export async function sizes(program, { count, seconds, isOnPostgres }) {
  const postgres = isOnPostgres ? startPostgres() : undefined;
  if (isOnPostgres && !postgres) throw new Error('no PostgreSQL was found');
  const sides = [];
  for (let size = FEW; sides.at(-1)?.count !== count; size *= 10)
    sides.push(await prepare(program, Math.min(size, count), postgres));
  // What was written without syncing would be written while something is measured.
  spawnSync('sync');
  for (const side of sides) Object.assign(side, await start(program, side));
  const rows = [rowOf('sweep', sides, ({ swept }) => swept)];
  let firstPages;
  for (const { name, job, kind = 'pwpush', isFor = () => true, more = () => ({}), before } of jobs) {
    const cases = sides.map((side) => ({
      async take() {
        if (!isFor(side)) return {};
        const client = side.clients[kind];
        const { port } = side;
        if (before) await client.run('create', { port, connections: 64, ...before });
        return client.run(job, { port, connections: CONNECTIONS, seconds, views: 1, ...more(side) });
      },
    }));
    await inTurns([cases], { rounds: ROUNDS, warm: 1 });
    rows.push(rowOf(name, cases, (one) => middle(one, 'rate')));
    firstPages ??= cases;
    if (name === LAST_PAGE) rows.push(slownessOf(cases, firstPages));
  }
  rows.push(rowOf('memory, MiB', sides, (side) => memory(side).now));
  rows.push(rowOf('peak memory, MiB', sides, (side) => memory(side).peak));
  for (const { stop } of sides) await stop();
  return table(['a second', ...sides.map(({ count }) => count.toLocaleString('en'))], rows);
}

/** Figures with their ratio to that of the fewest pushes. Says it at once, too, as the whole takes minutes. */
function rowOf(name, sides, of) {
  const figures = sides.map(of);
  const first = figures.find((one) => one !== undefined);
  const cells = figures.map((one) => (one === undefined ? '' : `${one.toFixed(0)} (${(one / first).toFixed(2)})`));
  console.error([name, ...cells].join('  '));
  return [name, ...cells];
}

/** How long the last page of a list takes to the first one. */
function slownessOf(lastPages, firstPages) {
  const cells = lastPages.map((one, at) => {
    const times = ratio(firstPages[at], one, 'rate');
    if (Number.isNaN(times)) return '';
    return times > MOST_OF_LAST_PAGE ? `**${times.toFixed(2)}**` : times.toFixed(2);
  });
  return [`times of the first page (≤ ${MOST_OF_LAST_PAGE} is wanted)`, ...cells];
}

/** A database with so many pushes. The active ones are made by the service, as only it can seal what it shows. */
async function prepare(program, count, postgres) {
  const data = join(folder, `filled-${count}`);
  const words = ['--data', data, '--rate-limit', 'off'];
  if (postgres) words.push('--database', postgres.newDatabase());
  const { port, token, stop } = await serve(program, ...words);
  const clients = { pwpush: loader(), keys: loader('keys') };
  const active = Math.max(count / 10, FEW);
  const body = JSON.stringify({ push: { payload: 'correct horse battery staple' } });
  const made = { method: 'POST', path, body, fields: bearer(token), count: active };
  await clients.pwpush.run('repeat', { port, connections: 64, ...made });
  await stop();
  const database = postgres ? openPostgres(words.at(-1)) : openSqlite(join(data, 'pwpush.db'));
  const due = Math.max(count / 2, LEAST_DUE);
  unsafely(database, () => {
    addExpired(database, Math.max(count - active - due, 0));
    addDue(database, due);
  });
  // As PostgreSQL does by itself, but later.
  if (postgres) database.exec('VACUUM ANALYZE');
  return { count, words, token, clients, active, due, database };
}

/** Starts the service of a side, which sweeps at once; answers how many pushes a second that ended, too. */
async function start(program, { words, clients, due, database }) {
  const first = nextDue(database);
  const starting = serve(program, ...words);
  while (nextDue(database) === first) await wait(1);
  const began = performance.now();
  // A look at PostgreSQL is a process, which takes what is measured.
  while (nextDue(database)) await wait(database.isPostgres ? 100 : 10);
  const swept = due / ((performance.now() - began) / 1000);
  database.close();
  const service = await starting;
  const stop = async () => {
    for (const one of [...Object.values(clients), service]) await one.stop();
  };
  return { pid: service.pid, port: service.port, swept, stop };
}
