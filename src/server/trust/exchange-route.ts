import type { Hono } from 'hono';
import { EXCHANGE, exchangeRoute } from '../../contract/api';
import type { PartOptions } from '../app-options';
import { authentication } from '../http/authentication';
import { readParameters } from '../http/body';
import type { Env } from '../http/env';
import { refuseCrossSite } from '../http/request-origin';
import { json } from '../http/responses';
import { ServiceRefusal } from '../service-errors';
import { ExchangeRefusal } from './exchange-refusal';

/** Adds the exchange of an identity token for a token of ours (RFC 8693, 2). */
export function addExchangeRoute(api: Hono<Env>, options: PartOptions): void {
  const { exchange, events, log, now, settings } = options;
  const { visitor } = authentication(options);

  api.post(exchangeRoute.path, async (c) => {
    refuseCrossSite(c.req.raw, settings);
    await visitor(c);
    try {
      const { trust, subject } = await exchange.find(subjectTokenIn(await readParameters(c)));
      const { token, endsAt } = await exchange.grant(trust, subject);
      events.exchanged('granted');
      const details = { trust: trust.name, subject: subject.slice(0, 100) };
      log.event('exchange', { outcome: 'granted', ...details });
      return json({
        access_token: token,
        issued_token_type: EXCHANGE.accessToken,
        token_type: 'Bearer',
        expires_in: Math.round((endsAt - now().getTime()) / 1000),
        scope: trust.scope,
      });
    } catch (error) {
      const { outcome, message, details } = refusalOf(error);
      events.exchanged(outcome);
      log.event('exchange', { outcome, reason: details.reason ?? message });
      return refused(outcome, message, details.retryAfter);
    }
  });
}

/** @throws ExchangeRefusal when a parameter is missing, repeated or not supported */
function subjectTokenIn(fields: readonly (readonly [string, unknown])[]): string {
  const [grantType, type, token] = ['grant_type', 'subject_token_type', 'subject_token'].map(
    (name) => {
      const values = fields.flatMap(([field, value]) => (field === name ? [value] : []));
      const [value] = values;
      if (values.length === 1 && typeof value === 'string') return value;
      throw new ExchangeRefusal('malformed', `${name} must be sent once, as a text`);
    },
  );
  if (grantType !== EXCHANGE.grantType)
    throw new ExchangeRefusal('unsupported', `grant_type must be ${EXCHANGE.grantType}`);
  if (type === EXCHANGE.jwt || type === EXCHANGE.idToken) return `${token}`;
  const types = `${EXCHANGE.jwt} or ${EXCHANGE.idToken}`;
  throw new ExchangeRefusal('malformed', `subject_token_type must be ${types}`);
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
