import { createHmac, randomBytes } from 'node:crypto';
import { insertLinkKey, type LinkKeyRow, listLinkKeys } from '../store/key-rows';
import type { StoredToken } from '../store/push-rows';
import type { Sql } from '../store/sql';
import { derive, seal, UnknownKey, unseal } from './aead';
import type { InstanceKey } from './keyring';

export interface LinkKey {
  readonly number: number;
  readonly bytes: Uint8Array;
}

const CONTEXT = 'pwpush link key';

/**
 * The tokens of links as the database has them. Whoever has a token opens its push, so the database has a keyed hash
 * to find the push by, and the token sealed, for its owner's listings. The keys are random and sealed with the instance
 * key; a new instance key brings a new one to seal with, and the first one hashes for good.
 */
export class Links {
  private readonly hashing: Uint8Array;
  private readonly sealing: ReadonlyMap<number, Uint8Array>;
  private readonly newest: number;

  /** Oldest first. */
  constructor(readonly keys: readonly LinkKey[]) {
    const [first, last] = [keys[0], keys.at(-1)];
    if (!first || !last) throw new Error('no link key');
    this.hashing = derive(first.bytes, 'pwpush link lookup 1');
    this.sealing = new Map(keys.map(({ number, bytes }) => [number, derive(bytes, SEALING)]));
    this.newest = last.number;
  }

  /** What a push of that token is found by: HMAC-SHA-256. */
  lookup(urlToken: string): string {
    return createHmac('sha256', this.hashing).update(urlToken).digest('base64url');
  }

  store(urlToken: string): StoredToken {
    const lookup = this.lookup(urlToken);
    const sealed_token = seal(this.key(this.newest), urlToken, contextOf(lookup));
    return { lookup, sealed_token, link_key: this.newest };
  }

  /** The token. Throws an `UnknownKey` where a key is newer than these, and an error where the row was changed. */
  open({ lookup, sealed_token, link_key }: StoredToken): string {
    return unseal(this.key(link_key), sealed_token, contextOf(lookup)).toString();
  }

  private key(number: number): Uint8Array {
    const key = this.sealing.get(number);
    if (!key) throw new UnknownKey(`link ${number}`);
    return key;
  }
}

const SEALING = 'pwpush link token 1';

function contextOf(lookup: string): string {
  return `pwpush link ${lookup}`;
}

/** The link keys that are sealed with one of those instance keys, and those that were known before. */
export async function readLinks(
  sql: Sql,
  keys: readonly InstanceKey[],
  known: readonly LinkKey[] = [],
): Promise<Links> {
  const rows = await listLinkKeys(sql);
  return new Links(
    rows.flatMap(({ number, sealed, key_id }) => {
      const key = keys.find(({ id }) => id === key_id);
      if (key) return { number, bytes: unseal(key.wrapping, sealed, CONTEXT) };
      return known.find((one) => one.number === number) ?? [];
    }),
  );
}

/** Makes a link key that new tokens are sealed with. */
export async function addLinkKey(sql: Sql, { id, wrapping }: InstanceKey): Promise<void> {
  await insertLinkKey(sql, seal(wrapping, randomBytes(32), CONTEXT), id);
}

/** A link key sealed with another instance key. */
export function resealLinkKey(row: LinkKeyRow, from: InstanceKey, to: InstanceKey): LinkKeyRow {
  const sealed = seal(to.wrapping, unseal(from.wrapping, row.sealed, CONTEXT), CONTEXT);
  return { ...row, sealed, key_id: to.id };
}
