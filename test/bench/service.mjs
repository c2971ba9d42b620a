// What services do a second, and what a request takes of a processor, in turns: on each database, of each program.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from './databases.mjs';
import * as runner from './runner.mjs';

const { casesOf, comparison, folder, inTurns, loader, memory, middle, processorTime, processorTimeOfAll, serve } =
  runner;
const figures = {
  rate: 'a second',
  processor: 'processor, µs',
  databaseProcessor: 'of the database, µs',
  p99: 'p99, ms',
};

/** What is asked, by kind of load.mjs: the job, and its name. */
const jobs = {
  pwpush: { create: 'creations', view: 'views', last: 'last views' },
  keys: { create: 'creations with keys', view: 'views with keys', last: 'last views with keys' },
  owner: { view: "owner's readings" },
};

/** A service of each program on each database, with the clients that load it. */
async function startAll(programs, postgres) {
  const services = { SQLite: {} };
  if (postgres) services.PostgreSQL = {};
  for (const [store, bySide] of Object.entries(services)) {
    for (const [side, program] of Object.entries(programs)) {
      const data = mkdtempSync(join(folder, 'data-'));
      const name = data.split('-').at(-1).toLowerCase();
      const words = store === 'PostgreSQL' ? ['--database', postgres.newDatabase(`data_${name}`)] : [];
      const service = await serve(program, '--data', data, ...words);
      const clients = Object.fromEntries(Object.keys(jobs).map((kind) => [kind, loader(kind, service.token)]));
      bySide[side] = { ...service, clients, database: words.length > 0 ? postgres.pid : undefined };
    }
  }
  return services;
}

/** Does a job once; processor time is that of a request. */
async function counted({ port, pid, database, clients }, kind, what, { connections, seconds }) {
  const job = { port, connections, seconds };
  const client = clients[kind];
  if (what === 'view') await client.run('create', { ...job, views: 100, count: 1000 });
  const taken = () => [processorTime(pid), database ? processorTimeOfAll(database) : Number.NaN];
  const before = taken();
  const result = await client.run(what, { ...job, views: 1 });
  const [processor, databaseProcessor] = taken().map((time, at) => ((time - before[at]) / result.count) * 1000);
  return { ...result, processor, ...(database && { databaseProcessor }) };
}

/** At so many connections each: a table of what is done, by database, program and job. */
export async function services(programs, { connections, rounds, seconds }) {
  const postgres = startPostgres();
  const texts = [];
  const wanted = {};
  for (const level of connections) {
    const all = await startAll(programs, postgres);
    // Those of a group are on all databases, so that they are beside each other.
    const groups = Object.entries(jobs).flatMap(([kind, ofKind]) =>
      Object.entries(ofKind).map(([what, name]) =>
        Object.entries(all).flatMap(([store, bySide]) =>
          casesOf(programs, `${store}: ${name}`, (_, __, side) =>
            counted(bySide[side], kind, what, { connections: level, seconds }),
          ),
        ),
      ),
    );
    await inTurns(groups, { rounds, warm: 1 });
    const named = (name) => groups.flat().find((one) => one.name === name);
    Object.assign(
      wanted,
      figuresOf(level, (name) => named(name) && middle(named(name), 'rate')),
    );
    const first = (one) => groups.find((group) => group.includes(one))[0];
    texts.push(
      `\`serve\`, ${level} connections, medians of ${rounds} interleaved runs of ${seconds} s:`,
      comparison(groups.flat(), figures, 'to the first', first),
    );
    for (const [store, bySide] of Object.entries(all)) {
      const peaks = Object.entries(bySide).map(([side, one]) => `${side} ${memory(one).peak.toFixed(0)}`);
      texts.push(`Peak memory on ${store}, MiB: ${peaks.join(', ')}.`);
      for (const { clients, stop } of Object.values(bySide))
        for (const end of [...Object.values(clients).map((one) => one.stop), stop]) await end();
    }
  }
  return { figures: wanted, text: texts.join('\n\n') };
}

/** The figures that are wanted of a number of connections. */
function figuresOf(level, rate) {
  const to = (one, other) => rate(one) / rate(other);
  const all = {};
  for (const [name, what] of [
    ['Create', 'creations'],
    ['View', 'views'],
    ['Last', 'last views'],
    ['Reading', "owner's readings"],
  ]) {
    all[`sqlite${name}${level}`] = rate(`SQLite: ${what}`);
    all[`postgres${name}${level}`] = to(`PostgreSQL: ${what}`, `SQLite: ${what}`);
    all[`before${name}${level}`] = to(`SQLite: ${what}`, `before: SQLite: ${what}`);
    all[`binary${name}${level}`] = to(`the executable: SQLite: ${what}`, `SQLite: ${what}`);
  }
  all[`lastToView${level}`] = to('SQLite: last views', 'SQLite: views');
  all[`keysToNone${level}`] = to('SQLite: creations with keys', 'SQLite: creations');
  return all;
}
