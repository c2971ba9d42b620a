import type { Database } from '../store/sql';
import type { Claim } from './claims';
import * as store from './trust-rows';

/** An issuer of identity tokens, and what one must claim to get a token of `owner`. */
export interface Trust extends Pick<store.TrustRow, 'id' | 'name' | 'issuer' | 'audience'> {
  readonly claims: readonly Claim[];
  readonly owner: { readonly id: number; readonly name: string };
  readonly scope: store.TrustRow['scope'];
  /** Seconds for which its tokens are valid. */
  readonly lifetime: number;
  /** Whether the issuer may have an address of a private network. */
  readonly privateIssuer: boolean;
  readonly maker: string;
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

  /** Deletes a trust and the tokens that it gave; returns how many of these were valid, undefined without such a trust. */
  async remove(name: string): Promise<number | undefined> {
    return this.database.transaction((sql) => store.deleteTrust(sql, name, this.now().getTime()));
  }
}

function trustOf({ claims, owner_id, owner_name, private_issuer, ...row }: store.OwnedTrust) {
  return {
    ...row,
    claims: Object.entries<string>(JSON.parse(claims)).map(([name, value]) => ({ name, value })),
    owner: { id: owner_id, name: owner_name },
    privateIssuer: private_issuer === 1,
  };
}
