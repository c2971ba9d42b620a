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
  for (const entry of ledger.entries)
    expect(await ledger.retrieve(last, entry, 'a client'), `seed ${seed}`).toBe(true);
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
});
