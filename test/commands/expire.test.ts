import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const isGone = async (token: string) => (await here.run('get', token)).code;

test('expires a push without a word, by token or link', async () => {
  const token = await here.push({ payload: 'x' });
  expect(await here.run('expire', `https://pw.test/p/${token}/r`)).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect(await isGone(token)).toBe(6);
});

test('says so on a terminal', async () => {
  const token = await here.push({ payload: 'x' });
  const { code, stderr } = await here.under({ terminals: ['stderr'] }).run('expire', token);
  expect({ code, stderr }).toEqual({ code: 0, stderr: `expired ${token}\n` });
});

test('again is no error', async () => {
  const token = await here.push({ payload: 'x' });
  await here.run('expire', token);
  expect((await here.run('expire', token)).code).toBe(0);
});

test('warns about an instance once, however its pushes are named', async () => {
  const [one, two] = [await here.push({ payload: 'x' }), await here.push({ payload: 'y' })];
  expect(await here.run('expire', one, `https://pw.test/p/${two}`, '--insecure')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'warning: insecure: anyone between here and pw.test can read what is sent\n',
  });
});

test('of one answers its object with --json, of several an array', async () => {
  const [one, two] = [await here.push({ payload: 'x' }), await here.push({ payload: 'y' })];
  const single = JSON.parse((await here.run('expire', one, '--json')).stdout);
  const several = JSON.parse((await here.run('expire', one, two, '--json')).stdout);
  expect([
    { token: single.url_token, expired: single.expired, deleted: single.deleted },
    several.map(({ url_token }: { url_token: string }) => url_token),
  ]).toEqual([{ token: one, expired: true, deleted: true }, [one, two]]);
});

test('one that fails does not keep the others from it; the worst status counts', async () => {
  const mine = await here.push({ payload: 'x' });
  const guarded = await here.push({ payload: 'y', deletable_by_viewer: false });
  const last = await here.push({ payload: 'z' });
  expect(await here.run('expire', mine, 'nosuchpush', guarded, last)).toEqual({
    code: 5,
    stdout: '',
    stderr:
      'pwpush: nosuchpush: no such push on this instance\n' +
      'hint: check the link for missing characters, and the instance with pwpush version\n' +
      `pwpush: ${guarded}: the instance refused the request: That push is not deletable by viewers.\n` +
      'hint: log in as its owner with pwpush login; if it was created without a token, it can only expire by its limits\n',
  });
  expect([await isGone(mine), await isGone(guarded), await isGone(last)]).toEqual([6, 0, 6]);
});

test('with --json what failed is a line each on stderr, and the array has the rest', async () => {
  const mine = await here.push({ payload: 'x' });
  const { code, stdout, stderr } = await here.run('expire', 'nosuchpush', mine, '--json');
  expect({ code, rows: JSON.parse(stdout).length, error: JSON.parse(stderr).error.code }).toEqual({
    code: 5,
    rows: 1,
    error: 'not_found',
  });
});

test('of somebody else’s push that only its owner may expire is exit 4', async () => {
  const token = await here.push(
    { payload: 'x', deletable_by_viewer: false },
    here.service.adminToken,
  );
  const asBob = here.under({ env: { PWPUSH_TOKEN: here.service.otherToken } });
  expect(await asBob.run('expire', token)).toEqual({
    code: 4,
    stdout: '',
    stderr:
      'pwpush: the instance refused the request: That push is not deletable by viewers.\n' +
      'hint: the token belongs to another user, or the push was created without one\n',
  });
  expect((await here.under({ env: here.admin }).run('expire', token)).code).toBe(0);
});

test('a bad link among good ones is told before anything is sent', async () => {
  const token = await here.push({ payload: 'x' });
  const { code } = await here.run('expire', token, 'two words');
  expect({ code, asked: here.asked }).toEqual({ code: 2, asked: [] });
});

test('without a link is bad usage', async () => {
  expect(await here.run('expire')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pwpush: missing <links>\nhint: pwpush expire --help\n',
  });
});
