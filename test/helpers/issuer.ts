import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import { Trusts } from '../../src/server/trust/trusts';
import { listening } from './listen';
import { testClock } from './service';
import type { Room } from './stores';

type Claims = Readonly<Record<string, unknown>>;

export type TestIssuer = Awaited<ReturnType<typeof issuer>>;

interface IssuerOptions {
  /** The clock of the services that the tokens are for. */
  readonly now?: () => Date;
  /** That of the tokens. */
  readonly audience?: string;
  /** Its name; by default its address. */
  readonly name?: string;
  readonly tls?: ServerOptions;
}

/** Makes the key pair of an algorithm of signatures (RFC 7518, 3.1; RFC 8037, 3.1). */
export function keyPair(alg: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs a JSON Web Token; a key that is a text is that of HS256. */
export function signed(header: Claims, claims: unknown, key: KeyObject | string): string {
  const content = `${encoded(header)}.${encoded(claims)}`;
  return `${content}.${signature(`${header.alg}`, content, key).toString('base64url')}`;
}

function signature(alg: string, content: string, key: KeyObject | string): Buffer {
  const bytes = Buffer.from(content);
  if (typeof key === 'string') return createHmac('sha256', key).update(bytes).digest();
  if (alg === 'ES256') return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });
  if (alg === 'EdDSA') return sign(null, bytes, key);
  return sign('sha256', bytes, alg === 'PS256' ? { key, padding: 6, saltLength: 32 } : { key });
}

/**
 * An issuer of identity tokens on a port of loopback until the test is over. It has one key, of ES256, until another one
 * takes its place. `answers` has what it says in place of its configuration and its keys, by path.
 */
export async function issuer(options: IssuerOptions = {}) {
  const { now = testClock().now, audience = 'https://pw.test', tls } = options;
  const CONFIGURATION = '/.well-known/openid-configuration';
  const answers = new Map<string, RequestListener>();
  let keys = 0;
  let current = { ...keyPair('ES256'), alg: 'ES256', kid: 'key-0' };
  let maxAge = 600;
  const server = await listening((request, response) => {
    const own = answers.get(request.url ?? '');
    if (own) return own(request, response);
    response.setHeader('content-type', 'application/json');
    response.setHeader('cache-control', `public, max-age=${maxAge}`);
    if (request.url === CONFIGURATION)
      return void response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
    const { publicKey, alg, kid } = current;
    const key = { ...publicKey.export({ format: 'jwk' }), alg, kid, use: 'sig' };
    response.writeHead(request.url === '/keys' ? 200 : 404).end(JSON.stringify({ keys: [key] }));
  }, tls);
  const url = options.name ?? server.url;
  const claimsOf = (changes: Claims): Claims => {
    const iat = Math.floor(now().getTime() / 1000);
    const sub = 'repo:org/app:ref:refs/heads/main';
    const ours = { repository: 'org/app', ref: 'refs/heads/main', repository_owner: 'org' };
    return { iss: url, aud: audience, sub, iat, exp: iat + 300, ...ours, ...changes };
  };
  return {
    url,
    port: server.port,
    /** Method and path of each request, in turn. */
    seen: server.seen,
    answers,
    CONFIGURATION,
    /** Ends the server, and what it is asked. */
    leave: server.close,
    setMaxAge: (seconds: number) => {
      maxAge = seconds;
    },
    /** Replaces the key. */
    rotate: (alg = 'ES256') => {
      keys += 1;
      current = { ...keyPair(alg), alg, kid: `key-${keys}` };
    },
    get key() {
      return current;
    },
    claimsOf,
    /** Signs a token; a change to undefined takes a claim or a field of the header away. */
    token: (changes: Claims = {}, header: Claims = {}, key: KeyObject | string = current.privateKey) =>
      signed({ alg: current.alg, kid: current.kid, typ: 'JWT', ...header }, claimsOf(changes), key),
  };
}

/** Has the service of a room trust an issuer: jobs of `org/app` get tokens of the user `ci` that can push, for 10 minutes. */
export async function trust(
  room: Pick<Room, 'beside'>,
  { url }: { readonly url: string },
  changes: Partial<Parameters<Trusts['add']>[0]> = {},
) {
  const database = await room.beside();
  const all = { name: 'deploy', issuer: url, claims: ['repository=org/app'], user: 'ci' } as const;
  const rest = { scope: 'push', lifetime: 600, private_issuer: false } as const;
  await new Trusts(database, testClock().now).add({ ...all, ...rest, ...changes });
  await database.close();
}
