import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { phrase } from '../../src/platform/errors';
import type { Profile, StoredProfiles } from '../../src/profile/settings';
import { times } from '../helpers/long';
import { requestOf, type Typed, targetFrom } from '../helpers/target-request';

const [HOME, WORK] = ['https://home.test', 'https://work.test/pw'];
const [ENV, TYPED] = ['https://env.test', 'https://url.test'];
const STORED: StoredProfiles = {
  current: 'home',
  profiles: {
    home: { url: HOME, token: 'home-token', 'ca-file': '/home.pem' },
    work: { url: WORK, token: 'work-token' },
  },
};

const target = (given: Typed, linkBase?: string, stored = STORED) => targetFrom(stored, requestOf(given), linkBase);

describe('address and token: option over environment over profile', () => {
  const env = { url: ENV, token: 'env-token' };
  const { url, token } = env;
  const work = { profile: 'work' };
  const cases: [string, Typed, string, string?][] = [
    ['the profile in use', {}, HOME, 'home-token'],
    ['PWPUSH_PROFILE', { env: work }, WORK, 'work-token'],
    ['--profile over PWPUSH_PROFILE', { profile: 'home', env: work }, HOME, 'home-token'],
    ['PWPUSH_URL and its token', { env }, ENV, token],
    ['PWPUSH_URL alone has no token', { env: { url } }, ENV],
    ['PWPUSH_TOKEN alone is for the address in use', { env: { token } }, HOME, token],
    ['an explicit --profile outranks both', { ...work, env }, WORK, 'work-token'],
    ['it outranks PWPUSH_TOKEN too', { ...work, env: { token } }, WORK, 'work-token'],
    ['--url over all', { url: TYPED, ...work, env }, TYPED],
    ['--url of the profile keeps its token', { url: `${HOME}/` }, HOME, 'home-token'],
    ['--url of PWPUSH_URL keeps its token', { url: `${ENV}/`, env }, ENV, token],
    ['--token-file goes to --url', { url: TYPED, token: 'typed' }, TYPED, 'typed'],
    ['--token-file over PWPUSH_TOKEN', { token: 'typed', env }, ENV, 'typed'],
    ['--token-file over the profile', { token: 'typed' }, HOME, 'typed'],
    ['--anonymous sends none', { anonymous: true, token: 'typed', env }, ENV],
  ];

  test.each(cases)('%s', async (_name, request, base, token) => {
    const { base: chosen, token: sent } = await target(request);
    expect({ base: chosen, token: sent }).toEqual({ base, token });
  });
});

describe('the passphrase of the environment is for', () => {
  const none: StoredProfiles = { profiles: {} };
  const url = ENV;

  test.each<[string, Typed, string | undefined, string | undefined, StoredProfiles?]>([
    ['the profile in use', {}, undefined, undefined],
    ['it, and not a link to another', {}, WORK, HOME],
    ['--profile', { profile: 'work' }, undefined, undefined],
    ['PWPUSH_URL, and not a profile', { env: { url }, profile: 'work' }, undefined, ENV],
    ['PWPUSH_URL, and not the profile of a link', { env: { url } }, HOME, ENV],
    ['--url without PWPUSH_URL', { url: TYPED }, undefined, undefined],
    ['a link alone', {}, WORK, undefined, none],
    ['no address, if unreadable', { env: { url: 'https://a:b@c.test' } }, WORK, 'another instance'],
  ])('%s', async (_name, given, link, owner, stored = STORED) => {
    expect((await target(given, link, stored)).passphraseFor).toBe(owner);
  });
});

test('where an address is from is known, but not said if it was typed', async () => {
  const hint = async (given: Typed, link?: string) => (await target(given, link)).addressHint;
  expect(await hint({})).toEqual(phrase('address-from', 'profile "home"'));
  for (const typed of [hint({ url: HOME }), hint({}, HOME)]) expect(await typed).toBeUndefined();
});

