import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { CREATED } from '../helpers/reference';
import { json } from '../helpers/wire';

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
  const { code, stdout, stderr } = await piped(`${secrets.join('\r\n')}\n`, '--concurrency', '4');
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
  const env = { PHRASE: 'correct horse' };
  const argv = ['push', '--each', '--passphrase-env', 'PHRASE'];
  const { stdout } = await here.under({ stdin: 'a\nb\n', env }).run(...argv);
  for (const link of stdout.trimEnd().split('\n')) {
    expect((await here.run('get', link)).code).toBe(7);
    const opened = await here
      .under({ env: { PWPUSH_PASSPHRASE: 'correct horse' } })
      .run('get', link);
    expect(opened.code).toBe(0);
  }
});

test('lines come from a file, too', async () => {
  writeFileSync(here.file('list'), 'a\nb');
  const { code, stdout } = await here.run('push', '--each', '--from', here.file('list'));
  expect(code).toBe(0);
  expect(await payloads(stdout)).toEqual(['a', 'b']);
});

test('--dry-run shows each, secrets masked, and sends nothing', async () => {
  const { code, stdout } = await piped('hunter2\nhunter3\n', '--dry-run', '--json');
  const line = {
    method: 'POST',
    url: 'https://pw.test/api/v2/pushes',
    body: { push: { payload: '***' } },
  };
  expect(code).toBe(0);
  expect(stdout).toBe(`${JSON.stringify(line)}\n`.repeat(2));
  expect(here.asked).toEqual([]);
});

describe('a line that fails', () => {
  test('is told with its number, and keeps no other from being pushed', async () => {
    const { code, stdout, stderr } = await piped('a\n\nb\n');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'pwpush: line 2: the line is empty\n',
    });
    const [first = '', second, third = '', ...rest] = stdout.split('\n');
    expect([second, rest]).toEqual(['', ['']]);
    expect(await payloads(`${first}\n${third}`)).toEqual(['a', 'b']);
  });

  test('has its hint once where the next one would have the same', async () => {
    const stdin = ['a', 'b', 'c'].map((payload) => JSON.stringify({ payload, day: 1 })).join('\n');
    const { stderr } = await piped(stdin);
    const lines = stderr.trimEnd().split('\n');
    const told = (line: string) => line.split(':', 2).join(':');
    expect(lines.map(told)).toEqual([
      'pwpush: line 1',
      expect.stringMatching(/^hint: /),
      'pwpush: line 2',
      'pwpush: line 3',
    ]);
  });

  test('is a line of JSON with --json; the worst status counts', async () => {
    const lines = [{ payload: 'a', days: 9999 }, { payload: 'b' }, { payload: 'c', day: 1 }];
    const stdin = lines.map((line) => JSON.stringify(line)).join('\n');
    const { code, stdout, stderr } = await piped(stdin, '--json');
    expect(code).toBe(8);
    const parsed = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    const errors = parsed(stderr).map(({ error }) => error);
    const placed = ({ line, ...error }: { line: number }) => ({ line, error });
    expect(parsed(stdout)).toEqual([
      placed(errors[0]),
      expect.objectContaining({ html_url: expect.any(String) }),
      placed(errors[1]),
    ]);
    expect(errors).toMatchObject([
      { code: 'rejected', line: 1, status: 422 },
      { code: 'usage', line: 3, message: 'line 3: unknown field "day"' },
    ]);
  });

  test('may have been granted looser limits than requested: that push is expired again', async () => {
    const looser = CREATED.replace('"expire_after_views":5', '"expire_after_views":50');
    const answers = [
      json(201, looser),
      json(200, CREATED.replace('"expired":false', '"expired":true')),
    ];
    const argv = ['push', '--each', '--views', '5'];
    const { code, stdout, stderr, sent } = await asking(answers, argv, { stdin: 'a' });
    expect({ code, stdout }).toEqual({ code: 8, stdout: '\n' });
    expect(stderr).toContain('line 1: the instance granted looser limits than requested');
    expect(sent.map((request) => request.split(' ')[0])).toEqual(['POST', 'DELETE']);

    const kept = await asking([json(201, looser)], [...argv, '--accept-limits'], { stdin: 'a' });
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringMatching(/^https:.*\n$/) });
  });

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
    expect({ code, troubles: lines.filter((line) => line.includes('ENOSPC')) }).toEqual({
      code: 2,
      troubles: ['pwpush: line 1: cannot write to standard output (ENOSPC)'],
    });
    expect(lines.length).toBeLessThanOrEqual(17);
  });

  test('of JSON is told without a word of it', async () => {
    const { stderr } = await piped('{"payload":"a"}\n{"payload": hunter2\n');
    expect(stderr).toContain('line 2: not a JSON object');
    expect(stderr).not.toContain('hunter2');
  });
});

