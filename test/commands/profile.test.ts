import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Place, place } from '../helpers/run';

// What is said and shown: test/cases/profile*.txt.

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

test('a token is told only as a fact', async () => {
  await here.keep(two);
  const { stdout } = await here.run('profile', 'list', '--json');
  expect(JSON.parse(stdout)).toEqual([
    { profile: 'home', current: false, url: 'https://home.test', token: false },
    {
      ...{ profile: 'work', current: true, url: 'https://work.test', token: true },
      ...{ days: 2, deletable: false },
    },
  ]);
  for (const words of [['list'], ['show'], ['show', '--json']])
    expect((await here.run('profile', ...words)).stdout).not.toContain('secret-token');
});

test.each([
  ['use', 'toString'],
  ['set', 'token', 'x'],
  ['set', 'colour', 'x'],
  ['set', 'days', 'x'],
  ['set', 'days', '1', '--profile', 'a/b'],
  ['remove', 'x'],
])('profile %s %s: bad usage changes nothing', async (...argv) => {
  await here.keep(two);
  const { code } = await here.run('profile', ...argv);
  expect([code, here.kept()]).toEqual([2, two]);
});

test('profile set at once by many programs: all survive', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `p${at}`);
  await Promise.all(
    names.map((name) => here.run('profile', 'set', 'days', '1', '--profile', name)),
  );
  expect(Object.keys(here.kept()?.profiles ?? {}).sort()).toEqual(names.sort());
});
