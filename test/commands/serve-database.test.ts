import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Place, place } from '../helpers/run';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.close());

const list = ['serve', 'token', 'list'];
const somewhere = 'postgres://u:MARKER@127.0.0.1:1/x';
const away = /127\.0\.0\.1 port 1 .*ECONNREFUSED/;

test('a server that cannot be reached is exit 1, a bad address exit 2; neither tells the password', async () => {
  for (const words of [['serve'], list]) {
    const { code, stdout, stderr } = await here.run(...words, '--debug', '--database', somewhere);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(away);
    expect(stderr).toMatch(/^warning: .*--database/m);
    expect(stderr).not.toContain('MARKER');
  }
  const bad = await here.run(...list, '--debug', '--database', 'postgres://u:MARKER@h/x?no=1');
  expect(bad.code).toBe(2);
  expect(bad.stderr).not.toContain('MARKER');
});

test.each(['PWPUSH_SERVE_DATABASE', 'DATABASE_URL'])(
  '%s names it, in nobody’s sight',
  async (name) => {
    const told = here.under({ env: { [name]: somewhere } });
    for (const words of [['serve'], list]) {
      const { code, stdout, stderr } = await told.run(...words);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(away)]);
      expect(stderr).not.toContain('warning');
    }
  },
);

test('the option outranks both variables, and PWPUSH_SERVE_DATABASE the other', async () => {
  const told = here.under({ env: { PWPUSH_SERVE_DATABASE: somewhere, DATABASE_URL: 'mysql://' } });
  expect((await told.run(...list)).stderr).toMatch(away);
  const other = 'postgres://127.0.0.1:2/x';
  expect((await told.run(...list, '--database', other)).stderr).toContain('port 2');
  expect((await told.run('serve', '--database', other, 'token', 'list')).stderr).toContain(
    'port 2',
  );
});

test('DATABASE_URL is passed over by --ephemeral', async () => {
  const told = here.under({ env: { DATABASE_URL: somewhere } });
  const alone = await told.run('serve', '--ephemeral', '--host', '192.0.2.1');
  expect(alone.stderr).toContain('192.0.2.1');
  expect(existsSync(here.file('data'))).toBe(false);
});
