import type { Owners } from '../owners/owners';
import { unlessRefused } from '../service-errors';
import { type Database, violatesReference } from '../store/sql';
import { matches } from './claims';
import { ExchangeRefusal } from './exchange-refusal';
import { checkSignature, checkTimes, decodeToken, type IdentityToken } from './identity-token';
import type { IssuerKeys } from './issuer-keys';
import type { Trust } from './trust-rows';
import type { Trusts } from './trusts';

interface ExchangeParts {
  readonly database: Database;
  readonly trusts: Trusts;
  readonly owners: Owners;
  readonly keys: IssuerKeys;
  /** The clock of the database. */
  readonly now: () => Date;
  /** The address of the service, which is never that of a request; undefined before the service listens. */
  readonly address: () => string | undefined;
}

/** Gives tokens for identity tokens (docs/wire.md, "Token exchange"). */
export class TokenExchange {
  constructor(private readonly parts: ExchangeParts) {}

  /** What the version says of it: the audience is that of all trusts, or null. Without a database, it is not enabled. */
  async feature(): Promise<{ enabled: boolean; audience: string | null }> {
    const audiences = (await this.parts.trusts.audiences().catch(unlessRefused)) ?? [];
    const [first = null, ...others] = new Set(
      audiences.map((audience) => this.audienceOf({ audience })),
    );
    return { enabled: audiences.length > 0, audience: others.length === 0 ? first : null };
  }

  /**
   * Finds the first trust that an identity token matches. Its signature is checked after all that takes less time, and
   * before its claims are compared, so that nobody else learns of a trust.
   * @throws ExchangeRefusal
   */
  async find(text: string): Promise<{ readonly trust: Trust; readonly subject: string }> {
    const token = decodeToken(text);
    const { iss, aud, sub } = token.payload;
    const ofIssuer = (await this.parts.trusts.all()).filter(({ issuer }) => issuer === iss);
    if (ofIssuer.length === 0)
      throw new ExchangeRefusal('issuer', 'no trust names the issuer of this token');
    const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
    const meant = ofIssuer.filter((trust) => {
      const audience = this.audienceOf(trust);
      return audience !== undefined && audiences.includes(audience);
    });
    if (meant.length === 0)
      throw new ExchangeRefusal('audience', 'this token is for another audience');
    checkTimes(token, this.parts.now().getTime());
    const verified = await this.verified(token, meant);
    const trust = verified.find((one) => matches(one.claims, token.payload));
    // PostgreSQL stores no NUL, and a terminal obeys other control characters.
    const subject = typeof sub === 'string' ? sub.replace(/\p{C}/gu, '\ufffd') : '';
    if (trust) return { trust, subject };
    throw noTrust(subject);
  }

  /**
   * Creates a token of a trust, which ends by the clock of the database.
   * @throws ExchangeRefusal when the trust was removed meanwhile
   */
  async grant(trust: Trust, subject: string) {
    const { database, owners } = this.parts;
    try {
      return await database.transaction((sql) => owners.grant(sql, trust, subject));
    } catch (error) {
      throw violatesReference(error) ? noTrust() : error;
    }
  }

  /**
   * Returns the trusts whose keys have signed the token. Of one issuer, those that allow a private network may have other
   * keys than those that do not.
   * @throws ExchangeRefusal if no key has
   */
  private async verified(token: IdentityToken, trusts: readonly Trust[]): Promise<Trust[]> {
    const { keys } = this.parts;
    const checks = [...new Map(trusts.map((trust) => [trust.private_issuer, trust])).values()].map(
      async (trust) => {
        await checkSignature(token, await keys.find(trust, token.kid));
        return trust.private_issuer;
      },
    );
    const results = await Promise.allSettled(checks);
    const good = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (good.length === 0) await checks[0];
    return trusts.filter(({ private_issuer }) => good.includes(private_issuer));
  }

  private audienceOf({ audience }: Pick<Trust, 'audience'>): string | undefined {
    return audience ?? this.parts.address();
  }
}

function noTrust(subject = ''): ExchangeRefusal {
  const message = 'no trust matches the claims of this token';
  return new ExchangeRefusal('claims', message, {
    reason: `${message}; sub: ${subject.slice(0, 100)}`,
  });
}
