import { expect, test } from 'vitest';
import { configFolder, dataFolder, stateFolder } from '../../src/profile/folders';

const home = '/home/ann';
const on = (platform: string, env: Record<string, string> = {}) => {
  const machine = { platform, env, home };
  return [configFolder(machine), stateFolder(machine), dataFolder(machine)];
};

const linux = ['.config', '.local/state', '.local/share'].map((name) => `${home}/${name}/pwpush`);
const XDG = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_DATA_HOME: '/d' };
const OWN = { PWPUSH_CONFIG_DIR: '/c', PWPUSH_STATE_DIR: '/s', XDG_CONFIG_HOME: '/x' };
const mac = ['Preferences', 'Application Support', 'Application Support'].map(
  (name) => `${home}/Library/${name}/pwpush`,
);

test.each<[string, Record<string, string>, string[]]>([
  ['linux', {}, linux],
  ['linux', XDG, ['/c/pwpush', '/s/pwpush', '/d/pwpush']],
  // A relative one is ignored.
  ['linux', { XDG_CONFIG_HOME: 'c' }, linux],
  ['darwin', {}, mac],
  // Our own variables win everywhere, and are the folder itself.
  ['linux', OWN, ['/c', '/s']],
  ['darwin', OWN, ['/c', '/s']],
  ['win32', OWN, ['/c', '/s']],
  ['linux', { PWPUSH_CONFIG_DIR: '~/c', PWPUSH_STATE_DIR: '~' }, [`${home}/c`, home]],
  ['linux', { PWPUSH_CONFIG_DIR: './~/c', PWPUSH_STATE_DIR: '~ann' }, ['./~/c', '~ann']],
])('on %s with %j the folders are %j', (platform, env, folders) => {
  expect(on(platform, env).slice(0, folders.length)).toEqual(folders);
});
