import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const LINK = /^https:\/\/pw\.test\/p\/[a-z0-9_-]{11,19}\/r\n$/;

/** What was pushed, as its recipient gets it. */
const received = async (link: string) => (await here.run('get', link.trim())).stdout;
const refused = (stderr: string) => ({ code: 2, stdout: '', stderr });

describe('the secret comes from', () => {
  test('standard input, which loses one line end', async () => {
    const { code, stdout, stderr } = await here.under({ stdin: 'hunter2\n' }).run('push');
    expect({ code, stdout: LINK.test(stdout), stderr }).toEqual({
      code: 0,
      stdout: true,
      stderr: '',
    });
    expect(await received(stdout)).toBe('hunter2');
  });

  test('standard input to the byte when it has several lines, or with --raw', async () => {
    const several = await here.under({ stdin: '-----BEGIN\r\nkey\n\n' }).run('push');
    const raw = await here.under({ stdin: 'hunter2\n' }).run('push', '--raw');
    expect([await received(several.stdout), await received(raw.stdout)]).toEqual([
      '-----BEGIN\r\nkey\n\n',
      'hunter2\n',
    ]);
  });

  test('standard input when the text is -', async () => {
    const { stdout } = await here.under({ stdin: 'hunter2\n' }).run('push', '-');
    expect(await received(stdout)).toBe('hunter2');
  });

  test('standard input when --from is -', async () => {
    const { stdout } = await here.under({ stdin: 'hunter2' }).run('push', '--from', '-');
    expect(await received(stdout)).toBe('hunter2');
  });

  test('a file, verbatim', async () => {
    writeFileSync(here.file('secret'), 'hunter2\n');
    const { stdout } = await here.run('push', '--from', here.file('secret'));
    expect(await received(stdout)).toBe('hunter2\n');
  });

  test('the command line, and standard input is left alone', async () => {
    const { stdout } = await here.under({ stdin: 'not this' }).run('push', 'throw-away');
    expect(await received(stdout)).toBe('throw-away');
  });

  test('the command line, after -- even when it looks like an option', async () => {
    const { stdout } = await here.run('push', '--', '--views');
    expect(await received(stdout)).toBe('--views');
  });

  test('a variable', async () => {
    const { stdout } = await here.under({ env: { DB: ' s p ' } }).run('push', '--env', 'DB');
    expect(await received(stdout)).toBe(' s p ');
  });

  test('the generator, of 24 characters or as many as asked', async () => {
    const usual = await here.run('push', '--generate');
    const long = await here.run('push', '--generate', '40');
    expect([await received(usual.stdout), await received(long.stdout)]).toEqual([
      expect.stringMatching(/^\S{24}$/),
      expect.stringMatching(/^\S{40}$/),
    ]);
  });

  test('the generator, of words', async () => {
    const { stdout } = await here.run('push', '--generate', 'words:5');
    expect(await received(stdout)).toMatch(/^[a-z]+(-[a-z]+){4,}$/);
  });

  test('the generator takes no others', async () => {
    expect(await here.run('push', '--generate', 'words:2')).toEqual(
      refused('pwpush: --generate must be from words:4 to words:64, not words:2\n'),
    );
  });

  test('a hidden prompt where there is a terminal and nothing else', async () => {
    const asked = here.under({
      terminals: ['stdin'],
      prompts: [
        { secret: 'Secret:', answer: 'typed' },
        { secret: 'Passphrase (Enter for none):', answer: '' },
      ],
    });
    expect(await received((await asked.run('push')).stdout)).toBe('typed');
  });

  test('the prompt, which offers a passphrase, asked for twice', async () => {
    const asked = here.under({
      terminals: ['stdin'],
      prompts: [
        { secret: 'Secret:', answer: 'typed' },
        { secret: 'Passphrase (Enter for none):', answer: 'word' },
        { secret: 'Passphrase again:', answer: 'word' },
      ],
    });
    const { stdout } = await asked.run('push');
    const env = { PWPUSH_PASSPHRASE: 'word' };
    expect(await here.run('get', stdout.trim())).toMatchObject({ code: 7 });
    expect(await here.under({ env }).run('get', stdout.trim())).toMatchObject({ stdout: 'typed' });
  });
});

