import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const piped = (stdin: string, ...argv: string[]) =>
  here.under({ stdin }).run('push', '--each', ...argv);
const payloads = async (links: string) => {
  const texts: string[] = [];
  for (const link of links.trimEnd().split('\n')) texts.push((await here.run('get', link)).stdout);
  return texts;
};

test('each line is a push of its own, and the links come in the order of the lines', async () => {
  const secrets = Array.from({ length: 30 }, (_, at) => `secret ${at}`);
  const { code, stdout, stderr } = await piped(`${secrets.join('\r\n')}\n`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await payloads(stdout)).toEqual(secrets);
});

test('a line of JSON has limits of its own, over those of the command line', async () => {
  const lines = [
    { payload: 'one', views: 1, 'retrieval-step': false },
    { payload: 'two', passphrase: 'sesame', name: 'second', note: 'n' },
  ].map((line) => JSON.stringify(line));
  const { code, stdout } = await here
    .under({ stdin: lines.join('\n'), env: here.admin })
    .run('push', '--each', '--json', '--days', '3', '--views', '9', '--retrieval-step');
  const pushes = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(pushes).toMatchObject([
    { expire_after_days: 3, expire_after_views: 1, retrieval_step: false, name: '' },
    { expire_after_days: 3, expire_after_views: 9, retrieval_step: true, name: 'second' },
  ]);
  expect((await here.run('get', pushes[1].html_url)).code).toBe(7);
});

test('one passphrase does for all lines that have none', async () => {
  const env = { PWPUSH_PASSPHRASE: 'correct horse' };
  const { stdout } = await here.under({ stdin: 'a\nb\n', env }).run('push', '--each');
  for (const link of stdout.trimEnd().split('\n')) {
    expect((await here.run('get', link)).code).toBe(7);
    expect((await here.under({ env }).run('get', link)).code).toBe(0);
  }
});

describe('a line that fails', () => {
  test('has its place with --dry-run, too', async () => {
    const { code, stdout } = await piped('a\n\nb\n', '--dry-run', '--json');
    const lines = stdout.trimEnd().split('\n');
    expect({ code, lines: lines.map((line) => Object.keys(JSON.parse(line))) }).toEqual({
      code: 2,
      lines: [
        ['method', 'url', 'body'],
        ['line', 'error'],
        ['method', 'url', 'body'],
      ],
    });
  });

  test('whose place cannot be written: that is told once, and no further line is begun', async () => {
    const failing = { stdout: 'ENOSPC' } as const;
    const stdin = '\n'.repeat(200);
    const { code, stderr } = await here.under({ stdin, failing }).run('push', '--each');
    const lines = stderr.trimEnd().split('\n');
    expect([code, lines.filter((line) => line.includes('standard output')).length]).toEqual([2, 1]);
    expect(lines.length).toBeLessThanOrEqual(9);
  });
});

test('no link is lost when standard output takes no more, and no further line is begun', async () => {
  const failing = { stdout: 'EPIPE', stderr: 'EPIPE' } as const;
  const stdin = 'line\n'.repeat(200);
  const { code } = await here.under({ stdin, failing }).run('push', '--each');
  const created = here.asked.length;
  expect(code).toBe(1);
  expect(created).toBeLessThanOrEqual(8);
  expect(Object.keys(here.rescued())).toHaveLength(created);
});

test('with --json each link stands in an error, and in a file when that cannot be told', async () => {
  const stdin = 'line\n'.repeat(200);
  const conditions = { stdin, failing: { stdout: 'EPIPE' } } as const;
  const { code, stderr } = await here.under(conditions).run('push', '--each', '--json');
  const created = here.asked.length;
  const errors = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).error);
  expect(code).toBe(1);
  expect(errors.map(({ line }) => line)).toEqual([...Array(created).keys()].map((at) => at + 1));
  expect(new Set(errors.map(({ link }) => link)).size).toBe(created);

  const failing = { stdout: 'EPIPE', stderr: 'EPIPE' } as const;
  await here.under({ stdin, failing }).run('push', '--each', '--json');
  expect(Object.keys(here.rescued())).toHaveLength(here.asked.length - created);
});

