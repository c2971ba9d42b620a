import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, changed, EXPIRED, PREVIEWED } from '../helpers/reference';
import { broken, html, json, type Literal } from '../helpers/wire';

// What instances in the world answer to a creation, and what `push` makes of it. What it says is told by
// test/cases/push-odd-link.txt and push-limits-not-granted.txt.

const CREATE = 'POST https://pw.test/api/v2/pushes';
const PREVIEW = 'GET https://pw.test/api/v2/pushes/quyul5r5w08/preview';
const EXPIRE = 'DELETE https://pw.test/api/v2/pushes/quyul5r5w08';
const LINK = 'https://pw.test/p/quyul5r5w08/r\n';

/** The outcome of a push, how many warnings it printed, and what was asked. */
async function pushed(answers: Parameters<typeof asking>[0], ...argv: string[]) {
  const env = { PWPUSH_EDITION: 'oss' };
  const outcome = await asking(answers, ['push', ...argv], {
    ...{ stdin: 'hunter2\n', env },
    invented: ['extra'],
  });
  const { code, stdout, stderr } = outcome;
  const warnings = stderr.match(/^warning: /gm)?.length ?? 0;
  return { code, stdout, stderr, told: [code, stdout, warnings, ...lines(outcome)] };
}

const granting = (fields: Record<string, unknown>): Literal => json(201, changed(CREATED, fields));
const errorIn = (stderr: string) => JSON.parse(stderr).error;

describe('the link', () => {
  test('is the html_url of the answer, and nothing more is asked', async () => {
    expect((await pushed([json(201, CREATED)])).told).toEqual([0, LINK, 0, CREATE]);
  });

  test.each([undefined, null, '', 'javascript:alert(1)', '/p/quyul5r5w08'])(
    'is what preview says when html_url is %j',
    async (html_url) => {
      const { told } = await pushed([granting({ html_url }), json(200, PREVIEWED)]);
      expect(told).toEqual([0, LINK, 0, CREATE, PREVIEW]);
    },
  );

  test('is made of address and token when preview fails too, and that is said', async () => {
    const answers = [granting({ html_url: undefined }), html(502, '<h1>Bad Gateway</h1>')];
    expect((await pushed(answers)).told).toEqual([0, LINK, 1, CREATE, PREVIEW]);
  });

  test('reaches the user when the connection breaks for good after the 201', async () => {
    const answers = [granting({ html_url: undefined, retrieval_step: false }), broken(false)];
    const link = 'https://pw.test/p/quyul5r5w08\n';
    expect((await pushed(answers)).told).toEqual([0, link, 1, CREATE, PREVIEW]);
  });

  test.each([
    ['on another host is printed, with a warning', 'https://other.test/p/quyul5r5w08', 1],
    ['keeps its locale', 'https://pw.test/p/quyul5r5w08/r?locale=fr', 0],
  ])('%s', async (_what, html_url, warnings) => {
    const { told } = await pushed([granting({ html_url })]);
    expect(told).toEqual([0, `${html_url}\n`, warnings, CREATE]);
  });
});

