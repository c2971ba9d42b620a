import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../service-error';
import * as store from '../store/owner-rows';
import type { Database, Sql } from '../store/sql';

/** Who a token belongs to. */
export interface Owner {
  readonly id: number;
  readonly name: string;
}

export interface OwnerSummary {
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** How many tokens the owner has. */
  readonly tokens: number;
  /** ISO 8601, UTC, to the minute; null when no token was used. */
  readonly last_used_at: string | null;
}

const MINUTE = 60_000;

/** Owners and their API tokens, of which only SHA-256 hashes are kept. */
export class Owners {
  private readonly touching = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly now: () => Date,
  ) {}

  /** The owner of that token, or nothing. */
  async authenticate(token: string): Promise<Owner | undefined> {
    const { selector, digest } = fingerprint(token);
    const rows = await store.findTokens(this.database.sql, selector);
    const row = rows.find((candidate) => timingSafeEqual(candidate.digest, digest));
    if (!row) return undefined;
    const now = this.now().getTime();
    // Once a minute is enough to know, and spares each request a write.
    if (row.last_used_at === null || now - row.last_used_at >= MINUTE) this.touch(row, now);
    return { id: row.id, name: row.name };
  }

  /** Makes a token for that owner, and the owner when it is new; the token is never to be had again. */
  async add(name: string): Promise<string> {
    const checked = checkName(name);
    return this.database.transaction(async (sql) => {
      const made = await store.insertOwner(sql, checked, this.now().getTime());
      return this.issue(sql, made ?? ((await store.findOwner(sql, checked)) as Owner));
    });
  }

  /** On the very first start, the token of a new owner `admin`; nothing when there is one, with tokens or without. */
  async addFirst(): Promise<string | undefined> {
    return this.database.transaction(async (sql) => {
      const made = await store.insertOwner(sql, 'admin', this.now().getTime());
      return made && this.issue(sql, made);
    });
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

  /** Takes all tokens from that owner and answers how many there were; the owner's pushes stay. */
  async revoke(name: string): Promise<number> {
    return this.database.transaction((sql) => store.deleteTokens(sql, name.trim()));
  }

  /** Beside the request: that nothing can be written now must not keep anybody from reading. */
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

/** Rows are found by a part of the hash and compared by the whole, in constant time. */
function fingerprint(token: string): { selector: string; digest: Buffer } {
  const digest = createHash('sha256').update(token).digest();
  return { selector: digest.subarray(0, 8).toString('hex'), digest };
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed !== '' && trimmed.length <= 255 && !/\p{C}/u.test(trimmed)) return trimmed;
  throw new ServiceError('an owner needs a name of 1 to 255 printable characters', {
    input: true,
  });
}
