import { describe, expect, test } from 'vitest';
import type { CommandEntry } from '../../src/cli/command-tree';
import { exitStatus } from '../../src/platform/errors';
import { eachPlace, openPlace } from '../helpers/run';

// What help prints: test/cases/help*.txt and narrow-terminal.txt.

// Before there are tests, which have the names of commands.
const before = openPlace();
const whole = await before.run('help', '--json');
before.close();
const told = JSON.parse(whole.stdout);
const entries: CommandEntry[] = told.commands;
const topics: string[] = told.topics.map(({ name }: { name: string }) => name);

const here = eachPlace();
const helpOn = async (...words: string[]) => (await here.run('help', ...words)).stdout;
const narrow = () => here.under({ terminals: ['stdout'], columns: 40 });

/** Lines that are too long, but for commands, paths and JSON, which are not folded. */
const long = (text: string, columns: number) =>
  text.split('\n').filter((line) => line.length > columns && !/^ {2,}(?:[${]|\S+$)/.test(line));

test.each(entries)('help on $name', async ({ name, aliases }) => {
  const { code, stdout, stderr } = await here.run('help', name);
  expect([code, stderr]).toEqual([0, '']);
  const ways = [
    [name, '-h'],
    ...[name, ...aliases].flatMap((one) => [
      [one, '--help'],
      ['help', one],
    ]),
  ];
  for (const words of ways) expect((await here.run(...words)).stdout).toBe(stdout);
  expect(stdout).toMatch(new RegExp(`^Usage: pwpush ${[name, ...aliases].join('\\|')} `));
  const [options = '', rest = ''] = stdout.split('\nGlobal options');
  // An option that needs more than a line is explained below them.
  expect(options).not.toMatch(/^ {12}/m);
  expect(rest.split('\nExamples:\n')[1]?.match(/^ {2}\$ .*\bpwpush\b/gm)?.length).toBeGreaterThan(
    1,
  );
  const folded = (await narrow().run('help', name)).stdout;
  expect([...long(stdout, 80), ...long(folded, 40)]).toEqual([]);
});

test.each(topics)('help on the topic %s', async (name) => {
  const { code, stdout, stderr } = await here.run('help', name);
  expect([code, stderr, stdout.split('\n').length > 10]).toEqual([0, '', true]);
  const folded = (await narrow().run('help', name)).stdout;
  expect([...long(stdout, 80), ...long(folded, 40)]).toEqual([]);
  expect(await helpOn()).toMatch(new RegExp(`^.*\\b${name}[,.]`, 'm'));
});

test('help is the same by all ways, and has all commands', async () => {
  const text = await helpOn();
  for (const words of [['--help'], ['-h'], ['help', 'help']])
    expect((await here.run(...words)).stdout).toBe(text);
  const rows = entries.map(({ name, summary }) => `  ${name.padEnd(22)} ${summary}`);
  expect(text.split('\n')).toEqual(expect.arrayContaining(rows));
  expect([...long(text, 80), ...long((await narrow().run()).stdout, 40)]).toEqual([]);
});

describe('help --json', () => {
  test('has every exit code, and the names of commands that were not renamed', () => {
    const codes = told.exit_codes.map((one: { name: string; status: number }) => [
      one.name,
      one.status,
    ]);
    expect(codes).toEqual([['ok', 0], ...Object.entries(exitStatus)]);
    const others = entries.filter(({ aliases }) => aliases.length > 0);
    expect(others.map(({ name, aliases }) => [name, ...aliases])).toEqual([
      ['list', 'ls'],
      ['expire', 'rm'],
    ]);
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
    expect(option('push', '--generate')).toMatchObject({ value: { required: false } });
    expect(option('push', '--deletable')).toMatchObject({ type: 'flag', negatable: true });
    expect(option('serve', '--port')).toMatchObject({ type: 'number', default: 5100 });
    const [token] = of('serve')?.commands ?? [];
    expect(token?.commands.map(({ name }) => name)).toEqual(['add', 'list', 'revoke']);
  });

  test('calls a number what is refused if it is none; no option takes a token', async () => {
    const all = entries.flatMap(({ name, options }) => options.map((one) => ({ name, ...one })));
    const numbers = all.filter(({ type }) => type === 'number');
    expect(numbers.length).toBeGreaterThan(10);
    for (const { name, long = '' } of numbers) {
      const { code, stderr } = await here.run(name, `${long}=x`);
      expect([code, stderr]).toEqual([2, expect.stringMatching(`^pwpush: ${long} must be a `)]);
    }
    expect(all.map(({ long }) => long)).not.toContainEqual(
      expect.stringMatching(/^--(token|password)$/),
    );
  });

  test('needs no folder of its own, and sends nothing; of one command it is for people', async () => {
    const bare = here.under({ env: { PWPUSH_CONFIG_DIR: '/dev/null/x' } });
    expect(await bare.run('help', '--quiet', '--json')).toEqual(whole);
    expect(await bare.run('help', 'push', '--json')).toEqual(await bare.run('push', '-h'));
  });
});
