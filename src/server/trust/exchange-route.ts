import type { Hono } from 'hono';
import { EXCHANGE, exchangeRoute } from '../../contract/api';
import type { PartOptions } from '../app-options';
import { authentication } from '../http/authentication';
import { readParameters } from '../http/body';
import type { Env } from '../http/env';
import { refuseCrossSite } from '../http/request-origin';
import { json } from '../http/responses';
import type { ExchangeOutcome } from '../ops/metrics';
import { ServiceRefusal } from '../service-errors';
import { ExchangeRefusal } from './identity-token';

/** Errors of outcomes that have one of their own (RFC 6749, 5.2, to which RFC 8693, 2.2.2, refers). */
const ERRORS: Partial<Record<ExchangeOutcome, string>> = {
  unsupported: 'unsupported_grant_type',
  unavailable: 'temporarily_unavailable',
};

/** Adds the exchange of an identity token for a token of ours (RFC 8693, 2). */
export function addExchangeRoute(api: Hono<Env>, options: PartOptions): void {
  const { exchange, events, log, settings } = options;
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
      tell('granted', { trust: given.trust });
      return json({
        access_token: given.token,
        issued_token_type: EXCHANGE.accessToken,
        token_type: 'Bearer',
        expires_in: given.lifetime,
        scope: given.scope,
      });
    } catch (error) {
      const { outcome, message, details } = refusalOf(error);
      const { reason = message, retryAfter } = details;
      tell(outcome, { reason });
      const body = { error: ERRORS[outcome] ?? 'invalid_request', error_description: message };
      if (retryAfter === undefined) return json(body, 400);
      return json(body, 503, { 'retry-after': `${retryAfter}` });
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
