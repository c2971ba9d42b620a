import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { programClipboard } from '../../src/platform/clipboard';
import type { Context } from '../../src/platform/context';
import { type Instance, instance } from '../helpers/instance';

/** Programs that stand in for those of a desktop: what they get is in files beside them. */
const PROGRAMS: Record<string, string> = {
  'wl-copy': `
    echo "wl-copy $*" >>"$HERE/words"; env >>"$HERE/env"
    cat >"$HERE/board"
    # As the real one it stays to serve what it holds, with the streams it was given.
    sleep 20 & echo $! >"$HERE/pid"`,
  'clip.exe': 'cat >"$HERE/board"',
  pbcopy: 'echo "$LC_CTYPE" >"$HERE/words"; cat >"$HERE/board"',
  xclip: 'cat >/dev/null; exit 1',
};

let here: Instance;
let folder: string;
let env: Record<string, string>;
const board = () => readFileSync(join(folder, 'board'), 'utf8');
const said = (name: string) => readFileSync(join(folder, name), 'utf8');

beforeEach(async () => {
  here = await instance();
  folder = here.file('programs');
  mkdirSync(folder);
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  env = { PATH: `${folder}:/usr/bin:/bin`, HERE: folder };
});
afterEach(() => {
  if (existsSync(join(folder, 'pid'))) process.kill(Number(said('pid')));
  return here.close();
});

const wayland = () => ({ env: { ...env, WAYLAND_DISPLAY: 'wayland-0' } });
const watched = ['stdout', 'stderr'] as const;
const LINK = /^https:\/\/pw\.test\/p\/[a-z0-9_-]{11,19}\/r\n$/;

describe('push --copy', () => {
  test('tells the link to no other program of the machine, and the program no token', async () => {
    const world = { env: { ...wayland().env, ...here.admin } };
    expect((await here.under(world).run('push', 'x', '-c')).code).toBe(0);
    expect(said('words')).toBe('wl-copy --type text/plain\n');
    expect(said('env')).toContain('WAYLAND_DISPLAY=wayland-0');
    expect(said('env')).not.toContain('PWPUSH');
  });

  test('prints the link alone on a dumb terminal', async () => {
    const dumb = here.under({ env: { ...env, TERM: 'dumb' }, terminals: ['stderr'] });
    const { code, stdout } = await dumb.run('push', 'x', '--copy');
    expect([code, LINK.test(stdout)]).toEqual([0, true]);
  });
});

describe('get --copy', () => {
  const secret = ' a\u001bb\r\nçé \u{1f511}\n';

  test('puts the text there to the byte, instead of printing it', async () => {
    const token = await here.push({ payload: secret, expire_after_views: 2 });
    const got = await here.under(wayland()).run('get', token, '--copy');
    expect(got).toMatchObject({ code: 0, stdout: '' });
    expect(board()).toBe(secret);
  });
});

describe("over ssh it is the terminal's clipboard", () => {
  const remote = () => ({
    env: { ...wayland().env, SSH_TTY: '/dev/pts/3', TERM: 'xterm' },
    terminals: watched,
  });
  const sequence = (text: string) => `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`;

  test('told by OSC 52', async () => {
    const { stdout, stderr } = await here.under(remote()).run('push', 'x', '--copy', '--quiet');
    expect(stderr).toBe(sequence(stdout.trim()));
    expect(existsSync(join(folder, 'board'))).toBe(false);
  });

  test('or else a program, where there is no terminal', async () => {
    const { env } = remote();
    const { stdout } = await here.under({ env }).run('push', 'x', '--copy');
    expect(board()).toBe(stdout.trim());
  });

  test('with views left it asks nothing', async () => {
    const token = await here.push({ payload: 's3cret' });
    const world = { ...remote(), prompts: [] };
    const words = ['get', token, '--copy', '-q'];
    const { code, stderr } = await here.under(world).run(...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: sequence('s3cret') });
  });

  test('a text that terminals would drop is saved', async () => {
    const payload = 'x'.repeat(74_995);
    const token = await here.push({ payload, expire_after_views: 1 });
    const { code, stderr } = await here.under(remote()).run('get', token, '--copy');
    expect(code).toBe(1);
    expect(stderr).not.toContain('\u001b');
    expect(Object.values(here.rescued())).toEqual([payload]);
  });
});

describe('the program is', () => {
  const found = (platform: string, more: Record<string, string>) =>
    programClipboard({ platform, env: { ...env, ...more } } as unknown as Context);

  test.each<[string, Record<string, string>, string | undefined]>([
    ['linux', { WAYLAND_DISPLAY: 'w', DISPLAY: ':0' }, 'wl-copy'],
    ['linux', { WSL_DISTRO_NAME: 'Debian', DISPLAY: ':0' }, 'clip.exe'],
    ['linux', { DISPLAY: ':0' }, 'xclip'],
    ['linux', {}, undefined],
    ['darwin', {}, 'pbcopy'],
    ['win32', {}, 'clip.exe'],
  ])('on %s with %j %s', async (platform, more, name) => {
    const clipboard = await found(platform, more);
    expect(clipboard?.name).toBe(name && `the clipboard (${name})`);
  });

  test('fed with UTF-16 on Windows where the text is not ASCII', async () => {
    const clipboard = await found('win32', {});
    expect(await clipboard?.write('pässword')).toBe(true);
    expect(readFileSync(join(folder, 'board'), 'utf16le')).toBe('pässword');
    expect(await clipboard?.write('password')).toBe(true);
    expect(board()).toBe('password');
  });

  test('told the encoding on macOS', async () => {
    expect(await (await found('darwin', {}))?.write('pässword')).toBe(true);
    expect([board(), said('words')]).toEqual(['pässword', 'UTF-8\n']);
  });
});
