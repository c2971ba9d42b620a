// The service: on Node.js beside the executable and an earlier build, and on PostgreSQL beside SQLite.
import { join, resolve } from 'node:path';
import { compared } from '../load/compared.mjs';
import { startPostgres } from '../load/postgres.mjs';
import { folder, startServiceOf } from '../load/processes.mjs';
import { script, table } from './processes.mjs';

const onNode = [process.execPath, script];
const jobs = ['create', 'view', 'last'];

async function measured(programs, load) {
  const sides = {};
  for (const [name, [program, ...words]] of Object.entries(programs)) {
    const data = join(folder, `${load.connections}-${name}`);
    const service = await startServiceOf(program, '--data', data, ...words);
    sides[name] = { ...service, ...(name === 'with keys' ? { kind: 'keys' } : {}) };
  }
  const rates = await compared(sides, { jobs, rounds: 4, seconds: 2, ...load });
  for (const { stop } of Object.values(sides)) await stop();
  const rows = Object.entries(rates).map(([name, by]) => [
    name,
    ...jobs.map((what) => by[what].toFixed(0)),
  ]);
  const head = ['', 'creations a second', 'views', 'last views'];
  const text = `\`serve\`, ${load.connections} connections, medians of 4 interleaved runs of 2 s:\n\n${table(head, rows)}`;
  return { rates, text };
}

/**
 * @param binary path of the executable, if it is measured too
 * @param before path of the `bin/pwpush.js` of an earlier build, if that is
 */
export async function onSqlite({ binary, before }) {
  const programs = { 'Node.js': [onNode], 'with keys': [onNode] };
  if (binary) programs['the executable'] = [[resolve(binary)]];
  if (before) programs.before = [[process.execPath, resolve(before)]];
  const { rates, text } = await measured(programs, { connections: 16 });
  const now = rates['Node.js'];
  const figures = { ...now, lastToView: now.last / now.view };
  const add = (name, what, rate, base) => {
    if (rate && base) figures[name] = rate[what] / base[what];
  };
  for (const [what, name] of [
    ['create', 'Create'],
    ['view', 'View'],
  ]) {
    add(`binary${name}`, what, rates['the executable'], now);
    add(`${what}ToBefore`, what, now, rates.before);
  }
  return { figures, text };
}

/** Nothing where PostgreSQL is not installed. */
export async function onPostgres() {
  const address = startPostgres();
  if (!address) return { figures: {}, text: 'PostgreSQL was not found.' };
  const programs = { SQLite: [onNode], PostgreSQL: [onNode, '--database', address] };
  const { rates, text } = await measured(programs, { connections: 64 });
  const { SQLite, PostgreSQL } = rates;
  const figures = {
    postgresCreate: PostgreSQL.create / SQLite.create,
    postgresView: PostgreSQL.view / SQLite.view,
  };
  return { figures, text };
}
