import { createHmac, randomBytes } from 'node:crypto';
import { SharedRun } from '../queues';
import { busy } from '../service-errors';
import { insertLinkKey, type LinkKeyRow, listKeys, listLinkKeys } from '../store/key-rows';
import type { StoredToken } from '../store/push-rows';
import { type Database, type Sql, violatesReference } from '../store/sql';
import type { InstanceKey } from './instance-key';
import { derive, seal, UnknownKey, unseal } from './primitives';

export interface KeyringOptions {
  readonly database: Database;
  /** Reads the keys that this machine has now; rejects when they cannot be read. */
  readonly read: () => Promise<readonly InstanceKey[]>;
  /** Milliseconds. */
  readonly now: () => number;
  /** Called once for each key in use that this machine does not have. */
  readonly onMissing: () => void;
}

/**
 * Milliseconds that a retired key still opens file links: links are valid for five minutes, and another service may
 * seal some with the old key until its next sweep.
 */
const RETIRED_FOR = 10 * 60_000;

/**
 * The instance keys of a running service. The database lists the keys in use and rejects rows that are sealed with
 * another one. `pwpush serve rekey` changes that list while services run; they read it again when a row cannot be
 * opened, when the database rejects one, and at each sweep.
 */
export class Keyring {
  /** Newest first. */
  private used: readonly InstanceKey[];
  private retired: readonly { readonly key: InstanceKey; readonly until: number }[] = [];
  private ids = '';
  private readonly missed = new Set<string>();
  private readonly reading = new SharedRun(() => this.reread());

  constructor(
    used: readonly [InstanceKey, ...InstanceKey[]],
    private current: Links,
    private readonly options?: KeyringOptions,
  ) {
    this.used = used;
    this.ids = used.map(({ id }) => id).join();
  }

  /** The key that new secrets are sealed with. */
  get newest(): InstanceKey {
    return this.used[0] as InstanceKey;
  }

  /** Hashes and seals the tokens of links. */
  get links(): Links {
    return this.current;
  }

  /** Keys in use, newest first, and retired ones. */
  get all(): readonly InstanceKey[] {
    return [...this.used, ...this.retired.map(({ key }) => key)];
  }

  /** @throws UnknownKey */
  get(id: string): InstanceKey {
    const key = this.all.find((one) => one.id === id);
    if (!key) throw new UnknownKey(id);
    return key;
  }

  /**
   * Runs `work`, and again after the keys in use have changed when it fails for an unknown or retired key. `work` must
   * leave nothing behind when it rejects.
   * @throws Refusal when the key is unknown and the keys in use have not changed
   */
  async withKeys<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const { ids } = this;
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnknownKey || violatesReference(error))) throw error;
        await this.refresh();
        if (this.ids === ids) throw busy('The instance key is being changed. Try again later.');
      }
    }
  }

  /** Reads which keys are in use now; concurrent callers share one read. */
  refresh(): Promise<void> {
    return this.reading.run();
  }

  private async reread(): Promise<void> {
    if (!this.options) return;
    const { database, now } = this.options;
    this.retired = this.retired.filter(({ until }) => until > now());
    const ids = await listKeys(database.sql);
    if (ids.join() === this.ids) return;
    const available = [...this.all, ...(await this.options.read())];
    const found = ids.flatMap((id) => available.find((key) => key.id === id) ?? this.miss(id));
    // Without any of the keys in use, the old ones stay, and the database goes on rejecting them.
    if (found.length === 0) return;
    const until = now() + RETIRED_FOR;
    const gone = this.used.filter(({ id }) => !ids.includes(id)).map((key) => ({ key, until }));
    this.retired = [...this.retired.filter(({ key }) => !ids.includes(key.id)), ...gone];
    this.current = await readLinks(database.sql, [...found, ...available], this.current.keys);
    this.used = found;
    this.ids = found.map(({ id }) => id).join();
  }

  private miss(id: string): [] {
    if (!this.missed.has(id)) this.options?.onMissing();
    this.missed.add(id);
    return [];
  }
}

export interface LinkKey {
  readonly number: number;
  readonly bytes: Uint8Array;
}

const CONTEXT = 'pwpush link key';

/** Prefix of management tokens. */
export const MANAGEMENT = 'pwm_';

/**
 * Converts link tokens to what the database stores. A token opens its push, so the database has only a keyed hash, to
 * find the push, and the sealed token, for its owner's listings. Link keys are random and sealed with the instance key.
 * Each new instance key adds a link key for sealing; the first link key is always the one for hashing.
 */
export class Links {
  private readonly hashing: Uint8Array;
  private readonly managing: Uint8Array;
  private readonly sealing: ReadonlyMap<number, Uint8Array>;
  private readonly newest: number;

  /** `keys`, at least one, are ordered oldest first. */
  constructor(readonly keys: readonly LinkKey[]) {
    const [first, last] = [keys[0], keys.at(-1)];
    if (!first || !last) throw new Error('no link key');
    this.hashing = derive(first.bytes, 'pwpush link lookup 1');
    this.managing = derive(first.bytes, 'pwpush management token 1');
    this.sealing = new Map(keys.map(({ number, bytes }) => [number, derive(bytes, SEALING)]));
    this.newest = last.number;
  }

  /** The hash of a token (HMAC-SHA-256, base64url), by which its push is found. */
  lookup(urlToken: string): string {
    return createHmac('sha256', this.hashing).update(urlToken).digest('base64url');
  }

  /** What manages an anonymous push (HMAC-SHA-256): derived, so that the database does not have it. */
  managementToken(urlToken: string): string {
    const mac = createHmac('sha256', this.managing).update(urlToken).digest('base64url');
    return `${MANAGEMENT}${mac}`;
  }

  /** A token as the database stores it, sealed with the newest link key. */
  store(urlToken: string): StoredToken {
    const lookup = this.lookup(urlToken);
    const sealed_token = seal(this.key(this.newest), urlToken, contextOf(lookup));
    return { lookup, sealed_token, link_key: this.newest };
  }

  /**
   * The token.
   * @throws UnknownKey when it was sealed with a newer link key; Error when the row was tampered with
   */
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

/** The link keys; creates the first one on new data. `used` are the instance keys in use, newest first. */
export async function openLinks(
  sql: Sql,
  used: readonly [InstanceKey, ...InstanceKey[]],
): Promise<Links> {
  if ((await listLinkKeys(sql)).length === 0) await addLinkKey(sql, used[0]);
  return readLinks(sql, used);
}

/** The link keys that are sealed with one of these instance keys, and of the others those that are `known`. */
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

/** Adds a link key, with which new tokens are sealed from now on. */
export async function addLinkKey(sql: Sql, { id, wrapping }: InstanceKey): Promise<void> {
  await insertLinkKey(sql, seal(wrapping, randomBytes(32), CONTEXT), id);
}

/** The link key, sealed with `to` instead of `from`. */
export function resealLinkKey(row: LinkKeyRow, from: InstanceKey, to: InstanceKey): LinkKeyRow {
  const sealed = seal(to.wrapping, unseal(from.wrapping, row.sealed, CONTEXT), CONTEXT);
  return { ...row, sealed, key_id: to.id };
}
