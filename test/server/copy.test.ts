import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { copyData, reopenData } from '../../src/server/copy';
import { backup } from '../../src/server/ops/database-copy';
import { Owners } from '../../src/server/owners/owners';
import { restore } from '../../src/server/restore';
import { dataName, migrate } from '../../src/server/store/database';
import { mark } from '../../src/server/store/moved';
import { plain } from '../../src/server/store/sql';
import type { Trust } from '../../src/server/trust/trust-rows';
import { Trusts } from '../../src/server/trust/trusts';
import { folders, released } from '../helpers/memory';
import { filePart, opened, type TestService, testClock } from '../helpers/service';
import { inRoom, onEachStore, onSqlite, type Room } from '../helpers/stores';

const newFolder = folders();
const sqlite = onSqlite();
const MANY = JSON.stringify(Array.from({ length: 100 }, (_, at) => at));
const ONCE = { 'idempotency-key': '"0123456789abcdef0123456789abcdef"' };

/** Change a row when it is copied. */
const TRIGGERS = {
  SQLite: [
    [
      `CREATE TRIGGER more AFTER INSERT ON pushes
       BEGIN UPDATE pushes SET views = views + 1 WHERE id = 2 AND id = new.id; END`,
    ],
    'DROP TRIGGER more',
  ],
  PostgreSQL: [
    [
      `CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN IF new.id = 2 THEN new.views = new.views + 1; END IF; RETURN new; END'`,
      'CREATE TRIGGER more BEFORE INSERT ON pushes FOR EACH ROW EXECUTE FUNCTION more()',
    ],
    'DROP TRIGGER more ON pushes',
  ],
} as const;

