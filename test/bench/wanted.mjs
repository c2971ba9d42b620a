// What each figure of `npm run bench` should be.
import { table } from './client/processes.mjs';

/** By name of the figure: what it is, and the most or the least it should be, if that is decided. */
export const wanted = {
  push: { what: '`push`, piped, to `node -e 0`', most: 2.3 },
  help: { what: '`--help` to `node -e 0`', most: 1.35 },
  version: { what: '`--version` to `node -e 0`', most: 1.1 },
  each: { what: '`push --each`, 10,000 lines, to the time of a bare undici pool of 8', most: 3 },
  receipts: { what: '`push` with 10,000 receipts minus with one, ms', most: 2 },
  show: { what: '`preview last` with 10,000 receipts to with one', most: 1.05 },
  pushFile: { what: '`push` of a file of 1 GiB, speed to curl', least: 0.9 },
  getFile: { what: '`get` of a file of 1 GiB, speed to curl', least: 0.9 },
  pushEncrypted: { what: '`push --encrypt` of a file of 1 GiB, speed to plain', least: 0.7 },
  getEncrypted: {
    what: '`get` of an encrypted file of 1 GiB, speed to `--no-decrypt`',
    least: 0.7,
  },
  pushEncryptedMemory: { what: '`push --encrypt` of that, peak minus plain, MiB', most: 20 },
  getEncryptedMemory: { what: '`get` of that, peak minus `--no-decrypt`, MiB', most: 20 },
  postgresCreate: {
    what: '`serve`, 64 connections: creations on PostgreSQL to SQLite',
    least: 0.9,
  },
  postgresView: { what: '`serve`, 64 connections: views on PostgreSQL to SQLite', least: 0.9 },
  create: { what: '`serve` on SQLite, 16 connections: creations a second' },
  view: { what: '… views a second' },
  last: { what: '… last views a second' },
  lastToView: { what: '… last views to other views', least: 0.8 },
  createToBefore: { what: '… creations, to the build of `--before`', least: 0.95 },
  viewToBefore: { what: '… views, to the build of `--before`', least: 0.95 },
  lastToBefore: { what: '… last views, to the build of `--before`', least: 0.95 },
  binaryVersion: { what: 'the executable: `--version` to `node -e 0`', most: 0.5 },
  binaryPush: { what: 'the executable: `push`, piped, to `node -e 0`', most: 1.3 },
  binaryCreate: { what: 'the executable: creations, to Node.js', least: 1.6 },
  binaryView: { what: 'the executable: views, to Node.js', least: 1.6 },
};

/** The figures that were measured beside what is wanted, as a table; those that miss it are bold. */
export function wantedTable(figures) {
  const rows = Object.entries(wanted)
    .filter(([name]) => figures[name] !== undefined)
    .map(([name, { what, most, least }]) => {
      const figure = figures[name];
      const text = figure.toFixed(Math.abs(figure) < 100 ? 2 : 0);
      const misses = figure > most || figure < least;
      const bound = most ? `≤ ${most}` : least ? `≥ ${least}` : '';
      return [what, bound, misses ? `**${text}**` : text];
    });
  return table(['', 'wanted', 'measured'], rows);
}
