import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredProfiles } from '../../src/profile/settings';
import { chooseTarget, type Target } from '../../src/profile/target';
import { times } from '../helpers/long';
import { requestOf, type Typed } from '../helpers/target-request';

const STORED: StoredProfiles = {
  current: 'home',
  profiles: {
    home: { url: 'https://home.test', token: 'home-token', 'ca-file': '/home.pem' },
    work: { url: 'https://work.test/pw', token: 'work-token' },
  },
};

const target = (given: Typed, linkBase?: string, stored = STORED): Promise<Target> =>
  chooseTarget(stored, requestOf(given), linkBase);

describe('address and token: option over environment over profile', () => {
  const env = { url: 'https://env.test', token: 'env-token' };
  const cases: [string, Typed, string, string | undefined][] = [
    ['the profile in use', {}, 'https://home.test', 'home-token'],
    ['PWPUSH_PROFILE', { env: { profile: 'work' } }, 'https://work.test/pw', 'work-token'],
    [
      '--profile over PWPUSH_PROFILE',
      { profile: 'home', env: { profile: 'work' } },
      'https://home.test',
      'home-token',
    ],
    ['PWPUSH_URL and its token', { env }, 'https://env.test', 'env-token'],
    ['PWPUSH_URL alone has no token', { env: { url: env.url } }, 'https://env.test', undefined],
    [
      'PWPUSH_TOKEN alone is for the address in use',
      { env: { token: 'env-token' } },
      'https://home.test',
      'env-token',
    ],
    [
      'an explicit --profile outranks both',
      { profile: 'work', env },
      'https://work.test/pw',
      'work-token',
    ],
    [
      'an explicit --profile outranks PWPUSH_TOKEN too',
      { profile: 'work', env: { token: 'env-token' } },
      'https://work.test/pw',
      'work-token',
    ],
    [
      '--url over all',
      { url: 'https://url.test', profile: 'work', env },
      'https://url.test',
      undefined,
    ],
    [
      '--url of the profile keeps its token',
      { url: 'https://home.test/' },
      'https://home.test',
      'home-token',
    ],
    [
      '--url of PWPUSH_URL keeps its token',
      { url: 'https://env.test/', env },
      'https://env.test',
      'env-token',
    ],
    [
      '--token-file goes to --url',
      { url: 'https://url.test', token: 'typed' },
      'https://url.test',
      'typed',
    ],
    ['--token-file over PWPUSH_TOKEN', { token: 'typed', env }, 'https://env.test', 'typed'],
    ['--token-file over the profile', { token: 'typed' }, 'https://home.test', 'typed'],
    [
      '--anonymous sends none',
      { anonymous: true, token: 'typed', env },
      'https://env.test',
      undefined,
    ],
  ];

  test.each(cases)('%s', async (_name, request, base, token) => {
    const { base: chosen, token: sent } = await target(request);
    expect({ base: chosen, token: sent }).toEqual({ base, token });
  });
});

