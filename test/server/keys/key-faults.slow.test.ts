import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { rekey } from '../../../src/server/keys/rotation';
import { ServiceError, ServiceRefusal } from '../../../src/server/service-errors';
import type { ServiceSettings } from '../../../src/server/service-settings';
import { cuttingProxy } from '../../helpers/cutting-proxy';
import { eachFault } from '../../helpers/faults';
import { keysOf } from '../../helpers/key-file';
import { long } from '../../helpers/long';
import { folders, released } from '../../helpers/memory';
import { onLinux } from '../../helpers/needs';
import { seed } from '../../helpers/seed';
import { type TestService, testService } from '../../helpers/service';
import { onEachStore, onSharedPostgres } from '../../helpers/stores';

type Settings = Pick<ServiceSettings, 'data' | 'database'>;

const SECRET = 'MARKER-correct-horse';
const path = ({ data }: Settings) => join(data, 'instance.key');
const lines = (settings: Settings) => keysOf(path(settings));

const payload = async (service: TestService, token: string) =>
  (await service.call('GET', `/api/v2/pushes/${token}`)).json.payload;

const operationsOf = (failed: readonly string[]) => [...new Set(failed.map((one) => one.replace(/ .*/, '')))].sort();

/** Once the lock of a failed `rekey` is gone: its server has noticed a cut connection, or its file was collected. */
async function started(settings: Settings): Promise<TestService> {
  let service: TestService | undefined;
  const start = async () => {
    await collected(settings);
    service = await testService(settings).catch((error: unknown) => {
      expect(String(error)).toMatch(/is in use by (pwpush serve rekey|a running service or another program)/);
      return undefined;
    });
    return service;
  };
  await expect.poll(start, { message: 'the lock of rekey ends' }).toBeDefined();
  return service as TestService;
}

/** Makes a push; what it returns checks that it is still there, whole, and can be given a new key. */
async function prepared(settings: Settings): Promise<() => Promise<void>> {
  const service = await testService(settings);
  let token = await service.create({ payload: SECRET });
  await service.close();
  const opens = async () => {
    const again = await started(settings);
    expect(await payload(again, token)).toBe(SECRET);
    await again.call('DELETE', `/api/v2/pushes/${token}`);
    token = await again.create({ payload: SECRET });
    await again.close();
  };
  return async () => {
    const before = lines(settings);
    for (const line of before) expect(line).toMatch(/^[\w+/]{43}=$/);
    await opens();
    expect(await changeKey(settings)).toMatchObject({ resealed: 1 });
    expect(lines(settings)).toHaveLength(1);
    expect(before).not.toContain(lines(settings)[0]);
    const drafts = readdirSync(settings.data).filter((name) => name.startsWith('instance.key.'));
    expect(drafts).toEqual([]);
  };
}

async function changeKey(settings: Settings) {
  await collected(settings);
  return rekey(settings, {});
}

/** Collecting takes longer than all else, and no file of PostgreSQL is open here. */
async function collected({ data, database }: Settings): Promise<void> {
  if (database === undefined) await released(data);
}

/** Whether it was done; if not, it says why, and not what is in the key file. */
async function done(settings: Settings, before: readonly string[]): Promise<boolean> {
  return changeKey(settings).then(
    () => true,
    (error: ServiceError) => {
      expect(error).toBeInstanceOf(ServiceError);
      for (const key of before) expect(`${error.message} ${error.hint}`).not.toContain(key);
      return false;
    },
  );
}

onEachStore((store) => {
  let settings: Settings;
  beforeEach(async () => {
    settings = (await store.room()).settings;
  });

  test('files that fail at the start do not keep the next one from starting', onLinux, async () => {
    const failed = await eachFault(async (failing) => {
      const { settings } = await store.room();
      const first = await failing(settings.data, () =>
        testService(settings).catch((error: unknown) => {
          // The second once it is open, and its owners are added.
          expect([ServiceError, ServiceRefusal].some((one) => error instanceof one)).toBe(true);
          return undefined;
        }),
      );
      const token = first && (await first.create({ payload: SECRET }));
      await first?.close();
      const second = await testService(settings);
      if (token) expect(await payload(second, token)).toBe(SECRET);
      await second.close();
      expect(lines(settings)).toHaveLength(1);
    });
    const ofKey = failed.filter((one) => one.includes('instance.key'));
    expect(operationsOf(ofKey)).toEqual(['fsync', 'link', 'open', 'rename', 'write']);
  });

  test('a key file that cannot be written leaves everything open', onLinux, async () => {
    const check = await prepared(settings);
    const failed = await eachFault(async (failing) => {
      const before = lines(settings);
      const isDone = await failing(settings.data, () => done(settings, before));
      // The old one, which is in use, and the new one, if that was written.
      expect(lines(settings).includes(before[0] ?? '')).toBe(!isDone);
      await check();
    });
    const opening = store.name === 'SQLite' ? ['mkdir'] : [];
    expect(operationsOf(failed)).toEqual(['fsync', ...opening, 'open', 'rename', 'write']);
  });
});

const newFolder = folders();

onSharedPostgres((databases) => {
  test('a connection that is cut anywhere leaves everything open', async () => {
    const database = databases().url(await databases().createMigrated());
    const direct = { data: await newFolder(), database };
    const check = await prepared(direct);
    const proxy = await cuttingProxy(Number(new URL(database).port));
    const through = new URL(database);
    through.port = `${proxy.port}`;
    // What rekey reads grows by half of this with each cut, by the pushes of the checks.
    const step = long ? 8000 : 16000;
    await proxy.eachCut({ first: seed % step, step }, async () => {
      await done({ ...direct, database: through.href }, lines(direct));
      await check();
    });
    await proxy.close();
  });
});
