import type { Hono } from 'hono';
import { EXCHANGE, exchangeRoute } from '../../contract/api';
import type { PartOptions } from '../app-options';
import { authentication } from '../http/authentication';
import { readParameters } from '../http/body';
import type { Env } from '../http/env';
import { refuseCrossSite } from '../http/request-origin';
import { json } from '../http/responses';
import type { ExchangeOutcome } from '../ops/metrics';
import type { Owners } from '../owners/owners';
import { ServiceRefusal, unlessRefused } from '../service-errors';
import { type Database, violatesReference } from '../store/sql';
import { matches } from './claims';
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
    const [first, second] = (await listing.catch(unlessRefused)) ?? [];
    return { enabled: first !== undefined, audience: second ? null : (first?.audience ?? null) };
  }

  /**
   * Creates a token of the first trust that an identity token matches.
   * @throws ExchangeRefusal if there is none, or was removed meanwhile
   */
  async grant(text: string) {
    const { trust, subject } = await this.find(text);
    const shown = subject.slice(0, 100);
    const message = 'no trust matches the claims of this token';
    const refusal = new ExchangeRefusal('claims', message, { reason: `${message}; sub: ${shown}` });
    if (!trust) throw refusal;
    const given = await this.parts.owners.grant(trust, subject).catch((error) => {
      throw violatesReference(error) ? refusal : error;
    });
    return { ...given, about: { trust: trust.name, subject: shown } };
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
    const { sub } = payload;
    return {
      trust: meant.find((one) => good.includes(one.private_issuer) && matches(one.claims, payload)),
      // PostgreSQL stores no NUL, and a terminal obeys other control characters.
      subject: typeof sub === 'string' ? sub.replace(/\p{C}/gu, '\ufffd') : '',
    };
  }
}

/** Adds the exchange of an identity token for a token of ours (RFC 8693, 2). */
export function addExchangeRoute(api: Hono<Env>, options: PartOptions): void {
  const { exchange, events, log, now, settings } = options;
  const { visitor } = authentication(options);

  api.post(exchangeRoute.path, async (c) => {
    refuseCrossSite(c.req.raw, settings);
    await visitor(c);
    const tell = (outcome: ExchangeOutcome, about: Readonly<Record<string, string>>) => {
      events.exchanged(outcome);
      log.event('exchange', { outcome, ...about });
    };
    try {
      const given = await exchange.grant(subjectTokenIn(await readParameters(c)));
      tell('granted', given.about);
      return json({
        access_token: given.token,
        issued_token_type: EXCHANGE.accessToken,
        token_type: 'Bearer',
        expires_in: Math.round((given.endsAt - now().getTime()) / 1000),
        scope: given.scope,
      });
    } catch (error) {
      const { outcome, message, details } = refusalOf(error);
      tell(outcome, { reason: details.reason ?? message });
      return refused(outcome, message, details.retryAfter);
    }
  });
}

/** @throws ExchangeRefusal when a parameter is missing, repeated or not supported */
function subjectTokenIn(fields: readonly (readonly [string, unknown])[]): string {
  const only = (name: string) => {
    const values = fields.filter(([field]) => field === name).map(([, value]) => value);
    if (values.length === 1 && typeof values[0] === 'string') return values[0];
    throw new ExchangeRefusal('malformed', `${name} must be sent once, as a text`);
  };
  if (only('grant_type') !== EXCHANGE.grantType)
    throw new ExchangeRefusal('unsupported', `grant_type must be ${EXCHANGE.grantType}`);
  const types: string[] = [EXCHANGE.jwt, EXCHANGE.idToken];
  if (types.includes(only('subject_token_type'))) return only('subject_token');
  throw new ExchangeRefusal('malformed', `subject_token_type must be ${types.join(' or ')}`);
}

/** @throws the error itself if it is not a refusal of the identity token, or of the body that has it */
function refusalOf(error: unknown): ExchangeRefusal {
  if (error instanceof ExchangeRefusal) return error;
  if (error instanceof ServiceRefusal && ['malformed', 'too_large'].includes(error.kind))
    return new ExchangeRefusal('malformed', error.message);
  throw error;
}

/** Responds with an error (RFC 6749, 5.2, to which RFC 8693, 2.2.2, refers). */
function refused(outcome: ExchangeRefusal['outcome'], error_description: string, retryAfter = 60) {
  if (outcome === 'unavailable') {
    const headers = { 'retry-after': `${retryAfter}` };
    return json({ error: 'temporarily_unavailable', error_description }, 503, headers);
  }
  const error = outcome === 'unsupported' ? 'unsupported_grant_type' : 'invalid_request';
  return json({ error, error_description }, 400);
}
