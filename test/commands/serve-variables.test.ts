import type { Option } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Command } from '../../src/cli/command';
import { define } from '../../src/commands/serve';
import { unknownVariables, variables } from '../../src/commands/serve/serve-options';
import type { Context } from '../../src/platform/context';
import { type Place, place } from '../helpers/run';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.close());

const serve = new Command('serve');
define(serve, { version: '0.1.0', env: {} } as Context);
const all = [...variables].map(([name, variable]) => ({
  variable,
  option: serve.options.find((one) => one.attributeName() === name),
}));
const picky = all.filter(({ option }) => option?.isBoolean() || refuses(option));

function refuses(option: Option | undefined): boolean {
  try {
    option?.parseArg?.('?', undefined);
    return false;
  } catch {
    return true;
  }
}

test('every option has a variable', () => {
  expect(all.map(({ variable }) => variable)).toEqual(
    expect.arrayContaining(['PWPUSH_SERVE_PORT', 'PWPUSH_SERVE_ANONYMOUS', 'PWPUSH_SERVE_TLS_KEY']),
  );
  expect(picky.length).toBeGreaterThan(8);
});

test.each(picky)('a bad value of $variable is bad usage, and names it', async ({ variable }) => {
  const { code, stderr } = await here.under({ env: { [variable]: '?' } }).run('serve');
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    expect.stringMatching(`^pwpush: ${variable} must be `),
  ]);
});

describe('the words of serve read the variables of options they have', () => {
  const list = ['serve', 'token', 'list'];
  const add = ['serve', 'token', 'add', 'alice'];

  test('and no others', async () => {
    const told = here.under({
      env: { PWPUSH_SERVE_DATA: here.file('data'), PWPUSH_SERVE_PORT: '?' },
    });
    expect((await told.run(...add)).code).toBe(0);
    expect((await told.run(...list)).stdout).toMatch(/^alice\t1\t/);
  });

  test.each([
    ['serve', '--data', 'DATA', 'token', 'list'],
    ['serve', 'token', 'list', '--data', 'DATA'],
  ])('but the line outranks them: %s %s %s %s %s', async (...words) => {
    await here.run(...add, '--data', here.file('data'));
    const told = here.under({ env: { PWPUSH_SERVE_DATA: here.file('other') } });
    const line = words.map((word) => (word === 'DATA' ? here.file('data') : word));
    expect((await told.run(...line)).stdout).toMatch(/^alice\t1\t/);
  });

  test('empty is not set', async () => {
    const data = { XDG_DATA_HOME: here.file('share') };
    await here.under({ env: data }).run(...add);
    const told = here.under({ env: { ...data, PWPUSH_SERVE_DATA: '' } });
    expect((await told.run(...list)).stdout).toMatch(/^alice\t1\t/);
  });
});

test('a variable that serve does not have is warned of', () => {
  const env = { PWPUSH_SERVE_NO_ANONYMOUS: '1', PWPUSH_SERVE_MAXDAYS: '1', PWPUSH_SERVE_PORT: '1' };
  expect(unknownVariables(env)).toEqual([
    'the variable PWPUSH_SERVE_NO_ANONYMOUS is unknown and has no effect; did you mean PWPUSH_SERVE_ANONYMOUS=false?',
    'the variable PWPUSH_SERVE_MAXDAYS is unknown and has no effect',
  ]);
});
