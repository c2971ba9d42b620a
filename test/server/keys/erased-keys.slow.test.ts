import { beforeEach, expect, test } from 'vitest';
import type { SecretRow } from '../../../src/server/store/push-rows';
import { type AtRest, atRest } from '../../helpers/at-rest';
import { numbers } from '../../helpers/numbers';
import { onSqlite } from '../../helpers/stores';

const DAY = 86_400_000;

const store = onSqlite();
let here: AtRest;

beforeEach(async () => {
  here = await atRest(await store.room());
  return here.close;
});

const anybody = { ip: null, userAgent: null, referrer: null, owner: undefined };

const KEY_HEAD = 24;

const secretRows = () => here.beside.sql<SecretRow>`SELECT data_key, note_key FROM secrets`;

/** The heads of the wrapped keys that the database has to have, as text of one character a byte. */
async function wanted(): Promise<string[]> {
  const keys = (await secretRows()).flatMap(({ data_key, note_key }) => [data_key, note_key]);
  return keys.flatMap((key) => (key ? [Buffer.from(key).toString('latin1', 0, KEY_HEAD)] : []));
}

/** Which of them are in one of the files, the log and its index included. */
async function onDisk(heads: ReadonlySet<string>): Promise<string[]> {
  const text = (await here.remains()).toString('latin1');
  const found: string[] = [];
  // What is sealed begins with a 1, the version.
  for (let at = text.indexOf('\x01'); at !== -1; at = text.indexOf('\x01', at + 1)) {
    const head = text.slice(at, at + KEY_HEAD);
    if (heads.has(head)) found.push(head);
  }
  return found;
}

test('no key outlives its push, however the database was rearranged', async () => {
  const random = numbers(20260820);
  const below = (limit: number) => Math.floor(random() * limit);
  const size = () => 1 + below(random() < 0.05 ? 20_000 : random() < 0.5 ? 100 : 600);
  const { pushes, housekeeping } = here.service.service;
  const ever = new Set<string>();
  const left: string[] = [];
  for (let round = 0; round < 20; round++) {
    const made = Array.from({ length: 120 }, (_, index) => {
      const payload = 'x'.repeat(size());
      const note = random() < 0.3 ? 'n'.repeat(size() % 300) : '';
      const passphrase = index === 119 && round % 2 === 0 ? 'sesame' : '';
      // Half of them end after this round, a quarter after the next.
      const expire_after_days = Math.ceil(-Math.log2(1 - random()) + 1e-9);
      const fields = { payload, note, passphrase, expire_after_days, expire_after_views: 1 };
      return pushes.create(fields, anybody);
    });
    const tokens = (await Promise.all(made)).map(({ push }) => push.url_token);
    for (const key of await wanted()) ever.add(key);
    for (const urlToken of tokens.splice(below(110), 10))
      await pushes.expire({ urlToken, visitor: anybody, passphrase: 'sesame' });
    // Whoever has taken a last view can repeat it: the text stays, and its key does not.
    for (const urlToken of tokens.splice(below(100), 10)) {
      const visitor = { ...anybody, idempotencyKey: `${urlToken} of more than 22` };
      await pushes.retrieve({ urlToken, visitor, passphrase: 'sesame' });
    }
    here.service.clock.advance(DAY);
    await housekeeping.sweep();
    const dead = new Set(ever);
    for (const key of await wanted()) dead.delete(key);
    left.push(...(await onDisk(dead)));
  }
  expect(ever.size).toBeGreaterThan(2900);
  expect(left).toEqual([]);
});
