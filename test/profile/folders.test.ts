import { expect, test } from 'vitest';
import { homeFolder } from '../../src/platform/files/user-folder';
import { findFolder, folderOf, fromHome } from '../../src/profile/folders';
import { place } from '../helpers/run';

const ann = '/home/ann';
const on = (platform: string, env: Record<string, string>, home?: string) => {
  const machine = { platform, env, home };
  return (['config', 'state', 'data'] as const).map((kind) => folderOf(kind, machine));
};

const linux = ['.config', '.local/state', '.local/share'].map((name) => `${ann}/${name}/pwpush`);
const XDG = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_DATA_HOME: '/d' };
const OWN = { PWPUSH_CONFIG_DIR: '/c', PWPUSH_STATE_DIR: '/s', XDG_CONFIG_HOME: '/x' };
const mac = ['Preferences', 'Application Support', 'Application Support'].map(
  (name) => `${ann}/Library/${name}/pwpush`,
);
const windows = ['Config', 'State', 'Data'].map((name) => `${ann}/AppData/pwpush/${name}`);

test.each<[string, Record<string, string>, string[]]>([
  ['linux', {}, linux],
  ['linux', XDG, ['/c/pwpush', '/s/pwpush', '/d/pwpush']],
  // A relative one is ignored.
  ['linux', { XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '~/s', XDG_DATA_HOME: '.' }, linux],
  ['darwin', {}, mac],
  ['win32', { APPDATA: 'c', LOCALAPPDATA: '' }, windows],
  ['win32', { APPDATA: '/c' }, ['/c/pwpush/Config']],
  // Our own variables win everywhere, and are the folder itself.
  ['linux', OWN, ['/c', '/s']],
  ['darwin', OWN, ['/c', '/s']],
  ['win32', OWN, ['/c', '/s']],
])('on %s with %j the folders are %j', (platform, env, folders) => {
  expect(on(platform, env, ann).slice(0, folders.length)).toEqual(folders);
});

test.each(['', '~', '~/x', '.', 'rel'])('a home %j counts for nothing', (HOME) => {
  const noEntry = () => {
    throw new Error('no entry');
  };
  const homes = (entry: () => string) => [
    homeFolder({ env: { HOME }, platform: 'linux' }, entry),
    homeFolder({ env: { USERPROFILE: HOME }, platform: 'win32' }, entry),
  ];
  expect(homes(() => ann)).toEqual([ann, ann]);
  expect([...homes(() => HOME), ...homes(noEntry)]).toEqual(Array(4).fill(undefined));
});

test('without a home folder there is none, and those that are named', () => {
  const nowhere = { platform: 'linux', env: {}, home: undefined };
  for (const kind of ['config', 'state', 'data'] as const) {
    expect(findFolder(kind, nowhere)).toBe(undefined);
    expect(() => folderOf(kind, nowhere)).toThrow(`there is no ${kind} folder`);
  }
  expect(() => fromHome('~/data', nowhere)).toThrow('cannot find "~/data"');
  expect(on('linux', XDG)).toEqual(['/c/pwpush', '/s/pwpush', '/d/pwpush']);
});

test.each([
  ['PWPUSH_CONFIG_DIR', 'config', 'is not an absolute path: "config"\n'],
  ['PWPUSH_STATE_DIR', './state', 'is not an absolute path: "./state"\n'],
  ['PWPUSH_STATE_DIR', '~/state', 'is not an absolute path: "~/state"\nhint: shells expand ~'],
])('a relative %s is refused before anything is done: %s', async (name, path, why) => {
  for (const words of [['get', 'https://pw.test/p/abc'], ['push'], ['profile', 'list']]) {
    const { code, stdout, stderr } = await place({ env: { [name]: path } }).run(...words);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`${name} ${why}`)]);
  }
});
