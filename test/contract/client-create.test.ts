import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, changed, EXPIRED, PREVIEWED } from '../helpers/reference';
import { broken, html, json, type Literal } from '../helpers/wire';

// What instances in the world answer to a creation, and what `push` makes of it.

const CREATE = 'POST https://pw.test/api/v2/pushes';
const PREVIEW = 'GET https://pw.test/api/v2/pushes/quyul5r5w08/preview';
const EXPIRE = 'DELETE https://pw.test/api/v2/pushes/quyul5r5w08';
const LINK = 'https://pw.test/p/quyul5r5w08/r\n';

async function pushed(answers: Parameters<typeof asking>[0], ...argv: string[]) {
  const env = { PWPUSH_EDITION: 'oss' };
  const outcome = await asking(answers, ['push', ...argv], { stdin: 'hunter2\n', env });
  const { code, stdout, stderr } = outcome;
  return { code, stdout, stderr, asked: lines(outcome) };
}

const granting = (fields: Record<string, unknown>): Literal => json(201, changed(CREATED, fields));

describe('the link', () => {
  test('is the html_url of the answer, and nothing more is asked', async () => {
    expect(await pushed([json(201, CREATED)])).toEqual({
      code: 0,
      stdout: LINK,
      stderr: '',
      asked: [CREATE],
    });
  });

  test.each([undefined, null, '', 'javascript:alert(1)', '/p/quyul5r5w08'])(
    'is what preview says when html_url is %j',
    async (html_url) => {
      expect(await pushed([granting({ html_url }), json(200, PREVIEWED)])).toEqual({
        code: 0,
        stdout: LINK,
        stderr: '',
        asked: [CREATE, PREVIEW],
      });
    },
  );

  test('is made of address and token when preview fails too, and that is said', async () => {
    const answers = [granting({ html_url: undefined }), html(502, '<h1>Bad Gateway</h1>')];
    expect(await pushed(answers)).toEqual({
      code: 0,
      stdout: LINK,
      stderr:
        'warning: the instance returned no link; this one is built from its address and the token\n',
      asked: [CREATE, PREVIEW],
    });
  });

  test('reaches the user when the connection breaks for good after the 201', async () => {
    const answers = [granting({ html_url: undefined, retrieval_step: false }), broken(false)];
    expect(await pushed(answers)).toEqual({
      code: 0,
      stdout: 'https://pw.test/p/quyul5r5w08\n',
      stderr:
        'warning: the instance returned no link; this one is built from its address and the token\n',
      asked: [CREATE, PREVIEW],
    });
  });

  test('on another host is printed, with a warning', async () => {
    expect(await pushed([granting({ html_url: 'https://other.test/p/quyul5r5w08' })])).toEqual({
      code: 0,
      stdout: 'https://other.test/p/quyul5r5w08\n',
      stderr:
        'warning: the link is on https://other.test, not on https://pw.test, where the push was created\n',
      asked: [CREATE],
    });
  });

  test('keeps its locale', async () => {
    const html_url = 'https://pw.test/p/quyul5r5w08/r?locale=fr';
    const { code, stdout } = await pushed([granting({ html_url })]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${html_url}\n` });
  });
});

describe('machine output', () => {
  test('keeps unknown fields and never has the passphrase, not even nested', async () => {
    const answer = granting({
      passphrase: 'correct horse',
      account_id: 7,
      extra: { passphrase: 'correct horse', kept: true },
    });
    const { code, stdout, stderr } = await pushed([answer], '--json');
    const { passphrase: _never, ...rest } = JSON.parse(CREATED);
    expect({ code, stdout: JSON.parse(stdout), stderr }).toEqual({
      code: 0,
      stdout: { ...rest, account_id: 7, extra: { kept: true }, encrypted: false },
      stderr: '',
    });
  });

  test('takes numbers that came as strings for numbers', async () => {
    const answer = granting({ expire_after_days: '3', expire_after_views: '2' });
    const { code, stdout, stderr } = await pushed(
      [answer],
      '--days',
      '3',
      '--views',
      '2',
      '--json',
    );
    const { expire_after_days, expire_after_views } = JSON.parse(stdout);
    expect({ code, stderr, expire_after_days, expire_after_views }).toEqual({
      code: 0,
      stderr: '',
      expire_after_days: 3,
      expire_after_views: 2,
    });
  });
});

test('a passphrase that the instance echoes is printed nowhere, not even with --debug', async () => {
  const outcome = await asking(
    [json(201, changed(CREATED, { passphrase: 'correct horse' }))],
    ['push', '--debug', '--passphrase-env', 'PHRASE'],
    { stdin: 'hunter2', env: { PHRASE: 'correct horse' }, terminals: ['stderr'] },
  );
  expect(outcome).toMatchObject({
    code: 0,
    stdout: LINK,
    stderr:
      'debug: POST pw.test/api/v2/pushes 201 0 ms\n' +
      'expires after 5 views or 7 days · passphrase required · recipient can delete it · needs a click\n',
  });
});

describe('stricter limits than asked are a warning', () => {
  test.each<[string[], Record<string, unknown>, string]>([
    [['--views', '200'], { expire_after_views: 5 }, '200 views requested, 5 granted'],
    [['--days', '180'], { expire_after_days: 7 }, '180 days requested, 7 granted'],
    [['--deletable'], { deletable_by_viewer: false }, 'deletable requested, not granted'],
    [['--no-retrieval-step'], { retrieval_step: true }, 'retrieval step granted, not requested'],
    [
      ['--days', '2'],
      { expire_after_days: undefined, expire_after_duration: 6 },
      '2 days requested, 1 granted',
    ],
  ])('%j', async (argv, fields, said) => {
    expect(await pushed([granting(fields)], ...argv)).toEqual({
      code: 0,
      stdout: LINK,
      stderr: `warning: the instance changed a limit: ${said}\n`,
      asked: [CREATE],
    });
  });
});

describe('looser limits than requested: the push is expired again and the run fails with 8', () => {
  const cases: [string[], Record<string, unknown>, string][] = [
    [['--days', '1'], { expire_after_days: 7 }, '1 day requested, 7 granted'],
    [['--views', '1'], { expire_after_views: 5 }, '1 view requested, 5 granted'],
    [['--no-deletable'], { deletable_by_viewer: true }, 'deletable granted, not requested'],
    [['--retrieval-step'], { retrieval_step: false }, 'retrieval step requested, not granted'],
    [
      ['--days', '1'],
      { expire_after_days: undefined, expire_after_duration: 12 },
      '1 day requested, 7 granted',
    ],
    [
      ['--days', '1'],
      { expire_after_days: undefined, expires_at: '2026-09-03T11:06:45.000Z' },
      '1 day requested, 14 granted',
    ],
  ];

  test.each(cases)('%j', async (argv, fields, said) => {
    expect(await pushed([granting(fields), json(200, EXPIRED)], ...argv)).toEqual({
      code: 8,
      stdout: '',
      stderr:
        `pwpush: the instance granted looser limits than requested: ${said}; the push was expired\n` +
        'hint: use limits that the instance allows, or keep the push with --accept-limits\n',
      asked: [CREATE, EXPIRE],
    });
  });

  test.each(cases)(
    '%j is kept with --accept-limits, with a warning',
    async (argv, fields, said) => {
      const { code, stderr, asked } = await pushed([granting(fields)], ...argv, '--accept-limits');
      expect({ code, stderr, asked }).toEqual({
        code: 0,
        stderr: `warning: the instance changed a limit: ${said}\n`,
        asked: [CREATE],
      });
    },
  );

  test('when expiring fails, that is said with the link', async () => {
    const refusal = json(401, '{"error":"That push is not deletable by viewers."}');
    expect(
      await pushed([granting({ deletable_by_viewer: false }), refusal], '--views', '1'),
    ).toEqual({
      code: 8,
      stdout: '',
      stderr:
        'pwpush: the instance granted looser limits than requested: 1 view requested, 5 granted; ' +
        'expiring the push FAILED, so the secret can still be read at https://pw.test/p/quyul5r5w08/r\n' +
        'hint: expire it yourself: open the link and delete it, or run pwpush expire with a token\n',
      asked: [CREATE, EXPIRE],
    });
  });

  test.each<[string, Parameters<typeof asking>[0]]>([
    ['the instance fails', [html(502, '<h1>Bad Gateway</h1>')]],
    ['it cannot be reached any more', [broken(false)]],
    ['the connection breaks twice', [broken(true), broken(true)]],
    ['it answers that the push lives on', [json(200, changed(EXPIRED, { expired: false }))]],
  ])('when expiring fails since %s, --json has the link too', async (_why, answers) => {
    const { code, stdout, stderr } = await pushed(
      [granting({}), ...answers],
      ...['--views', '1', '--json'],
    );
    expect({ code, stdout, error: JSON.parse(stderr).error }).toEqual({
      code: 8,
      stdout: '',
      error: {
        code: 'rejected',
        message: expect.stringContaining('expiring the push FAILED'),
        hint: expect.stringContaining('expire it yourself'),
        link: LINK.trim(),
        expired: false,
      },
    });
  });

  test('once the push was expired again, --json says so', async () => {
    const { stderr } = await pushed([granting({}), json(200, EXPIRED)], '--views', '1', '--json');
    expect(JSON.parse(stderr).error).toMatchObject({ link: LINK.trim(), expired: true });
  });

  test('a push without a token in the response is expired by that of its link', async () => {
    const answers = [granting({ url_token: undefined }), json(200, EXPIRED)];
    const { code, asked } = await pushed(answers, '--views', '1');
    expect({ code, asked }).toEqual({ code: 8, asked: [CREATE, EXPIRE] });
  });

  test('limits that came as text count as numbers, and all that is looser is said', async () => {
    const fields = { expire_after_days: '7', expire_after_views: '5', retrieval_step: false };
    const argv = ['--days', '1', '--views', '1', '--retrieval-step'];
    const { code, stderr } = await pushed([granting(fields), json(200, EXPIRED)], ...argv);
    expect({ code, first: stderr.split('\n')[0] }).toEqual({
      code: 8,
      first:
        'pwpush: the instance granted looser limits than requested: 1 day requested, 7 granted; ' +
        '1 view requested, 5 granted; retrieval step requested, not granted; the push was expired',
    });
  });

  test('a looser limit counts though another one is stricter', async () => {
    const fields = { expire_after_days: 7, expire_after_views: 5 };
    const argv = ['--days', '180', '--views', '1'];
    const { code, asked } = await pushed([granting(fields), json(200, EXPIRED)], ...argv);
    expect({ code, asked }).toEqual({ code: 8, asked: [CREATE, EXPIRE] });
  });

  test('when only the answer to expiring gets lost, it is asked again', async () => {
    const answers = [granting({ expire_after_days: 7 }), broken(true), json(200, EXPIRED)];
    const { code, asked } = await pushed(answers, '--days', '1');
    expect({ code, asked }).toEqual({ code: 8, asked: [CREATE, EXPIRE, EXPIRE] });
  });
});

test.each([
  ['deletable_by_viewer, as for url pushes', { deletable_by_viewer: null }, ''],
  ['views', { expire_after_views: undefined }, 'views'],
  ['days', { expire_after_days: null }, 'days'],
  ['either', { expire_after_days: null, expire_after_views: null }, 'days and views'],
])(
  'a response that does not tell %s is not compared with what was asked',
  async (_, fields, what) => {
    const words = ['--no-deletable', '--views', '1', '--days', '2'];
    const answer = granting({
      deletable_by_viewer: false,
      expire_after_views: 1,
      expire_after_days: 2,
      ...fields,
    });
    expect(await pushed([answer], ...words)).toEqual({
      code: 0,
      stdout: LINK,
      stderr: what && `warning: the instance did not confirm the requested ${what}\n`,
      asked: [CREATE],
    });
  },
);