test('on a terminal a message is folded at words, but no link', async () => {
  const narrow = here.under({
    terminals: ['stdin', 'stderr'],
    columns: 40,
    env: { NO_COLOR: '1', PWPUSH_URL: 'http://pw.test' },
  });
  const { stderr } = await narrow.run('push', 'text', '--passphrase-env', 'UNSET');
  expect(stderr).toBe(
    'hint: other users of this machine can\nread the command line; pipe the secret\nin instead\n' +
      'pwpush: the variable "UNSET" is not set\n',
  );
  expect((await narrow.run('push', 'text', '--env', 'UNSET')).stderr).toBe(
    'pwpush: the secret can come from one\nsource only, not from the text argument\nand --env\nhint: use only one of them\n',
  );
  expect((await narrow.run('push', 'text', '--quiet')).stderr).toContain(
    'warning: plain http: anyone between here\nand pw.test can read what is sent\n',
  );
});

test('where nothing is typed, the secret is asked for again', async () => {
  const prompts = [
    { secret: 'Secret:', answer: '' },
    { secret: 'Nothing was typed (Ctrl-C ends). Secret:', answer: 'typed' },
    { secret: 'Passphrase (Enter for none):', answer: '' },
  ];
  const { code, stdout } = await here.under({ terminals: ['stdin'], prompts }).run('push');
  expect(code).toBe(0);
  expect((await here.run('get', stdout.trim())).stdout).toBe('typed');
});

