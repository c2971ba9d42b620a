import { describe, expect, test } from 'vitest';
import { EXCHANGE } from '../../../src/contract/api';
import { issuer, keyPair, signed, trust } from '../../helpers/issuer';
import { type Call, transport } from '../../helpers/service';
import { onSqlite } from '../../helpers/stores';
import { started } from '../on-sockets';
import { exchanging, PATH, parametersOf, publicUrl, refusal } from './exchanging';

const store = onSqlite();
const { made, post, exchange, logged, counted } = exchanging(store);

describe('the parameters of an exchange', () => {
  const right = (token: string) => Object.entries(parametersOf(token));
  const form = (pairs: [string, string][]): Call => ({
    content: new URLSearchParams(pairs).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

  test('may be JSON, and have others beside them', async () => {
    const body = { ...parametersOf(made.from.token()), subject_token_type: EXCHANGE.idToken, audience: 'x' };
    expect((await post({ body })).status).toBe(200);
    expect((await post(form([...right(made.from.token()), ['audience', 'x'], ['audience', 'y']]))).status).toBe(200);
  });

  test.each<[string, (token: string) => Call, object]>([
    [
      'a grant type of another kind',
      (token) => ({ body: { ...parametersOf(token), grant_type: 'password' } }),
      refusal(`grant_type must be ${EXCHANGE.grantType}`, 'unsupported_grant_type'),
    ],
    [
      'a token type of another kind',
      (token) => ({ body: { ...parametersOf(token), subject_token_type: EXCHANGE.accessToken } }),
      refusal(`subject_token_type must be ${EXCHANGE.jwt} or ${EXCHANGE.idToken}`),
    ],
    ['no token', () => form(right('').slice(0, 1)), refusal('subject_token_type must be sent once, as a text')],
    [
      'two tokens',
      (token) => form([...right(token), ['subject_token', token]]),
      refusal('subject_token must be sent once, as a text'),
    ],
    [
      'a token that is no text',
      (token) => ({ body: { ...parametersOf(token), subject_token: [token] } }),
      refusal('subject_token must be sent once, as a text'),
    ],
    [
      'another type of body',
      () => ({ content: 'x', headers: { 'content-type': 'text/plain' } }),
      refusal('The body must be a JSON object or a form, and its Content-Type must say so.'),
    ],
    [
      'no JSON',
      () => ({ content: '{', headers: { 'content-type': 'application/json' } }),
      refusal('The body is not valid JSON.'),
    ],
    ['32 KiB and a byte', () => form([['x', 'x'.repeat(32 * 1024 - 1)]]), refusal('The body is larger than 32.0 KiB.')],
  ])('are refused: %s', async (_, how, wanted) => {
    expect(await post(how(made.from.token()))).toMatchObject(wanted);
  });

  test('come from no page of another site, and by POST alone', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await post({ fields: parametersOf(made.from.token()), headers })).status).toBe(403);
    const got = await made.service.call('GET', PATH);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('an identity token is refused', () => {
  const DAY = 24 * 60 * 60;
  const algorithm = 'the algorithm of the token is none of RS256, PS256, ES256 and EdDSA';
  const signature = 'the signature of the token is not valid';
  const iat = (seconds: number) => Math.floor(made.service.clock.now().getTime() / 1000) + seconds;
  const rows: [string, () => string, outcome: string, description: string][] = [
    [
      'with alg none',
      () => made.from.token({}, { alg: 'none' }).replace(/[^.]*$/, ''),
      'malformed',
      'the token is not a signed JSON Web Token',
    ],
    ['with alg none, and a signature', () => made.from.token({}, { alg: 'none' }), 'malformed', algorithm],
    [
      'with HS256, and the public key as the secret',
      () =>
        made.from.token(
          {},
          { alg: 'HS256' },
          made.from.key.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        ),
      'malformed',
      algorithm,
    ],
    [
      'of another key by the name of ours',
      () => made.from.token({}, {}, keyPair('ES256').privateKey),
      'signature',
      signature,
    ],
    [
      'of another algorithm than the key has',
      () => made.from.token({}, { alg: 'RS256' }, keyPair('RS256').privateKey),
      'signature',
      signature,
    ],
    [
      'with changed claims',
      () => made.from.token({ repository: 'x' }).replace(/\.[^.]*\./, `.${made.from.token().split('.')[1]}.`),
      'signature',
      signature,
    ],
    ...['jwk', 'jku', 'x5u', 'x5c', 'crit'].map((name): (typeof rows)[number] => [
      `with ${name} in its header`,
      () => {
        const own = keyPair('ES256');
        return made.from.token({}, { [name]: [own.publicKey.export({ format: 'jwk' })] }, own.privateKey);
      },
      'malformed',
      `the header of the token has ${name}`,
    ]),
    [
      'whose key ID is no text',
      () => made.from.token({}, { kid: 1 }),
      'malformed',
      'the key ID of the token is no text',
    ],
    [
      'of an unknown key',
      () => made.from.token({}, { kid: 'other' }),
      'signature',
      'the issuer does not have the key of the token',
    ],
    [
      'of another issuer',
      () => made.from.token({ iss: 'https://issuer.test' }),
      'issuer',
      'no trust names the issuer of this token',
    ],
    [
      'of the same issuer with a slash',
      () => made.from.token({ iss: `${made.from.url}/` }),
      'issuer',
      'no trust names the issuer of this token',
    ],
    [
      'without an issuer',
      () => made.from.token({ iss: undefined }),
      'issuer',
      'no trust names the issuer of this token',
    ],
    [
      'for another audience',
      () => made.from.token({ aud: 'https://pw.test/' }),
      'audience',
      'this token is for another audience',
    ],
    [
      'for the Host of the request',
      () => made.from.token({ aud: 'http://pw.test' }),
      'audience',
      'this token is for another audience',
    ],
    [
      'without an audience',
      () => made.from.token({ aud: undefined }),
      'audience',
      'this token is for another audience',
    ],
    [
      'for several others',
      () => made.from.token({ aud: [[publicUrl], 'x'] }),
      'audience',
      'this token is for another audience',
    ],
    [
      'with another claim',
      () => made.from.token({ repository: 'org/other' }),
      'claims',
      'no trust matches the claims of this token',
    ],
    ['60 s after its end', () => made.from.token({ exp: iat(-60) }), 'time', 'the token expired 60 s ago'],
    ['61 s before it is issued', () => made.from.token({ iat: iat(61) }), 'time', 'the token is valid only in 61 s'],
    ['61 s before it is valid', () => made.from.token({ nbf: iat(61) }), 'time', 'the token is valid only in 61 s'],
    ['without iat', () => made.from.token({ iat: undefined }), 'time', 'the token must have exp and iat, as numbers'],
    ['without exp', () => made.from.token({ exp: undefined }), 'time', 'the token must have exp and iat, as numbers'],
    [
      'whose exp is a text',
      () => made.from.token({ exp: `${iat(60)}` }),
      'time',
      'the token must have exp and iat, as numbers',
    ],
    ['whose nbf is a text', () => made.from.token({ nbf: '' }), 'time', 'the token must have exp and iat, as numbers'],
    [
      'that is valid for 24 hours and a second',
      () => made.from.token({ exp: iat(DAY + 1) }),
      'time',
      'the token is valid for more than 24 hours',
    ],
    ['of 16 KiB and a byte', () => 'a'.repeat(16 * 1024 + 1), 'malformed', 'the token is longer than 16 KiB'],
    ['of two parts', () => 'e30.e30', 'malformed', 'the token is not a signed JSON Web Token'],
    [
      'whose claims are no object',
      () => signed({ alg: 'ES256' }, [], made.from.key.privateKey),
      'malformed',
      'the token is not a signed JSON Web Token',
    ],
  ];
  test.each(rows)('%s', async (_, token, outcome, description) => {
    expect(await exchange(token())).toMatchObject(refusal(description));
    expect(await counted(outcome)).toBe('1');
    const [line = '', ...others] = logged();
    expect(others).toEqual([]);
    expect(line).toContain(`outcome=${outcome} reason="${description}`);
    expect(line).not.toContain('eyJ');
  });

  test('before its keys are fetched, unless all but signature and claims is right', async () => {
    const wrong = [{ aud: 'x' }, { exp: 1 }, { nbf: iat(600) }];
    for (const claims of wrong) await exchange(made.from.token(claims));
    expect(made.from.seen).toEqual([]);
  });
});

describe('an identity token is taken', () => {
  const seconds = () => Math.floor(made.service.clock.now().getTime() / 1000);
  test.each<[string, () => string]>([
    ['of RS256', () => algorithm('RS256')],
    ['of PS256', () => algorithm('PS256')],
    ['of EdDSA', () => algorithm('EdDSA')],
    ['without a key ID', () => made.from.token({}, { kid: undefined })],
    ['for several audiences', () => made.from.token({ aud: ['x', publicUrl] })],
    ['59 s after its end', () => made.from.token({ exp: seconds() - 59 })],
    ['60 s before it is valid', () => made.from.token({ iat: seconds() + 60, nbf: seconds() + 60 })],
    ['that is valid for 24 hours', () => made.from.token({ exp: seconds() + 24 * 60 * 60 })],
  ])('%s', async (_, token) => {
    expect((await exchange(token())).status).toBe(200);
  });

  test.each([undefined, 'key-0'])('of one of several keys that have the ID %s', async (kid) => {
    const keys = [keyPair('ES256'), made.from.key, keyPair('RS256')].map(({ publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
    }));
    made.from.answers.set('/keys', (_, response) => void response.end(JSON.stringify({ keys })));
    const stranger = keyPair('ES256').privateKey;
    const tokens = [made.from.token({}, { kid }), made.from.token({}, { kid }, stranger)];
    const results = await Promise.all(tokens.map((token) => exchange(token)));
    expect(results.map(({ status }) => status)).toEqual([200, 400]);
  });

  function algorithm(alg: string): string {
    made.from.rotate(alg);
    return made.from.token();
  }
});

test('while the issuer is away an exchange can be repeated later, and the reason is in the log', async () => {
  await made.from.leave();
  const { status, headers, json } = await exchange();
  expect([status, headers.get('retry-after'), json]).toEqual([
    503,
    '60',
    { error: 'temporarily_unavailable', error_description: 'the keys of the issuer cannot be fetched now' },
  ]);
  expect(logged()).toEqual([`outcome=unavailable reason="no keys of ${made.from.url}: unreachable (ECONNREFUSED)"`]);
});

test('a trust that allows no private network does not take what was fetched from one', async () => {
  await trust(made.room, made.from, { name: 'private', scope: 'all', private_issuer: true });
  made.from.rotate();
  let configurations = 0;
  made.from.answers.set(made.from.CONFIGURATION, (_, response) => {
    configurations += 1;
    const jwks_uri = configurations === 1 ? `${made.from.url}/none` : `${made.from.url}/keys`;
    response.end(JSON.stringify({ issuer: made.from.url, jwks_uri }));
  });
  expect((await exchange()).json.scope).toBe('all');
});

test('without a public address the audience is the one that the service printed, whatever the Host', async () => {
  const room = await store.room();
  const from = await issuer({ now: () => new Date() });
  const service = await started(room.settings, { transport });
  await trust(room, from);
  const exchanged = async (aud: string) => {
    const body = new URLSearchParams(parametersOf(from.token({ aud })));
    return (await fetch(`${service.localUrl}${PATH}`, { method: 'POST', body })).status;
  };
  expect([await exchanged(service.url), await exchanged(`http://localhost:${service.port}`)]).toEqual([200, 400]);
});