describe('every option is applied, or refused before anything is sent', () => {
  /** Long name → how it is given, where it is refused; `applied` has the others. */
  const refused: Record<string, string[]> = {
    '--env': ['--env', 'X'],
    '--generate': ['--generate'],
    '--file': ['--file', 'x'],
    '--filename': ['--filename', 'x'],
    '--message': ['--message', 'x'],
    '--raw': ['--raw'],
    '--generate-passphrase': ['--generate-passphrase'],
    '--passphrase-out': ['--passphrase-out', 'x'],
    '--key-out': ['--key-out', 'x'],
    '--qr': ['--qr'],
    '--copy': ['--copy'],
    '--here': ['--here'],
    '--host': ['--host', '0.0.0.0'],
    '--port': ['--port', '1'],
  };
  const besides = [
    ['text'],
    ['--kind', 'file'],
    ['--host', ''],
    ['--passphrase-file', '-'],
    ['--encrypt=words'],
    ['-R', '-'],
    ['--token-file', '-'],
  ];

  test.each([...Object.values(refused), ...besides].map((argv) => [argv]))(
    '%j is refused',
    async (argv) => {
      expect([(await piped('a\n', ...argv)).code, here.asked]).toEqual([2, []]);
    },
  );

  /** Long name → how it is given, and what it makes of the request. */
  const applied: Record<string, [string[], Record<string, unknown>]> = {
    '--kind': [['--kind', 'qr'], { kind: 'qr' }],
    '--days': [['--days', '3'], { expire_after_days: 3 }],
    '--expire': [['--expire', '2d'], { expire_after_days: 2 }],
    '--views': [['--views', '3'], { expire_after_views: 3 }],
    '--deletable': [['--deletable'], { deletable_by_viewer: true }],
    '--no-deletable': [['--no-deletable'], { deletable_by_viewer: false }],
    '--retrieval-step': [['--retrieval-step'], { retrieval_step: true }],
    '--no-retrieval-step': [['--no-retrieval-step'], { retrieval_step: false }],
    '--passphrase': [['--passphrase'], { passphrase: '***' }],
    '--passphrase-file': [['--passphrase-file', 'FILE'], { passphrase: '***' }],
    '--name': [['--name', 'x'], { name: 'x' }],
    '--note': [['--note', 'x'], { note: '***' }],
    '--notify': [['--notify', 'a@b.example'], { notify_emails_to: 'a@b.example' }],
    '--locale': [
      ['--notify', 'a@b.example', '--locale', 'de'],
      { notify_emails_to: 'a@b.example', notify_emails_to_locale: 'de' },
    ],
  };

  test.each(Object.values(applied))('%j is applied', async (argv, fields) => {
    writeFileSync(here.file('phrase'), 'sesame\n');
    const words = argv.map((word) => (word === 'FILE' ? here.file('phrase') : word));
    const prompts = argv.includes('--passphrase')
      ? [
          { secret: 'Passphrase:', answer: 'sesame' },
          { secret: 'Passphrase again:', answer: 'sesame' },
        ]
      : [];
    const { stdout } = await here
      .under({ stdin: 'a\n', prompts })
      .run('push', '--each', '--dry-run', '--json', ...words);
    expect(JSON.parse(stdout).body.push).toEqual({ payload: '***', ...fields });
  });

  test('the tests name every option of push', async () => {
    const { stdout } = await here.run('push', '--help');
    const [own = ''] = stdout.split('\nGlobal options');
    const names = [...own.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name);
    // What these do the tests above show.
    const shown = ['--each', '--from', '--dry-run', '--accept-limits'];
    // And those of encryption.test.ts, agent.test.ts and into.test.ts.
    shown.push(
      '--as',
      '--into',
      '--no-receipt',
      '--reveal',
      '--encrypt',
      '--no-encrypt',
      '--to',
      '--recipients-file',
    );
    expect([...names].sort()).toEqual(
      [...Object.keys(refused), ...Object.keys(applied), ...shown].sort(),
    );
  });
});
