import { randomBytes } from 'node:crypto';
import type { TrustSummary } from '../../contract/api';
import { listTokens } from '../owners/owner-rows';
import { ownerNamed } from '../owners/owners';
import { invalidInput } from '../service-errors';
import type { Database } from '../store/sql';
import { checkNaming, matches, parseClaims } from './claims';
import { checkIssuer } from './issuer-address';
import * as store from './trust-rows';

/** A trust as its operator describes it; each claim is `NAME=VALUE`. */
interface NewTrust extends Omit<TrustSummary, 'audience' | 'claims' | 'created_at' | 'tokens'> {
  readonly audience?: string | undefined;
  readonly claims: readonly string[];
}

/** Whom the service gives tokens for identity tokens. */
export class Trusts {
  constructor(
    private readonly database: Database,
    private readonly now: () => Date,
  ) {}

  /**
   * Creates a trust, and its owner if the name is new. Returns the name of the oldest trust of the same issuer and
   * audience that takes all that this one does, or null.
   * @throws ServiceError (usage) when a value is invalid, or the name is taken
   */
  async add(trust: NewTrust): Promise<string | null> {
    const { name, issuer, audience = null, lifetime } = trust;
    const claims = parseClaims(trust.claims);
    checkIssuer(trust);
    checkNaming(issuer, trust.claims);
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
      throw invalidInput(
        'a trust is named by 1 to 64 letters, digits, dots, dashes and underscores',
      );
    if (audience !== null && !/^[^\s\p{C}]{1,255}$/u.test(audience))
      throw invalidInput('--audience must be 1 to 255 characters without spaces');
    if (!Number.isInteger(lifetime) || lifetime < 60 || lifetime > 3600)
      throw invalidInput('--lifetime must be 1m to 1h');
    const created_at = this.now().getTime();
    const maker = randomBytes(16).toString('base64url');
    return this.database.transaction(async (sql) => {
      const older = (await store.listTrusts(sql)).find(
        (one) => one.issuer === issuer && one.audience === audience && matches(one.claims, claims),
      );
      const { id: owner_id } = await ownerNamed(sql, trust.user, created_at);
      const row = { ...trust, claims, audience, owner_id, maker, created_at };
      if (await store.insertTrust(sql, row)) return older?.name ?? null;
      throw invalidInput(`there is a trust "${name}"`, 'remove it first, or name another');
    });
  }

  /** Returns all trusts, oldest first: of several that match, the first one counts. */
  all(): Promise<store.Trust[]> {
    return store.listTrusts(this.database.sql);
  }

  /** Lists all trusts, oldest first, with how many of their tokens are valid. */
  async list(): Promise<TrustSummary[]> {
    const tokens = await listTokens(this.database.sql, this.now().getTime());
    return (await this.all()).map(({ id, owner_id, since, maker, ...trust }) => ({
      ...trust,
      created_at: new Date(trust.created_at).toISOString(),
      tokens: tokens.find((one) => one.trust === trust.name)?.tokens ?? 0,
    }));
  }

  /** Deletes a trust and the tokens that it gave; returns how many of these were valid, undefined without such a trust. */
  async remove(name: string): Promise<number | undefined> {
    return this.database.transaction((sql) => store.deleteTrust(sql, name, this.now().getTime()));
  }
}
