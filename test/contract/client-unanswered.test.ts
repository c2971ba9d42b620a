import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, changed } from '../helpers/reference';
import { broken, html, json, type Literal } from '../helpers/wire';

// A creation that was not answered: what the user's pushes tell about it. test/cases/push-response-lost.txt has
// what is said.

const CREATE = 'POST https://pw.test/api/v2/pushes';
const LIST = 'GET https://pw.test/api/v2/pushes/active?page=1';
const SECOND = 'GET https://pw.test/api/v2/pushes/active?page=2';
const END = json(200, '[]');
const env = { PWPUSH_TOKEN: 't0ken', PWPUSH_EDITION: 'oss' };
const LINK = 'https://pw.test/p/quyul5r5w08/r';
/** Our clock stands at 11:06:45. */
const OURS = 'Thu, 20 Aug 2026 11:06:45 GMT';

/** The exit status, what was asked, and the links that the error has as found. */
async function pushed(answers: Parameters<typeof asking>[0], ...argv: string[]) {
  const outcome = await asking(answers, ['push', '--json', ...argv], { stdin: 'hunter2', env });
  const { found } = JSON.parse(outcome.stderr).error;
  const links = found?.map(({ html_url }: { html_url: string }) => html_url);
  return { code: outcome.code, stdout: outcome.stdout, asked: lines(outcome), links };
}

const listed = (pushes: readonly Record<string, unknown>[], date: string | undefined = OURS) =>
  json(
    200,
    `[${pushes.map((fields) => changed(CREATED, fields)).join(',')}]`,
    date === '' ? {} : { date },
  );

const finding = (...links: string[]) => {
  return { code: 11, stdout: '', asked: [CREATE, LIST, SECOND], links };
};

describe('a push like it was created since', () => {
  test('its link is told', async () => {
    const argv = ['--views', '5', '--days', '7', '--name', 'db', '--deletable'];
    const answers = [broken(true), listed([{ name: 'db' }]), END];
    expect(await pushed(answers, ...argv)).toEqual(finding(LINK));
  });

  test('it is in the error, without its passphrase', async () => {
    const answers = [broken(true), listed([{ passphrase: 'correct horse', html_url: null }]), END];
    const conditions = { stdin: 'hunter2', env };
    const { stderr } = await asking(answers, ['push', '--json'], conditions);
    const { passphrase: _, ...push } = JSON.parse(CREATED);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'unknown',
      found: [{ ...push, html_url: 'https://pw.test/p/quyul5r5w08' }],
    });
    expect(stderr).not.toContain('horse');
  });

  test('also one with files', async () => {
    const answers = [broken(true), listed([{}]), END];
    expect(await pushed(answers, '--file', 'LICENSE')).toEqual(finding(LINK));
  });

  test('several are all told', async () => {
    const second = { url_token: 'abc', html_url: 'https://pw.test/p/abc' };
    const answers = [broken(true), listed([{}, second]), END];
    expect(await pushed(answers)).toEqual(finding(LINK, 'https://pw.test/p/abc'));
  });

  test('also where a proxy answered in place of the instance', async () => {
    const answers = [html(504, '<h1>Timeout</h1>'), listed([{}]), END];
    expect(await pushed(answers)).toEqual(finding(LINK));
  });
});

describe('the clocks differ', () => {
  // The instance is a day behind: its push of now has the time of yesterday.
  const YESTERDAY = 'Wed, 19 Aug 2026 11:06:45 GMT';

  test.each([
    ['its own time counts: a push of just now', '2026-08-19T11:06:41.000Z', YESTERDAY, true],
    ['and one of before', '2026-08-19T11:06:00.000Z', YESTERDAY, false],
    ['no time, five minutes are allowed for', '2026-08-20T11:02:00.000Z', '', true],
    ['and no more', '2026-08-20T11:01:00.000Z', '', false],
  ])('%s: %s', async (_what, created_at, date, found) => {
    const answers = [broken(true), listed([{ created_at }], date), END];
    expect(await pushed(answers)).toEqual(finding(...(found ? [LINK] : [])));
  });
});

describe('none like it', () => {
  test.each<[Record<string, unknown>, string[]]>([
    [{ name: 'other' }, ['--name', 'db']],
    [{ name: 'other' }, []],
    [{ expire_after_views: 5 }, ['--views', '1']],
    [{ expire_after_days: 7 }, ['--days', '1']],
    [{ retrieval_step: true }, ['--no-retrieval-step']],
  ])('%j is another one', async (fields, argv) => {
    expect(await pushed([broken(true), listed([fields]), END], ...argv)).toEqual(finding());
  });

  test('is an empty list in the error', async () => {
    const asked = [CREATE, LIST];
    expect(await pushed([broken(true), listed([])])).toEqual({ ...finding(), asked });
  });
});

test.each<[string, (Literal | ReturnType<typeof broken>)[]]>([
  ['no connection', [broken(false)]],
  ['no answer', [broken(true), broken(true)]],
  ['refused', [json(401, '')]],
  ['asked to wait', [{ status: 429, headers: { 'retry-after': '30' } }]],
])('the look-up fails: %s, and nothing else is tried', async (_what, answers) => {
  const { code, asked, links } = await pushed([broken(true), ...answers]);
  expect([code, asked.slice(0, 2), links]).toEqual([11, [CREATE, LIST], undefined]);
  expect(asked.filter((line) => line === CREATE)).toEqual([CREATE]);
});

describe('the order and length of pages are up to the instance', () => {
  const old = (token: string) => ({ url_token: token, created_at: '2026-08-01T11:06:45.000Z' });

  test('a push on the last page is found', async () => {
    const pages = [[old('a'), old('b')], [old('c')], [{}]].map((page) => listed(page));
    const { code, links } = await pushed([broken(true), ...pages, END, END]);
    expect([code, links]).toEqual([11, [LINK]]);
  });

  test('one that was found counts though a later page cannot be had', async () => {
    const outcome = await pushed([broken(true), listed([{}]), broken(false)]);
    expect(outcome).toEqual(finding(LINK));
  });

  test('an instance that has the same page each time is not asked for ever', async () => {
    const outcome = await pushed([broken(true), listed([{}]), listed([{}])]);
    expect(outcome).toEqual(finding(LINK));
  });
});

test('nothing is looked up for a request that never left, and for a refusal', async () => {
  expect((await pushed([broken(false)])).asked).toEqual([CREATE]);
  expect((await pushed([json(422, '{"base":["no"]}')])).asked).toEqual([CREATE]);
});
