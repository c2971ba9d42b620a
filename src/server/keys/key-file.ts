import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Log } from '../ops/log';
import { ServiceError } from '../service-error';
import type { ServiceSettings } from '../service-settings';
import { insertKey, listKeys, listLinkKeys } from '../store/key-rows';
import type { Database, Sql } from '../store/sql';
import { sealClearTokens } from './clear-tokens';
import { isReadByOthers, makeInstanceKey, readInstanceKeys } from './instance-key';
import { type InstanceKey, instanceKey, Keyring } from './keyring';
import { addLinkKey, type Links, readLinks } from './link-keys';

type Settings = Pick<ServiceSettings, 'data' | 'database' | 'instanceKeyFile'>;

/** A key of the file, and what it is used for. */
export interface FileKey extends InstanceKey {
  readonly bytes: Uint8Array;
}

/** Where the instance keys are. */
export function keyFileOf({ data, instanceKeyFile }: Settings): string {
  return instanceKeyFile ?? join(data, 'instance.key');
}

/** The keys of the file, newest first; none when there is no file. */
export async function readKeys(path: string): Promise<FileKey[]> {
  const keys = (await readInstanceKeys(path)) ?? [];
  return keys.map((bytes) => ({ ...instanceKey(bytes), bytes }));
}

/**
 * The keys in use, newest first, which must all be in the file: others would open nothing. Of several services that
 * start at once on new data one makes the first key, and the others see that they need it. Throws a `ServiceError`.
 */
export async function openKeyring(
  database: Database,
  settings: Settings & { readonly ephemeral: boolean },
  log: Log,
  clock: () => Date,
): Promise<Keyring> {
  if (settings.ephemeral) {
    const key = instanceKey(randomBytes(32));
    await insertKey(database.sql, key.id);
    return new Keyring([key], await linksOf(database.sql, [key]));
  }
  const path = keyFileOf(settings);
  const { used, links } = await database.exclusively(async (sql) => {
    const used = await usedKeys(sql, path, settings);
    return { used, links: await linksOf(sql, used) };
  });
  if (!(await sealClearTokens(database, used, links)))
    log.warning(
      'the database could not be rewritten and may hold tokens of links: is the disk full, or another program on it?',
    );
  if (await isReadByOthers(path))
    log.warning(`others can read the instance key ${path}; make it 0600`);
  return new Keyring(used, links, {
    database,
    read: () => readKeys(path),
    now: () => clock().getTime(),
    miss: () =>
      log.warning(`${path} lacks an instance key in use: copy it from where it was changed`),
  });
}

/** The link keys, of which there is one from the beginning. */
export async function linksOf(
  sql: Sql,
  used: readonly [InstanceKey, ...InstanceKey[]],
): Promise<Links> {
  if ((await listLinkKeys(sql)).length === 0) await addLinkKey(sql, used[0]);
  return readLinks(sql, used);
}

async function usedKeys(sql: Sql, path: string, settings: Settings) {
  const ids = await listKeys(sql);
  const there = await readKeys(path);
  if (ids.length > 0) return chosen(ids, there, settings);
  const first = there[0] ?? instanceKey(await makeInstanceKey(path));
  await insertKey(sql, first.id);
  return [first] as const;
}

/** The keys of those ids. Throws a `ServiceError` that says what the file lacks. */
export function chosen<K extends InstanceKey>(
  ids: readonly string[],
  there: readonly K[],
  settings: Settings,
): readonly [K, ...K[]] {
  const [first, ...others] = ids.flatMap((id) => there.find((key) => key.id === id) ?? []);
  if (first && others.length === ids.length - 1) return [first, ...others];
  throw keyError(there.length === 0 ? 'missing' : first ? 'incomplete' : 'strange', settings);
}

function keyError(state: 'missing' | 'strange' | 'incomplete', settings: Settings): ServiceError {
  const path = keyFileOf(settings);
  const said = {
    missing: `the instance key ${path} is missing`,
    strange: `the instance key ${path} is not the one this data was sealed with`,
    incomplete: `${path} lacks one of the instance keys this data was sealed with`,
  };
  const shared = 'instances on one database share one instance key: copy it from the first one';
  const hint =
    settings.database === undefined
      ? `restore ${state === 'strange' ? 'the key or the data' : 'it'} from a backup`
      : `${shared}, or restore it from a backup`;
  return new ServiceError(said[state], { hint });
}