describe('with nothing configured, on a terminal', () => {
  const choose = 'How do you want to share this push?';
  const unset = { PWPUSH_URL: undefined };

  test('push offers to log in, and goes on with what was kept; the link alone is on stdout', async () => {
    const token = here.service.adminToken;
    const asked = here.under({
      env: unset,
      terminals: ['stdin', 'stderr'],
      prompts: [
        { choose, among: ['login', 'here'], answer: 'login' },
        { text: 'Address of the instance, such as https://eu.pwpush.com:', answer: 'pw.test' },
        { secret: 'API token (on your account page, under API):', answer: token },
        { secret: 'Secret:', answer: 'typed' },
        { secret: 'Passphrase (Enter for none):', answer: '' },
      ],
    });
    const { code, stdout, stderr } = await asked.run('push', '--no-color');
    expect([code, LINK.test(stdout), await received(stdout)]).toEqual([0, true, 'typed']);
    expect(stderr).toContain('no instance is configured\nLogged in. Saved as profile "default"\n');
    expect(here.kept()).toEqual({
      current: 'default',
      profiles: { default: { url: 'https://pw.test', edition: 'pwpush', token } },
    });
  });

  test('where an option needs an instance, only to log in', async () => {
    const asked = here.under({
      env: unset,
      terminals: ['stdin', 'stderr'],
      prompts: [
        { text: 'Address of the instance, such as https://eu.pwpush.com:', answer: 'pw.test' },
        { secret: 'API token (on your account page, under API):', answer: here.service.adminToken },
      ],
    });
    const { code, stdout } = await asked.run('push', '--generate', '--name', 'mine');
    expect([code, LINK.test(stdout)]).toEqual([0, true]);
    expect((await here.under({ env: unset }).run('list')).stdout.split('\t')[1]).toBe('mine');
  });

  test.each([
    ['the secret is piped', ['push'], ['stderr']],
    ['JSON is asked for', ['push', '--json'], ['stdin', 'stderr']],
    ['nothing may be asked', ['push', '--no-input', 'text'], ['stdin', 'stderr']],
  ] as const)('nothing is offered where %s', async (_what, argv, terminals) => {
    const silent = here.under({ env: unset, terminals, prompts: [], stdin: 'secret' });
    const { code, stderr } = await silent.run(...argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no instance is configured')]);
  });
});

describe('bad usage: exit 2, and nothing is sent', () => {
  afterEach(() => expect(here.asked).toEqual([]));

  test('two sources', async () => {
    expect(await here.run('push', 'text', '--env', 'DB', '--generate')).toEqual(
      refused(
        'pwpush: the secret can come from one source only, not from the text argument and --env and --generate\n' +
          'hint: use only one of them\n',
      ),
    );
  });

  test('no source and nobody to ask', async () => {
    expect(await here.under({ terminals: ['stdin'] }).run('push')).toEqual(
      refused(
        'pwpush: no secret to push, and no terminal to ask on\n' +
          'hint: pipe it in, or use --from FILE, --env NAME or --generate\n',
      ),
    );
  });

  test.each([['--no-input'], []])('a prompt is not opened with %s or in CI', async (...argv) => {
    const env = argv.length === 0 ? { CI: 'true' } : {};
    const { code } = await here
      .under({ env, terminals: ['stdin', 'stdout', 'stderr'] })
      .run('push', ...argv);
    expect(code).toBe(2);
  });

  test('nothing on standard input', async () => {
    expect(await here.run('push')).toEqual(
      refused(
        'pwpush: standard input is empty: nothing to push\n' +
          'hint: check the variable or command that fills it; attach an empty file with --file\n',
      ),
    );
  });

  test('binary on standard input', async () => {
    expect(await here.under({ stdin: Uint8Array.of(0xff, 0xfe) }).run('push')).toEqual(
      refused(
        'pwpush: standard input is not valid UTF-8 text\n' +
          'hint: attach binary content with --file PATH, or --file - for standard input\n',
      ),
    );
  });

  test('the secret and the passphrase both on standard input', async () => {
    const piped = here.under({ stdin: 'hunter2' });
    expect(await piped.run('push', '--passphrase-file', '-')).toEqual(
      refused(
        'pwpush: standard input cannot be both the secret and the passphrase\n' +
          'hint: use --passphrase-file PATH\n',
      ),
    );
  });

  test.each([
    [['--views', '0'], '--views must be a whole number of 1 or more, not "0"\n'],
    [['--days', 'x'], '--days must be a whole number of 1 or more, not "x"\n'],
    [['--days', '-1'], '--days must be a whole number of 1 or more, not "-1"\n'],
    [['--timeout', '0'], '--timeout must be a number of seconds above 0, not "0"\n'],
    [['-p'], '-p asks for the passphrase, but there is no terminal to ask on\n'],
    [
      ['--passphrase-env', 'A', '--passphrase-file', 'b'],
      'the passphrase can come from one source only, not from --passphrase-file and --passphrase-env\n',
    ],
    [['--passphrase-env', 'UNSET'], 'the variable "UNSET" is not set\n'],
    [['--url', 'ftp://pw.test'], 'the address of the instance is not an http or https URL\n'],
    [['one-more'], expect.stringContaining('too many arguments')],
    [['--token', 'x'], expect.stringContaining('unknown option --token')],
  ])('%j', async (argv, message) => {
    const { code, stdout, stderr } = await here.run('push', 'text', ...argv);
    const first = `${stderr.split('\n')[0]?.replace('pwpush: ', '')}\n`;
    expect({ code, stdout, first }).toEqual({ code: 2, stdout: '', first: message });
  });

  test('no instance is configured', async () => {
    expect(await here.under({ env: { PWPUSH_URL: undefined } }).run('push', 'text')).toEqual(
      refused(
        'pwpush: no instance is configured\n' +
          'hint: log in with pwpush login, set PWPUSH_URL or use --url; ' +
          'or run an instance here with pwpush serve\n',
      ),
    );
  });

  test('passphrases that differ three times', async () => {
    const prompts = [
      'Passphrase:',
      "They don't match, try again:",
      "They don't match, try again:",
    ].flatMap((secret) => [
      { secret, answer: 'one' },
      { secret: 'Passphrase again:', answer: 'two' },
    ]);
    expect(await here.under({ prompts }).run('push', 'text', '-p')).toEqual(
      refused('pwpush: the passphrases do not match; nothing was sent\n'),
    );
  });
});

describe('a passphrase', () => {
  test.each<[string, string[]]>([
    ['from a prompt, twice', ['-p']],
    ['from a file, without its line end', ['--passphrase-file', 'FILE']],
    ['from a variable', ['--passphrase-env', 'PHRASE']],
  ])('%s', async (_name, argv) => {
    writeFileSync(here.file('phrase'), 'correct horse\n');
    const words = argv.map((word) => (word === 'FILE' ? here.file('phrase') : word));
    const env = { PHRASE: 'correct horse' };
    const prompts = ['Passphrase:', 'Passphrase again:'].map((secret) => ({
      secret,
      answer: 'correct horse',
    }));
    const asked = here.under(argv[0] === '-p' ? { prompts } : { env });
    const { stdout, stderr } = await asked.run('push', 'hunter2', ...words);
    const without = await here.run('get', stdout.trim());
    const opened = here.under({ env: { PWPUSH_PASSPHRASE: 'correct horse' } });
    expect([stderr, without.code, await opened.run('get', stdout.trim())]).toEqual([
      '',
      7,
      { code: 0, stdout: 'hunter2', stderr: '' },
    ]);
  });

  describe('as the value of -p, where other programs have it', () => {
    test.each([
      [['-p', 'hunter2']],
      [['--passphrase', 'hunter2']],
      [['--passphrase=hunter2']],
      [['text', '-p', 'hunter2']],
      [['-cp', 'hunter2']],
    ])('is neither pushed nor repeated: %j', async (argv) => {
      const asked = here.under({ prompts: [] });
      expect(await asked.run('push', ...argv)).toEqual(
        refused(
          'pwpush: -p accepts no passphrase: other users of this machine can read the command line\n' +
            'hint: use -p alone to be asked for one, or --passphrase-file PATH or --passphrase-env NAME; put a text before -p, or after --\n',
        ),
      );
      expect(here.asked).toEqual([]);
    });

    test.each([[['text', '-p']], [['-p', '--', 'text']], [['-p', '--views', '1', 'text']]])(
      'and a text is pushed: %j',
      async (argv) => {
        const prompts = ['Passphrase:', 'Passphrase again:'].map((secret) => ({
          secret,
          answer: 'horse',
        }));
        const { code, stdout } = await here.under({ prompts }).run('push', ...argv);
        const opened = here.under({ env: { PWPUSH_PASSPHRASE: 'horse' } });
        expect([code, (await opened.run('get', stdout.trim())).stdout]).toEqual([0, 'text']);
      },
    );

    test('and -p goes with another letter', async () => {
      const { stderr } = await here.run('push', '-pq', 'text');
      expect(stderr).toContain('-p asks for the passphrase, but there is no terminal to ask on');
    });
  });

  test('of PWPUSH_PASSPHRASE is for get, not for push', async () => {
    const env = { PWPUSH_PASSPHRASE: 'correct horse' };
    const { stdout } = await here.under({ env }).run('push', 'hunter2');
    expect(await received(stdout)).toBe('hunter2');
  });
});

test('options and the profile’s defaults reach the instance, options first', async () => {
  await here.keep({
    current: 'p',
    profiles: {
      p: { url: 'https://pw.test', days: 2, views: 3, deletable: false, 'retrieval-step': false },
    },
  });
  const { stdout } = await here
    .under({ env: { PWPUSH_URL: undefined } })
    .run('push', 'x', '--views', '1', '--retrieval-step', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    expire_after_days: 2,
    expire_after_views: 1,
    deletable_by_viewer: false,
    retrieval_step: true,
  });
});

