import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commands, topics } from '../../src/commands/program';
import { exitStatus } from '../../src/platform/errors';
import { type Place, place } from '../helpers/run';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.close());

const refused = (stderr: string) => ({ code: 2, stdout: '', stderr });

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

  test('is ten lines without a command: three examples, and where there is more', async () => {
    const { code, stdout, stderr } = await here.run();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toHaveLength(11);
    expect(stdout.match(/^ {2}\$ .*\bpwpush\b/gm)).toHaveLength(3);
    expect(stdout).toContain('\npwpush help lists ');
  });

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

  test('of push, and its page, tell what somebody at a terminal is asked', async () => {
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
    const explained = (await here.run('help', 'options')).stdout.match(/^ {2}.*?--[\w-]+/gm);
    const names = short?.match(/--[\w-]+/g) ?? [];
    expect(names).toHaveLength(18);
    expect(explained?.map((line) => line.replace(/^.* /, '')).sort()).toEqual(names.sort());
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
    const listed = [...stdout.matchAll(/^ {2}([A-Z_]+\*?) {2,}\S/gm)].map(([, name]) => name);
    const manual = readFileSync('man/pwpush.1', 'utf8')
      .split('.Sh ENVIRONMENT')[1]
      ?.split('.Sh ')[0];
    const known = manual?.match(/^\.It Ev .*$/gm)?.flatMap((line) => line.slice(7).split(' , '));
    expect(listed.sort()).toEqual(known?.sort());
  });

  test('is named by the help, and by what is near it', async () => {
    const { stdout } = await here.run('--help');
    for (const name of topics) expect(stdout).toMatch(new RegExp(`^.*\\b${name}[,.]`, 'm'));
    expect(await here.run('help', 'cj')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean ci?'),
    });
  });
});

describe('the version of the program', () => {
  test.each(['--version', '-V'])('is %s', async (option) => {
    expect(await here.run(option)).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
  });
});

