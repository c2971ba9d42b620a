import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MARKERS } from '../../src/cli/agent';
import { Command } from '../../src/cli/command';
import { topics } from '../../src/cli/help/help-layout';
import { addGlobalOptions } from '../../src/cli/options';
import { commands } from '../../src/commands/program';
import { exitStatus } from '../../src/platform/errors';
import { type Place, place } from '../helpers/run';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.close());

describe('help', () => {
  test.each([[['--help']], [['-h']], [['help']], [['help', 'help']]])(
    '%j lists the commands in groups, on 40 lines at most',
    async (argv) => {
      const { code, stdout, stderr } = await here.run(...argv);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const [, , groups = ''] = stdout.split('\n\n');
      const listed = groups.split('\n').map((line) => line.trim().split(/ {2,}/));
      const expected = commands.flatMap(({ group, name, summary }, at) => {
        const heading = commands[at - 1]?.group === group ? [] : [[group]];
        return group === '' ? [] : [...heading, [name, summary]];
      });
      expect(listed).toEqual(expected);
      expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    },
  );

  test.each(commands.map(({ name }) => name))('of %s is the same by all ways', async (name) => {
    const ways = [
      await here.run('help', name),
      await here.run(name, '--help'),
      await here.run(name, '-h'),
    ];
    const [first] = ways;
    expect(ways).toEqual([first, first, first]);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^Usage: pwpush ${name}[| ]`)),
      stderr: '',
    });
    for (const option of ['--json', '--quiet', '--no-color', '--debug', '--help'])
      expect(first?.stdout).toContain(option);
  });

  test.each(commands.map(({ name }) => name))(
    'of %s fits a terminal of 80 columns',
    async (name) => {
      const { stdout } = await here.run('help', name);
      expect(
        stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $')),
      ).toEqual([]);
    },
  );

  const pages = [...commands.map(({ name }) => name), ...topics];
  test.each([[[]], [['--help']], ...pages.map((name) => [['help', name]])])(
    '%j fits a terminal of 40 columns, but for commands, paths and JSON',
    async (words) => {
      const { stdout } = await here.under({ terminals: ['stdout'], columns: 40 }).run(...words);
      const whole = /^.{0,40}$|^ {2,}(?:[${]|\S+$)/;
      expect(stdout.split('\n').filter((line) => !whole.test(line))).toEqual([]);
    },
  );

  test.each(commands.map(({ name }) => name))(
    'of %s has no option of more than a line',
    async (name) => {
      const { stdout } = await here.run('help', name);
      const [above = ''] = stdout.split('\nGlobal options');
      const options = above
        .split('\n')
        .filter((line) => /^ {2}-/.test(line) || /^ {12}/.test(line));
      expect(options.filter((line) => line.startsWith('   '))).toEqual([]);
    },
  );

  test('of push, and its page, tell what a user at a terminal is asked', async () => {
    const { stdout } = await here.run('help', 'push');
    const page = readFileSync(new URL('../../man/pwpush-push.1', import.meta.url), 'utf8');
    for (const text of [stdout, page]) {
      const words = text.replaceAll(/\s+/g, ' ');
      expect(words).toMatch(/offers a passphrase|passphrase is offered/);
      expect(words).toMatch(/no instance configured, .* offer.* to log in.* or to serve /);
    }
  });

  test.each(commands.map(({ name }) => name))('of %s has two examples', async (name) => {
    const { stdout } = await here.run('help', name);
    const examples = stdout.split('\nExamples:\n')[1]?.match(/^ {2}\$ .*\bpwpush\b/gm) ?? [];
    expect(examples.length).toBeGreaterThanOrEqual(2);
  });

  test('names the global options of a command, and explains them once', async () => {
    const { stdout } = await here.run('help', 'list');
    const naming = (text: string) =>
      text.split('Global options (see pwpush help options):\n')[1]?.split('\n\n')[0];
    const short = naming(stdout);
    expect(naming((await here.run('--help')).stdout)).toBe(short);
    const { stdout: told } = await here.run('help', 'options');
    const explained = told.match(/^ {2}.*?--[\w-]+/gm);
    const names = short?.match(/--[\w-]+/g) ?? [];
    expect(names).toHaveLength(18);
    expect(explained?.map((line) => line.replace(/^.* /, '')).sort()).toEqual(names.sort());
    const lines = told.replaceAll(/ +/g, ' ').split('\n');
    for (const { flags, description } of addGlobalOptions(new Command()).options)
      expect(lines).toContain(` ${flags} ${description}`);
    expect(short?.split('\n').length).toBeLessThan(5);
  });

  test('asks nobody and needs no configuration', async () => {
    const outcome = await here
      .under({ env: { PWPUSH_CONFIG_DIR: '/dev/null/x' } })
      .run('push', '-h');
    expect(outcome.code).toBe(0);
  });

  test('no option takes a token as its value', async () => {
    const texts = await Promise.all(commands.map(({ name }) => here.run('help', name)));
    expect(texts.map(({ stdout }) => stdout).join('\n')).not.toMatch(
      /^ +(-\w, )?--(token|password)[ =]/m,
    );
  });
});

describe('help on a topic', () => {
  test.each(topics)('%s fits a terminal of 80 columns', async (name) => {
    const { code, stdout, stderr } = await here.run('help', name);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(stdout.endsWith('\n')).toBe(true);
  });

  test('exit-codes has every code with its name', async () => {
    const { stdout } = await here.run('help', 'exit-codes');
    const listed = [...stdout.matchAll(/^ {0,3}(\d+) {2}(\w+) {2,}\S/gm)].map(([, code, name]) => [
      name,
      Number(code),
    ]);
    expect(listed).toEqual(Object.entries(exitStatus).sort(([, one], [, other]) => one - other));
  });

  test('environment has the variables of the manual, and no other', async () => {
    const { stdout } = await here.run('help', 'environment');
    const agents = MARKERS.filter((name) => new RegExp(`\\b${name}\\b`).test(stdout));
    const rows = [...stdout.matchAll(/^ {2}([A-Z_]+\*?) {2,}\S/gm)].map(([, name]) => name);
    const listed = [...rows, ...agents];
    const manual = readFileSync('man/pwpush.1', 'utf8')
      .split('.Sh ENVIRONMENT')[1]
      ?.split('.Sh ')[0];
    const known = manual?.match(/^\.It Ev .*$/gm)?.flatMap((line) => line.slice(7).split(' , '));
    expect(listed.sort()).toEqual(known?.sort());
  });

  test('is named by the help', async () => {
    const { stdout } = await here.run('--help');
    for (const name of topics) expect(stdout).toMatch(new RegExp(`^.*\\b${name}[,.]`, 'm'));
  });
});

describe('what is not understood is exit 2', () => {
  test.each([
    ['psuh', 'push'],
    ['evrsion', 'version'],
    ['notifiy', 'notify'],
    ['send', 'push'],
    ['upload', 'push'],
    ['new', 'push'],
    ['create', 'push'],
    ['open', 'get'],
    ['cat', 'get'],
    ['decrypt', 'get'],
    ['ask', 'request'],
    ['answer', 'respond'],
    ['log', 'audit'],
    ['watch', 'wait'],
    ['setup', 'login'],
    ['settings', 'profile'],
    ['tokens', 'login, profile or serve token'],
    ['update', 'version'],
    ['delete', 'expire'],
    ['config', 'profile'],
    ['status', 'show'],
    ['prevew --help', 'preview'],
    ['help prevew', 'preview'],
    ['--json prevew -h', 'preview'],
    ['profile lst --help', 'list'],
    ['help profile lst', 'list'],
    ['serve token ad -h', 'add'],
    ['--url http://x serve --port 0 tokn --help', 'token'],
    ['profile help', 'pwpush profile --help'],
    ['-- profile ls', 'list'],
    ['profile sohw', 'show'],
    ['profile delete', 'remove'],
    ['profile frobnicate', 'pwpush profile --help'],
    ['serve tokens', 'token'],
    ['serve token rm', 'revoke'],
    ['push --ttl', '--days or --expire'],
    ['push --expire-after-views', '--views'],
    ['push --burn', '--views 1'],
    ['push --once', '--views 1'],
    ['push --label', '--name'],
    // Only where the command has what is meant.
    ['list --burn', 'pwpush list --help'],
    ['push --berm', 'pwpush push --help'],
    ['push --veiws 1', '--views'],
    ['push --josn', '--json'],
    ['serve token add --josn', '--json'],
    ["push --'", 'pwpush push --help'],
    ['push --kind ur', ''],
    ['push --kind URL', 'url'],
    // The value of an unknown option is no command.
    ['serve --prot 8080', '--port'],
    ['serve -p 8080', 'pwpush serve --help'],
    ['profile --nmae work show', 'pwpush profile --help'],
    ['serve token --database postgres://u:S3cret@h/db list', 'pwpush serve token --help'],
  ])('%j: %s is suggested', async (line, meant) => {
    const { code, stdout, stderr } = await here.run(...line.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const hint = stderr.trimEnd().split(/"hint":"|\nhint: /)[1] ?? '';
    expect(hint.replace(/^did you mean (.*?)\?(?:"\}\})?$/, '$1')).toBe(meant);
    expect(stderr).not.toContain('S3cret');
  });

  test.each([
    ['ls', 'list'],
    ['rm', 'expire'],
  ])('%s is another name of %s', async (alias, name) => {
    const ways = [await here.run(alias, '--help'), await here.run('help', alias)];
    const named = await here.run(name, '--help');
    expect(ways).toEqual([named, named]);
    expect(named.stdout).toContain(`Usage: pwpush ${name}|${alias} `);
  });

  test.each([
    [['login', '--token=pwp_S3cret'], '--token'],
    [['serve', '--token', 'pwp_S3cret'], '--token'],
    [['--token', 'pwp_S3cret', 'push', 'x'], '--token'],
    [['profile', '--password', 'hunter3cret', 'list'], '--password'],
    [['push', '--secret=S3cret'], '--secret'],
    [['push', '-pS3cret'], '-S'],
    [['push', '--frobnicate=S3cret'], '--frobnicate'],
    [['push', '--=S3cret'], ''],
    [['push', "--it's=S3cret"], '--it'],
  ])('an unknown option with a value behind it: %j', async (argv, name) => {
    const { code, stdout, stderr } = await here.run(...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`pwpush: unknown option ${name}`.trimEnd());
    expect(stderr).not.toContain('3cret');
  });
});

describe('global options stand before or after the command', () => {
  test.each([
    [['--url', 'https://a.test', 'push', 'x', '--dry-run', '--json']],
    [['push', '--url', 'https://a.test', 'x', '--dry-run', '--json']],
    [['--json', 'push', 'x', '--dry-run', '--url', 'https://a.test']],
    [['--url=https://b.test', 'push', 'x', '--dry-run', '--json', '--url=https://a.test']],
  ])('%j', async (argv) => {
    const { code, stdout } = await here.run(...argv);
    expect({ code, url: JSON.parse(stdout).url }).toEqual({
      code: 0,
      url: 'https://a.test/api/v2/pushes',
    });
  });
});
