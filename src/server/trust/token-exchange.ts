import type { Owners } from '../owners/owners';
import { unlessRefused } from '../service-errors';
import { type Database, violatesReference } from '../store/sql';
import { mismatch } from './claims';
import { checkSignature, checkTimes, decodeToken, ExchangeRefusal } from './identity-token';
import type { IssuerKeys } from './issuer-keys';
import { listAudiences, listTrusts } from './trust-rows';

interface ExchangeParts {
  readonly database: Database;
  readonly owners: Owners;
  readonly keys: IssuerKeys;
  /** The clock of the database. */
  readonly now: () => Date;
}

/** Gives tokens for identity tokens (docs/wire.md, "Token exchange"). */
export class TokenExchange {
  /** @param address that of the service, and never of a request; undefined before the service listens */
  constructor(
    private readonly parts: ExchangeParts,
    public address?: string,
  ) {}

  /** What the version says of it: the audience is that of all trusts, or null. Without a database, it is not enabled. */
  async feature(): Promise<{ enabled: boolean; audience: string | null }> {
    const listing = listAudiences(this.parts.database.sql, this.address ?? null);
    const [first, second] = (await listing.catch(unlessRefused())) ?? [];
    return { enabled: first !== undefined, audience: second ? null : (first?.audience ?? null) };
  }

  /**
   * Creates a token of the first trust that an identity token matches.
   * @throws ExchangeRefusal if no trust matches, or that was removed meanwhile
   */
  async grant(text: string) {
    const { trust, subject } = await this.find(text);
    const given = await this.parts.owners.grant(trust, subject).catch((error) => {
      throw violatesReference(error) ? noTrust() : error;
    });
    return { ...given, lifetime: trust.lifetime, trust: trust.name };
  }

  /** Checks the signature after all that takes less time, and before the claims, so that nobody else learns of a trust. */
  private async find(text: string) {
    const { database, keys, now } = this.parts;
    const { kid, payload } = decodeToken(text);
    const trusts = await listTrusts(database.sql);
    const ofIssuer = trusts.filter(({ issuer }) => issuer === payload.iss);
    if (ofIssuer.length === 0)
      throw new ExchangeRefusal('issuer', 'no trust names the issuer of this token');
    const audiences: unknown[] = [payload.aud].flat().filter((one) => typeof one === 'string');
    const meant = ofIssuer.filter((trust) => audiences.includes(trust.audience ?? this.address));
    if (meant.length === 0)
      throw new ExchangeRefusal('audience', 'this token is for another audience');
    checkTimes(payload, now().getTime());
    // Trusts that allow a private network may have other keys of the issuer than those that do not.
    const checks = [...new Map(meant.map((one) => [one.private_issuer, one])).values()].map(
      async (one) => {
        await checkSignature(text, await keys.find(one, kid));
        return one.private_issuer;
      },
    );
    const results = await Promise.allSettled(checks);
    const good = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (good.length === 0) await checks[0];
    const trusted = meant.filter((one) => good.includes(one.private_issuer));
    const trust = trusted.find(({ claims }) => mismatch(claims, payload) === undefined);
    if (!trust)
      throw noTrust(trusted.map(({ name, claims }) => `${mismatch(claims, payload)} of ${name}`));
    const { sub } = payload;
    return {
      trust,
      // PostgreSQL stores no NUL, and a terminal obeys other control characters.
      subject: typeof sub === 'string' ? sub.replace(/\p{C}/gu, '\ufffd') : '',
    };
  }
}

/** The log names a claim that each of the first trusts misses; the client must not learn what is wanted. */
function noTrust(missed: readonly string[] = []): ExchangeRefusal {
  const message = 'no trust matches the claims of this token';
  const reason = missed.length === 0 ? message : `${message}: ${missed.slice(0, 5).join(', ')}`;
  return new ExchangeRefusal('claims', message, { reason });
}
