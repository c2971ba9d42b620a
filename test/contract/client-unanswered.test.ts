import { describe, expect, test } from 'vitest';
import { asking, lines } from '../helpers/foreign';
import { CREATED, changed } from '../helpers/reference';
import { broken, html, json, type Literal } from '../helpers/wire';

// A creation that was not answered: what the user's pushes tell about it.

const CREATE = 'POST https://pw.test/api/v2/pushes';
const LIST = 'GET https://pw.test/api/v2/pushes/active?page=1';
const SECOND = 'GET https://pw.test/api/v2/pushes/active?page=2';
const END = json(200, '[]');
const LOST = 'pw.test sent no complete response';
/** Our clock stands at 11:06:45. */
const OURS = 'Thu, 20 Aug 2026 11:06:45 GMT';

async function pushed(answers: Parameters<typeof asking>[0], ...argv: string[]) {
  const env = { PWPUSH_TOKEN: 't0ken', PWPUSH_EDITION: 'oss' };
  const outcome = await asking(answers, ['push', ...argv], { stdin: 'hunter2', env });
  const { code, stdout, stderr } = outcome;
  return { code, stdout, stderr, asked: lines(outcome) };
}

const listed = (pushes: readonly Record<string, unknown>[], date: string | undefined = OURS) =>
  json(
    200,
    `[${pushes.map((fields) => changed(CREATED, fields)).join(',')}]`,
    date === '' ? {} : { date },
  );

const saying = (message: string, hint: string) => ({
  code: 11,
  stdout: '',
  stderr: `pwpush: ${LOST}; ${message}\nhint: ${hint}\n`,
  asked: [CREATE, LIST, SECOND],
});

const ONE = saying(
  'a matching push was created meanwhile: https://pw.test/p/quyul5r5w08/r',
  'if it is yours, use its link; if in doubt, run pwpush expire quyul5r5w08 and push again',
);
const NONE = saying(
  'no active push matches it',
  'it may still arrive: check pwpush list before you push again',
);

describe('a push like it was created since', () => {
  test('its link is told, and how to expire it', async () => {
    const argv = ['--views', '5', '--days', '7', '--name', 'db', '--deletable'];
    expect(await pushed([broken(true), listed([{ name: 'db' }]), END], ...argv)).toEqual(ONE);
  });

  test('with --json it is in the error, without its passphrase', async () => {
    const { stderr } = await pushed(
      [broken(true), listed([{ passphrase: 'correct horse', html_url: null }]), END],
      '--json',
    );
    const { passphrase: _, ...push } = JSON.parse(CREATED);
    expect(JSON.parse(stderr).error).toEqual({
      code: 'unknown',
      message: `${LOST}; a matching push was created meanwhile: https://pw.test/p/quyul5r5w08`,
      hint: expect.stringContaining('pwpush expire quyul5r5w08'),
      found: [{ ...push, html_url: 'https://pw.test/p/quyul5r5w08' }],
    });
  });

  test('also one with files', async () => {
    expect(await pushed([broken(true), listed([{}]), END], '--file', 'LICENSE')).toEqual(ONE);
  });

  test('several are all told', async () => {
    const second = { url_token: 'abc', html_url: 'https://pw.test/p/abc' };
    expect(await pushed([broken(true), listed([{}, second]), END])).toEqual(
      saying(
        '2 matching pushes were created meanwhile: https://pw.test/p/quyul5r5w08/r https://pw.test/p/abc',
        'see pwpush list; expire those that you do not use, and push again',
      ),
    );
  });

  test('also where a proxy answered in place of the instance', async () => {
    const { code, stderr, asked } = await pushed([
      html(504, '<h1>Timeout</h1>'),
      listed([{}]),
      END,
    ]);
    expect({ code, asked }).toEqual({ code: 11, asked: [CREATE, LIST, SECOND] });
    expect(stderr).toContain(
      '; a matching push was created meanwhile: https://pw.test/p/quyul5r5w08/r',
    );
  });
});

describe('the clocks differ', () => {
  // The instance is a day behind: its push of now has the time of yesterday.
  const YESTERDAY = 'Wed, 19 Aug 2026 11:06:45 GMT';

  test('its own time counts: a push of just now', async () => {
    const answer = listed([{ created_at: '2026-08-19T11:06:41.000Z' }], YESTERDAY);
    expect(await pushed([broken(true), answer, END])).toEqual(ONE);
  });

  test('and one of before', async () => {
    const answer = listed([{ created_at: '2026-08-19T11:06:00.000Z' }], YESTERDAY);
    expect(await pushed([broken(true), answer, END])).toEqual(NONE);
  });

  test.each([
    ['2026-08-20T11:02:00.000Z', ONE],
    ['2026-08-20T11:01:00.000Z', NONE],
  ])('where it tells no time, five minutes are allowed for: %s', async (created_at, outcome) => {
    expect(await pushed([broken(true), listed([{ created_at }], ''), END])).toEqual(outcome);
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
    expect(await pushed([broken(true), listed([fields]), END], ...argv)).toEqual(
      saying(
        'no active push matches it, but 1 other created meanwhile: the instance may have changed a limit',
        'it may still arrive: check pwpush list before you push again',
      ),
    );
  });

  test('is said, and is an empty list in the error', async () => {
    expect(await pushed([broken(true), listed([])])).toEqual({ ...NONE, asked: [CREATE, LIST] });
    const { stderr } = await pushed([broken(true), listed([])], '--json');
    expect(JSON.parse(stderr).error.found).toEqual([]);
  });
});

describe('the look-up fails', () => {
  const HINT = 'a push may exist: look for it with pwpush list and expire it before you push again';

  test.each<[string, (Literal | ReturnType<typeof broken>)[], string]>([
    ['no connection', [broken(false)], 'pw.test cannot be reached'],
    ['no answer', [broken(true), broken(true)], LOST],
    ['refused', [json(401, '')], 'the instance refused the token from PWPUSH_TOKEN'],
    [
      'asked to wait',
      [{ status: 429, headers: { 'retry-after': '30' } }],
      'rate limited by the instance',
    ],
  ])('%s: that is said, and nothing else is tried', async (_what, answers, why) => {
    const outcome = await pushed([broken(true), ...answers]);
    expect({ ...outcome, asked: outcome.asked.slice(0, 2) }).toEqual({
      ...saying(`your pushes could not be checked (${why})`, HINT),
      asked: [CREATE, LIST],
    });
    expect(outcome.asked.filter((line) => line === CREATE)).toEqual([CREATE]);
  });
});

describe('the order and length of pages are up to the instance', () => {
  const old = (token: string) => ({ url_token: token, created_at: '2026-08-01T11:06:45.000Z' });

  test('a push on the last page is found', async () => {
    const pages = [[old('a'), old('b')], [old('c')], [{}]].map((page) => listed(page));
    const outcome = await pushed([broken(true), ...pages, END, END]);
    expect({ ...outcome, asked: outcome.asked.slice(0, 3) }).toEqual(ONE);
  });

  test('one that was found counts though a later page cannot be had', async () => {
    const outcome = await pushed([broken(true), listed([{}]), broken(false)]);
    expect(outcome).toEqual(ONE);
  });

  test('an instance that has the same page each time is not asked for ever', async () => {
    expect(await pushed([broken(true), listed([{}]), listed([{}])])).toEqual(ONE);
  });
});

test('nothing is looked up for a request that never left, and for a refusal', async () => {
  expect((await pushed([broken(false)])).asked).toEqual([CREATE]);
  expect((await pushed([json(422, '{"base":["no"]}')])).asked).toEqual([CREATE]);
});
