import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TokenSummary } from '../../contract/api';
import { invalidInput, ServiceError } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import type { Database, Sql } from '../store/sql';
import * as store from './owner-rows';

export type Owner = Readonly<store.OwnerRow>;

/** A new token, which cannot be read again. */
export interface IssuedToken extends Pick<TokenSummary, 'id' | 'name' | 'label'> {
  readonly token: string;
}

const MINUTE = 60_000;
/** Milliseconds for which a replaced token works if the new one is not used. */
const OVERLAP = 60 * MINUTE;

/** Owners and their API tokens, of which only SHA-256 hashes are stored. */
export class Owners {
  private readonly touching = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly now: () => Date,
  ) {}

  /** Returns undefined if the token is invalid or has expired. */
  async authenticate(token: string): Promise<Owner | undefined> {
    const row = await this.find(token);
    if (!row) return undefined;
    const now = this.now().getTime();
    // Stored at most once a minute, so that not every HTTP request writes.
    if (row.last_used_at === null || now - row.last_used_at >= MINUTE) this.touch(row, now);
    return { id: row.id, name: row.name };
  }

  /** Whether the token is valid. Does not store this check as a use of the token. */
  async knows(token: string): Promise<boolean> {
    return (await this.find(token)) !== undefined;
  }

  /**
   * Creates a token, and the owner if the name is new.
   * @throws ServiceError when the name or the label is invalid
   */
  async add(name: string, label = ''): Promise<IssuedToken> {
    const issued = { label: printable('a label', label, 0), replaces: null };
    return this.database.transaction(async (sql) => {
      const owner = await ownerNamed(sql, name, this.now().getTime());
      return this.issue(sql, owner, issued);
    });
  }

  /** On the very first start creates the owner `admin` and returns its token; undefined if an owner exists. */
  async addFirst(): Promise<string | undefined> {
    return this.database.transaction(async (sql) => {
      if (await store.hasOwner(sql)) return undefined;
      const made = await store.insertOwner(sql, 'admin', this.now().getTime());
      return made && (await this.issue(sql, made, { label: '', replaces: null })).token;
    });
  }

  /**
   * Creates a token that replaces another, which stays valid until the first use of the new one, for an hour at most.
   * Returns undefined if no valid token has that ID.
   * @throws ServiceError when an unused token replaces the old one already
   */
  async replace(id: string): Promise<IssuedToken | undefined> {
    return this.database.transaction(async (sql) => {
      const now = this.now().getTime();
      // Locks the row of the old token first, so that simultaneous replacements wait.
      const old = await store.endToken(sql, id, now + OVERLAP, now);
      if (!old) return undefined;
      const successor = await store.findSuccessor(sql, id);
      if (successor !== undefined)
        throw new ServiceError(`${id} is being replaced by ${successor}, which was not used yet`, {
          hint: `revoke ${successor} first, if it was lost`,
        });
      const owner = (await store.findOwnerById(sql, old.owner_id)) as Owner;
      return this.issue(sql, owner, { label: old.label, replaces: id });
    });
  }

  /** Returns the name of a request's owner; undefined unless `include_requestor` is set. */
  async requestorOf({ include_requestor, owner_id }: PushRow): Promise<string | undefined> {
    if (!include_requestor || owner_id === null) return undefined;
    return (await store.findOwnerById(this.database.sql, owner_id))?.name;
  }

  async isEmpty(): Promise<boolean> {
    return !(await store.hasOwner(this.database.sql));
  }

  /** Lists valid tokens by the name of their owner, then oldest first. */
  async list(): Promise<TokenSummary[]> {
    const rows = await store.listTokens(this.database.sql, this.now().getTime());
    return rows.map(({ selector, name, label, created_at, last_used_at, ends_at }) => ({
      id: selector,
      name,
      label,
      created_at: new Date(created_at).toISOString(),
      last_used_at: last_used_at === null ? null : new Date(last_used_at).toISOString(),
      expires_at: ends_at === null ? null : new Date(ends_at).toISOString(),
    }));
  }

  /**
   * Deletes the token with that ID, or else all tokens of the owner with that name, whose pushes stay. Returns the name
   * of the owner and the number of deleted tokens.
   * @throws ServiceError for the ID of a token, or an unknown user, if it must be a name
   */
  async revoke(which: string, byName = false) {
    const name = which.trim();
    return this.database.transaction(async (sql) => {
      const owner = await store.deleteToken(sql, name);
      if (owner && byName)
        throw invalidInput(`"${name}" is the ID of one token of ${owner.name}`, 'name the user');
      if (owner) return { name: owner.name, revoked: 1 };
      if (byName && !(await store.findOwner(sql, name)))
        throw new ServiceError(`no token or user "${name}"`, { code: 'not_found' });
      return { name, revoked: await store.deleteTokensOf(sql, name) };
    });
  }

  private async find(token: string): Promise<store.OwnedToken | undefined> {
    const { selector, digest } = fingerprint(token);
    const row = await store.findToken(this.database.sql, selector);
    if (!row || !timingSafeEqual(row.digest, digest)) return undefined;
    return row.ends_at !== null && row.ends_at <= this.now().getTime() ? undefined : row;
  }

  /** Stores the use of a token without waiting, as a database that cannot write must not prevent reading. */
  private touch({ selector, replaces }: store.OwnedToken, now: number): void {
    if (this.touching.has(selector)) return;
    this.touching.add(selector);
    const done = () => this.touching.delete(selector);
    const { database } = this;
    const touched =
      replaces === null
        ? store.touchToken(database.sql, selector, now)
        : database.transaction((sql) => store.succeedToken(sql, selector, replaces, now));
    touched.then(done, done);
  }

  private async issue(
    sql: Sql,
    { id: ownerId, name }: Owner,
    { label, replaces }: Pick<store.NewToken, 'label' | 'replaces'>,
  ): Promise<IssuedToken> {
    const now = this.now().getTime();
    await store.deleteEnded(sql, now);
    for (;;) {
      const token = `pwp_${randomBytes(32).toString('base64url')}`;
      const { selector: id, digest } = fingerprint(token);
      const row = { selector: id, digest, label, replaces };
      if (await store.insertToken(sql, ownerId, row, now)) return { id, name, label, token };
    }
  }
}