test('a text that is too long for the instance is to be attached', async () => {
  const { code, stderr } = await here.under({ stdin: 'x'.repeat(2 ** 20 + 1) }).run('push');
  expect([code, stderr]).toEqual([8, expect.stringContaining('attach it with --file')]);
  expect(stderr).toContain('1.0 MiB');
});

test('values that the instance refuses are exit 8, with its words', async () => {
  const { code, stdout, stderr } = await here.run('push', 'x', '--views', '101');
  expect({ code, stdout, stderr: stderr.split(':').slice(0, 2).join(':') }).toEqual({
    code: 8,
    stdout: '',
    stderr: 'pwpush: the instance refused the request',
  });
});

describe('the value of an option is no option', () => {
  const unset = 'pwpush: the variable "UNSET" is not set\n';
  const unknown = 'pwpush: unknown option --bogus\nhint: pwpush push --help\n';
  const asJson = expect.stringMatching(/^\{"error":\{"code":"usage"/);

  test.each<[string[], string]>([
    [['--note', '--json', '--env', 'UNSET'], unset],
    [['--note', '--debug', '--env', 'UNSET'], unset],
    [['--note', '-hello', '--env', 'UNSET'], unset],
    [['-qn', '--json', '--env', 'UNSET'], unset],
    [['--note', '--json', '--bogus'], unknown],
    [['-qn', '--json', '--bogus'], unknown],
    [['--bogus', '--', '--json'], unknown],
    [['--env', 'UNSET', '--json'], asJson],
    [['--bogus', '--json'], asJson],
    [['--json', '--bogus'], asJson],
    [['-nq', '--json', '--bogus'], asJson],
    [['--notify', 'a@b.example', '--json', '--bogus'], asJson],
    [['--days', 'x', '--json'], asJson],
    [['-hello', '--json'], asJson],
  ])('%j', async (argv, stderr) => {
    expect(await here.run('push', ...argv)).toEqual({ code: 2, stdout: '', stderr });
  });

  test('nor does it keep anybody from being asked', async () => {
    const prompts = [
      { secret: 'Secret:', answer: 'typed' },
      { secret: 'Passphrase (Enter for none):', answer: '' },
    ];
    const asked = here.under({ terminals: ['stdin'], prompts });
    expect((await asked.run('push', '--note', '--no-input')).code).toBe(0);
  });
});
