import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { programClipboard } from '../../src/platform/clipboard';
import type { Context } from '../../src/platform/context';
import { eachInstance } from '../helpers/instance';

// What is said: test/cases/get-copy*.txt.

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

const here = eachInstance();
let folder: string;
let env: Record<string, string>;
const said = (name: string) => readFileSync(join(folder, name), 'utf8');
const board = () => said('board');

beforeEach(() => {
  folder = here.file('programs');
  mkdirSync(folder);
  for (const [name, script] of Object.entries(PROGRAMS))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  env = { PATH: `${folder}:/usr/bin:/bin`, HERE: folder };
});
afterEach(() => {
  if (existsSync(join(folder, 'pid'))) process.kill(Number(said('pid')));
});

const wayland = () => ({ ...env, WAYLAND_DISPLAY: 'wayland-0' });

test('push --copy tells the link to no other program of the machine, and the program no token', async () => {
  const owner = here.under({ env: { ...wayland(), ...here.admin } });
  expect((await owner.run('push', 'x', '-c')).code).toBe(0);
  expect(said('words')).toBe('wl-copy --type text/plain\n');
  expect(said('env')).toContain('WAYLAND_DISPLAY=wayland-0');
  expect(said('env')).not.toContain('PWPUSH');
});

test('a text that a terminal would drop over ssh is saved', async () => {
  const payload = 'x'.repeat(74_995);
  const token = await here.push({ payload, expire_after_views: 1 });
  const remote = { ...wayland(), SSH_TTY: '/dev/pts/3', TERM: 'xterm' };
  const seen = here.under({ env: remote, terminals: ['stdout', 'stderr'] });
  const { code, stderr } = await seen.run('get', token, '--copy');
  expect([code, stderr.includes('\u001b')]).toEqual([1, false]);
  expect(Object.values(here.rescued())).toEqual([payload]);
});

describe('the program is', () => {
  const found = (platform: string, more: Record<string, string>) =>
    programClipboard({
      ...{ platform, env: { ...env, ...more } },
      starting: (work: () => unknown) => work(),
    } as unknown as Context);

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

  test('none of a folder without an absolute path', async () => {
    const PATH = `${relative('', folder)}::.`;
    expect(await found('linux', { DISPLAY: ':0', PATH })).toBeUndefined();
  });

  test('fed with UTF-16 on Windows where the text is not ASCII, and on macOS told the encoding', async () => {
    const windows = await found('win32', {});
    expect(await windows?.write('pässword')).toBe(true);
    expect(readFileSync(join(folder, 'board'), 'utf16le')).toBe('pässword');
    expect(await windows?.write('password')).toBe(true);
    expect(board()).toBe('password');
    expect(await (await found('darwin', {}))?.write('pässword')).toBe(true);
    expect([board(), said('words')]).toEqual(['pässword', 'UTF-8\n']);
  });
});
