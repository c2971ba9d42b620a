import { randomBytes } from 'node:crypto';
import type { TrustSummary } from '../../contract/api';
import { ownerNamed } from '../owners/owners';
import { invalidInput } from '../service-errors';
import type { Database } from '../store/sql';
import { type Claim, isCovered, parseClaims } from './claims';
import { checkIssuer, checkNaming } from './issuers';
import * as store from './trust-rows';

/** An issuer of identity tokens, and what one must claim to get a token of `owner`. */
export interface Trust
  extends Pick<store.TrustRow, 'id' | 'name' | 'issuer' | 'audience' | 'scope'> {
  readonly claims: readonly Claim[];
  readonly owner: { readonly id: number; readonly name: string };
  /** Seconds for which its tokens are valid. */
  readonly lifetime: number;
  /** Whether the issuer may have an address of a private network. */
  readonly privateIssuer: boolean;
  readonly maker: string;
}

/** A trust as its operator describes it; each claim is `NAME=VALUE`. */
interface NewTrust extends Pick<Trust, 'name' | 'issuer' | 'scope' | 'lifetime' | 'privateIssuer'> {
  readonly audience?: string | undefined;
  readonly claims: readonly string[];
  readonly user: string;
}

/** Whom the service gives tokens for identity tokens. */
export class Trusts {
  constructor(
    private readonly database: Database,
    private readonly now: () => Date,
  ) {}

  /** Returns all trusts, oldest first: of several that match, the first one counts. */
  async all(): Promise<Trust[]> {
    return (await store.listTrusts(this.database.sql)).map(trustOf);
  }

  /**
   * Creates a trust, and its owner if the name is new. Returns the name of the oldest trust of the same issuer and
   * audience that takes all that this one does, or null.
   * @throws ServiceError (usage) when a value is invalid, or the name is taken
   */
  async add(trust: NewTrust): Promise<string | null> {
    const { name, issuer, audience = null, scope, lifetime, privateIssuer, user } = trust;
    const claims = parseClaims(trust.claims);
    checkIssuer(issuer, privateIssuer);
    checkNaming(issuer, claims);
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
      throw invalidInput(
        'a trust is named by 1 to 64 letters, digits, dots, dashes and underscores',
      );
    if (audience !== null && !/^[^\s\p{C}]{1,255}$/u.test(audience))
      throw invalidInput('--audience must be 1 to 255 characters without spaces');
    if (!Number.isInteger(lifetime) || lifetime < 60 || lifetime > 3600)
      throw invalidInput('--lifetime must be 1m to 1h');
    const created_at = this.now().getTime();
    await this.database.transaction(async (sql) => {
      const { id: owner_id } = await ownerNamed(sql, user, created_at);
      const isNew = await store.insertTrust(sql, {
        ...{ name, issuer, audience, owner_id, scope, lifetime, created_at },
        claims: JSON.stringify(
          Object.fromEntries(claims.map((claim) => [claim.name, claim.value])),
        ),
        private_issuer: privateIssuer ? 1 : 0,
        maker: randomBytes(16).toString('base64url'),
      });
      if (!isNew)
        throw invalidInput(`there is a trust "${name}"`, 'remove it first, or name another');
    });
    const all = (await this.all()).filter(
      (one) => one.issuer === issuer && one.audience === audience,
    );
    const first = all.find((one) => isCovered(claims, one.claims));
    return first === undefined || first.name === name ? null : first.name;
  }

  /** Lists all trusts, oldest first, with how many of their tokens are valid. */
  async list(): Promise<TrustSummary[]> {
    const { sql } = this.database;
    const given = await store.countGiven(sql, this.now().getTime());
    return (await store.listTrusts(sql)).map(
      ({ id, owner_id, owner_name, since, maker, ...row }) => ({
        ...row,
        claims: JSON.parse(row.claims),
        user: owner_name,
        private_issuer: row.private_issuer === 1,
        created_at: new Date(row.created_at).toISOString(),
        tokens: given.find(({ trust_id }) => trust_id === id)?.tokens ?? 0,
      }),
    );
  }

  /** Deletes a trust and the tokens that it gave; returns how many of these were valid, undefined without such a trust. */
  async remove(name: string): Promise<number | undefined> {
    return this.database.transaction((sql) => store.deleteTrust(sql, name, this.now().getTime()));
  }
}

function trustOf({
  claims,
  owner_id,
  owner_name,
  private_issuer,
  ...row
}: store.OwnedTrust): Trust {
  return {
    ...row,
    claims: Object.entries<string>(JSON.parse(claims)).map(([name, value]) => ({ name, value })),
    owner: { id: owner_id, name: owner_name },
    privateIssuer: private_issuer === 1,
  };
}
