import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';

let here: Instance;
let token: string;
let path: string;
beforeEach(async () => {
  here = await instance();
  mkdirSync(here.file('out'));
  path = here.file('out/secret');
  token = await here.push({ payload: '\u001b[31mhunter2\n' });
});
afterEach(() => here.close());

const found = () => ({
  names: readdirSync(here.file('out')),
  content: readFileSync(path, 'utf8'),
  mode: (statSync(path).mode & 0o777).toString(8),
});

describe('--output', () => {
  test('writes the exact bytes to a new file, 0600, and nothing to stdout', async () => {
    const shown = here.under({ terminals: ['stdout', 'stderr'] });
    expect(await shown.run('get', token, '--output', path)).toEqual({
      code: 0,
      stdout: '',
      stderr: '4 views and 7 days left\n',
    });
    expect(found()).toEqual({ names: ['secret'], content: '\u001b[31mhunter2\n', mode: '600' });
  });

  test('writes the object with --json', async () => {
    await here.run('get', token, '-o', path, '--json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      payload: '\u001b[31mhunter2\n',
    });
  });

  test('overwrites nothing, and sends nothing', async () => {
    writeFileSync(path, 'mine');
    expect(await here.run('get', token, '-o', path)).toEqual({
      code: 2,
      stdout: '',
      stderr: `pwpush: "${path}" already exists\nhint: overwrite it with --force\n`,
    });
    expect([readFileSync(path, 'utf8'), here.asked]).toEqual(['mine', []]);
  });

  test('overwrites with --force, and then it is 0600', async () => {
    writeFileSync(path, 'mine');
    chmodSync(path, 0o644);
    const { code } = await here.run('get', token, '-o', path, '--force');
    expect({ code, ...found() }).toEqual({
      code: 0,
      names: ['secret'],
      content: '\u001b[31mhunter2\n',
      mode: '600',
    });
  });

  test.each([
    ['out', 'out'],
    ['out/', 'out/'],
    ['new/inner/', 'new/inner/'],
  ])('of a folder, %s, writes secret.txt there, 0600, and nothing to stdout', async (folder) => {
    const written = here.file(`${folder}/secret.txt`);
    for (const words of [[], ['--no-files', '--force']]) {
      const outcome = await here.run('get', token, '-o', here.file(folder), ...words);
      expect(outcome).toEqual({
        code: 0,
        stdout: '',
        stderr: expect.stringMatching(/^saved \S+\/secret\.txt \(13 B\)\n$/),
      });
      expect(readFileSync(written, 'utf8')).toBe('\u001b[31mhunter2\n');
      expect(statSync(written).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(here.file(folder))).toEqual(['secret.txt']);
  });

  test('of a folder that has a secret.txt is refused before the view, but with --force', async () => {
    const there = here.file('out/secret.txt');
    writeFileSync(there, 'mine');
    expect(await here.run('get', token, '-o', here.file('out/'))).toEqual({
      code: 2,
      stdout: '',
      stderr: `pwpush: "${there}" already exists\nhint: overwrite it with --force\n`,
    });
    expect([readFileSync(there, 'utf8'), here.asked]).toEqual(['mine', []]);
    await here.run('get', token, '-o', here.file('out/'), '--force');
    expect(readFileSync(there, 'utf8')).toBe('\u001b[31mhunter2\n');
  });

  test('of a folder with --json prints the object, and writes no text', async () => {
    const { code, stdout } = await here.run('get', token, '-o', here.file('out/'), '--json');
    expect({ code, names: readdirSync(here.file('out')) }).toEqual({ code: 0, names: [] });
    expect(JSON.parse(stdout)).toMatchObject({ url_token: token });
  });

  test('in a folder that is not there is told before the view is used', async () => {
    const missing = here.file('none/secret');
    expect(await here.run('get', token, '-o', missing)).toEqual({
      code: 2,
      stdout: '',
      stderr: `pwpush: cannot write "${missing}" (ENOENT); nothing was fetched\nhint: create its folder first\n`,
    });
    expect(here.asked).toEqual([]);
  });

  test('leaves nothing behind when the push cannot be had', async () => {
    const { code } = await here.run('get', 'nosuchpush', '-o', path);
    expect({ code, names: readdirSync(here.file('out')) }).toEqual({ code: 5, names: [] });
  });

  test('of a new folder leaves none behind when the push cannot be had', async () => {
    mkdirSync(here.file('out/there'));
    const { code } = await here.run('get', 'nosuchpush', '-o', here.file('out/there/a/b/'));
    const left = readdirSync(here.file('out'), { recursive: true });
    expect({ code, left }).toEqual({ code: 5, left: ['there'] });
  });

  test('of - is stdout', async () => {
    const { code, stdout } = await here.run('get', token, '-o', '-');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '\u001b[31mhunter2\n' });
  });
});

