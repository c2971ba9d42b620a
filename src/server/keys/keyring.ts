import { createHmac, randomBytes } from 'node:crypto';
import type { Log } from '../ops/log';
import { keyChanged } from '../service-errors';
import { type DataLocation, dataName, keyFileOf } from '../store/database';
import {
  findKey,
  insertKey,
  insertLinkKey,
  type LinkKeyRow,
  listLinkKeys,
} from '../store/key-rows';
import type { Variables } from '../store/pg-url';
import type { StoredToken } from '../store/push-rows';
import type { Database, Sql } from '../store/sql';
import {
  changeKeys,
  type FileKey,
  type InstanceKey,
  instanceKey,
  isReadByOthers,
  makeInstanceKey,
  noted,
  readKeys,
  selectKey,
} from './instance-key';
import { derive, seal, unseal } from './primitives';

/** The instance key in use, and the link keys that it seals. */
export class Keyring {
  constructor(
    readonly key: InstanceKey,
    readonly links: Links,
  ) {}

  /** @throws ServiceRefusal when `id` is of another key: the instance key was changed while this service runs */
  get(id: string): InstanceKey {
    if (id !== this.key.id) throw keyChanged();
    return this.key;
  }
}

/**
 * Reads the key in use, and creates the first one on new data. Of several services that start at once on new data, one
 * creates the key; the others fail if their key file lacks it.
 * @throws ServiceError when the key file lacks the key in use, or cannot be read or written
 */
export async function openKeyring(
  database: Database,
  settings: DataLocation & { readonly ephemeral: boolean },
  log: Log,
  env?: Variables,
): Promise<Keyring> {
  if (settings.ephemeral) {
    const key = instanceKey(randomBytes(32));
    await insertKey(database.sql, key.id);
    return new Keyring(key, await openLinks(database.sql, key));
  }
  const keyring = await database.exclusively(async (sql) => {
    const key = await openKey(sql, settings);
    return new Keyring(key, await openLinks(sql, key));
  });
  const path = keyFileOf(settings);
  const { key: used, links } = keyring;
  const withNote = (key: FileKey) =>
    key.id === used.id ? noted(key, links.dataId, dataName(settings, env)) : key;
  // The service runs even if it cannot write the file, such as a mounted secret.
  await changeKeys(path, (keys) => keys.map(withNote)).catch(() => {});
  if (isReadByOthers(path))
    log.warning(`other users can read the instance key "${path}": run chmod 600 on it`);
  return keyring;
}

async function openKey(sql: Sql, settings: DataLocation): Promise<InstanceKey> {
  const path = keyFileOf(settings);
  const id = await findKey(sql);
  const available = readKeys(path);
  if (id !== undefined) return selectKey(id, available, settings);
  const first = available[0] ?? makeInstanceKey(path);
  await insertKey(sql, first.id);
  return first;
}

const CONTEXT = 'pwpush link key';

/**
 * Converts link tokens to what the database stores. A token opens its push, so the database has only a keyed hash, to
 * find the push, and the sealed token, for its owner's listings. Link keys are random and sealed with the instance key.
 * Each new instance key adds a link key for sealing; the first link key is always the one for hashing.
 */
export class Links {
  /** Identifies the data, whatever its instance key: 32 hexadecimal digits. */
  readonly dataId: string;
  private readonly hashing: Uint8Array;
  private readonly sealing: ReadonlyMap<number, Uint8Array>;
  private readonly newest: number;

  /** @param keys at least one, oldest first */
  constructor(keys: readonly { readonly number: number; readonly bytes: Uint8Array }[]) {
    const [first, last] = [keys[0], keys.at(-1)];
    if (!first || !last) throw new Error('no link key');
    this.dataId = derive(first.bytes, 'pwpush data id 1', 16).toString('hex');
    this.hashing = derive(first.bytes, 'pwpush link lookup 1');
    this.sealing = new Map(keys.map(({ number, bytes }) => [number, derive(bytes, SEALING)]));
    this.newest = last.number;
  }

  /** Returns the hash of a token (HMAC-SHA-256, base64url), by which its push is found. */
  lookup(urlToken: string): string {
    return createHmac('sha256', this.hashing).update(urlToken).digest('base64url');
  }

  /** Returns what the database stores of a token, which is sealed with the newest link key. */
  store(urlToken: string): StoredToken {
    const lookup = this.lookup(urlToken);
    const sealed_token = seal(this.key(this.newest), urlToken, contextOf(lookup));
    return { lookup, sealed_token, link_key: this.newest };
  }

  /** @throws ServiceRefusal when the token was sealed with a newer link key; Error when the row was tampered with */
  open({ lookup, sealed_token, link_key }: StoredToken): string {
    return unseal(this.key(link_key), sealed_token, contextOf(lookup)).toString();
  }

  private key(number: number): Uint8Array {
    const key = this.sealing.get(number);
    if (!key) throw keyChanged();
    return key;
  }
}

const SEALING = 'pwpush link token 1';

function contextOf(lookup: string): string {
  return `pwpush link ${lookup}`;
}

/** Reads the link keys, and creates the first one on new data. */
async function openLinks(sql: Sql, key: InstanceKey): Promise<Links> {
  if ((await listLinkKeys(sql)).length === 0) await addLinkKey(sql, key);
  return readLinks(sql, key);
}

export async function readLinks(sql: Sql, { wrapping }: InstanceKey): Promise<Links> {
  const rows = await listLinkKeys(sql);
  return new Links(
    rows.map(({ number, sealed }) => ({ number, bytes: unseal(wrapping, sealed, CONTEXT) })),
  );
}

/** Adds a link key, with which new tokens are sealed from now on. */
export async function addLinkKey(sql: Sql, { id, wrapping }: InstanceKey): Promise<void> {
  await insertLinkKey(sql, seal(wrapping, randomBytes(32), CONTEXT), id);
}

export function resealLinkKey(row: LinkKeyRow, from: InstanceKey, to: InstanceKey): LinkKeyRow {
  const sealed = seal(to.wrapping, unseal(from.wrapping, row.sealed, CONTEXT), CONTEXT);
  return { ...row, sealed, key_id: to.id };
}