describe('machine output', () => {
  test('keeps unknown fields and never has the passphrase, not even nested', async () => {
    const passphrase = 'correct horse';
    const answer = granting({ passphrase, account_id: 7, extra: { passphrase, kept: true } });
    const { code, stdout, stderr } = await pushed([answer], '--json');
    const { passphrase: _never, ...rest } = JSON.parse(CREATED);
    const shown = { ...rest, account_id: 7, extra: { kept: true }, encrypted: false };
    expect([code, JSON.parse(stdout), stderr]).toEqual([0, shown, '']);
  });

  test('takes numbers that came as strings for numbers', async () => {
    const answer = granting({ expire_after_days: '3', expire_after_views: '2' });
    const { code, stdout, stderr } = await pushed([answer], '-d', '3', '-v', '2', '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ expire_after_days: 3, expire_after_views: 2 });
  });
});

test('a passphrase that the instance echoes is printed nowhere, not even with --debug', async () => {
  const { code, stdout, stderr } = await asking(
    [json(201, changed(CREATED, { passphrase: 'correct horse' }))],
    ['push', '--debug'],
    { stdin: 'hunter2', env: { PWPUSH_PASSPHRASE: 'correct horse' }, terminals: ['stderr'] },
  );
  expect([code, stdout]).toEqual([0, LINK]);
  expect(stderr).toMatch(/^debug: POST pw\.test\/api\/v2\/pushes 201 /);
  expect(stderr).not.toContain('horse');
});

test.each<[string[], Record<string, unknown>]>([
  [['--views', '200'], { expire_after_views: 5 }],
  [['--days', '180'], { expire_after_days: 7 }],
  [['--deletable'], { deletable_by_viewer: false }],
  [['--no-retrieval-step'], { retrieval_step: true }],
  [['--days', '2'], { expire_after_days: undefined, expire_after_duration: 6 }],
])('stricter limits than asked are a warning: %j', async (argv, fields) => {
  expect((await pushed([granting(fields)], ...argv)).told).toEqual([0, LINK, 1, CREATE]);
});

describe('looser limits than requested: the push is expired again and the run fails with 8', () => {
  const ended = [8, '', 0, CREATE, EXPIRE];

  test.each<[string[], Record<string, unknown>]>([
    [['--days', '1'], { expire_after_days: 7 }],
    [['--views', '1'], { expire_after_views: 5 }],
    [['--no-deletable'], { deletable_by_viewer: true }],
    [['--retrieval-step'], { retrieval_step: false }],
    [['--days', '1'], { expire_after_days: undefined, expire_after_duration: 12 }],
    [['--days', '1'], { expire_after_days: undefined, expires_at: '2026-09-03T11:06:45.000Z' }],
  ])('%j, unless --accept-limits makes it a warning', async (argv, fields) => {
    expect((await pushed([granting(fields), json(200, EXPIRED)], ...argv)).told).toEqual(ended);
    const { told } = await pushed([granting(fields)], ...argv, '--accept-limits');
    expect(told).toEqual([0, LINK, 1, CREATE]);
  });

  test.each<[string, Parameters<typeof asking>[0]]>([
    ['the instance refuses', [json(401, '{"error":"That push is not deletable by viewers."}')]],
    ['the instance fails', [html(502, '<h1>Bad Gateway</h1>')]],
    ['it cannot be reached any more', [broken(false)]],
    ['the connection breaks twice', [broken(true), broken(true)]],
    ['it answers that the push lives on', [json(200, changed(EXPIRED, { expired: false }))]],
  ])('when expiring fails since %s, the error has the link', async (_why, answers) => {
    const { code, stdout, stderr } = await pushed([granting({}), ...answers], '-v', '1', '--json');
    expect([code, stdout]).toEqual([8, '']);
    const error = { code: 'rejected', link: LINK.trim(), expired: false };
    expect(errorIn(stderr)).toMatchObject(error);
  });

  test('once the push was expired again, --json says so', async () => {
    const { stderr } = await pushed([granting({}), json(200, EXPIRED)], '--views', '1', '--json');
    expect(errorIn(stderr)).toMatchObject({ link: LINK.trim(), expired: true });
  });

  test('a push without a token in the response is expired by that of its link', async () => {
    const answers = [granting({ url_token: undefined }), json(200, EXPIRED)];
    expect((await pushed(answers, '--views', '1')).told).toEqual(ended);
  });

  test('limits that came as text count as numbers, and all that is looser is said', async () => {
    const fields = { expire_after_days: '7', expire_after_views: '5', retrieval_step: false };
    const argv = ['--days', '1', '--views', '1', '--retrieval-step'];
    const { stderr, told } = await pushed([granting(fields), json(200, EXPIRED)], ...argv);
    expect(told).toEqual(ended);
    expect(stderr).toMatch(/1 day .*7 .*; 1 view .*5 .*; retrieval step /);
  });

  test('a looser limit counts though another one is stricter', async () => {
    const fields = { expire_after_days: 7, expire_after_views: 5 };
    const answers = [granting(fields), json(200, EXPIRED)];
    expect((await pushed(answers, '--days', '180', '--views', '1')).told).toEqual(ended);
  });

  test('when only the answer to expiring gets lost, it is asked again', async () => {
    const answers = [granting({ expire_after_days: 7 }), broken(true), json(200, EXPIRED)];
    expect((await pushed(answers, '--days', '1')).told).toEqual([...ended, EXPIRE]);
  });
});

test.each([
  ['deletable_by_viewer, as for url pushes', { deletable_by_viewer: null }, 0],
  ['views', { expire_after_views: undefined }, 1],
  ['days', { expire_after_days: null }, 1],
  ['either', { expire_after_days: null, expire_after_views: null }, 1],
])(
  'a response that does not tell %s is not compared with what was asked',
  async (_, fields, warnings) => {
    const granted = { deletable_by_viewer: false, expire_after_views: 1, expire_after_days: 2 };
    const words = ['--no-deletable', '--views', '1', '--days', '2'];
    const { told } = await pushed([granting({ ...granted, ...fields })], ...words);
    expect(told).toEqual([0, LINK, warnings, CREATE]);
  },
);
