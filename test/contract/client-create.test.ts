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
  const conditions = { stdin: 'hunter2\n', env, invented: ['extra'] };
  const outcome = await asking(answers, ['push', ...argv], conditions);
  const { code, stdout, stderr } = outcome;
  const warnings = stderr.match(/^warning: /gm)?.length ?? 0;
  return { code, stdout, stderr, told: [code, stdout, warnings, ...lines(outcome)] };
}

const granting = (fields: Record<string, unknown>): Literal => json(201, changed(CREATED, fields));

const unusable = [undefined, null, '', 'javascript:alert(1)', '/p/quyul5r5w08'];
test.each(unusable)('the link is what preview says when html_url is %j', async (html_url) => {
  const { told } = await pushed([granting({ html_url }), json(200, PREVIEWED)]);
  expect(told).toEqual([0, LINK, 0, CREATE, PREVIEW]);
});

test('--json keeps unknown fields and never has the passphrase, not even nested', async () => {
  const passphrase = 'correct horse';
  const extra = { passphrase, kept: true };
  const answer = granting({ passphrase, account_id: 7, extra, expire_after_days: '7' });
  const { stdout, stderr } = await pushed([answer], '--days', '7', '--json');
  const { passphrase: _never, ...rest } = JSON.parse(CREATED);
  const shown = { ...rest, account_id: 7, extra: { kept: true }, encrypted: false };
  expect([JSON.parse(stdout), stderr]).toEqual([shown, '']);
});

test('stricter limits than asked are a warning', async () => {
  const { told } = await pushed([granting({ expire_after_views: 5 })], '--views', '200');
  expect(told).toEqual([0, LINK, 1, CREATE]);
});

describe('looser limits than requested: the push is expired again and the run fails with 8', () => {
  const ended = [8, '', 0, CREATE, EXPIRE];

  test.each<[string[], Record<string, unknown>]>([
    [['--days', '1'], { expire_after_days: 7 }],
    [['--no-deletable'], { deletable_by_viewer: true }],
    [['--days', '1'], { expire_after_days: undefined, expire_after_duration: 12 }],
  ])('%j, unless --accept-limits makes it a warning', async (argv, fields) => {
    expect((await pushed([granting(fields), json(200, EXPIRED)], ...argv)).told).toEqual(ended);
    const { told } = await pushed([granting(fields)], ...argv, '--accept-limits');
    expect(told).toEqual([0, LINK, 1, CREATE]);
  });

  test('also though another one is stricter, and by the token of its link', async () => {
    const answers = [granting({ url_token: undefined }), json(200, EXPIRED)];
    const { told } = await pushed(answers, '--days', '180', '--views', '1');
    expect(told).toEqual(ended);
  });

  test('as by anybody who can view it, where it has no owner', async () => {
    const env = { PWPUSH_EDITION: 'oss', PWPUSH_PASSPHRASE: 'sesame' };
    const locked = json(401, '{"error":"passphrase required"}');
    const answers = [granting({ expire_after_views: 5 }), locked, json(200, EXPIRED)];
    const push = ['push', '--encrypt', '--views', '1'];
    const { sent } = await asking(answers, push, { stdin: 'x', env });
    expect(sent.at(-1)).toMatch(/^DELETE \S+\?passphrase=sesame\n(.*\n)*x-key-proof: [\w-]{22}$/m);
  });

  test.each<[string, Parameters<typeof asking>[0], boolean]>([
    ['succeeds', [json(200, EXPIRED)], true],
    ['fails since the instance fails', [html(502, '<h1>Bad Gateway</h1>')], false],
    ['fails since the connection breaks twice', [broken(true), broken(true)], false],
    ['fails since the push lives on', [json(200, changed(EXPIRED, { expired: false }))], false],
  ])('when expiring %s, the error of --json says so', async (_why, answers, expired) => {
    const { code, stdout, stderr } = await pushed([granting({}), ...answers], '-v', '1', '--json');
    expect([code, stdout]).toEqual([8, '']);
    const { error } = JSON.parse(stderr);
    expect(error).toMatchObject({ code: 'rejected', link: LINK.trim(), expired });
  });
});
