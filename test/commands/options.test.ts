import { expect, test } from 'vitest';
import { eachInstance } from '../helpers/instance';

// How command lines are read; what is said of a bad one: test/cases/usage.txt.

const here = eachInstance();

test.each([
  'push --url https://a.test x --dry-run --json',
  '--json --reveal push x --dry-run --url https://a.test',
  '--url=https://b.test push x --dry-run --json --url=https://a.test',
])('global options stand before or after the command: %s', async (line) => {
  const { stdout } = await here.run(...line.split(' '));
  expect(JSON.parse(stdout).url).toBe('https://a.test/api/v2/pushes');
});

test.each([
  ['--note -hello --env UNSET', false],
  ['--note --json --bogus', false],
  ['--bogus -- --json', false],
  ['-nq --json --bogus', true],
  ['--days x --json', true],
])('the value of an option is no option: the error of push %s is JSON: %j', async (line, json) => {
  const { code, stderr } = await here.run('push', ...line.split(' '));
  expect([code, stderr.startsWith('{"error":{"code":"usage"')]).toEqual([2, json]);
});
