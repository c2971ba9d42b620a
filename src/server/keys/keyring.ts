import { busy } from '../refusal';
import { listKeys } from '../store/key-rows';
import { type Database, violatesReference } from '../store/sql';
import { UnknownKey } from './aead';
import type { InstanceKey } from './instance-key';
import { type Links, readLinks } from './link-keys';
import { SharedRun } from './shared-run';

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
