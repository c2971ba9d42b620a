import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { locales } from '../../src/contract/api';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { CREATED } from '../helpers/reference';
import { json } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const LINK = /^https:\/\/pw\.test\/p\/[a-z0-9_-]{11,19}\/r$/;
const link = expect.stringMatching(LINK);
const linkLine = expect.stringMatching(new RegExp(LINK.source.replace('$', '\\n$')));
const watched = ['stdout', 'stderr'] as const;

describe('on a terminal stderr says', () => {
  test('what was granted', async () => {
    const env = { PHRASE: 'correct horse' };
    const shown = here.under({ terminals: watched, stdin: 'hunter2', env });
    const argv = ['--views', '1', '--days', '3', '--no-deletable', '--no-retrieval-step'];
    const { stdout, ...rest } = await shown.run('push', ...argv, '--passphrase-env', 'PHRASE');
    expect(rest).toEqual({
      code: 0,
      stderr: 'expires after 1 view or 3 days · passphrase required · nobody can delete it\n',
    });
  });

  test('that text on the command line is public', async () => {
    expect(await here.under({ terminals: watched }).run('push', 'throw-away')).toEqual({
      code: 0,
      stdout: linkLine,
      stderr:
        'hint: other users of this machine can read the command line; pipe the secret in instead\n' +
        'expires after 5 views or 7 days · recipient can delete it · opens with a click\n',
    });
  });

  test('what was generated', async () => {
    const { stdout, stderr } = await here.under({ terminals: watched }).run('push', '--generate');
    const secret = (await here.run('get', stdout.trim())).stdout;
    expect(stderr.split('\n')[0]).toBe(`generated: ${secret}`);
  });

  test('nothing with --quiet or --json', async () => {
    const shown = here.under({ terminals: watched });
    const outcomes = [
      await shown.run('push', 'x', '--quiet'),
      await shown.run('push', 'x', '-q'),
      await shown.run('push', 'x', '--json'),
      await shown.run('-q', 'push', 'x'),
    ];
    expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      outcomes.map(() => ({ code: 0, stderr: '' })),
    );
  });
});

test('in a pipe nothing is said, whatever the source', async () => {
  expect(await here.run('push', 'x')).toEqual({ code: 0, stdout: linkLine, stderr: '' });
});

test('with --json the result is the instance’s object, without the passphrase', async () => {
  const { code, stdout, stderr } = await here
    .under({ env: here.admin })
    .run('push', 'x', '--name', 'db', '--json');
  const { url_token, html_url, json_url, ...rest } = JSON.parse(stdout);
  expect({ code, stderr, rest, html_url }).toEqual({
    code: 0,
    stderr: '',
    html_url: link,
    rest: {
      encrypted: false,
      expire_after_days: 7,
      expire_after_views: 5,
      days_remaining: 7,
      views_remaining: 5,
      expires_at: '2026-08-27T11:06:45.000Z',
      expired: false,
      expired_on: null,
      deletable_by_viewer: true,
      retrieval_step: true,
      deleted: false,
      created_at: '2026-08-20T11:06:45.000Z',
      updated_at: '2026-08-20T11:06:45.000Z',
      name: 'db',
      note: '',
    },
  });
  expect(stdout.endsWith('}\n')).toBe(true);
});

test('a name or note without a token is in nobody’s lists, which is said', async () => {
  const said =
    'warning: nobody will see the name or note: a push created without a token is not listed\n';
  expect(await here.run('push', 'x', '--name', 'db')).toEqual({
    code: 0,
    stdout: linkLine,
    stderr: said,
  });
  expect((await here.run('push', 'x', '--note', 'n', '-q')).stderr).toBe(said);
  expect((await here.under({ env: here.admin }).run('push', 'x', '--note', 'n')).stderr).toBe('');
});

describe('--dry-run sends nothing and masks what is secret', () => {
  const argv = [
    'push',
    'hunter2',
    '--dry-run',
    '--views',
    '1',
    '--name',
    'db',
    '--note',
    'private',
  ];
  const env = { PHRASE: 'correct horse', PWPUSH_TOKEN: 'secret-token' };
  afterEach(() => expect(here.asked).toEqual([]));

  test('as text', async () => {
    expect(await here.under({ env }).run(...argv, '--passphrase-env', 'PHRASE')).toEqual({
      code: 0,
      stdout: `POST https://pw.test/api/v2/pushes
authorization: Bearer ***
content-type: application/json

{
  "push": {
    "payload": "***",
    "expire_after_views": 1,
    "passphrase": "***",
    "name": "db",
    "note": "***"
  }
}
`,
      stderr: '',
    });
  });

  test('as JSON', async () => {
    expect(await here.run(...argv, '--json')).toEqual({
      code: 0,
      stdout:
        '{"method":"POST","url":"https://pw.test/api/v2/pushes","body":{"push":{"payload":"***",' +
        '"expire_after_views":1,"name":"db","note":"***"}}}\n',
      stderr: '',
    });
  });
});

