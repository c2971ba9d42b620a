import type { Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import type { CommandEntry } from '../../src/cli/command-tree';
import { valueKind } from '../../src/cli/declare';
import { topics } from '../../src/cli/help/help-layout';
import { commands, wholeProgram } from '../../src/commands/program';
import type { Context } from '../../src/platform/context';
import { exitStatus } from '../../src/platform/errors';
import { openPlace, place } from '../helpers/run';

// Before there are tests, which have the names of commands.
const here = openPlace();
const { stdout } = await here.run('help', '--json');
here.close();
const told = JSON.parse(stdout);
const entries: CommandEntry[] = told.commands;

describe('help --json', () => {
  test('has the commands of the program, those of one edition too, and none that was renamed', () => {
    expect(entries.map(({ name, aliases }) => [name, ...aliases])).toEqual(
      commands.map(({ name, alias }) => (alias ? [name, alias] : [name])),
    );
  });

  test('has every exit code and every topic', () => {
    const codes = told.exit_codes.map(({ name, status }: Record<string, unknown>) => [
      name,
      status,
    ]);
    expect(codes).toEqual([['ok', 0], ...Object.entries(exitStatus)]);
    expect(told.topics.map(({ name }: { name: string }) => name)).toEqual(topics);
  });

  test('describes arguments, options and subcommands', () => {
    const of = (name: string) => entries.find((one) => one.name === name);
    const option = (name: string, long: string) =>
      of(name)?.options.find((one) => one.long === long);
    expect(of('run')?.arguments[0]).toMatchObject({ name: 'link', required: true });
    expect(of('completion')?.arguments[0]?.choices).toContain('zsh');
    expect(option('push', '--views')).toMatchObject({
      ...{ short: '-v', group: 'Limits', type: 'number', negatable: false },
      value: { name: 'n', required: true, variadic: false },
    });
    expect(option('push', '--kind')).toMatchObject({ type: 'choice', choices: expect.any(Array) });
    expect(option('push', '--file')?.value).toMatchObject({ variadic: true });
    expect(option('push', '--generate')?.value).toMatchObject({ required: false });
    expect(option('push', '--deletable')).toMatchObject({ type: 'flag', negatable: true });
    expect(option('serve', '--port')).toMatchObject({ type: 'number', default: 5100 });
    expect(option('serve', '--data')).toMatchObject({ type: 'path' });
    expect(option('push', '--json')).toBeUndefined();
    const [token] = of('serve')?.commands ?? [];
    expect(token?.commands.map(({ name }) => name)).toEqual(['add', 'list', 'revoke']);
  });

  test('names global options that it describes', () => {
    const described = told.options.map(({ long }: { long: string }) => long);
    const named = new Set(entries.flatMap(({ global_options }) => global_options));
    expect([...named].sort()).toEqual([...described].sort());
  });

  test('of one command is its help, for people', async () => {
    const bare = place();
    expect(await bare.run('help', 'push', '--json')).toEqual(await bare.run('help', 'push'));
  });

  test('needs no folder of its own, and sends nothing', async () => {
    const bare = place({ env: { PWPUSH_CONFIG_DIR: '/dev/null/x' } });
    const told = await bare.run('help', '--quiet', '--json');
    expect(told).toEqual({ code: 0, stdout, stderr: '' });
  });
});

test('the value of an option that is called a number is parsed as one', async () => {
  const optionsOf = (command: Command): Option[] => [
    ...command.options,
    ...command.commands.flatMap(optionsOf),
  ];
  const program = await wholeProgram({ version: '', env: {} } as Context);
  const numbers = optionsOf(program).filter((one) => valueKind(one) === 'number');
  const wrong = numbers.filter((one) => typeof one.parseArg?.('7', undefined) !== 'number');
  expect(wrong.map(({ flags }) => flags)).toEqual([]);
  expect(numbers.length).toBeGreaterThan(10);
});
