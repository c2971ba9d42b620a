import type { CompactVerifyGetKey, JSONWebKeySet } from 'jose';
import { isObject, parseJson } from '../../contract/json';
import { orUndefined } from '../../contract/or-undefined';
import { ExchangeRefusal } from './exchange-refusal';
import type { KeySet } from './issuer-keys';

/** A decoded JSON Web Token (RFC 7519). Nothing of it is verified. */
export interface IdentityToken {
  readonly text: string;
  readonly kid: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
}

const MOST_BYTES = 16 * 1024;
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** Fields of a header that name a key, or ask for what we may not know (RFC 7515, 4.1). */
const REFUSED = ['jwk', 'jku', 'x5u', 'x5c', 'crit'];

/** @throws ExchangeRefusal (malformed) for a token that is too long, or has a header that is not accepted */
export function decodeToken(text: string): IdentityToken {
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
  return { text, kid, payload };
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
export function checkTimes({ payload }: IdentityToken, now: number): void {
  const { exp, iat, nbf } = payload;
  const seconds = Math.floor(now / 1000);
  const wrong = (message: string) => new ExchangeRefusal('time', message);
  if (!isTime(exp) || !isTime(iat) || !(nbf === undefined || isTime(nbf)))
    throw wrong('the token must have exp and iat, as numbers');
  if (exp - iat > LONGEST) throw wrong('the token is valid for more than 24 hours');
  const late = Math.round(seconds - exp);
  if (late >= LEEWAY) throw wrong(`the token expired ${late} s ago`);
  const early = Math.round(Math.max(iat, nbf ?? iat) - seconds);
  if (early > LEEWAY) throw wrong(`the token is valid only in ${early} s`);
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

/** @throws ExchangeRefusal (signature) */
export async function checkSignature({ text }: IdentityToken, set: KeySet): Promise<void> {
  const { compactVerify, createLocalJWKSet, errors } = await import('jose');
  const verify = async (key: CompactVerifyGetKey) => {
    await compactVerify(text, key, { algorithms: ALGORITHMS });
    return true;
  };
  try {
    await verify(createLocalJWKSet(set as JSONWebKeySet));
  } catch (error) {
    // Several keys may have the ID of the token or, if it has none, fit its algorithm.
    const keys = error instanceof errors.JWKSMultipleMatchingKeys ? error : [];
    for await (const key of keys) if (await verify(() => key).catch(() => false)) return;
    throw new ExchangeRefusal('signature', 'the signature of the token is not valid');
  }
}
