import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Place, place } from '../helpers/run';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.close());

const two = {
  current: 'work',
  profiles: {
    home: { url: 'https://home.test' },
    work: { url: 'https://work.test', token: 'secret-token', days: 2, deletable: false },
  },
};
const quiet = { code: 0, stdout: '', stderr: '' };
const refused = (stderr: string) => ({ code: 2, stdout: '', stderr });

describe('profile list', () => {
  test('marks the one in use and tells tokens only as a fact', async () => {
    await here.keep(two);
    expect(await here.run('profile', 'list')).toEqual({
      ...quiet,
      stdout: 'home\thttps://home.test\tno\tno\nwork\thttps://work.test\tyes\tyes\n',
    });
  });

  test('is a table on a terminal', async () => {
    await here.keep(two);
    const shown = here.under({ terminals: ['stdout'], env: { NO_COLOR: '1' } });
    expect((await shown.run('profile', 'list')).stdout).toBe(
      '   NAME  ADDRESS            TOKEN\n' +
        '   home  https://home.test  no\n' +
        '*  work  https://work.test  yes\n',
    );
  });

  test('is an array with --json, without tokens', async () => {
    await here.keep(two);
    const { stdout } = await here.run('profile', 'list', '--json');
    expect(JSON.parse(stdout)).toEqual([
      { profile: 'home', current: false, url: 'https://home.test', token: false },
      {
        profile: 'work',
        current: true,
        url: 'https://work.test',
        token: true,
        days: 2,
        deletable: false,
      },
    ]);
  });

  test('of none is nothing, which stderr says, and [] with --json', async () => {
    expect([
      await here.run('profile', 'list'),
      await here.run('profile', 'list', '--quiet'),
      await here.run('profile', 'list', '--json'),
    ]).toEqual([
      { ...quiet, stderr: 'no profiles; create one with pwpush login\n' },
      quiet,
      { ...quiet, stdout: '[]\n' },
    ]);
  });
});

test('with profiles, but none in use, they are named', async () => {
  const { current: _, ...none } = two;
  await here.keep(none);
  expect(await here.run('profile', 'show')).toEqual({
    code: 2,
    stdout: '',
    stderr: `pwpush: no profile is in use\nhint: choose one with pwpush profile use: ${Object.keys(two.profiles).join(', ')}\n`,
  });
});

describe('profile show', () => {
  test.each([[['show', 'work']], [['show']], [['show', '--profile', 'work']]])(
    '%j is a setting a line, without the token',
    async (argv) => {
      await here.keep(two);
      expect(await here.run('profile', ...argv)).toEqual({
        ...quiet,
        stdout:
          'name\twork\ncurrent\tyes\nurl\thttps://work.test\ntoken\tyes\ndays\t2\ndeletable\tfalse\n',
      });
    },
  );

  test('of PWPUSH_PROFILE', async () => {
    await here.keep(two);
    const { stdout } = await here
      .under({ env: { PWPUSH_PROFILE: 'home' } })
      .run('profile', 'show', '--json');
    expect(stdout).toBe(
      '{"profile":"home","current":false,"url":"https://home.test","token":false}\n',
    );
  });

  test('of one that is not there is bad usage', async () => {
    await here.keep(two);
    expect(await here.run('profile', 'show', 'wrok')).toEqual(
      refused('pwpush: no such profile: "wrok"\nhint: choose one of: home, work\n'),
    );
  });
});

describe('profile use', () => {
  test('changes the one in use', async () => {
    await here.keep(two);
    expect(await here.run('profile', 'use', 'home')).toEqual(quiet);
    expect(here.kept()?.current).toBe('home');
  });

  test('of one that is not there changes nothing', async () => {
    await here.keep(two);
    expect((await here.run('profile', 'use', 'toString')).code).toBe(2);
    expect(here.kept()).toEqual(two);
  });
});

