import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BASE, type Instance, instance } from '../helpers/instance';
import { place } from '../helpers/run';
import { createWithFiles, filePart } from '../helpers/service';
import { json, wire } from '../helpers/wire';

// An instance whose API requires a token of everybody, and a recipient who has none.

let here: Instance;
beforeEach(async () => {
  here = await instance({ settings: { anonymous: false } });
});
afterEach(() => here.close());

const owned = (push: Record<string, unknown>) => here.push(push, here.admin.PWPUSH_TOKEN);
const views = async (token: string) => {
  const { stdout } = await here.under({ env: here.admin }).run('list', '--json');
  return JSON.parse(stdout).find((one: { url_token: string }) => one.url_token === token)
    ?.views_remaining;
};

test('get opens a link at its page, for one view', async () => {
  const token = await owned({ payload: 'hunter2', expire_after_views: 3 });
  const got = await here.run('get', `${BASE}/p/${token}/r`);
  expect(got).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
  expect(await views(token)).toBe(2);
});

test('get with a token asks the API alone', async () => {
  const token = await owned({ payload: 'hunter2' });
  here.asked.length = 0;
  expect((await here.under({ env: here.admin }).run('get', token)).stdout).toBe('hunter2');
  expect(here.asked).toEqual([`GET /api/v2/pushes/${token}`]);
  const wrong = await here.under({ env: { PWPUSH_TOKEN: 'nonsense' } }).run('get', token);
  expect([wrong.code, wrong.stdout]).toEqual([3, '']);
});

test('a passphrase is asked for by the page, and opens it', async () => {
  const token = await owned({ payload: 'hunter2', passphrase: 'horse', expire_after_views: 2 });
  const missing = await here.run('get', token);
  expect([missing.code, missing.stderr]).toEqual([
    7,
    expect.stringContaining('the push requires a passphrase'),
  ]);
  const withPassphrase = (PWPUSH_PASSPHRASE: string) => here.under({ env: { PWPUSH_PASSPHRASE } });
  expect((await withPassphrase('cow').run('get', token)).stderr).toContain('wrong passphrase');
  expect(await withPassphrase('horse').run('get', token)).toMatchObject({ stdout: 'hunter2' });
  expect(await views(token)).toBe(1);
  expect(here.service.lines.join()).not.toMatch(/horse|cow/);
});

test('files are saved', async () => {
  const message = { name: 'push[payload]', value: 'the scan' };
  const token = await createWithFiles(here.service, message, filePart('a.txt', 'A'));
  expect((await here.run('get', token, '--output', here.folder)).code).toBe(0);
  expect(readFileSync(here.file('a.txt'), 'utf8')).toBe('A');
});

test('an encrypted push is opened with the key in its link', async () => {
  const owner = here.under({ env: here.admin, stdin: 'hunter2' });
  const link = (await owner.run('push', '--encrypt')).stdout.trim();
  expect(link).toContain('#');
  expect(await here.run('get', link)).toMatchObject({ code: 0, stdout: 'hunter2' });
});

test('a push that has expired, and one that never was', async () => {
  const token = await owned({ payload: 'x', expire_after_views: 1 });
  await here.run('get', token);
  expect(await here.run('get', token)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('the push has expired'),
  });
  expect((await here.run('get', `${BASE}/p/neverwas`)).stderr).toContain(
    'no such push on this instance',
  );
});

test('only the page of an instance that says so is asked', async () => {
  for (const features of [
    { anonymous_access: false, pushes: { enabled: true } },
    { anonymous_access: true, pushes: { json_pages: true } },
  ]) {
    const { send, sent, check } = wire([json(401, ''), json(200, JSON.stringify({ features }))]);
    const other = place({ env: { PWPUSH_URL: BASE }, send });
    const { code, stderr } = await other.run('get', 'abcdefgh');
    other.close();
    expect(code).toBe(3);
    expect(stderr.includes('open the link in a browser')).toBe(!features.anonymous_access);
    expect(sent).toHaveLength(2);
    check();
  }
});