describe('what is not understood is exit 2', () => {
  test('an unknown command that is near one', async () => {
    expect(await here.run('pusj')).toEqual(
      refused('pwpush: unknown command "pusj"\nhint: did you mean push?\n'),
    );
  });

  test.each([
    ['psuh', 'push'],
    ['evrsion', 'version'],
    ['notifiy', 'notify'],
  ])('%s is near %s: swapped letters are one slip', async (typed, meant) => {
    expect((await here.run(typed)).stderr).toContain(`hint: did you mean ${meant}?\n`);
  });

  test('an unknown command', async () => {
    expect(await here.run('frobnicate')).toEqual(
      refused(
        'pwpush: unknown command "frobnicate"\n' +
          `hint: commands: ${commands.map(({ name }) => name).join(', ')}\n`,
      ),
    );
  });

  test.each([
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
    ['tokens', 'login or profile'],
    ['update', 'version'],
    ['delete', 'expire'],
    ['config', 'profile'],
    ['status', 'show'],
  ])('a command of other tools: %s', async (typed, meant) => {
    expect((await here.run(typed)).stderr).toContain(`hint: did you mean ${meant}?\n`);
  });

  test.each([
    ['--ttl', '--days or --expire'],
    ['--expire-after-views', '--views'],
    ['--burn', '--views 1'],
    ['--once', '--views 1'],
    ['--label', '--name'],
  ])('an option of other tools: %s', async (typed, meant) => {
    expect((await here.run('push', typed)).stderr).toContain(`hint: did you mean ${meant}?\n`);
    // Only where the command has what is meant.
    expect((await here.run('list', typed)).stderr).toContain('hint: pwpush list --help\n');
  });

  test('an option that other commands have', async () => {
    expect(await here.run('logout', '--url', 'x')).toEqual(
      refused('pwpush: --url does not apply to logout\nhint: pwpush logout --help\n'),
    );
  });

  test('an unknown subcommand', async () => {
    expect((await here.run('serve', 'tokens')).stderr).toBe(
      'pwpush: unknown command "tokens"\nhint: did you mean token?\n',
    );
  });

  test.each([[['prevew', '--help']], [['help', 'prevew']], [['--json', 'prevew', '-h']]])(
    'an unknown command, asked for its help: %j',
    async (argv) => {
      const { code, stdout, stderr } = await here.run(...argv);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('did you mean preview?');
    },
  );

  test.each([
    [['profile', 'lst', '--help'], 'did you mean list?'],
    [['help', 'profile', 'lst'], 'did you mean list?'],
    [['serve', 'token', 'ad', '-h'], 'did you mean add?'],
    [['--url', 'http://x', 'serve', '--port', '0', 'tokn', '--help'], 'did you mean token?'],
    [['profile', 'help'], 'pwpush profile --help'],
    [['--', 'profile', 'ls'], 'did you mean list?'],
  ])('an unknown subcommand, asked for its help: %j', async (argv, hint) => {
    const { code, stdout, stderr } = await here.run(...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`hint: ${hint}\n`);
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
    ['receive', 'request'],
    ['requests', 'list'],
  ])('%s, a former command, is in no list and has the help of %s', async (former, name) => {
    const ways = [
      await here.run(former, '--help'),
      await here.run('help', former),
      await here.run('--url', former, '--json', former, '-h'),
    ];
    const named = await here.run(name, '--help');
    expect(ways).toEqual([named, named, named]);
    expect(commands.map((one) => one.name)).not.toContain(former);
  });

  test('a former command after an unknown one, whatever that is called', async () => {
    for (const word of ['constructor', 'frobnicate'])
      expect((await here.run(word, 'receive')).stderr).toContain(`unknown command "${word}"`);
  });

  test('help of an unknown command', async () => {
    const { code } = await here.run('help', 'frobnicate');
    expect(code).toBe(2);
  });

  test('an unknown option that is near one', async () => {
    expect(await here.run('push', '--view', '1')).toEqual(
      refused('pwpush: unknown option --view\nhint: did you mean --views?\n'),
    );
  });

  test.each([
    [['push', '--berm'], 'pwpush push --help'],
    [['push', '--veiws', '1'], 'did you mean --views?'],
    [['push', '--josn'], 'did you mean --json?'],
    [['serve', 'token', 'add', '--josn'], 'did you mean --json?'],
    [['push', "--'"], 'pwpush push --help'],
    [['profile', 'sohw'], 'did you mean show?'],
    [['profile', 'ls'], 'did you mean list?'],
    [['profile', 'delete'], 'did you mean remove?'],
    [['serve', 'token', 'rm'], 'did you mean revoke?'],
    [['profile', 'frobnicate'], 'pwpush profile --help'],
    [['push', '--locale', 'pt-br'], 'did you mean pt-BR?'],
  ])('nothing is suggested that is not near: %j', async (argv, hint) => {
    expect((await here.run(...argv)).stderr).toContain(`\nhint: ${hint}\n`);
  });

  test.each([
    [['serve', '--prot', '8080'], 'unknown option --prot\nhint: did you mean --port?'],
    [['serve', '-p', '8080'], 'unknown option -p\nhint: pwpush serve --help'],
    [['profile', '--nmae', 'work', 'show'], 'unknown option --nmae\nhint: pwpush profile --help'],
    [
      ['serve', 'token', '--database', 'postgres://u:S3cret@h/db', 'list'],
      '--database does not apply to token\nhint: pwpush serve token --help',
    ],
  ])('the value of an unknown option is no command: %j', async (argv, message) => {
    expect(await here.run(...argv)).toEqual(refused(`pwpush: ${message}\n`));
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

  test.each([
    ['get', '--passphrase=S3cret', '--passphrase'],
    ['push', '--json=S3cret', '--json'],
  ])('%s %s: a value for an option that takes none', async (command, word, name) => {
    expect(await here.run(command, word)).toEqual(
      refused(`pwpush: ${name} takes no value\nhint: pwpush ${command} --help\n`),
    );
  });

  test('an unknown option', async () => {
    expect(await here.run('list', '--frobnicate')).toEqual(
      refused('pwpush: unknown option --frobnicate\nhint: pwpush list --help\n'),
    );
  });

  test.each([
    [
      ['list', 'actve'],
      'state must be one of active, expired, requests, not "actve"\nhint: did you mean active?',
    ],
    [['push', '--kind', 'ur'], '--kind must be one of text, file, url, qr, not "ur"'],
    [['push', '--kind', 'x'], '--kind must be one of text, file, url, qr, not "x"'],
    [
      ['push', '--kind', 'URL'],
      '--kind must be one of text, file, url, qr, not "URL"\nhint: did you mean url?',
    ],
    [['completion', 'tcsh'], 'shell must be one of bash, zsh, fish, powershell, not "tcsh"'],
    [['help', 'secruity'], 'unknown command "secruity"\nhint: did you mean security?'],
  ])('a word that is none of those it may be: %j', async (argv, message) => {
    expect(await here.run(...argv)).toEqual(refused(`pwpush: ${message}\n`));
  });

  test('an option without its value', async () => {
    expect(await here.run('push', '--views')).toEqual(
      refused('pwpush: --views requires a value\nhint: pwpush push --help\n'),
    );
  });

  test('a word too many', async () => {
    expect(await here.run('preview', 'one', 's3cret')).toEqual(
      refused('pwpush: too many arguments\nhint: pwpush preview --help\n'),
    );
  });

  test('with --json it is one line of JSON', async () => {
    const { code, stdout, stderr } = await here.run('push', '--frobnicate', '--json');
    expect({ code, stdout, error: JSON.parse(stderr), lines: stderr.split('\n').length }).toEqual({
      code: 2,
      stdout: '',
      error: {
        error: {
          code: 'usage',
          message: 'unknown option --frobnicate',
          hint: 'pwpush push --help',
        },
      },
      lines: 2,
    });
  });

  test('a subcommand that is missing shows the help, on neither stream as a result', async () => {
    const { code } = await here.run('profile', 'frobnicate');
    expect(code).toBe(2);
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
