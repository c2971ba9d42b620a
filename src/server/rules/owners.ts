import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { invalidInput } from '../service-errors';
import * as store from '../store/owner-rows';
import type { PushRow } from '../store/push-rows';
import type { Database, Sql } from '../store/sql';

export type Owner = Readonly<store.OwnerRow>;

export interface OwnerSummary {
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly tokens: number;
  /** ISO 8601, UTC, to the minute; null if no token has been used. */
  readonly last_used_at: string | null;
}

const MINUTE = 60_000;

/** Owners and their API tokens, of which only SHA-256 hashes are stored. */
export class Owners {
  private readonly touching = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly now: () => Date,
  ) {}

  /** The owner of that token; undefined if it is invalid. */
  async authenticate(token: string): Promise<Owner | undefined> {
    const { selector, digest } = fingerprint(token);
    const rows = await store.findTokens(this.database.sql, selector);
    const row = rows.find((candidate) => timingSafeEqual(candidate.digest, digest));
    if (!row) return undefined;
    const now = this.now().getTime();
    // At most once a minute, so that not every request writes.
    if (row.last_used_at === null || now - row.last_used_at >= MINUTE) this.touch(row, now);
    return { id: row.id, name: row.name };
  }

  /**
   * Creates a token, and the owner if the name is new. Only a hash of the token is stored.
   * @throws ServiceError when the name is invalid
   */
  async add(name: string): Promise<string> {
    const checked = name.trim();
    if (checked === '' || checked.length > 255 || /\p{C}/u.test(checked))
      throw invalidInput('a user name must be 1 to 255 printable characters');
    return this.database.transaction(async (sql) => {
      const made = await store.insertOwner(sql, checked, this.now().getTime());
      return this.issue(sql, made ?? ((await store.findOwner(sql, checked)) as Owner));
    });
  }

  /** On the very first start creates the owner `admin` and returns its token; undefined if the owner exists. */
  async addFirst(): Promise<string | undefined> {
    return this.database.transaction(async (sql) => {
      const made = await store.insertOwner(sql, 'admin', this.now().getTime());
      return made && this.issue(sql, made);
    });
  }

  /** The name of the owner of a request; undefined unless the request is to say it. */
  async requestorOf({ include_requestor, owner_id }: PushRow): Promise<string | undefined> {
    if (!include_requestor || owner_id === null) return undefined;
    return (await store.findOwnerById(this.database.sql, owner_id))?.name;
  }

  async list(): Promise<OwnerSummary[]> {
    const rows = await store.listOwners(this.database.sql);
    return rows.map((row) => ({
      name: row.name,
      created_at: new Date(row.created_at).toISOString(),
      tokens: Number(row.tokens),
      last_used_at: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
    }));
  }

  /** Deletes all tokens of that owner and returns their number; the owner's pushes stay. */
  async revoke(name: string): Promise<number> {
    return this.database.transaction((sql) => store.deleteTokens(sql, name.trim()));
  }

  /** Not awaited: a database that cannot write must not prevent reading. */
  private touch({ token_id }: store.TokenRow, now: number): void {
    if (this.touching.has(token_id)) return;
    this.touching.add(token_id);
    const done = () => void this.touching.delete(token_id);
    store.touchToken(this.database.sql, token_id, now).then(done, done);
  }

  private async issue(sql: Sql, owner: Owner): Promise<string> {
    const token = `pwp_${randomBytes(32).toString('base64url')}`;
    await store.insertToken(sql, owner.id, fingerprint(token), this.now().getTime());
    return token;
  }
}

/** Rows are found by a part of the hash, and the whole hash is compared in constant time. */
function fingerprint(token: string): { selector: string; digest: Buffer } {
  const digest = createHash('sha256').update(token).digest();
  return { selector: digest.subarray(0, 8).toString('hex'), digest };
}