/**
 * Returns the owner of that name, and creates a new one.
 * @throws ServiceError when the name is invalid
 */
export async function ownerNamed(sql: Sql, name: string, now: number): Promise<Owner> {
  const checked = printable('a user name', name, 1);
  // A name is typed to revoke all tokens of its owner.
  if (/\s/.test(checked)) throw invalidInput('a user name cannot have spaces');
  if (TOKEN_ID.test(checked))
    throw invalidInput('a user name cannot be eight hexadecimal digits, as the ID of a token is');
  const made = await store.insertOwner(sql, checked, now);
  return made ?? ((await store.findOwner(sql, checked)) as Owner);
}

/** No user has such a name, so that what names a token cannot name another user's. */
const TOKEN_ID = /^[\da-f]{8}$/i;

/** Trims the text. @throws ServiceError when it is too short, too long or not printable */
function printable(what: string, text: string, least: number): string {
  const trimmed = text.trim();
  if (trimmed.length < least || trimmed.length > 255 || /\p{C}/u.test(trimmed))
    throw invalidInput(`${what} must be ${least} to 255 printable characters`);
  return trimmed;
}

/**
 * The selector, a part of the hash, finds the row and is shown as the token's ID: a token has 256 random bits, which no
 * hash reveals. `find` compares the whole digest in constant time.
 */
function fingerprint(token: string): { selector: string; digest: Buffer } {
  const digest = createHash('sha256').update(token).digest();
  return { selector: digest.subarray(0, 4).toString('hex'), digest };
}
