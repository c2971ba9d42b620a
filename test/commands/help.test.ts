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

/** Lines that are too long, but for a word, a quoted one too, and JSON, which are not folded. */
const long = (text: string, columns: number) =>
  text.split('\n').filter((line) => line.length > columns && !/^ {2,}(?:\{.*|\S+|'.*')$/.test(line));

const examplesOf = (text: string) => text.split('\n\n')[2]?.split(/\s+/);

test.each(entries)('help on $name', async ({ name, aliases }) => {
  const { code, stdout, stderr } = await here.run('help', name);
  expect([code, stderr]).toEqual([0, '']);
  for (const alias of aliases) expect(await helpOn(alias)).toBe(stdout);
  expect(stdout).toMatch(new RegExp(`^Usage: pwpush ${[name, ...aliases].join('\\|')} `));
  const [, sentence, examples = '', ...lists] = stdout.split('\n\n');
  expect([sentence, examples]).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/^Examples:\n/)]);
  expect(examples.match(/^ {2}\$ .*\bpwpush\b/gm)?.length).toBeGreaterThan(1);
  // An option that needs more than a line is explained below them.
  expect(lists.join('\n\n').split('\nGlobal options')[0]).not.toMatch(/^ {12}/m);
  const folded = (await narrow().run('help', name)).stdout;
  expect([...long(stdout, 80), ...long(folded, 40)]).toEqual([]);
  const joined = folded.replaceAll(/(?: \\|(?<=[|&]))\n +/g, ' ');
  expect(examplesOf(joined)).toEqual(examplesOf(stdout));
});

test.each([
  ['push', 34],
  ['serve', 24],
])('%s has at most %i rows, its argument included', async (name, most) => {
  const [own = ''] = (await helpOn(name)).split('\nGlobal options');
  const lists = own.split('\n\n').filter((list) => /^(?!Examples).*:\n {2}\S/.test(list));
  const rows = lists.join('\n').match(/^ {2}\S/gm)?.length ?? 0;
  expect([rows > 20, rows <= most]).toEqual([true, true]);
});

describe('-h and --help', () => {
  const has = (text: string, long = '') => text.includes(`${long} `);

  test.each(entries)('of $name have the common options, on one screen if it has many', async ({ name, options }) => {
    const { stdout } = await here.run(name, '-h');
    for (const words of [
      [name, '--help'],
      ['-h', name],
      ['--help', name],
    ])
      expect((await here.run(...words)).stdout).toBe(stdout);
    const rare = options.filter(({ common }) => !common);
    for (const { long } of options.filter(({ common }) => common))
      expect([long, has(stdout, long)]).toEqual([long, true]);
    if (rare.length === 0) return expect(stdout).toBe(await helpOn(name));
    const [, list] = stdout.split('\nCommon options:\n');
    expect(rare.filter(({ long }) => has(`${list}`, long))).toEqual([]);
    // With the next prompt, 24.
    expect(stdout.split('\n').length - 1).toBeLessThanOrEqual(23);
    expect(stdout).toMatch(new RegExp(`\n\n.*pwpush help ${name} shows all options\\.\n$`));
  });

  test('are short for five commands', () => {
    const short = entries.filter(({ options }) => options.some(({ common }) => !common));
    expect(short.map(({ name }) => name)).toEqual(['push', 'get', 'run', 'request', 'serve']);
  });

  test('before an unknown command refuse it', async () => {
    expect(await here.run('-h', 'pusj')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean push?'),
    });
  });
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
  for (const words of [['--help'], ['-h'], ['help', 'help']]) expect((await here.run(...words)).stdout).toBe(text);
  for (const { name, summary } of entries) expect(text).toContain(` ${name.padEnd(10)} ${summary}`);
  expect(text.split('\n').length - 1).toBeLessThan(24);
  expect([
    ...long(text, 80),
    ...long((await narrow().run()).stdout, 40),
    ...long((await narrow().run('help')).stdout, 40),
  ]).toEqual([]);
});

