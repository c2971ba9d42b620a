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
  test('prints the full link and takes no view', async () => {
    const token = await here.push({ payload: 'x', expire_after_views: 1 });
    expect(await here.run('preview', token)).toEqual({
      code: 0,
      stdout: `https://pw.test/p/${token}/r\n`,
      stderr: '',
    });
    expect((await here.run('get', token)).code).toBe(0);
  });

  test('answers the object with --json', async () => {
    const token = await here.push({ payload: 'x', retrieval_step: false });
    const { stdout } = await here.run('preview', token, '--json');
    const html_url = `https://pw.test/p/${token}`;
    expect(JSON.parse(stdout)).toEqual({ html_url, url: html_url });
  });

  test('prints the link that was checked, whatever else the instance says', async () => {
    const url = 'https://pw.test/p/abc';
    const body = JSON.stringify({ url, html_url: 'javascript:alert(1)', more: 1 });
    const { stdout } = await asking([json(200, body)], ['preview', 'abc', '--json']);
    expect(JSON.parse(stdout)).toEqual({ html_url: url, url, more: 1 });
  });

  test('draws it with --qr, on stderr', async () => {
    const token = await here.push({ payload: 'x' });
    const { stdout, stderr } = await here.run('preview', token, '--qr');
    expect([stdout, stderr.startsWith('█████')]).toEqual([`https://pw.test/p/${token}/r\n`, true]);
  });

  test('of no push is exit 5', async () => {
    expect((await here.run('preview', 'nosuchpush')).code).toBe(5);
  });
});

describe('show', () => {
  const shown = (stdout: string) =>
    Object.fromEntries(stdout.split('\n').map((line) => line.split('\t')));

  test('prints what is left of an own push, and uses no view', async () => {
    const owner = here.under({ env: here.admin });
    const token = await here.push(
      { payload: 'x', expire_after_views: 3, passphrase: 'p', name: 'db', retrieval_step: false },
      here.service.adminToken,
    );
    await here.under({ env: { PWPUSH_PASSPHRASE: 'p' } }).run('get', token);
    for (const _ of [1, 2]) {
      expect(await owner.run('show', `https://pw.test/p/${token}`)).toEqual({
        code: 0,
        stdout:
          `link\thttps://pw.test/p/${token}\nname\tdb\nstate\tactive\n` +
          'views left\t2 of 3\ndays left\t7 of 7\ncreated\t2026-08-20T11:06:45.000Z\n' +
          'expires\t2026-08-27T11:06:45.000Z\npassphrase\tyes\nneeds a click\tno\nrecipient can delete\tyes\n',
        stderr: '',
      });
    }
    const { stdout } = await owner.run('show', token, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ views_remaining: 2, expired: false });
    expect(stdout).not.toContain('passphrase');
  });

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

  test('without the owner’s token says what it cannot know', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    const terminals = ['stderr'] as const;
    const strangers = [
      [{}, 'only the sender can see them, with a token'],
      [{ PWPUSH_TOKEN: here.service.otherToken }, 'this push belongs to another user'],
    ] as const;
    for (const [env, why] of strangers) {
      expect(await here.under({ env, terminals }).run('show', token, '--json')).toEqual({
        code: 0,
        stdout: `${JSON.stringify({
          url_token: token,
          html_url: `https://pw.test/p/${token}/r`,
          retrieval_step: true,
          expired: null,
          views_remaining: null,
          days_remaining: null,
        })}\n`,
        stderr: '',
      });
      const { stdout, stderr } = await here.under({ env, terminals }).run('show', token);
      expect(shown(stdout)).toMatchObject({ 'views left': 'unknown', state: 'unknown' });
      expect(stderr).toBe(`views and days left are unknown: ${why}\n`);
    }
  });

  test('of no push is exit 5, with a refused token 3', async () => {
    expect((await here.run('show', 'nosuchpush')).code).toBe(5);
    expect((await here.under({ env: here.admin }).run('show', 'nosuchpush')).code).toBe(5);
    const env = { PWPUSH_TOKEN: 'pwp_wrong' };
    expect((await here.under({ env }).run('show', 'nosuchpush')).code).toBe(3);
  });
});

describe('audit', () => {
  test('tells who looked, newest first, a line each', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    here.service.clock.advance(60_000);
    await here.run('get', token);
    here.service.clock.advance(60_000);
    await here.under({ env: here.admin }).run('get', token);
    expect(await here.under({ env: here.admin }).run('audit', token)).toEqual({
      code: 0,
      stdout:
        '2026-08-20T11:08:45.000Z\towner_view\t127.0.0.1\tpwpush/0.1.0\t\n' +
        '2026-08-20T11:07:45.000Z\tview\t127.0.0.1\tpwpush/0.1.0\t\n' +
        '2026-08-20T11:06:45.000Z\tcreation\t127.0.0.1\t\t\n',
      stderr: '',
    });
  });

  test('is a table on a terminal', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    here.service.clock.advance(5 * 60_000);
    await here.run('get', token);
    const shown = here.under({ env: { ...here.admin, NO_COLOR: '1' }, terminals: ['stdout'] });
    expect((await shown.run('audit', token)).stdout).toBe(
      'WHEN       WHAT     ADDRESS    USER AGENT    REFERRER\n' +
        'just now   viewed   127.0.0.1  pwpush/0.1.0\n' +
        '5 min ago  created  127.0.0.1\n',
    );
  });

  test('counts failures of one kind on a terminal; in a pipe the kind is exact', async () => {
    const token = await here.push({ payload: 'x', passphrase: 'p' }, here.service.adminToken);
    const look = `http://pw.test/api/v2/pushes/${token}`;
    const said = async () => (await shown.run('audit', token)).stdout.split('\n').at(-2);
    const shown = here.under({ env: { ...here.admin, NO_COLOR: '1' }, terminals: ['stdout'] });
    await here.service.fetch(new Request(look));
    expect(await said()).toMatch(/^just now {2}passphrase asked for {2}/);
    await here.service.fetch(new Request(`${look}?passphrase=wrong`));
    expect(await said()).toMatch(/^just now {2}wrong passphrase {2}/);
    await here.service.fetch(new Request(`${look}?passphrase=wrong`));
    expect(await said()).toMatch(/^just now {2}wrong passphrase ×2 {2}/);
    const piped = await here.under({ env: here.admin }).run('audit', token);
    expect(piped.stdout).toMatch(/Z\tfailed_passphrase\t127/);
  });

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
    expect((await asAdmin.run('audit', token, '--page', '3')).stderr).toBe('no events on page 3\n');
    const shown = here.under({ env: here.admin, terminals: ['stdout', 'stderr'] });
    expect((await shown.run('audit', token)).stderr).toBe('showing 50; use --all for more\n');
  });

  test('of somebody else’s push is exit 4, without a token 3', async () => {
    const token = await here.push({ payload: 'x' }, here.service.adminToken);
    const asBob = here.under({ env: { PWPUSH_TOKEN: here.service.otherToken } });
    expect([(await asBob.run('audit', token)).code, (await here.run('audit', token)).code]).toEqual(
      [4, 3],
    );
  });

  test('--page and --all cannot be combined', async () => {
    expect(await here.run('audit', 'x', '--page', '1', '--all')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'pwpush: --page and --all cannot be combined\nhint: use only one of them\n',
    });
  });
});