describe('the last view that was used is not lost', () => {
  beforeEach(async () => {
    token = await here.push({ payload: '\u001b[31mhunter2\n', expire_after_views: 1 });
  });

  test('while views are left nothing is saved, and the error says so', async () => {
    token = await here.push({ payload: 'hunter2' });
    for (const conditions of [{ failing: { stdout: 'ENOSPC' } }, { closed: ['stdout'] }] as const)
      expect((await here.under(conditions).run('get', token)).stderr).toMatch(
        /^\n?pwpush: cannot write to standard output \(\w+\); the push can be retrieved again \([34] views and 7 days left\)\n$/,
      );
    const wanted = { code: 'failed', message: expect.stringContaining('retrieved again') };
    const told = await here.under({ closed: ['stdout'] }).run('get', token, '--json');
    expect(JSON.parse(told.stderr)).toEqual({ error: wanted });
    expect(here.rescued()).toEqual({});
  });

  test.each(['EPIPE', 'ENOSPC'] as const)(
    'stdout fails with %s: the text is in a file, 0600, below PWPUSH_STATE_DIR',
    async (code) => {
      const outcome = await here.under({ failing: { stdout: code } }).run('get', token);
      const [[name = '', content] = []] = Object.entries(here.rescued());
      const rescue = here.file(`state/${name}`);
      expect({ ...outcome, name, content, mode: statSync(rescue).mode & 0o777 }).toEqual({
        code: 1,
        stdout: '',
        stderr:
          `pwpush: cannot write to standard output (${code}); the secret was saved to ${rescue}\n` +
          `hint: delete the file when done: rm '${rescue}'\n`,
        name: expect.stringMatching(/^secret-2026-08-20T11-06-45-000Z-[0-9a-f]{8}$/),
        content: '\u001b[31mhunter2\n',
        mode: 0o600,
      });
    },
  );

  test('on a terminal that fails it is saved too, and never printed on stderr', async () => {
    const failing = { stdout: 'EPIPE' } as const;
    const { stderr } = await here
      .under({ failing, terminals: ['stdout', 'stderr'] })
      .run('get', token);
    expect([stderr.includes('hunter2'), Object.keys(here.rescued()).length]).toEqual([false, 1]);
  });

  test('stdout was closed: it is saved', async () => {
    const { code } = await here.under({ closed: ['stdout'] }).run('get', token);
    expect({ code, rescued: Object.values(here.rescued()) }).toEqual({
      code: 1,
      rescued: ['\u001b[31mhunter2\n'],
    });
  });

  test('the file came to be in the meantime: the text is saved, and the file left', async () => {
    const racing = await instance();
    const link = await racing.push({
      payload: 'hunter2',
      passphrase: 'horse',
      expire_after_views: 1,
    });
    const target = racing.file('secret');
    // Between the look for the file and the answer there is a prompt, at which somebody makes the file.
    const prompts = [
      {
        secret: 'Passphrase:',
        get answer() {
          writeFileSync(target, 'theirs');
          return 'horse';
        },
      },
    ];
    const outcome = await racing.under({ prompts }).run('get', link, '-o', target);
    expect({
      code: outcome.code,
      first: outcome.stderr.split('\n')[0]?.split(';')[0],
      target: readFileSync(target, 'utf8'),
      rescued: Object.values(racing.rescued()),
    }).toEqual({
      code: 1,
      first: `pwpush: "${target}" already exists`,
      target: 'theirs',
      rescued: ['hunter2'],
    });
    await racing.close();
  });

  test('nowhere can be written: it is said that the text is lost', async () => {
    writeFileSync(here.file('state'), '');
    const nowhere = { failing: { stdout: 'EPIPE' }, env: { TMPDIR: here.file('none') } } as const;
    const { code, stderr } = await here.under(nowhere).run('get', token);
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^pwpush: cannot write to standard output \(EPIPE\), and the secret is LOST: it could not be saved to .* either \(.*state.*\)$/,
      ),
    });
  });
});
