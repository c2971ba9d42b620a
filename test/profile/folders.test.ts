import { expect, test } from 'vitest';
import { configFolder, dataFolder, stateFolder } from '../../src/profile/folders';

const home = '/home/ann';
const on = (platform: string, env: Record<string, string> = {}) => {
  const machine = { platform, env, home };
  return [configFolder(machine), stateFolder(machine), dataFolder(machine)];
};

test('on Linux the folders are those of XDG', () => {
  expect(on('linux')).toEqual([
    '/home/ann/.config/pwpush',
    '/home/ann/.local/state/pwpush',
    '/home/ann/.local/share/pwpush',
  ]);
  expect(on('linux', { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_DATA_HOME: '/d' })).toEqual(
    ['/c/pwpush', '/s/pwpush', '/d/pwpush'],
  );
});

test('a relative XDG folder is ignored', () => {
  expect(on('linux', { XDG_CONFIG_HOME: 'c' })[0]).toBe('/home/ann/.config/pwpush');
});

test('our own variables win everywhere, and are the folder itself', () => {
  const env = { PWPUSH_CONFIG_DIR: '/c', PWPUSH_STATE_DIR: '/s', XDG_CONFIG_HOME: '/x' };
  for (const platform of ['linux', 'darwin', 'win32'])
    expect(on(platform, env).slice(0, 2)).toEqual(['/c', '/s']);
});

test('on macOS they are in Library', () => {
  expect(on('darwin')).toEqual([
    '/home/ann/Library/Preferences/pwpush',
    '/home/ann/Library/Application Support/pwpush',
    '/home/ann/Library/Application Support/pwpush',
  ]);
});
