import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  away,
  busy,
  full,
  keyChanged,
  notFound,
  refusalStatuses,
  ServiceError,
} from '../../../src/server/service-errors';
import { migrate } from '../../../src/server/store/database';
import { openMemory } from '../../../src/server/store/sqlite';
import { watched } from '../../../src/server/store/watched';
import { folders } from '../../helpers/memory';
import { opened } from '../../helpers/service';

const newFolder = folders();
const coded = (code: string) => Object.assign(new Error('MARKER'), { code });
const numbered = Object.assign(coded('ERR_SQLITE_ERROR'), { errcode: 8 + 256 });

/** An empty database in memory, and the lines that its watch has logged. */
async function inMemory() {
  const own = await openMemory((load) => load());
  onTestFinished(() => own.close());
  const lines: string[] = [];
  return { own, lines, warn: (line: string) => void lines.push(line) };
}

test.each([
  [away(new ServiceError('the server refused "u" (28P01)')), 'the server refused "u" (28P01)'],
  [away(coded('57P01')), 'the database is unavailable (57P01)'],
  [away(numbered), 'the database is unavailable (SQLITE_READONLY)'],
  [away(coded('MARKER of a server')), 'the database does not respond'],
  [away(new Error('MARKER')), 'the database does not respond'],
  [busy('x', coded('SQLITE_BUSY')), 'the database is locked (SQLITE_BUSY)'],
  [full(coded('53100')), 'the database has no space (53100)'],
])('a state in which it refuses is logged when it begins and ends: %s', async (refusal, why) => {
  const { own, lines, warn } = await inMemory();
  await migrate(own);
  let fails = true;
  const over = {
    ...own,
    transaction: (async (work) => {
      if (fails) throw refusal;
      return own.transaction(work);
    }) as typeof own.transaction,
  };
  const { transaction, sql } = watched(over, warn);
  const write = () => transaction(async () => 1).catch(() => 0);
  const writes = async () => [await write(), await write(), await write()];
  const status = refusalStatuses[refusal.kind];
  expect([await writes(), lines]).toEqual([[0, 0, 0], [`${why}; requests get ${status}`]]);
  // What only reads says nothing of the writing.
  await sql`SELECT 1`;
  expect(lines).toHaveLength(1);
  fails = false;
  expect([await writes(), lines.length]).toEqual([[1, 1, 1], 2]);
  expect(lines[1]).toMatch(/^the database (is available again|is no longer locked|has space again)$/);
});

test('what a rule refuses is not logged, and a changed key once', async () => {
  const { own, lines, warn } = await inMemory();
  await migrate(own);
  const { transaction } = watched(own, warn);
  for (const error of [notFound(), busy('x'), full(), keyChanged(), keyChanged()]) {
    await expect(transaction(() => Promise.reject(error))).rejects.toBe(error);
    await transaction(async () => 1);
  }
  expect(lines).toEqual([expect.stringMatching(/^the instance key was changed: restart/)]);
});

test('what a health check alone finds is logged, whatever it is', async () => {
  const { own, lines, warn } = await inMemory();
  const { check } = watched(own, warn);
  await expect(check()).rejects.toThrow('no such table');
  await expect(check()).rejects.toThrow('no such table');
  expect(lines).toEqual(['the database is unavailable (SQLITE_ERROR); requests get 503']);
  await migrate(own);
  await check();
  expect(lines.slice(1)).toEqual(['the database is available again']);
});

test('a folder that is moved while it serves is away, until it is back', async () => {
  const data = join(await newFolder(), 'data');
  const service = await opened({ data });
  const push = async () => {
    const body = { push: { payload: 'x' } };
    return (await service.call('POST', '/api/v2/pushes', { body })).status;
  };
  await rename(data, `${data}2`);
  expect([await push(), await push()]).toEqual([503, 503]);
  await service.service.housekeeping.sweep();
  expect([await push(), service.warnings.length]).toEqual([503, 1]);
  await rename(`${data}2`, data);
  expect(await push()).toBe(201);
  await expect.poll(() => service.warnings.length, { message: 'the end of the outage is told' }).toBe(2);
  expect([service.warnings, service.lines.join('\n')]).toEqual([
    ['the database is unavailable (ENOENT); requests get 503', 'the database is available again'],
    expect.not.stringMatching(/ error /),
  ]);
});