test('no link is lost when standard output takes no more, and no further line is begun', async () => {
  const failing = { stdout: 'EPIPE', stderr: 'EPIPE' } as const;
  const stdin = 'line\n'.repeat(200);
  const { code } = await here.under({ stdin, failing }).run('push', '--each');
  const created = here.asked.length;
  expect(code).toBe(1);
  expect(created).toBeLessThanOrEqual(16);
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
  const each = (option: string) => `--each cannot be combined with ${option}`;
  const withHere = (option: string) => `${option} requires --here`;

  /** Long name → how it is given, and how it is refused; `applied` holds what is applied. */
  const refused: Record<string, [string[], string]> = {
    '--env': [['--env', 'X'], each('--env')],
    '--generate': [['--generate'], each('--generate')],
    '--file': [['--file', 'x'], each('--file')],
    '--filename': [['--filename', 'x'], each('--filename')],
    '--message': [['--message', 'x'], each('--message')],
    '--raw': [['--raw'], each('--raw')],
    '--generate-passphrase': [['--generate-passphrase'], each('--generate-passphrase')],
    '--passphrase-out': [
      ['--passphrase-out', 'x'],
      '--passphrase-out requires --generate-passphrase',
    ],
    '--key-out': [['--key-out', 'x'], '--key-out requires --encrypt=words'],
    '--qr': [['--qr'], each('--qr')],
    '--copy': [['--copy'], each('--copy')],
    '--here': [['--here'], each('--here')],
    '--host': [['--host', '0.0.0.0'], withHere('--host')],
    '--port': [['--port', '1'], withHere('--port')],
    '--tls-cert': [['--tls-cert', 'x'], withHere('--tls-cert')],
    '--tls-key': [['--tls-key', 'x'], withHere('--tls-key')],
  };
  const besides: [string[], string][] = [
    [['text'], '--each cannot be combined with a text'],
    [['--kind', 'file'], each('--kind file')],
    [['--host', ''], '--host must not be empty'],
    [['--notify-locale', 'de'], '--notify-locale requires --notify EMAIL'],
    [['--passphrase-file', '-'], 'standard input cannot be both the secrets and the passphrase'],
    [['--encrypt=words'], each('--encrypt=words')],
    [['-R', '-'], 'standard input cannot be both the secrets and the public keys'],
    [['--token-file', '-'], 'standard input cannot be both the secrets and the token'],
  ];

  test.each([...Object.values(refused), ...besides])('%j is refused', async (argv, message) => {
    const { code, stderr } = await piped('a\n', ...argv);
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 2,
      stderr: `pwpush: ${message}`,
    });
    expect(here.asked).toEqual([]);
  });

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
    '--passphrase-env': [['--passphrase-env', 'PHRASE'], { passphrase: '***' }],
    '--name': [['--name', 'x'], { name: 'x' }],
    '--note': [['--note', 'x'], { note: '***' }],
    '--notify': [['--notify', 'a@b.example'], { notify_emails_to: 'a@b.example' }],
    '--notify-locale': [
      ['--notify', 'a@b.example', '--notify-locale', 'de'],
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
      .under({ stdin: 'a\n', env: { PHRASE: 'sesame' }, prompts })
      .run('push', '--each', '--dry-run', '--json', ...words);
    expect(JSON.parse(stdout).body.push).toEqual({ payload: '***', ...fields });
  });

  test('and there is no other', async () => {
    const { stdout } = await here.run('push', '--help');
    const [own = ''] = stdout.split('\nGlobal options');
    const names = [...own.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name);
    // What these do the tests above show: where lines are from, and how many at once.
    const shown = ['--locale', '--each', '--from', '--concurrency', '--dry-run', '--accept-limits'];
    // And those of encryption.test.ts.
    shown.push('--no-receipt', '--encrypt', '--no-encrypt', '--to', '--recipients-file');
    expect([...names].sort()).toEqual(
      [...Object.keys(refused), ...Object.keys(applied), ...shown].sort(),
    );
  });
});

test('without lines, without a pipe, or without --each', async () => {
  expect((await piped('')).stderr).toBe('pwpush: no lines to push\n');
  const typed = await here.under({ terminals: ['stdin'] }).run('push', '--each');
  expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing is piped in') });
  const alone = await here.under({ stdin: 'a' }).run('push', '--concurrency', '3');
  expect(alone).toMatchObject({ code: 2, stderr: 'pwpush: --concurrency requires --each\n' });
});
