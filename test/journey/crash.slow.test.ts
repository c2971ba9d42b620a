import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chunkCount } from '../../src/server/keys/chunks';
import { instanceKey } from '../../src/server/keys/instance-key';
import { Keyring, readLinks } from '../../src/server/keys/keyring';
import { Vault } from '../../src/server/keys/vault';
import type { LinkKeyRow } from '../../src/server/store/key-rows';
import { readAddress } from '../../src/server/store/pg-url';
import { openPostgres } from '../../src/server/store/postgres';
import type { StoredPush } from '../../src/server/store/push-rows';
import { plain, type Sql } from '../../src/server/store/sql';
import type { Result } from '../helpers/history';
import { keysOf } from '../helpers/key-file';
import { type Entry, Ledger } from '../helpers/ledger';
import { times } from '../helpers/long';
import { folders } from '../helpers/memory';
import { numbers } from '../helpers/numbers';
import { planted } from '../helpers/planted';
import type { Databases } from '../helpers/postgres';
import { onNode, person, serveBuilt, start } from '../helpers/program';
import { rowsOf } from '../helpers/rows';
import { seed } from '../helpers/seed';
import { onSharedPostgres } from '../helpers/stores';

const WORKERS = 6;

const someone = person();
/** A killed process loses nothing that it has given to the system, so it need not be a disk. */
const newFolder = folders();

interface Store {
  readonly data: string;
  readonly words: readonly string[];
  /** The rows of each statement, blobs in base64. */
  look(...statements: readonly string[]): Promise<object[][]>;
  /** What the database is asked about itself; a row that is not "ok" is a fault. */
  readonly checks: readonly string[];
  /** Lets so much time pass that the next start clears away the uploads of a crash. */
  pass(): Promise<unknown>;
}

async function onSqlite(): Promise<Store> {
  const data = await newFolder();
  return {
    data,
    words: ['--data', data],
    look: (...statements) => rowsOf(join(data, 'pwpush.db'), ...statements),
    checks: ['PRAGMA foreign_key_check', 'PRAGMA integrity_check'],
    pass: async () => {},
  };
}

async function onServer(databases: Databases): Promise<Store> {
  const data = await newFolder();
  const database = databases.url(await databases.createDatabase());
  const look: Store['look'] = async (...statements) => {
    const { sql, close } = await openPostgres(() => readAddress(database));
    const rows = await Promise.all(statements.map((text) => sql<object>(plain(text))));
    await close();
    return rows.map((list) => JSON.parse(JSON.stringify(list, inBase64)));
  };
  return {
    data,
    words: ['--data', data, '--database', database],
    look,
    checks: [],
    // Other services may be about: only what nobody goes on with for two minutes is cleared away. The server may still
    // be at what the killed one asked for last.
    pass: async () => {
      await look(disconnect);
      await look('UPDATE uploads SET touched_at = 0 WHERE push_id IS NULL');
    },
  };
}