describe('a pasted link', () => {
  test.each<[string, Typed, string, string | undefined]>([
    ['of the profile gets its token', {}, 'https://home.test', 'home-token'],
    ['of another profile gets the token of that one', {}, 'https://work.test/pw', 'work-token'],
    ['of another profile, above its path, gets none', {}, 'https://work.test', undefined],
    ['of another profile, below its path, gets none', {}, 'https://work.test/pw/x', undefined],
    ['of another profile over http gets none', {}, 'http://work.test/pw', undefined],
    ['of another profile on a port gets none', {}, 'https://work.test:8443/pw', undefined],
    [
      'of another profile with --anonymous gets none',
      { anonymous: true },
      'https://work.test/pw',
      undefined,
    ],
    [
      'of another profile than that of --profile gets none',
      { profile: 'home' },
      'https://work.test/pw',
      undefined,
    ],
    [
      'of another profile than that of PWPUSH_PROFILE gets its token',
      { env: { profile: 'work' } },
      'https://home.test',
      'home-token',
    ],
    [
      'of another profile gets no other token than --token-file',
      { token: 'typed' },
      'https://work.test/pw',
      undefined,
    ],
    [
      'of another profile gets its token, and not PWPUSH_TOKEN',
      { env: { token: 'env-token' } },
      'https://work.test/pw',
      'work-token',
    ],
    [
      'of another profile and of PWPUSH_URL gets PWPUSH_TOKEN',
      { env: { url: 'https://work.test/pw', token: 'env-token' } },
      'https://work.test/pw',
      'env-token',
    ],
    [
      'of another profile and of PWPUSH_URL alone gets none, as a token of a push there',
      { env: { url: 'https://work.test/pw' } },
      'https://work.test/pw',
      undefined,
    ],
    [
      'of another profile and of --url gets none, as a token of a push there',
      { url: 'https://work.test/pw' },
      'https://work.test/pw',
      undefined,
    ],
    [
      'of another profile than --url gets its token',
      { url: 'https://url.test' },
      'https://work.test/pw',
      'work-token',
    ],
    [
      'of the named profile gets its token',
      { profile: 'work' },
      'https://work.test/pw',
      'work-token',
    ],
    ['of another path gets none', { profile: 'work' }, 'https://work.test', undefined],
    ['of another port gets none', {}, 'https://home.test:8443', undefined],
    ['of the same host over http gets none', {}, 'http://home.test', undefined],
    [
      'of another instance gets no --token-file',
      { token: 'typed' },
      'https://evil.test',
      undefined,
    ],
    [
      'of another instance gets no PWPUSH_TOKEN',
      { env: { token: 'env-token' } },
      'https://evil.test',
      undefined,
    ],
    [
      'of PWPUSH_URL gets PWPUSH_TOKEN',
      { env: { url: 'https://env.test', token: 'env-token' } },
      'https://env.test',
      'env-token',
    ],
  ])('%s', async (_name, request, link, token) => {
    const { base, token: sent } = await target(request, link);
    expect({ base, token: sent }).toEqual({ base: link, token });
  });

  test('of another instance gets neither its CA file nor its insecurity', async () => {
    const profiles = { home: { ...STORED.profiles.home, insecure: true, days: 1 } };
    expect(await target({}, 'https://evil.test', { current: 'home', profiles })).toEqual({
      base: 'https://evil.test',
      token: undefined,
      caFile: undefined,
      insecure: false,
      defaults: profiles.home,
    });
  });

  test('of another profile gets its CA file and insecurity too, but not its defaults', async () => {
    const work = { ...STORED.profiles.work, 'ca-file': '/work.pem', insecure: true, days: 1 };
    const stored = { ...STORED, profiles: { ...STORED.profiles, work } };
    expect(await target({}, 'https://work.test/pw', stored)).toEqual({
      base: 'https://work.test/pw',
      token: 'work-token',
      tokenFrom: 'profile "work"',
      caFile: '/work.pem',
      insecure: true,
      defaults: STORED.profiles.home,
    });
  });

  test('of another profile over plain http is refused as that of the one in use', async () => {
    const work = { url: 'http://work.test', token: 'work-token' };
    const stored = { ...STORED, profiles: { ...STORED.profiles, work } };
    await expect(target({}, 'http://work.test', stored)).rejects.toThrow(
      expect.objectContaining({
        code: 'usage',
        hint: expect.stringContaining(': pwpush profile set insecure true --profile work'),
      }),
    );
  });

  const twice = (current: string): StoredProfiles => ({
    current,
    profiles: {
      ...STORED.profiles,
      work2: { url: 'https://work.test/pw/', token: 'work2-token' },
      visitor: { url: 'https://work.test/pw' },
    },
  });

  test.each<[string, Typed, string | undefined, string | undefined]>([
    ['work2', {}, 'work2-token', undefined],
    ['home', { env: { profile: 'work' } }, 'work-token', undefined],
    [
      'home',
      {},
      undefined,
      'profiles work, work2 have a token for this instance: choose one with --profile',
    ],
    [
      'visitor',
      {},
      undefined,
      'profiles work, work2 have a token for this instance: choose one with --profile',
    ],
  ])('of several profiles, %s in use, %j', async (current, request, token, hint) => {
    const chosen = await target(request, 'https://work.test/pw', twice(current));
    expect({ token: chosen.token, hint: chosen.tokenHint }).toEqual({ token, hint });
  });
});