describe('help --json', () => {
  test('has every exit code, and the names of commands that were not renamed', () => {
    const codes = told.exit_codes.map((one: { name: string; status: number }) => [one.name, one.status]);
    expect(codes).toEqual([['ok', 0], ...Object.entries(exitStatus)]);
    const others = entries.filter(({ aliases }) => aliases.length > 0);
    expect(others.map(({ name, aliases }) => [name, ...aliases])).toEqual([
      ['request', 'ask'],
      ['respond', 'answer'],
      ['list', 'ls'],
      ['expire', 'rm'],
    ]);
  });

  test('describes arguments, options and subcommands', () => {
    const of = (name: string) => entries.find((one) => one.name === name);
    const option = (name: string, long: string) => of(name)?.options.find((one) => one.long === long);
    expect(of('run')?.arguments[0]).toMatchObject({ name: 'link', required: false });
    expect(of('completion')?.arguments[0]?.choices).toContain('zsh');
    expect(option('push', '--views')).toMatchObject({
      short: '-v',
      group: 'Limits',
      type: 'number',
      negatable: false,
      common: true,
      value: { name: 'n', required: true, variadic: false },
    });
    expect(option('push', '--generate')).toMatchObject({ value: { required: false } });
    expect(option('push', '--deletable')).toMatchObject({ type: 'flag', negatable: true });
    expect(option('push', '--no-deletable')).toMatchObject({ type: 'flag', negatable: false });
    expect(option('serve', '--port')).toMatchObject({ type: 'number', default: 5100 });
    const [token] = of('serve')?.commands ?? [];
    expect(token?.commands.map(({ name }) => name)).toEqual(['add', 'list', 'replace', 'revoke']);
  });

  /** What a line needs before its options are looked at. */
  const operandsOf = (name: string) =>
    entries.find((one) => one.name === name)?.arguments.flatMap(({ required }) => (required ? ['abcdefgh'] : [])) ?? [];

  test('calls a number what is refused if it is none; no option takes a token', async () => {
    const all = entries.flatMap(({ name, options }) => options.map((one) => ({ name, ...one })));
    const numbers = all.filter(({ type }) => type === 'number');
    expect(numbers.length).toBeGreaterThan(10);
    for (const { name, long = '' } of numbers) {
      const { code, stderr } = await here.run(name, ...operandsOf(name), `${long}=x`);
      expect([code, stderr]).toEqual([2, expect.stringMatching(`^pwpush: ${long} must be a `)]);
    }
    expect(all.map(({ long }) => long)).not.toContainEqual(expect.stringMatching(/^--(token|password)$/));
  });

  test('needs no folder of its own, and sends nothing; of one command it is for people', async () => {
    const bare = here.under({ env: { PWPUSH_CONFIG_DIR: '/dev/null/x' } });
    expect(await bare.run('help', '--quiet', '--json')).toEqual(whole);
    expect(await bare.run('help', 'push', '--json')).toEqual(await here.run('help', 'push'));
  });
});

// The instance of a variable: test/cases/help.txt.
describe('alone it says', () => {
  const rows = async () => {
    const { code, stdout, stderr } = await here.run();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').length - 1).toBeLessThanOrEqual(10);
    return stdout;
  };
  const commandsIn = (text: string) => [...text.matchAll(/^ {2}(pwpush .*?) {2}/gm)].map(([, command]) => command);

  test('that nothing is configured, and how to begin', async () => {
    const said = await here.under({ env: { PWPUSH_URL: undefined } }).run();
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(said.stdout).toContain('\nNo instance is configured.\n');
    expect(commandsIn(said.stdout)).toEqual(['pwpush login URL', 'pwpush push --here', 'pwpush serve']);
  });

  test('the profile, its address and that a command has its token, which it does not run', async () => {
    const url = 'https://work.test/pw';
    await here.keep({
      current: 'work',
      profiles: { work: { url, 'token-command': 'false' }, other: { url: 'https://other.test' } },
    });
    const said = await rows();
    expect(said).toContain(`  profile  work\n  address  ${url}\n  token    yes\n`);
    expect(commandsIn(said)).toEqual(['pwpush push', 'pwpush request', 'pwpush list']);
  });

  test('never a token; what is in variables, by their names', async () => {
    const token = 'a-token-of-a-variable';
    const { stdout } = await here.under({ env: { PWPUSH_URL: 'https://env.test', PWPUSH_TOKEN: token } }).run();
    expect(stdout).toContain('  address  https://env.test (PWPUSH_URL)\n  token    yes (PWPUSH_TOKEN)\n');
    expect(stdout).not.toContain(token);
  });

  test('why it cannot tell', async () => {
    await here.keep({ current: 'work', profiles: { work: {} } });
    const said = await rows();
    expect(said).toContain('profile "work" has no address');
    expect(commandsIn(said)).toContain('pwpush doctor');
    const { code, stdout } = await here.under({ env: { PWPUSH_EDITION: 'none' } }).run();
    expect([code, stdout]).toEqual([0, expect.stringContaining('PWPUSH_EDITION')]);
  });
});
