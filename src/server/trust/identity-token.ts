import type { JSONWebKeySet as KeySet } from 'jose';
import { isObject, parseJson } from '../../contract/json';
import { orUndefined } from '../../contract/or-undefined';
import type { ExchangeOutcome } from '../ops/metrics';

export type { KeySet };

/** Why an identity token gets no token of ours. Its texts are our own, and quote nothing of the token. */
export class ExchangeRefusal extends Error {
  /**
   * @param message for the client, in the characters of `error_description` (RFC 6749, 5.2)
   * @param details the reason for the log, unless it is the message, and the seconds until the issuer is asked again
   */
  constructor(
    readonly outcome: Exclude<ExchangeOutcome, 'granted'>,
    message: string,
    readonly details: { readonly reason?: string; readonly retryAfter?: number } = {},
  ) {
    super(message);
  }
}

/** The claims of a token. */
type Payload = Readonly<Record<string, unknown>>;

const MOST_BYTES = 16 * 1024;
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** Fields of a header that name a key, or ask for what we may not know (RFC 7515, 4.1). */
const REFUSED = ['jwk', 'jku', 'x5u', 'x5c', 'crit'];

/**
 * Decodes a JSON Web Token (RFC 7519), of which nothing is verified then.
 * @throws ExchangeRefusal (malformed) for a token that is too long, or has a header that is not accepted
 */
export function decodeToken(text: string): { kid: string | undefined; payload: Payload } {
  if (text.length > MOST_BYTES) throw malformedToken('the token is longer than 16 KiB');
  const [, ...parts] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text) ?? [];
  const [header, payload] = parts.map((part) =>
    orUndefined(() => parseJson(Buffer.from(part, 'base64url'))),
  );
  if (!isObject(header) || !isObject(payload))
    throw malformedToken('the token is not a signed JSON Web Token');
  const { alg, kid } = header;
  if (!ALGORITHMS.some((name) => name === alg))
    throw malformedToken('the algorithm of the token is none of RS256, PS256, ES256 and EdDSA');
  const refused = REFUSED.find((name) => Object.hasOwn(header, name));
  if (refused) throw malformedToken(`the header of the token has ${refused}`);
  if (kid !== undefined && typeof kid !== 'string')
    throw malformedToken('the key ID of the token is no text');
  return { kid, payload };
}

function malformedToken(message: string): ExchangeRefusal {
  return new ExchangeRefusal('malformed', message);
}

/** Seconds by which the clock of an issuer may differ. */
const LEEWAY = 60;
const LONGEST = 24 * 60 * 60;

/**
 * Checks `iat`, `nbf` and `exp`.
 * @param now in milliseconds
 * @throws ExchangeRefusal (time) that says the difference
 */
export function checkTimes({ exp, iat, nbf = iat }: Payload, now: number): void {
  const seconds = Math.floor(now / 1000);
  const wrong = (message: string) => new ExchangeRefusal('time', message);
  if (typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number')
    throw wrong('the token must have exp and iat, as numbers');
  if (exp - iat > LONGEST) throw wrong('the token is valid for more than 24 hours');
  const late = Math.round(seconds - exp);
  if (late >= LEEWAY) throw wrong(`the token expired ${late} s ago`);
  const early = Math.round(Math.max(iat, nbf) - seconds);
  if (early > LEEWAY) throw wrong(`the token is valid only in ${early} s`);
}

/**
 * Checks that one of the keys signed the token: several may have its key ID or, if it has none, fit its algorithm.
 * @throws ExchangeRefusal (signature)
 */
export async function checkSignature(text: string, { keys }: KeySet): Promise<void> {
  const { compactVerify, createLocalJWKSet } = await import('jose');
  for (const key of keys) {
    const set = createLocalJWKSet({ keys: [key] });
    const verifying = compactVerify(text, set, { algorithms: ALGORITHMS });
    if (await verifying.catch(() => undefined)) return;
  }
  throw new ExchangeRefusal('signature', 'the signature of the token is not valid');
}
