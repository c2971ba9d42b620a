// What services do a second, and what a request takes of a processor, in turns: on each database, of each program.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from './databases.mjs';
import * as runner from './runner.mjs';

const { casesOf, comparison, folder, inTurns, loader, memory, processorTime, processorTimeOfAll, serve } = runner;
const figures = {
  rate: 'a second',
  processor: 'processor, µs',
  databaseProcessor: 'of the database, µs',
  p99: 'p99, ms',
};

/** What is asked: the kind and the job of load.mjs, and its name. What is compared is beside each other. */
const jobs = [
  ['pwpush', 'create', 'creations'],
  ['keys', 'create', 'creations with keys'],
  ['pwpush', 'view', 'views'],
  ['keys', 'view', 'views with keys'],
  ['pwpush', 'last', 'last views'],
  ['keys', 'last', 'last views with keys'],
  ['owner', 'view', "owner's readings"],
];

/** A service of each program on each database, with the clients that load it. */
async function startAll(programs, postgres) {
  const services = { SQLite: {} };
  if (postgres) services.PostgreSQL = {};
  for (const [store, bySide] of Object.entries(services)) {
    for (const [side, program] of Object.entries(programs)) {
      const data = mkdtempSync(join(folder, 'data-'));
      const words = store === 'PostgreSQL' ? ['--database', postgres.newDatabase()] : [];
      const service = await serve(program, '--data', data, ...words);
      const clients = {};
      for (const kind of ['pwpush', 'keys', 'owner']) clients[kind] = loader(kind, service.token);
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
  const taken = () => [processorTime(pid), database && processorTimeOfAll(database)];
  const [own, other] = taken();
  const result = await client.run(what, { ...job, views: 1 });
  const [ownAfter, otherAfter] = taken();
  const each = (milliseconds) => (milliseconds / result.count) * 1000;
  return { ...result, processor: each(ownAfter - own), databaseProcessor: database && each(otherAfter - other) };
}

/** At so many connections each: a table of what is done, by database, program and job. */
export async function services(programs, { connections, rounds, seconds }) {
  const postgres = startPostgres();
  const texts = [];
  const cases = [];
  for (const level of connections) {
    const all = await startAll(programs, postgres);
    // Those of a group are on all databases, so that they are beside each other.
    const groups = jobs.map(([kind, what, name]) =>
      Object.entries(all).flatMap(([store, services]) =>
        casesOf(services, `${store}, ${level}: ${name}`, (service) =>
          counted(service, kind, what, { connections: level, seconds }),
        ),
      ),
    );
    await inTurns(groups, { rounds, warm: 1 });
    cases.push(...groups.flat());
    const first = (one) => groups.find((group) => group.includes(one))[0];
    texts.push(
      `\`serve\`, ${level} connections, medians of ${rounds} interleaved runs of ${seconds} s:`,
      comparison(groups.flat(), figures, 'to the first', first),
    );
    for (const [store, services] of Object.entries(all)) {
      const peaks = Object.entries(services).map(([side, one]) => `${side} ${memory(one).peak.toFixed(0)}`);
      texts.push(`Peak memory on ${store}, MiB: ${peaks.join(', ')}.`);
      for (const one of Object.values(services)) await end(one);
    }
  }
  return { cases, text: texts.join('\n\n') };
}

async function end({ clients, stop }) {
  for (const one of [...Object.values(clients), { stop }]) await one.stop();
}

/**
 * A service on SQLite. Each `round` measures how long a last view takes to another, and what is done with a key to the same
 * without, by name.
 */
export async function promisedService(program, load) {
  const { now: service } = (await startAll({ now: program })).SQLite;
  async function round() {
    const rates = {};
    for (const [kind, what, name] of jobs.filter(([kind]) => kind !== 'owner'))
      rates[name] = (await counted(service, kind, what, load)).rate;
    return {
      lastView: rates.views / rates['last views'],
      keyOfCreation: rates.creations / rates['creations with keys'],
      keyOfView: rates.views / rates['views with keys'],
      keyOfLastView: rates['last views'] / rates['last views with keys'],
    };
  }
  return { round, stop: () => end(service) };
}
