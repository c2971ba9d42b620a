import { busy } from '../refusal';
import { listKeys } from '../store/key-rows';
import { type Database, violatesReference } from '../store/sql';
import { derive, UnknownKey } from './aead';
import { type Links, readLinks } from './link-keys';
import { Shared } from './shared';

/** An instance key, as what it is used for. */
export interface InstanceKey {
  /** Tells it from others without telling it. */
  readonly id: string;
  /** Seals data keys. */
  readonly wrapping: Uint8Array;
  /** Seals links to files. */
  readonly linking: Uint8Array;
}

/** What an instance key is used for, from its 32 bytes. */
export function instanceKey(bytes: Uint8Array): InstanceKey {
  return {
    id: derive(bytes, 'pwpush key id 1', 16).toString('hex'),
    wrapping: derive(bytes, 'pwpush wrapping 1'),
    linking: derive(bytes, 'pwpush file link 1'),
  };
}

export interface KeyringOptions {
  readonly database: Database;
  /** The keys that this machine has now; throws when they cannot be read. */
  readonly read: () => Promise<readonly InstanceKey[]>;
  /** Milliseconds. */
  readonly now: () => number;
  /** Told once of each key in use that this machine does not have. */
  readonly miss: () => void;
}

/**
 * Milliseconds that a key stays on the ring after it went out of use: links are good for five minutes, and another
 * service may seal some with it until its next sweep.
 */
const FAREWELL = 10 * 60_000;

/**
 * The instance keys that a service has. Which are in use stands in the database, which refuses what is sealed with
 * any other; `pwpush serve rekey` changes that while services run, and they find out: when they meet what they cannot
 * open, when they are refused, and with each sweep.
 */
export class Keyring {
  /** Newest first. */
  private used: readonly InstanceKey[];
  private retired: readonly { readonly key: InstanceKey; readonly until: number }[] = [];
  private ids = '';
  private readonly missed = new Set<string>();
  private readonly reading = new Shared(() => this.reread());

  constructor(
    used: readonly [InstanceKey, ...InstanceKey[]],
    private current: Links,
    private readonly options?: KeyringOptions,
  ) {
    this.used = used;
    this.ids = used.map(({ id }) => id).join();
  }

  /** The one to seal with. */
  get newest(): InstanceKey {
    return this.used[0] as InstanceKey;
  }

  /** Hashes and seals the tokens of links. */
  get links(): Links {
    return this.current;
  }

  /** Those that went out of use a moment ago included. */
  get all(): readonly InstanceKey[] {
    return [...this.used, ...this.retired.map(({ key }) => key)];
  }

  /** Throws an `UnknownKey`. */
  get(id: string): InstanceKey {
    const key = this.all.find((one) => one.id === id);
    if (!key) throw new UnknownKey(id);
    return key;
  }

  /**
   * Does `work` again when it met a key that is not on the ring, or one that is not in use any more, and there are
   * others now. Throws a `Refusal` when there are not. What `work` did must be undone when it rejects.
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

  /** Takes over which keys are in use now. Whoever comes while that is being read shares the next time. */
  refresh(): Promise<void> {
    return this.reading.run();
  }

  private async reread(): Promise<void> {
    if (!this.options) return;
    const { database, now } = this.options;
    this.retired = this.retired.filter(({ until }) => until > now());
    const ids = await listKeys(database.sql);
    if (ids.join() === this.ids) return;
    const there = [...this.all, ...(await this.options.read())];
    const found = ids.flatMap((id) => there.find((key) => key.id === id) ?? this.miss(id));
    // What is not here cannot be used; without any, those of before go on being refused.
    if (found.length === 0) return;
    const until = now() + FAREWELL;
    const gone = this.used.filter(({ id }) => !ids.includes(id)).map((key) => ({ key, until }));
    this.retired = [...this.retired.filter(({ key }) => !ids.includes(key.id)), ...gone];
    this.current = await readLinks(database.sql, [...found, ...there], this.current.keys);
    this.used = found;
    this.ids = found.map(({ id }) => id).join();
  }

  private miss(id: string): [] {
    if (!this.missed.has(id)) this.options?.miss();
    this.missed.add(id);
    return [];
  }
}
