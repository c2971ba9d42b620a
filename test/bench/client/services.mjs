// The service: on Node.js beside the executable, and on PostgreSQL beside SQLite.
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compared } from '../load/compared.mjs';
import { startPostgres } from '../load/postgres.mjs';
import { folder, memory, startServiceOf } from '../load/processes.mjs';
import { script, table } from './processes.mjs';

const onNode = [process.execPath, script];
export const jobs = ['create', 'view', 'last'];
/** Many short ones: the speed of a machine can change within seconds, so that medians of 4 differ by a tenth. */
export const ROUNDS = 12;

/**
 * Runs a service of each program; returns by name what it did a second, and the MiB it took at most.
 * @param programs by name: the words of a command, and more options of `serve`
 */
export async function measured(programs, load) {
  const sides = {};
  for (const [name, [program, ...words]] of Object.entries(programs)) {
    const data = mkdtempSync(join(folder, 'data-'));
    const service = await startServiceOf(program, '--data', data, ...words);
    sides[name] = { ...service, ...(name === 'with keys' ? { kind: 'keys' } : {}) };
  }
  const rates = await compared(sides, { jobs, rounds: ROUNDS, seconds: 1, ...load });
  const peaks = {};
  for (const [name, service] of Object.entries(sides)) {
    peaks[name] = memory(service).peak;
    await service.stop();
  }
  const rows = Object.entries(rates).map(([name, by]) => [name, ...jobs.map((what) => by[what].toFixed(0))]);
  const head = ['', 'creations a second', 'views', 'last views'];
  const text = `\`serve\`, ${load.connections} connections, medians of ${ROUNDS} interleaved runs of 1 s:\n\n${table(head, rows)}`;
  return { rates, peaks, text };
}

/** @param binary path of the executable, if it is measured too */
export async function onSqlite(binary) {
  const programs = { 'Node.js': [onNode], 'with keys': [onNode] };
  if (binary) programs['the executable'] = [[resolve(binary)]];
  const { rates, text } = await measured(programs, { connections: 16 });
  const now = rates['Node.js'];
  const figures = { ...now, lastToView: now.last / now.view };
  const executable = rates['the executable'];
  if (executable) {
    figures.binaryCreate = executable.create / now.create;
    figures.binaryView = executable.view / now.view;
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