describe('version', () => {
  const rows: [string, string][] = [
    ['pwpush', '0.1.0'],
    ['instance', 'https://pw.test'],
    ['application', '0.1.0'],
    ['api', '2.1'],
    ['edition', 'oss'],
    ['anonymous_access', 'yes'],
    ['api_token_authentication', 'yes'],
    ['accounts.enabled', 'no'],
    ['pushes.enabled', 'yes'],
    ['pushes.email_auto_dispatch', 'no'],
    ['pushes.file_attachments.enabled', 'yes'],
    ['pushes.file_attachments.requires_authentication', 'yes'],
    ['pushes.url_pushes.enabled', 'yes'],
    ['pushes.qr_code_pushes.enabled', 'yes'],
    ['pushes.expires_in.enabled', 'yes'],
    ['pushes.json_pages.enabled', 'yes'],
    ['requests.enabled', 'yes'],
  ];

  test('is a name and a value a line in a pipe', async () => {
    expect(await here.run('version')).toEqual({
      code: 0,
      stdout: rows.map(([name, value]) => `${name}\t${value}\n`).join(''),
      stderr: '',
    });
  });

  test('is aligned on a terminal, and bold there unless NO_COLOR', async () => {
    const shown = here.under({ terminals: ['stdout'] });
    const plain = rows.map(([name, value]) => `${name.padEnd(47)}  ${value}\n`).join('');
    const { stdout } = await shown.run('version');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
    const uncoloured = stdout.replace(/\u001b\[\d+m/g, '');
    expect([uncoloured, uncoloured === stdout]).toEqual([plain, false]);
    const others = [
      await shown.run('version', '--no-color'),
      await here.under({ terminals: ['stdout'], env: { NO_COLOR: '1' } }).run('version'),
      await here.under({ terminals: ['stdout'], env: { TERM: 'dumb' } }).run('version'),
    ];
    expect(others.map((one) => one.stdout)).toEqual([plain, plain, plain]);
  });

  test('is coloured in a pipe with FORCE_COLOR only where a person reads it: never the cells', async () => {
    const { stdout } = await here.under({ env: { FORCE_COLOR: '1' } }).run('version');
    expect(stdout).not.toContain('\u001b');
  });

  test('without an instance is that of the program alone', async () => {
    const nowhere = here.under({ env: { PWPUSH_URL: '' }, terminals: ['stderr'] });
    expect(await nowhere.run('version')).toEqual({
      code: 0,
      stdout: 'pwpush\t0.1.0\n',
      stderr: 'no instance is configured\n',
    });
    expect((await nowhere.run('version', '--json')).stdout).toBe('{"pwpush":"0.1.0"}\n');
  });

  test('of an address without an instance is exit 5', async () => {
    const env = { PWPUSH_URL: 'https://pw.test/nothing/here' };
    expect((await here.under({ env }).run('version')).code).toBe(5);
  });
});
