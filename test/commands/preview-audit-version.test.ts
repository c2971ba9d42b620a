import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking } from '../helpers/foreign';
import { type Instance, instance } from '../helpers/instance';
import { json } from '../helpers/wire';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

describe('preview', () => {
  test('prints the link that was checked, whatever else the instance says', async () => {
    const url = 'https://pw.test/p/abc';
    const body = JSON.stringify({ url, html_url: 'javascript:alert(1)', more: 1 });
    const { stdout } = await asking([json(200, body)], ['preview', 'abc', '--json'], {
      invented: ['more'],
    });
    expect(JSON.parse(stdout)).toEqual({ html_url: url, url, more: 1 });
  });

  test('draws it with --qr, on stderr', async () => {
    const token = await here.push({ payload: 'x' });
    const { stdout, stderr } = await here.run('preview', token, '--qr');
    expect([stdout, stderr.startsWith('█████')]).toEqual([`https://pw.test/p/${token}/r\n`, true]);
  });
});

describe('show', () => {
  const shown = (stdout: string) =>
    Object.fromEntries(stdout.split('\n').map((line) => line.split('\t')));

  test('finds an expired push, and one on a later page', async () => {
    const owner = here.under({ env: here.admin });
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    for (let more = 0; more < 60; more++)
      await here.push({ payload: 'y' }, here.service.adminToken);
    expect(shown((await owner.run('show', token)).stdout)).toMatchObject({ state: 'active' });
    await owner.run('expire', token);
    const { stdout } = await owner.run('show', token);
    expect(shown(stdout)).toMatchObject({ state: 'deleted', 'views left': '5 of 5' });
    expect(stdout).not.toContain('passphrase');
  });
});

describe('audit', () => {
  test('is an array with --json, over all pages', async () => {
    const token = await here.push(
      { payload: 'x', expire_after_views: 100 },
      here.service.adminToken,
    );
    for (let look = 0; look < 60; look++) await here.run('get', token);
    const asAdmin = here.under({ env: here.admin });
    const lengths = [];
    for (const argv of [[], ['--page', '2'], ['--page', '3'], ['--all']]) {
      const { stdout } = await asAdmin.run('audit', token, '--json', ...argv);
      lengths.push(JSON.parse(stdout).length);
    }
    expect(lengths).toEqual([50, 11, 0, 61]);
    const shown = here.under({ env: here.admin, terminals: ['stdout', 'stderr'] });
    const told = [
      (await shown.run('audit', token)).stderr,
      (await asAdmin.run('audit', token)).stderr,
    ];
    expect(told.map((text) => text.includes('--all'))).toEqual([true, false]);
  });
});

test('version is aligned on a terminal, and bold there unless NO_COLOR', async () => {
  const wide = { terminals: ['stdout'] as const, columns: 200 };
  const shown = here.under(wide);
  const { stdout: piped } = await here.under({ env: { FORCE_COLOR: '1' } }).run('version');
  const rows = piped.split('\n').map((line) => line.split('\t'));
  const plain = rows.map(([name = '', value]) => (value ? `${name.padEnd(11)}  ${value}` : ''));
  const { stdout } = await shown.run('version');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
  const uncoloured = stdout.replace(/\u001b\[\d+m/g, '');
  expect([uncoloured, uncoloured === stdout]).toEqual([plain.join('\n'), false]);
  const others = [
    await shown.run('version', '--no-color'),
    await here.under({ ...wide, env: { NO_COLOR: '1' } }).run('version'),
    await here.under({ ...wide, env: { TERM: 'dumb' } }).run('version'),
  ];
  expect(others.map((one) => one.stdout)).toEqual(others.map(() => plain.join('\n')));
});
