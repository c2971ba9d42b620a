import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Scope, TokenSummary, TrustSummary } from '../../contract/api';
import { invalidInput, ServiceError, ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import type { Database, Sql } from '../store/sql';
import * as store from './owner-rows';

/** The owner of a token, and what that token may do. */
export type Owner = Readonly<
  Omit<store.OwnedToken, 'selector' | 'digest' | 'last_used_at' | 'replaces'>
>;

/** A new token, which cannot be read again. */
export interface IssuedToken
  extends Pick<TokenSummary, 'id' | 'name' | 'label' | 'scope' | 'expires_at'> {
  readonly token: string;
}

/** What a trust gives to its user; `lifetime` is in seconds. */
type Grant = Pick<TrustSummary, 'user' | 'scope' | 'lifetime'> &
  Readonly<Pick<store.NewToken, 'owner_id' | 'maker'> & { id: number }>;

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

  /** @throws ServiceRefusal when the token is invalid or has expired */
  async authenticate(token: string): Promise<Owner> {
    const row = await this.find(token);
    if (!row) throw new ServiceRefusal('unauthorized', 'That token is not valid.');
    const now = this.now().getTime();
    if (hasEnded(row, now))
      throw new ServiceRefusal('unauthorized', `That token expired at ${isoOf(row.ends_at)}.`);
    // Stored at most once a minute, so that not every HTTP request writes.
    if (row.last_used_at === null || now - row.last_used_at >= MINUTE) this.touch(row, now);
    return row;
  }

  /** Whether the token is valid. Does not store this check as a use of the token. */
  async knows(token: string): Promise<boolean> {
    const row = await this.find(token);
    return row !== undefined && !hasEnded(row, this.now().getTime());
  }

  /**
   * Creates a token, and the owner if the name is new.
   * @param limits `lifetime` is in seconds; without one, the token does not end
   * @throws ServiceError when the name or the label is invalid
   */
  async add(
    name: string,
    label = '',
    limits: { readonly scope?: Scope | undefined; readonly lifetime?: number | undefined } = {},
  ): Promise<IssuedToken> {
    const { scope = 'all', lifetime } = limits;
    const now = this.now().getTime();
    const ends_at = lifetime === undefined ? null : now + 1000 * lifetime;
    const issued = { label: printable('a label', label, 0), scope, ends_at };
    return this.database.transaction(async (sql) => {
      const owner = await ownerNamed(sql, name, now);
      return this.issue(sql, owner, issued);
    });
  }

  /**
   * Creates a token of a trust, whose lifetime begins now.
   * @param subject is cut after 255 characters
   */
  async grant(trust: Grant, subject: string): Promise<IssuedToken> {
    const { id: trust_id, owner_id: id, user: name, scope, lifetime, maker } = trust;
    const ends_at = this.now().getTime() + 1000 * lifetime;
    const cut = subject.replace(/^(.{254}).{2,}$/su, '$1…');
    const columns = { scope, maker, ends_at, trust_id, subject: cut };
    return this.database.transaction((sql) => this.issue(sql, { id, name }, columns));
  }

  /** On the very first start creates the owner `admin` and returns its token; undefined if an owner exists. */
  async addFirst(): Promise<string | undefined> {
    return this.database.transaction(async (sql) => {
      if (await store.hasOwner(sql)) return undefined;
      const made = await store.insertOwner(sql, 'admin', this.now().getTime());
      return made && (await this.issue(sql, made)).token;
    });
  }

  /**
   * Creates a token that replaces another, which stays valid until the first use of the new one, for an hour at most.
   * The new one has the scope and the end of the other, and reaches what that created. Returns undefined if no valid
   * token has that ID; those of trusts are not replaced.
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
      const { owner_id, ...kept } = old;
      const owner = (await store.findOwnerById(sql, owner_id)) as store.OwnerRow;
      return this.issue(sql, owner, { ...kept, replaces: id });
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

  /** Lists valid tokens by the name of their owner, then oldest first; those of a trust as one. */
  async list(): Promise<TokenSummary[]> {
    const rows = await store.listTokens(this.database.sql, this.now().getTime());
    return rows.map(({ created_at, last_used_at, ends_at, ...row }) => ({
      ...row,
      created_at: isoOf(created_at),
      last_used_at: isoOf(last_used_at),
      expires_at: isoOf(ends_at),
    }));
  }

  /**
   * Deletes the token with that ID, or else all tokens of the owner with that name, whose pushes stay. Returns the name
   * of the owner, the number of deleted tokens and, of all tokens, the trusts that still give some to the owner.
   * @throws ServiceError for the ID of a token, or an unknown user, if it must be a name; for the tokens of a trust
   */
  async revoke(which: string, byName = false) {
    const name = which.trim();
    if (name.startsWith('trust:')) {
      const hint = `use pwpush serve trust remove ${name.slice('trust:'.length)}`;
      throw invalidInput('the tokens of a trust end with the trust', hint);
    }
    return this.database.transaction(async (sql) => {
      const owner = await store.deleteToken(sql, name);
      if (owner && byName)
        throw invalidInput(`"${name}" is the ID of one token of ${owner.name}`, 'name the user');
      if (owner) return { name: owner.name, revoked: 1, trusts: [] };
      if (byName && !(await store.findOwner(sql, name)))
        throw new ServiceError(`no token or user "${name}"`, { code: 'not_found' });
      const revoked = await store.deleteTokensOf(sql, name);
      return { name, revoked, trusts: await store.listTrustsOf(sql, name) };
    });
  }

  private async find(token: string): Promise<store.OwnedToken | undefined> {
    const { selector, digest } = fingerprint(token);
    const row = await store.findToken(this.database.sql, selector);
    return row && timingSafeEqual(row.digest, digest) ? row : undefined;
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

  /** Creates a token with the columns that are given, and what a plain token has in the others. */
  private async issue(
    sql: Sql,
    { id: owner_id, name }: store.OwnerRow,
    columns: Partial<store.NewToken> = {},
  ): Promise<IssuedToken> {
    for (;;) {
      const token = `pwp_${randomBytes(32).toString('base64url')}`;
      const row: store.NewToken = {
        ...{ label: '', scope: 'all', maker: randomBytes(16).toString('base64url') },
        ...{ ends_at: null, replaces: null, trust_id: null, subject: null },
        ...{ ...columns, ...fingerprint(token), owner_id, created_at: this.now().getTime() },
      };
      const { selector: id, label, scope, ends_at } = row;
      if (await store.insertToken(sql, row))
        return { id, name, label, scope, expires_at: isoOf(ends_at), token };
    }
  }
}

const isoOf = <T extends number | null>(time: T) =>
  (time === null ? null : new Date(time).toISOString()) as T extends null ? null : string;

const hasEnded = ({ ends_at }: Pick<store.OwnedToken, 'ends_at'>, now: number) =>
  ends_at !== null && ends_at <= now;

/**
 * Returns the owner of that name, and creates a new one.
 * @throws ServiceError when the name is invalid
 */
export async function ownerNamed(sql: Sql, name: string, now: number): Promise<store.OwnerRow> {
  const checked = printable('a user name', name, 1);
  // A name is typed to revoke all tokens of its owner.
  if (/\s/.test(checked)) throw invalidInput('a user name cannot have spaces');
  if (TOKEN_ID.test(checked))
    throw invalidInput('a user name cannot look like the ID of tokens: 3f2a91c0, trust:NAME');
  const made = await store.insertOwner(sql, checked, now);
  return made ?? ((await store.findOwner(sql, checked)) as store.OwnerRow);
}

/** No user has such a name, so that what names a token cannot name another user's. */
const TOKEN_ID = /^(?:[\da-f]{8}$|trust:)/i;

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