/** Ends the other connections to the database, and waits until they are gone. */
const disconnect = `
  SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/** A buffer has turned itself into an object before it is seen here. */
function inBase64(_: string, value: { type?: string; data?: number[] } | null): unknown {
  return value?.type === 'Buffer' ? Buffer.from(value.data ?? []).toString('base64') : value;
}

/** A push with its secret, blobs in base64. */
interface Found extends Omit<StoredPush, 'sealed_token'> {
  readonly data_key: string | null;
  readonly payload: string | null;
  readonly chunks: number;
}

const found = `
  SELECT pushes.*, data_key, payload, (
    SELECT count(*) FROM chunks JOIN uploads ON uploads.id = chunks.upload_id
    WHERE uploads.push_id = pushes.id) AS chunks
  FROM pushes LEFT JOIN secrets ON secrets.push_id = pushes.id`;

/** What no push has, or only one that was ended. */
const orphans = `
  SELECT 'an upload of no push' AS what FROM uploads WHERE push_id IS NULL AND ends_at IS NULL
  UNION ALL
  SELECT 'chunks of no upload' FROM chunks WHERE upload_id NOT IN (SELECT id FROM uploads)
  UNION ALL
  SELECT 'files of a push that was ended' FROM uploads JOIN pushes ON pushes.id = push_id
  WHERE expired_at IS NOT NULL AND ends_at IS NULL
  UNION ALL
  SELECT 'a secret of a push that was ended' FROM secrets JOIN pushes ON pushes.id = push_id
  WHERE expired_at IS NOT NULL`;

/** What a start gave up or found ended, and deletes while it serves. */
const undeleted = 'SELECT id FROM uploads WHERE push_id IS NULL OR ends_at = 0';

/** Notes what became of a push, and says what no client sees. */
function notePush(vault: Vault, ledger: Ledger, entry: Entry, row: Found | undefined) {
  const note = (result: Result) => ledger.history.found('the database', entry.token, result);
  if (!row) return note({ status: 'missing' });
  const left = row.expire_after_views - row.views;
  if (row.expired_at !== null) return note({ status: 'gone', left, deleted: row.deleted === 1 });
  note({ status: 'shown', payload: opened(vault, entry.token, row) ?? '', left });
  const chunks = entry.file ? chunkCount(entry.file.length) : 0;
  if (row.chunks !== chunks) ledger.broken.push(`${entry.token} lost a part of its file`);
}

function opened(vault: Vault, url_token: string, found: Found): string | null {
  const bytes = (text: string | null) => Buffer.from(text ?? '', 'base64');
  const none = { note_key: null, note: null, salt: null, cost: null, verifier: null };
  const keys = { key_id: vault.keys.key.id, data_key: bytes(found.data_key) };
  const row = { ...none, ...keys, payload: bytes(found.payload) };
  return vault.openPayload(url_token, row.payload, vault.openKey({ ...found, url_token }, row));
}

async function check(store: Store, ledger: Ledger, round: number): Promise<void> {
  ledger.judge();
  const [text] = keysOf(join(store.data, 'instance.key'));
  const key = instanceKey(Buffer.from(text as string, 'base64'));
  // All at once: on SQLite each look takes a process.
  const [rows = [], links = [], strays = [], ...checked] = await store.look(
    found,
    'SELECT number, sealed, key_id FROM link_keys',
    orphans,
    ...store.checks,
  );
  const sealed = (links as (LinkKeyRow & { sealed: string })[]).map((row) => ({
    ...row,
    sealed: Buffer.from(row.sealed, 'base64'),
  }));
  const read = (async () => sealed) as unknown as Sql;
  const vault = new Vault(new Keyring(key, await readLinks(read, key)));
  const byLookup = new Map((rows as Found[]).map((row) => [row.lookup, row]));
  for (const entry of ledger.entries)
    notePush(vault, ledger, entry, byLookup.get(vault.keys.links.lookup(entry.token)));
  ledger.judge();
  const unsound = checked.flat().filter((row) => Object.values(row)[0] !== 'ok');
  expect([...unsound, ...strays], `round ${round} of seed ${seed}`).toEqual([]);
}

async function killedStart(store: Store, ledger: Ledger): Promise<void> {
  const { child, ended } = start(['serve', '--port', '0', ...store.words], { env: someone.env });
  setTimeout(() => child.kill('SIGKILL'), ledger.below(250));
  await ended;
}

/** How `serve` is started: in so many processes, one number a round and so on, and by what. */
interface Way {
  readonly processes: readonly number[];
  readonly by?: readonly string[];
  readonly env?: Record<string, string>;
}

/** Kills one of several processes, and starts another in its place, and in the end all of them. */
async function crashAndCheck(store: Store, rounds: number, { processes, by, env }: Way) {
  // The same seed does the same things, though not at the same moments.
  const ledger = new Ledger(numbers(seed));
  let token = '';
  const serve = async () => {
    const service = await serveBuilt({ ...someone.env, ...env }, store.words, by);
    // A round that finds a fault ends before it kills them.
    onTestFinished(async () => void (await service.kill()));
    token = service.token ?? token;
    return { ...service, token };
  };
  let round = 0;
  // A round can end before a push is acknowledged.
  while (round < rounds || ledger.entries.length < rounds * 3) {
    round += 1;
    const services = [await serve()];
    await check(store, ledger, round);
    const count = processes[round % processes.length] as number;
    services.push(...(await Promise.all(Array.from({ length: count - 1 }, serve))));
    const instances = [...services];
    let replaced: Promise<unknown> | undefined;
    const replace = async () => {
      await services[0]?.kill();
      services[0] = await serve();
      instances.push(services[0]);
    };
    let left = count * (1 + ledger.below(40));
    const until = ledger.below(left);
    try {
      await ledger.load(instances, WORKERS * Math.ceil(count / 2), () => {
        left -= 1;
        if (left === until && count > 1) replaced = replace();
        if (left <= 0) for (const service of services) void service.kill();
      });
    } finally {
      await replaced;
    }
    await Promise.all(services.map(({ kill }) => kill()));
    // Once at least, however few the rounds.
    if (round === 1 || ledger.below(8) === 0) await killedStart(store, ledger);
    await store.pass();
  }
  const service = await serve();
  await check(store, ledger, round + 1);
  for (const entry of ledger.entries) while (await ledger.retrieve(service, entry, 'the last'));
  await check(store, ledger, round + 2);
  await expect.poll(() => store.look(undeleted), { message: 'what was given up is deleted' }).toEqual([[]]);
  await service.stop();
}

const claim = 'crashes lose nothing that was answered, and give no view twice';

describe('SQLite', () => {
  test(claim, async () => crashAndCheck(await onSqlite(), times(4), { processes: [1, 4] }));
});

onSharedPostgres((databases) => {
  test(`of four processes: ${claim}`, async () =>
    crashAndCheck(await onServer(databases()), times(2), { processes: [4] }));
});

async function findPlanted(store: Store, fault: string, count: number, by: readonly string[]) {
  const run = crashAndCheck(store, 30, { processes: [count], by, env: { PLANTED: fault } });
  const [said = '', ...operations] = `${await run.catch((error: unknown) => error)}`.split('\n');
  expect(said).toMatch(/^Error: no order explains push/);
  expect(operations[0]).toMatch(/ create .* → made$/);
  expect(operations.length).toBeLessThan(6);
}

describe('what is planted in a copy of the program is found', onNode, () => {
  // What is tried is the checker, which sees no store: one fault on each.
  const by = planted();

  test('commit, on SQLite', async () => findPlanted(await onSqlite(), 'commit', 1, by));

  onSharedPostgres((databases) => {
    test('claim, by four processes', async () => findPlanted(await onServer(databases()), 'claim', 4, by));
  });
});