describe('a broken source does not stand in the way of a better one', () => {
  const broken = { current: 'home', profiles: { home: { url: 'ftp://x', token: 'home-token' } } };
  const fails = () => {
    throw new Error('must not be read');
  };

  test('an address', async () => {
    expect((await target({ url: 'https://url.test', env: { url: 'ftp://x' } })).base).toBe(
      'https://url.test',
    );
    expect((await target({ url: 'https://url.test' }, undefined, broken)).base).toBe(
      'https://url.test',
    );
    expect((await target({}, 'https://link.test', broken)).base).toBe('https://link.test');
  });

  test('a token', async () => {
    const plain = requestOf({});
    const request = {
      ...plain,
      env: { ...plain.env, token: { from: 'PWPUSH_TOKEN', read: fails } },
    };
    const typed = { ...request, options: requestOf({ token: 'typed' }).options };
    expect((await chooseTarget(STORED, typed)).token).toBe('typed');
    await expect(chooseTarget(STORED, request)).rejects.toThrow('must not be read');
  });
});

test('a token goes to the one address it belongs to, whatever is combined', async () => {
  const bases = [
    'https://a.test',
    'https://a.test/x',
    'https://a.test:8443',
    'https://b.test',
    'http://127.0.0.1:5100',
  ];
  const base = fc.constantFrom(...bases);
  const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const world = fc.record({
    a: base,
    b: base,
    current: maybe(fc.constantFrom('a', 'b')),
    profile: maybe(fc.constantFrom('a', 'b')),
    envProfile: maybe(fc.constantFrom('a', 'b')),
    url: maybe(base),
    envUrl: maybe(base),
    envToken: maybe(fc.constant('env')),
    typed: maybe(fc.constant('typed')),
    link: maybe(base),
  });
  await fc.assert(
    fc.asyncProperty(world, async (w) => {
      const stored: StoredProfiles = {
        ...(w.current ? { current: w.current } : {}),
        profiles: { a: { url: w.a, token: 'stored-a' }, b: { url: w.b, token: 'stored-b' } },
      };
      const env = { url: w.envUrl, token: w.envToken, profile: w.envProfile };
      const request: Typed = { profile: w.profile, url: w.url, token: w.typed, env };
      const named = w.profile ?? w.envProfile ?? w.current;
      const storedUrl = named && stored.profiles[named]?.url;
      const home =
        w.url ?? (w.profile ? (storedUrl ?? w.envUrl) : (w.envUrl ?? storedUrl)) ?? undefined;
      if (home === undefined && w.link === undefined) return;
      const { base: chosen, token } = await target(request, w.link, stored);
      expect(chosen).toBe(w.link ?? home);
      const other = w.link !== undefined && !w.profile && !w.typed;
      const owner: Record<string, string | undefined> = {
        'stored-a': named === 'a' || other ? w.a : 'nobody',
        'stored-b': named === 'b' || other ? w.b : 'nobody',
        env: w.envUrl ?? home,
        typed: home,
      };
      if (token !== undefined) expect(owner[String(token)]).toBe(chosen);
    }),
    { numRuns: times(5000) },
  );
});

describe('nothing to go by', () => {
  test('no instance at all is bad usage, with the three ways', async () => {
    await expect(target({}, undefined, { profiles: {} })).rejects.toThrow(
      'no instance is configured',
    );
  });

  test.each<[StoredProfiles, Typed]>([
    [{ current: 'work', profiles: { work: { days: 2 } } }, {}],
    [{ profiles: STORED.profiles }, {}],
    [{ profiles: STORED.profiles, current: 'gone' }, {}],
    [STORED, { profile: 'wrok' }],
    [STORED, { env: { profile: 'wrok' } }],
    [{ profiles: {} }, { profile: 'toString' }],
  ])('%j with %j is bad usage', async (stored, request) => {
    const failing = target(request, undefined, stored);
    await expect(failing).rejects.toMatchObject({ code: 'usage' });
  });

  test('a "current" that is gone counts for nothing', async () => {
    const gone = { current: 'x', profiles: {} };
    expect((await target({ url: 'https://a.test' }, undefined, gone)).base).toBe('https://a.test');
  });
});
