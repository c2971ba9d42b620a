import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keysIn } from '../helpers/key-file';
import { Ledger } from '../helpers/ledger';
import { long } from '../helpers/long';
import { folders } from '../helpers/memory';
import { numbers } from '../helpers/numbers';
import { person, pwpush, serveBuilt, start } from '../helpers/program';
import { seed } from '../helpers/seed';
import { onSharedPostgres } from '../helpers/stores';

const KILLS = long ? 3 : 2;
const PUSHES = long ? 100 : 50;

const someone = person();
const newFolder = folders();

/** Changes the key after a crash of the service; killed some times, each time with a service after it, then whole. */
async function rekeyKilled(data: string, ...place: string[]): Promise<void> {
  // The same seed does the same things, though not at the same moments.
  const ledger = new Ledger(numbers(seed));
  const words = ['--data', data, ...place];
  const file = join(data, 'instance.key');
  const first = await serveBuilt(someone.env, words);
  await ledger.fill(first, PUSHES);
  const before = readFileSync(file, 'utf8');
  const rekey = ['serve', 'rekey', '--json', ...words];
  const refused = await pwpush(rekey, { env: someone.env });
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('the data is in use by a running service');
  expect(readFileSync(file, 'utf8')).toBe(before);
  await first.kill();
  let rounds = 0;
  // One that has ended before is not killed: the next is earlier.
  for (let [kills, latest] = [0, 600]; kills < KILLS; rounds += 1) {
    const { child, ended } = start(rekey, { env: someone.env });
    setTimeout(() => child.kill('SIGKILL'), latest / 6 + ledger.below(latest));
    if ((await ended).signal === 'SIGKILL') kills += 1;
    else latest *= 0.8;
    const between = { ...(await serveBuilt(someone.env, words)), token: first.token };
    await ledger.fill(between, 1);
    await between.stop();
  }
  const done = await pwpush(rekey, { env: someone.env });
  expect([done.code, JSON.parse(done.stdout)], done.stderr).toEqual([
    0,
    { data: expect.any(String), resealed: PUSHES + rounds, key_file: file, old_keys: [] },
  ]);
  const after = readFileSync(file, 'utf8');
  expect(keysIn(after)).toEqual([expect.stringMatching(/^[\w+/]{43}=$/)]);
  expect(keysIn(after)).not.toEqual(keysIn(before));
  expect(readdirSync(data).filter((name) => name.startsWith('instance.key.'))).toEqual([]);
  const last = { ...(await serveBuilt(someone.env, words)), token: first.token };
  for (const entry of ledger.entries) expect(await ledger.retrieve(last, entry, 'a client'), `seed ${seed}`).toBe(true);
  ledger.judge();
  await last.stop();
}

const claim = 'the instance key changes after a crash of the service, killed or not';

test(`SQLite: ${claim}`, async () => rekeyKilled(await newFolder()));

onSharedPostgres((databases) => {
  test(claim, async () => {
    const database = databases().localUrl(await databases().createDatabase());
    await rekeyKilled(await newFolder(), '--database', database);
  });

  test('a change of the key for the data in the folder leaves that in PostgreSQL open', async () => {
    const data = await newFolder();
    const { env } = someone;
    await (await serveBuilt(env, ['--data', data])).stop();
    const name = await databases().createDatabase();
    const DATABASE_URL = databases().localUrl(name);
    const inPostgres = { ...env, DATABASE_URL };
    const service = await serveBuilt(inPostgres, ['--data', data]);
    const ledger = new Ledger(numbers(seed));
    await ledger.fill(service, 3);
    // Its variables are not set in the shell of the operator, who does not stop it.
    const rekeyed = await pwpush(['serve', 'rekey', '--data', data], { env });
    expect([rekeyed.code, rekeyed.stdout]).toEqual([0, '0 pushes resealed\n']);
    expect(rekeyed.stderr).toContain(`data: SQLite "${join(data, 'pwpush.db')}"`);
    expect(rekeyed.stderr).toMatch(new RegExp(`the old key \\S+ stays in \\S+ for PostgreSQL .*/${name}\n`));
    await service.stop();
    const again = await serveBuilt(inPostgres, ['--data', data]);
    for (const entry of ledger.entries) expect(await ledger.retrieve(again, entry, 'a client')).toBe(true);
    await again.stop();
    const both = await pwpush(['serve', 'rekey', '--data', data], { env: inPostgres });
    expect(both.code).toBe(0);
    expect(both.stderr).toContain(`for SQLite "${join(data, 'pwpush.db')}"`);
    expect(both.stderr).not.toContain(DATABASE_URL);
  });
});