describe('a pasted link', () => {
  const token = 'env-token';
  const typed = { token: 'typed' };

  test.each<[string, Typed, string, string?]>([
    ['of the profile gets its token', {}, HOME, 'home-token'],
    ['of another profile gets the token of that one', {}, WORK, 'work-token'],
    ['of another profile, above its path, gets none', {}, 'https://work.test'],
    ['of another profile, below its path, gets none', {}, `${WORK}/x`],
    ['of another profile over http gets none', {}, 'http://work.test/pw'],
    ['of another profile on a port gets none', {}, 'https://work.test:8443/pw'],
    ['of another profile with --anonymous gets none', { anonymous: true }, WORK],
    ['of another profile than that of --profile gets none', { profile: 'home' }, WORK],
    ['and not than PWPUSH_PROFILE, whose it is', { env: { profile: 'work' } }, HOME, 'home-token'],
    ['of another profile gets no other token than --token-file', typed, WORK],
    ['of another profile gets its token, not PWPUSH_TOKEN', { env: { token } }, WORK, 'work-token'],
    ['of it and of PWPUSH_URL gets PWPUSH_TOKEN', { env: { url: WORK, token } }, WORK, token],
    // As a token of a push there would.
    ['of another profile and of PWPUSH_URL alone gets none', { env: { url: WORK } }, WORK],
    ['of another profile and of --url gets none', { url: WORK }, WORK],
    ['of another profile than --url gets its token', { url: TYPED }, WORK, 'work-token'],
    ['of the named profile gets its token', { profile: 'work' }, WORK, 'work-token'],
    ['of another path gets none', { profile: 'work' }, 'https://work.test'],
    ['of another port gets none', {}, 'https://home.test:8443'],
    ['of the same host over http gets none', {}, 'http://home.test'],
    ['of another instance gets no --token-file', typed, 'https://evil.test'],
    ['of another instance gets no PWPUSH_TOKEN', { env: { token } }, 'https://evil.test'],
    ['of PWPUSH_URL gets PWPUSH_TOKEN', { env: { url: ENV, token } }, ENV, token],
  ])('%s', async (_name, request, link, token) => {
    const { base, token: sent } = await target(request, link);
    expect({ base, token: sent }).toEqual({ base: link, token });
  });

  test('of another instance gets neither its CA file nor its insecurity', async () => {
    const home = { ...STORED.profiles.home, insecure: true, days: 1 };
    const found = await target({}, 'https://evil.test', { current: 'home', profiles: { home } });
    expect(found).toEqual({
      base: 'https://evil.test',
      inUse: false,
      passphraseFor: HOME,
      anonymous: false,
      token: undefined,
      caFile: undefined,
      insecure: false,
      profile: 'home',
      defaults: home,
    });
  });

  const withWork = (work: Profile) => ({ current: 'home', profiles: { ...STORED.profiles, work } });

  test('of another profile gets its CA file and insecurity too, but not its defaults', async () => {
    const work = { url: WORK, token: 'work-token', 'ca-file': '/work.pem', insecure: true, days: 1 };
    expect(await target({}, WORK, withWork(work))).toEqual({
      base: WORK,
      inUse: false,
      passphraseFor: HOME,
      anonymous: false,
      token: 'work-token',
      tokenFrom: 'profile "work"',
      caFile: '/work.pem',
      insecure: true,
      profile: 'home',
      defaults: STORED.profiles.home,
    });
  });

  test('of another profile over plain http is refused as that of the one in use', async () => {
    const url = 'http://work.test';
    const refused = { code: 'usage', hints: [phrase('use-https', 'token', 'work')] };
    await expect(target({}, url, withWork({ url, token: 'work-token' }))).rejects.toMatchObject(refused);
  });

  const twice = (current: string): StoredProfiles => ({
    current,
    profiles: {
      ...STORED.profiles,
      work2: { url: 'https://work.test/pw/', token: 'work2-token' },
      visitor: { url: 'https://work.test/pw' },
    },
  });

  test.each<[string, Typed, string | undefined, boolean]>([
    ['work2', {}, 'work2-token', false],
    ['home', { env: { profile: 'work' } }, 'work-token', false],
    ['home', {}, undefined, true],
    ['visitor', {}, undefined, true],
  ])('of several profiles, %s in use, %j', async (current, request, token, hinted) => {
    const chosen = await target(request, WORK, twice(current));
    const hint = phrase('use-profile', 'work', 'work2');
    expect([chosen.token, chosen.tokenHint]).toEqual([token, hinted ? hint : undefined]);
  });
});

describe('a broken source does not stand in the way of a better one', () => {
  const broken = { current: 'home', profiles: { home: { url: 'ftp://x', token: 'home-token' } } };
  const fails = () => {
    throw new Error('must not be read');
  };

  test('an address', async () => {
    expect((await target({ url: TYPED, env: { url: 'ftp://x' } })).base).toBe(TYPED);
    expect((await target({ url: TYPED }, undefined, broken)).base).toBe(TYPED);
    expect((await target({}, 'https://link.test', broken)).base).toBe('https://link.test');
  });

  test('a token', async () => {
    const { env, ...plain } = requestOf({});
    const request = { ...plain, env: { ...env, token: { from: 'PWPUSH_TOKEN', read: fails } } };
    const { typed } = requestOf({ token: 'typed' });
    expect((await targetFrom(STORED, { ...request, typed })).token).toBe('typed');
    await expect(targetFrom(STORED, request)).rejects.toThrow('must not be read');
  });
});

test('a token goes to the one address it belongs to, whatever is combined', async () => {
  const base = fc.constantFrom(
    ...['https://a.test', 'https://a.test/x', 'https://a.test:8443', 'https://b.test'],
    'http://127.0.0.1:5100',
  );
  const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
  const name = maybe(fc.constantFrom('a', 'b'));
  const world = fc.record({
    a: base,
    b: base,
    url: maybe(base),
    envUrl: maybe(base),
    link: maybe(base),
    current: name,
    profile: name,
    envProfile: name,
    envToken: maybe(fc.constant('env')),
    typed: maybe(fc.constant('typed')),
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
      const home = w.url ?? (w.profile ? (storedUrl ?? w.envUrl) : (w.envUrl ?? storedUrl));
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
  test.each<[StoredProfiles, Typed]>([
    [{ profiles: {} }, {}],
    [{ current: 'work', profiles: { work: { days: 2 } } }, {}],
    [{ profiles: STORED.profiles }, {}],
    [{ profiles: STORED.profiles, current: 'gone' }, {}],
    [STORED, { profile: 'wrok' }],
    [STORED, { env: { profile: 'wrok' } }],
    [{ profiles: {} }, { profile: 'toString' }],
  ])('%j with %j is bad usage', async (stored, request) => {
    await expect(target(request, undefined, stored)).rejects.toMatchObject({ code: 'usage' });
  });

  test('a "current" that is gone counts for nothing', async () => {
    const gone = { current: 'x', profiles: {} };
    expect((await target({ url: 'https://a.test' }, undefined, gone)).base).toBe('https://a.test');
  });
});