describe('profile set', () => {
  test('makes the profile when it is new; the first one is the one in use', async () => {
    expect(await here.run('profile', 'set', 'url', 'work.test', '--profile', 'work')).toEqual(
      quiet,
    );
    await here.run('profile', 'set', 'days', '2', '--profile', 'other');
    expect(here.kept()).toEqual({
      current: 'work',
      profiles: { work: { url: 'https://work.test' }, other: { days: 2 } },
    });
  });

  test('without a name is for the one in use, or default', async () => {
    await here.run('profile', 'set', 'days', '2');
    await here.run('profile', 'set', 'retrieval-step', 'no');
    await here.run('profile', 'set', 'days', '');
    expect(here.kept()).toEqual({
      current: 'default',
      profiles: { default: { 'retrieval-step': false } },
    });
  });

  test('of another address drops the token, and says so', async () => {
    await here.keep(two);
    expect(await here.run('profile', 'set', 'url', 'https://new.test')).toEqual({
      ...quiet,
      stderr: 'warning: the token belonged to the old address and was removed; run pwpush login\n',
    });
    expect(here.kept()?.profiles.work).toEqual({
      url: 'https://new.test',
      days: 2,
      deletable: false,
    });
  });

  test.each([
    [['token', 'x'], 'a token cannot be set on the command line, which other users can read'],
    [['colour', 'x'], 'unknown setting "colour"'],
    [['days', 'x'], 'days must be a whole number of 1 or more, not "x"'],
    [['days', '1', '--profile', 'a/b'], 'a profile name must be 1 to 64 letters, digits'],
    [['days'], 'missing VALUE'],
  ])('%j is bad usage and stores nothing', async (argv, message) => {
    const { code, stderr } = await here.run('profile', 'set', ...argv);
    expect([code, stderr.slice(8, 8 + message.length), here.kept()]).toEqual([
      2,
      message,
      undefined,
    ]);
  });

  test('at once by many programs: all survive', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `p${at}`);
    await Promise.all(
      names.map((name) => here.run('profile', 'set', 'days', '1', '--profile', name)),
    );
    expect(Object.keys(here.kept()?.profiles ?? {}).sort()).toEqual(names.sort());
  });
});

describe('profile remove', () => {
  test('removes it and its token; none is in use then, unasked', async () => {
    await here.keep(two);
    expect(await here.run('profile', 'remove', 'work')).toEqual(quiet);
    expect(here.kept()).toEqual({ profiles: { home: two.profiles.home } });
    await here.run('profile', 'remove', 'home');
    expect(here.kept()).toEqual({ profiles: {} });
  });

  test('of one that is not there is bad usage', async () => {
    expect(await here.run('profile', 'remove', 'x')).toEqual(
      refused('pwpush: no such profile: "x"\nhint: create one with pwpush login\n'),
    );
  });
});

test('a broken config file is told by every command that needs it, and left as it is', async () => {
  await here.keep(two);
  const path = here.file('config/config.json');
  writeFileSync(path, '{"profiles": oops');
  const told = refused(
    `pwpush: the config file "${path}" is not JSON\nhint: correct it, or move it and run pwpush login\n`,
  );
  expect([
    await here.run('profile', 'list'),
    await here.run('profile', 'set', 'days', '1'),
    await here.run('logout'),
    await here.run('push', 'x'),
  ]).toEqual([told, told, told, told]);
  expect(readFileSync(path, 'utf8')).toBe('{"profiles": oops');
});

describe('on a terminal', () => {
  test('profile show is two columns', async () => {
    await here.keep(two);
    const shown = here.under({ terminals: ['stdout'], env: { NO_COLOR: '1' } });
    expect((await shown.run('profile', 'show')).stdout).toBe(
      'name       work\n' +
        'current    yes\n' +
        'url        https://work.test\n' +
        'token      yes\n' +
        'days       2\n' +
        'deletable  false\n',
    );
  });

  test('profile set says what was set, where, and what came into use', async () => {
    const watched = here.under({ terminals: ['stderr'] });
    expect(await watched.run('profile', 'set', 'days', '3', '--profile', 'work')).toEqual({
      ...quiet,
      stderr: 'days is 3 in profile "work", which is now in use\n',
    });
    expect(await watched.run('profile', 'set', 'days', '')).toEqual({
      ...quiet,
      stderr: 'days is no longer set in profile "work"\n',
    });
  });
});
