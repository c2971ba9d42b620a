import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Ledger } from '../helpers/ledger';
import { long } from '../helpers/long';
import { folders } from '../helpers/memory';
import { numbers } from '../helpers/numbers';
import { person, pwpush, serveBuilt, start } from '../helpers/program';
import { seed } from '../helpers/seed';
import { onSharedPostgres } from '../helpers/stores';

const KILLS = long ? 4 : 2;
const PUSHES = long ? 200 : 50;

const someone = person();
const newFolder = folders();

/** Changes the key beside two services under load; killed some times, then whole. */
async function rekeyUnderLoad(data: string, ...place: string[]): Promise<void> {
  // The same seed does the same things, though not at the same moments.
  const ledger = new Ledger(numbers(seed));
  const words = ['--data', data, ...place];
  const file = join(data, 'instance.key');
  const first = await serveBuilt(someone.env, words);
  const second = { ...(await serveBuilt(someone.env, words)), token: first.token };
  await ledger.fill(first, PUSHES);
  const before = readFileSync(file, 'utf8');
  const loads = Promise.all([first, second].map((one) => ledger.load(one, 3, () => {})));
  const rekey = ['serve', 'rekey', '--json', ...words];
  for (let round = 0; round < KILLS; round += 1) {
    const { child, ended } = start(rekey, { env: someone.env });
    setTimeout(() => child.kill('SIGKILL'), 100 + ledger.below(500));
    await ended;
  }
  const done = await pwpush(rekey, { env: someone.env });
  expect([done.code, JSON.parse(done.stdout)], done.stderr).toEqual([
    0,
    { resealed: expect.any(Number), key_file: file },
  ]);
  await first.stop();
  await second.stop();
  await loads;
  const after = readFileSync(file, 'utf8');
  expect(after).toMatch(/^[\w+/]{43}=\n$/);
  expect(after).not.toBe(before);
  expect(readdirSync(data).filter((name) => name.startsWith('instance.key.'))).toEqual([]);
  const third = { ...(await serveBuilt(someone.env, words)), token: first.token };
  for (const entry of ledger.entries) {
    const held = entry.ended === 'no' && entry.delivered + entry.unsure < entry.views;
    if (held) expect(await ledger.retrieve(third, entry), `seed ${seed}`).toBe(true);
  }
  expect(ledger.broken, `seed ${seed}`).toEqual([]);
  await third.stop();
}

const claim = 'the instance key changes while two services are under load, killed or not';

test(`SQLite: ${claim}`, async () => rekeyUnderLoad(await newFolder()), 60_000);

onSharedPostgres((databases) => {
  test(claim, async () => {
    const database = databases().localUrl(await databases().createDatabase());
    await rekeyUnderLoad(await newFolder(), '--database', database);
  }, 60_000);
});
