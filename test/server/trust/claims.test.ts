import { describe, expect, test } from 'vitest';
import { matches, parseClaims } from '../../../src/server/trust/claims';

const claim = (text: string) => parseClaims([text]);

describe('a claim', () => {
  test.each([
    ['repository=org/app', 'org/app', true],
    ['repository=org/app', 'org/App', false],
    ['repository=org/app', 'org/app2', false],
    ['repository=org/app', ' org/app', false],
    ['repository=org/app', undefined, false],
    ['repository=org/app', ['org/app'], false],
    ['repository=org/app', { name: 'org/app' }, false],
    ['null=null', null, false],
    ['id=17', 17, true],
    ['id=17', '17', true],
    ['id=17', 17.5, false],
    ['id=9007199254740991', Number.MAX_SAFE_INTEGER, true],
    ['id=9007199254740992', JSON.parse('9007199254740993'), false],
    ['id=1e+21', '1e+21', true],
    ['id=Infinity', JSON.parse('1e400'), false],
    ['id=0x11', 17, false],
    ['protected=true', true, true],
    ['protected=true', 'true', true],
    ['protected=true', 1, false],
    ['protected=false', undefined, false],
    ['https://example.com/team=a.b', 'a.b', true],
    ['context=a=b', 'a=b', true],
    ['workflow=Deploy the app', 'Deploy the app', true],
    ['repository=org/*', 'org/app', true],
    ['repository=org/*', 'org/', false],
    ['repository=org/*', 'org', false],
    ['repository=org/*', 'org/app/more', false],
    ['repository=org/*', 'organization/app', false],
    ['repository=org/*', 'my/org/app', false],
    ['repository=org/*', ['org/app'], false],
    ['repository=org/*', 'org/*', true],
    ['ref=refs/heads/release-*', 'refs/heads/release-1.2', true],
    ['ref=refs/heads/release-*', 'refs/heads/release-', false],
    ['ref=refs/heads/release-*', 'refs/heads/release-1/../../main', false],
    ['run=1*', 12, true],
    ['run=1*', 21, false],
  ])('%s of %j: %j', (text, value, expected) => {
    const claims = claim(text);
    const payload = Object.fromEntries(Object.keys(claims).map((name) => [name, value]));
    expect(matches(claims, { other: 'x', ...payload })).toBe(expected);
  });

  test('is a top-level claim of the token itself, never one that all objects have', () => {
    expect(matches(claim('a.b=c'), { a: { b: 'c' } })).toBe(false);
    const inherited = Object.create({ role: 'admin' });
    expect(matches(claim('role=admin'), inherited)).toBe(false);
    expect(matches(claim('__proto__=x'), JSON.parse('{"__proto__":"x"}'))).toBe(true);
  });

  test.each([
    '',
    'repository',
    '=org',
    'repository=',
    'a=*',
    'a=**',
    'a=org/**',
    'a=*/app',
    'a=org*/app',
    `a=${'x'.repeat(1000)}`,
    'a=x\n',
    'a=x\u202ey',
  ])(
    'is refused as %j: a name and a value that can be printed, and a * stands once, at the end, after something else',
    (text) => {
      expect(() => claim(text)).toThrow(
        expect.objectContaining({ code: 'usage', message: expect.stringMatching(/must be NAME=VALUE/) }),
      );
    },
  );

  test.each(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'])('%s is refused, which is checked of every token', (name) => {
    expect(() => claim(`${name}=x`)).toThrow(`--claim ${name} is checked anyway`);
  });
});

test('of several claims all must match', () => {
  const claims = parseClaims(['repository=org/app', 'ref=refs/heads/main']);
  const payload = { repository: 'org/app', ref: 'refs/heads/main', sub: 'x' };
  expect(matches(claims, payload)).toBe(true);
  expect(matches(claims, { ...payload, ref: 'refs/heads/other' })).toBe(false);
  expect(matches(claims, { ref: payload.ref })).toBe(false);
});

test('claims must be there, and each name once', () => {
  expect(() => parseClaims([])).toThrow('--claim is missing');
  expect(() => parseClaims(['ref=a', 'sub=b', 'ref=a'])).toThrow('--claim ref is there twice');
});

test.each([
  [['a=x'], ['a=x'], true],
  [['a=x', 'b=y'], ['a=x'], true],
  [['a=x'], ['a=x', 'b=y'], false],
  [['a=x'], ['b=x'], false],
  [['a=org/app'], ['a=org/*'], true],
  [['a=org/*'], ['a=org/app'], false],
  [['a=org/*'], ['a=org/*'], true],
  [['a=org/app-*'], ['a=org/*'], true],
  [['a=org/*'], ['a=org/app-*'], false],
  [['a=org/app/*'], ['a=org/*'], false],
])('tokens with %j all have %j: %j', (claims, general, expected) => {
  expect(matches(parseClaims(general), parseClaims(claims))).toBe(expected);
});