describe('a QR code of a loopback address, which leads a phone to itself', () => {
  const LOCAL = 'only this machine can reach that address\n';

  test.each([
    ['http://127.0.0.1:5100', true],
    ['http://localhost:5100', true],
    ['http://[::1]:5100', true],
    ['https://pw.test', false],
  ])('%s', async (base, local) => {
    const created = CREATED.replaceAll('https://pw.test', base);
    const env = { PWPUSH_URL: base };
    const pushed = await asking([json(201, created)], ['push', 'x', '--qr', '--quiet'], { env });
    const answer = `{"url":"${base}/p/abc/r"}`;
    const shown = await asking([json(200, answer)], ['preview', 'abc', '--qr'], { env });
    expect([pushed.code, shown.code]).toEqual([0, 0]);
    expect([pushed.stderr.endsWith(LOCAL), shown.stderr.endsWith(LOCAL)]).toEqual([local, local]);
  });
});

describe('--qr', () => {
  test('draws the link on stderr; stdout is the link alone', async () => {
    const { code, stdout, stderr } = await here.run('push', 'x', '--qr');
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({
      code: 0,
      stdout: linkLine,
      lines: 20,
    });
  });

  test('on a terminal that is too narrow says so, and the link is there', async () => {
    const narrow = here.under({ terminals: ['stderr'], columns: 30, stdin: 'x' });
    expect(await narrow.run('push', '--qr')).toEqual({
      code: 0,
      stdout: linkLine,
      stderr:
        'expires after 5 views or 7\ndays · recipient can delete it\n· opens with a click\n' +
        'the terminal is too narrow for\nthe QR code: it needs 37\ncolumns\n',
    });
  });
});

describe('a created push’s link is not lost', () => {
  test.each(['EPIPE', 'ENOSPC'] as const)(
    'stdout fails with %s: it goes to stderr',
    async (code) => {
      const outcome = await here.under({ failing: { stdout: code } }).run('push', 'x');
      const [first, ...rest] = outcome.stderr.split('\n');
      expect({ ...outcome, stderr: rest, first }).toEqual({
        code: 1,
        stdout: '',
        first: link,
        stderr: [
          `pwpush: cannot write to standard output (${code}); the link was printed here instead`,
          '',
        ],
      });
    },
  );

  test('stdout was closed on purpose: it goes to stderr and that is a success', async () => {
    expect(await here.under({ closed: ['stdout'] }).run('push', 'x')).toEqual({
      code: 0,
      stdout: '',
      stderr: linkLine,
    });
  });

  test('both fail: it is in a file, 0600, below PWPUSH_STATE_DIR', async () => {
    const failing = { stdout: 'EPIPE', stderr: 'EPIPE' } as const;
    const { code } = await here.under({ failing }).run('push', 'x');
    const [[name = '', content] = []] = Object.entries(here.rescued());
    expect({ code, name, content }).toEqual({
      code: 1,
      name: expect.stringMatching(/^link-2026-08-20T11-06-45-000Z-[0-9a-f]{8}$/),
      content: linkLine,
    });
    const modes = [here.file(`state/${name}`), here.file('state')].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(['600', '700']);
  });

  test('with --json the link is in the error, and in a file when that cannot be told', async () => {
    const told = await here.under({ failing: { stdout: 'EPIPE' } }).run('push', 'x', '--json');
    expect(JSON.parse(told.stderr)).toEqual({
      error: {
        code: 'failed',
        message: expect.stringMatching(
          /^cannot write to standard output \(EPIPE\); the link is https:/,
        ),
        link,
      },
    });
    const failing = { stdout: 'EPIPE', stderr: 'EPIPE' } as const;
    await here.under({ failing }).run('push', 'x', '--json');
    expect(Object.values(here.rescued())).toEqual([linkLine]);
  });

  test('stderr alone failing hurts nobody', async () => {
    const outcome = await here
      .under({ failing: { stderr: 'EPIPE' }, terminals: ['stderr'] })
      .run('push', 'x', '--qr');
    expect(outcome).toEqual({ code: 0, stdout: linkLine, stderr: '' });
  });
});

test('--debug logs method, host, path, status and time, and nothing secret', async () => {
  const env = { ...here.admin, PHRASE: 'correct horse' };
  const { stderr } = await here
    .under({ env, stdin: 'hunter2' })
    .run('push', '--debug', '--passphrase-env', 'PHRASE', '--note', 'private');
  expect(stderr).toBe('debug: POST pw.test/api/v2/pushes 201 0 ms\n');
});

describe('--locale', () => {
  test('names the language of the page in the link, which is a link as any other', async () => {
    const { code, stdout, stderr } = await here.run('push', 'x', '--locale', 'pt-BR');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^https:\/\/pw\.test\/p\/[\w-]+\/r\?locale=pt-BR\n$/);
    expect((await here.run('get', stdout.trim())).stdout).toBe('x');
    expect((await here.run('expire', stdout.trim())).code).toBe(0);
    const asObject = await here.run('push', 'x', '--locale', 'ur', '--json');
    expect(JSON.parse(asObject.stdout).html_url).toMatch(/\/r\?locale=ur$/);
    const each = here.under({ stdin: 'a\nb\n' });
    const links = (await each.run('push', '--each', '--locale', 'ja')).stdout.trim().split('\n');
    expect(links.map((one) => one.split('?')[1])).toEqual(['locale=ja', 'locale=ja']);
  });

  test('takes the languages of the reference', async () => {
    const { code, stderr } = await here.run('push', 'x', '--locale', 'xx');
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      `pwpush: --locale must be one of ${locales.join(', ')}, not "xx"`,
    ]);
    const help = (await here.run('push', '--help')).stdout.replace(/\s+/g, ' ');
    expect(help).toContain(`Languages of --locale: ${locales.join(' ')}.`);
  });
});