onEachStore((store) => {
  const clock = testClock();
  let source: Room;
  let target: Room;
  let service: TestService;
  let tokens: Record<'twice' | 'spent' | 'locked' | 'file' | 'asked', string>;
  let lastTry: number;

  const nameOf = ({ settings }: Room) => dataName(settings);
  const at = (room: Room) => opened({ ...room.settings, clock });
  const copying = async (from = source, to = target) => {
    await released(from.settings.data);
    await released(to.settings.data);
    return copyData(from.settings, to.settings, {});
  };
  const reopening = async (room: Room) => {
    await released(room.settings.data);
    return reopenData(room.settings, {});
  };
  const run = (room: Room, text: string) => inRoom(room, ({ sql }) => sql(plain(text)));
  const triesIn = (room: Room) => inRoom(room, ({ sql }) => sql<{ id: number }>`SELECT id FROM tries ORDER BY id`);

  const MOVED = () => `the data was moved to ${nameOf(target)}`;
  const UNFINISHED = () => `the copy of the data from ${nameOf(source)} is not finished`;

  beforeEach(async () => {
    source = await sqlite.room();
    target = await store.room();
    service = await at(source);
    tokens = {
      twice: await service.create({ payload: 'twice', expire_after_views: 2 }),
      spent: await service.create({ payload: 'spent', expire_after_views: 1 }),
      locked: await service.createOwn({ payload: 'locked', passphrase: 'sesame' }),
      file: await service.createWithFiles(filePart('a.bin', Buffer.alloc(200_000, 7))),
      asked: await service.createRequest(),
    };
    await service.retrieve(tokens.twice);
    await service.retrieve(tokens.spent, { headers: ONCE });
    await service.retrieve(`${tokens.locked}?passphrase=x`);
    await service.respond(tokens.asked, 'hunter2');
    lastTry = Number((await triesIn(source)).at(-1)?.id);
    // The largest id that was given is not that of a row.
    await run(source, 'DELETE FROM tries');
    // More than a page of rows, which is 50.
    await run(source, `INSERT INTO audit (push_id, kind, created_at) SELECT 1, 'view', 0 FROM json_each('${MANY}')`);
    await service.close();
  });

  /** Whether all is there that the data had, less what this takes. */
  const isWhole = async (room: Room) => {
    const there = await at(room);
    const twice = await there.retrieve(tokens.twice);
    const spent = await there.retrieve(tokens.spent, { headers: ONCE });
    const locked = await there.retrieve(`${tokens.locked}?passphrase=sesame`);
    const file = await there.retrieve(tokens.file);
    const [url] = file.json.files.map((one: { url: string }) => one.url);
    const bytes = (await there.fetchLink(url)).bytes;
    const { json } = await there.call('GET', `/api/v2/requests/${tokens.asked}`, { token: service.adminToken });
    expect([twice.json.payload, twice.json.views_remaining]).toEqual(['twice', 0]);
    expect([spent.json.payload, locked.json.payload]).toEqual(['spent', 'locked']);
    expect([bytes.equals(Buffer.alloc(200_000, 7)), json.response]).toEqual([true, 'hunter2']);
    expect((await there.retrieve(tokens.twice)).json.expired).toBe(true);
    await there.retrieve(`${tokens.locked}?passphrase=x`);
    expect((await triesIn(room))[0]?.id).toBeGreaterThan(lastTry);
    await there.close();
  };

  test('has trusts, and the tokens that they gave', async () => {
    const trust = { name: 'app', issuer: 'https://ci.example.com', claims: ['team=x*'], user: 'ci', lifetime: 600 };
    const { token } = await inRoom(source, async (database) => {
      const trusts = new Trusts(database, clock.now);
      await trusts.add({ ...trust, scope: 'push', private_issuer: true });
      const [added] = (await trusts.all()) as [Trust];
      return new Owners(database, clock.now).grant(added, 'a job');
    });
    await copying();
    const listed = await inRoom(target, (database) => new Trusts(database, clock.now).list());
    expect(listed).toMatchObject([{ ...trust, claims: { team: 'x*' }, private_issuer: true, tokens: 1 }]);
    const there = await at(target);
    await there.create({ payload: 'x' }, token);
    await there.close();
  });

  test('has all rows, and goes on with views and ids; what was copied is refused', async () => {
    const { tables, ...copied } = await copying();
    expect(copied).toEqual({
      from: nameOf(source),
      to: nameOf(target),
      key_file: join(target.settings.data, 'instance.key'),
      key_copied: true,
    });
    const rows = new Map(tables.map((table) => [table.name, table.rows]));
    const counts = ['owners', 'pushes', 'chunks', 'audit'].map((name) => rows.get(name));
    expect(counts).toEqual([2, 6, 4, 110]);
    await expect(at(source)).rejects.toThrow(MOVED());
    await isWhole(target);
    await expect(copying()).rejects.toThrow(MOVED());
  });

  test('and back has the same digests', async () => {
    const there = await copying();
    const back = await sqlite.room();
    const { tables } = await copying(target, back);
    expect(tables).toEqual(there.tables);
    await expect(copying(back, source)).rejects.toThrow('there is data at the new place');
    await expect(at(target)).rejects.toThrow(`moved to ${nameOf(back)}`);
    await isWhole(back);
  });

  describe('changes nothing', () => {
    const refused = async (message: string, from = source, to = target) => {
      await expect(copying(from, to)).rejects.toThrow(message);
    };

    test('while a service runs', async () => {
      const running = await at(source);
      await refused('in use by a running service');
      await running.close();
      await isWhole(source);
    });

    test('where there is data, or the data itself', async () => {
      const instanceKeyFile = join(source.settings.data, 'instance.key');
      const taken = { ...target, settings: { ...target.settings, instanceKeyFile } };
      await (await at(taken)).close();
      await refused('there is data at the new place already', source, taken);
      await refused('is the data itself', source, source);
      await isWhole(source);
    });

    test('where there is another key', async () => {
      writeFileSync(join(target.settings.data, 'instance.key'), `${'A'.repeat(43)}=\n`);
      await refused('is not the one that this data was encrypted with');
      await isWhole(source);
    });

    test('if a row differs at its end', async () => {
      await inRoom(target, migrate);
      const [make, drop] = TRIGGERS[store.name];
      for (const text of make) await run(target, text);
      await refused('the copy of the table pushes differs');
      await run(target, drop);
      await copying();
      await isWhole(target);
    });
  });

  describe('that was interrupted', () => {
    test('before the mark of the data leaves that alone in use, and begins anew', async () => {
      await run(source, 'CREATE VIEW moved AS SELECT 1');
      await expect(copying()).rejects.toThrow('cannot copy the data');
      await run(source, 'DROP VIEW moved');
      await expect(at(target)).rejects.toThrow(UNFINISHED());
      const between = await at(source);
      await between.create({ payload: 'later' });
      await between.close();
      const { tables } = await copying();
      expect(tables.find(({ name }) => name === 'pushes')?.rows).toBe(7);
      await isWhole(target);
    });

    test('after it is finished by another call, or taken back', async () => {
      await copying();
      const begun = { role: 'unfinished', place: nameOf(source) } as const;
      await inRoom(target, ({ transaction }) => transaction((sql) => mark(sql, begun)));
      await expect(at(source)).rejects.toThrow(MOVED());
      await expect(at(target)).rejects.toThrow(UNFINISHED());
      const reopened = { reopened: nameOf(source), moved_to: nameOf(target) };
      expect(await reopening(source)).toEqual(reopened);
      await expect(at(target)).rejects.toThrow(UNFINISHED());
      await copying();
      await expect(at(source)).rejects.toThrow(MOVED());
      await isWhole(target);
    });
  });

  test('that is taken back leaves the data as it was; other data was not moved', async () => {
    await expect(reopening(source)).rejects.toThrow('was not moved');
    await copying();
    await reopening(source);
    await isWhole(source);
  });

  test.runIf(store.name === 'SQLite')('keeps backups from the place of moved data', async () => {
    const file = join(await newFolder(), 'copy.db');
    await backup(source.settings, { file, force: false }, {});
    await copying();
    await released(source.settings.data);
    await expect(restore(source.settings, file, clock)).rejects.toThrow(MOVED());
    await backup(source.settings, { file, force: true }, {});
    await reopening(source);
    await released(source.settings.data);
    await restore(source.settings, file, clock);
    await expect(at(source)).rejects.toThrow(MOVED());
  });
});
