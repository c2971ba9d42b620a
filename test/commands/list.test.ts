import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance({ columns: 80 });
});
afterEach(() => here.close());

const asAdmin = (terminals: ('stdout' | 'stderr')[] = []) =>
  here.under({ env: { ...here.admin, NO_COLOR: '1' }, terminals });

/** Pushes of the owner, a minute apart, the last one first. */
async function pushes(count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let at = 0; at < count; at++) {
    tokens.unshift(await here.push({ payload: 'x', name: `n${at}` }, here.service.adminToken));
    here.service.clock.advance(60_000);
  }
  return tokens;
}

const names = (stdout: string) => stdout.split('\n').map((line) => line.split('\t')[1]);
const numbered = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, at) => `n${from - at}`);

describe('pages of 50', () => {
  let tokens: string[];
  beforeEach(async () => {
    tokens = await pushes(120);
  });

  test('the first, a named one, all, and a limit', async () => {
    const listed = [
      await asAdmin().run('list'),
      await asAdmin().run('list', '--page', '2'),
      await asAdmin().run('list', '--page', '3'),
      await asAdmin().run('list', '--page', '4'),
      await asAdmin().run('list', '--all'),
      await asAdmin().run('list', '--limit', '60'),
    ];
    expect(listed.map(({ stdout }) => names(stdout).slice(0, -1))).toEqual([
      numbered(119, 70),
      numbered(69, 20),
      numbered(19, 0),
      [],
      numbered(119, 0),
      numbered(119, 60),
    ]);
  });

  test('with --json all of them are one array', async () => {
    const { stdout } = await asAdmin().run('list', '--all', '--json');
    const rows: { url_token: string; passphrase?: string }[] = JSON.parse(stdout);
    expect(rows.map(({ url_token }) => url_token)).toEqual(tokens);
    expect(rows.filter((row) => 'passphrase' in row)).toEqual([]);
  });

  test('titles come once, and that there is more is said on a terminal', async () => {
    const { stderr } = await asAdmin(['stdout', 'stderr']).run('list');
    expect(stderr).toContain('--all');
    const { stdout } = await asAdmin(['stdout']).run('list', '--all');
    expect(stdout.match(/\bID\b/g)).toHaveLength(1);
    expect(stdout.split('\n')).toHaveLength(122);
  });
});
