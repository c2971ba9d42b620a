import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/platform/context';
import { phrase } from '../../src/platform/errors';
import { runHelper } from '../../src/platform/helper-program';
import { signalGroup } from '../../src/platform/process';
import type { Profile } from '../../src/profile/settings';
import { forgetProfile, readFromKeyring, storeInKeyring } from '../../src/profile/system-keyring';
import { type Instance, instance } from '../helpers/instance';
import { needsPrograms } from '../helpers/needs';

const missing = needsPrograms('secret-tool', 'gnome-keyring-daemon', 'dbus-run-session');

let here: Instance;
let token: string;
let bin: string;
let session: ChildProcess | undefined;
beforeEach(async () => {
  here = await instance({ env: { PWPUSH_URL: undefined } });
  token = here.service.adminToken;
  bin = here.file('bin');
  for (const name of ['bin', 'run', 'data']) mkdirSync(here.file(name), { mode: 0o700 });
});
afterEach(async () => {
  if (session) {
    const ended = once(session, 'exit');
    session.stdin?.end();
    await ended;
    session = undefined;
  }
  await here.close();
});

const desktop = () => ({
  HOME: here.file('home'),
  XDG_RUNTIME_DIR: here.file('run'),
  XDG_DATA_HOME: here.file('data'),
  PATH: [bin, process.env.PATH].join(delimiter),
});

const on = (platform: string) => {
  const { signal } = new AbortController();
  const starting: Context['starting'] = (work) => work();
  return { platform, env: desktop(), signal, signalGroup, starting } as unknown as Context;
};

/** A bus with a GNOME keyring, which is unlocked, or locked as after a log-in by key; returns the environment. */
async function bus(unlock: boolean) {
  const unlocking = "printf 'pw\\n' | gnome-keyring-daemon --unlock --components=secrets";
  const script = `${unlock ? unlocking : 'true'} >/dev/null; echo "$DBUS_SESSION_BUS_ADDRESS"; exec cat`;
  session = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    env: desktop(),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let address = '';
  for await (const chunk of session.stdout ?? []) {
    address += chunk;
    if (address.includes('\n')) break;
  }
  return { ...desktop(), DBUS_SESSION_BUS_ADDRESS: address.trim() };
}

function install(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const SECRET_TOOL = '/usr/bin/secret-tool';
const lookup = (env: Record<string, string>) => spawnSync(SECRET_TOOL, ['lookup', 'application', 'pwpush'], { env });

const login = (env: Record<string, string>, ...more: string[]) =>
  here.under({ env, stdin: token }).run('login', 'https://pw.test', '--keyring', ...more);

const keep = (name: string, profile: Profile) => here.keep({ current: name, profiles: { [name]: profile } });

const ALTERNATIVES =
  'hint: log in without --keyring to keep the token in a file that only you can read, or leave it in a password manager: pwpush profile set NAME token-command COMMAND\n';

const refused = (problem: string) => ({
  code: 1,
  stdout: '',
  stderr: `pwpush: the token cannot be kept in the keyring (${problem}); nothing was saved\n${ALTERNATIVES}`,
});

describe('login --keyring (needs secret-tool and gnome-keyring)', missing, () => {
  test('keeps the token in the keyring alone, in no argument; logout removes it', async () => {
    const log = here.file('calls');
    install('secret-tool', `{ printf '%s\\n' "$@"; env; } >> '${log}'; exec ${SECRET_TOOL} "$@"`);
    const calls = () => readFileSync(log, 'utf8');
    const env = await bus(true);
    const saved = { url: 'https://pw.test', edition: 'pwpush', encrypt: 'link' };
    expect(await login(env)).toMatchObject({ code: 0, stdout: '' });
    expect(here.kept()).toEqual({ current: 'default', profiles: { default: { ...saved, keyring: true } } });
    expect((await here.under({ env }).run('list')).code).toBe(0);
    const shown = await here.run('profile', 'show', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ token: true, keyring: true });
    expect(calls()).toContain('application\npwpush\nprofile\ndefault\nurl\nhttps://pw.test\n');
    expect(String(lookup(env).stdout)).toBe(token);
    expect((await here.under({ env }).run('logout')).code).toBe(0);
    expect([here.kept()?.profiles, lookup(env).status]).toEqual([{ default: saved }, 1]);
    expect(calls()).not.toContain(token);
  });

  test('binds the token to its address: a config file with another one finds nothing', async () => {
    const env = await bus(true);
    await login(env);
    await keep('default', { url: 'https://evil.test', keyring: true });
    expect(await here.under({ env }).run('list')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'pwpush: the keyring returned no token for profile "default" (secret-tool found nothing, or it is locked)\n' +
        'hint: unlock the keyring, or log in again: pwpush login --keyring --profile default\n',
    });
  });

  test.each([
    ['login', ['login', 'https://pw.test']],
    ['profile remove', ['profile', 'remove', 'default']],
    ['another address', ['profile', 'set', '.', 'url', 'https://new.test']],
    ['a token command', ['profile', 'set', '.', 'token-command', 'pass x']],
  ])('is undone by %s', async (_what, words) => {
    const env = await bus(true);
    await login(env);
    expect((await here.under({ env, stdin: token }).run(...words)).code).toBe(0);
    expect(here.kept()?.profiles.default?.keyring).toBe(undefined);
    expect(lookup(env).status).toBe(1);
  });

  test.each([undefined, { url: 'https://pw.test', token: 'older' }])(
    'keeps the profile before where any call of the keyring fails: %j',
    async (before) => {
      const env = await bus(true);
      const log = here.file('calls');
      for (const is of ['-eq', '-ge'])
        for (let [nth, calls] = [1, 1]; calls >= nth; nth++) {
          spawnSync(SECRET_TOOL, ['clear', 'application', 'pwpush'], { env });
          const stored = { current: 'default', profiles: before ? { default: before } : {} };
          await here.keep(stored);
          writeFileSync(log, '');
          const fail = `{ echo planted >&2; exit 1; }`;
          const count = `echo >> '${log}'; [ $(wc -l < '${log}') ${is} ${nth} ] && ${fail}`;
          install('secret-tool', `${count}; exec ${SECRET_TOOL} "$@"`);
          const { code, stdout, stderr } = await login(env);
          calls = readFileSync(log, 'utf8').length;
          install('secret-tool', `exec ${SECRET_TOOL} "$@"`);
          expect(stdout + stderr).not.toContain(token);
          expect(code).toBe(calls < nth ? 0 : 1);
          if (code === 1) expect(here.kept()).toEqual(stored);
          else expect((await here.under({ env }).run('list')).code).toBe(0);
          // A keyring that fails from the second call on does not remove it either.
          if (is === '-eq' || nth !== 2) expect(lookup(env).status).toBe(code);
        }
    },
  );

  test('goes with a renamed profile, and stays whichever call of the keyring fails', async () => {
    const env = await bus(true);
    const log = here.file('calls');
    for (let [nth, calls] = [1, 1]; calls >= nth; nth++) {
      spawnSync(SECRET_TOOL, ['clear', 'application', 'pwpush'], { env });
      await here.keep({ profiles: {} });
      await login(env);
      writeFileSync(log, '');
      const fail = `[ $(wc -l < '${log}') -eq ${nth} ] && { echo planted >&2; exit 1; }`;
      install('secret-tool', `echo >> '${log}'; ${fail}; exec ${SECRET_TOOL} "$@"`);
      const { code, stdout, stderr } = await here.under({ env }).run('profile', 'rename', 'default', 'work');
      calls = readFileSync(log, 'utf8').length;
      install('secret-tool', `exec ${SECRET_TOOL} "$@"`);
      expect(stdout + stderr).not.toContain(token);
      const name = code === 0 ? 'work' : 'default';
      expect(here.kept()).toMatchObject({ current: name, profiles: { [name]: { keyring: true } } });
      expect((await here.under({ env }).run('list')).code).toBe(0);
      const entries = spawnSync(SECRET_TOOL, ['search', '--all', 'application', 'pwpush'], { env });
      // Where it could not be removed by the old name, that is said.
      const isLeft = stderr.includes('still');
      expect([nth, String(entries.stdout).match(/^secret = /gm)?.length]).toEqual([nth, isLeft ? 2 : 1]);
    }
  });

  test('is refused without a bus, and with a locked keyring', async () => {
    expect(await login(desktop())).toEqual(refused('secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY'));
    await bus(true).then(login);
    await here.run('profile', 'remove', 'default');
    session?.stdin?.end();
    await once(session as ChildProcess, 'exit');
    const env = await bus(false);
    expect(await login(env)).toEqual(refused('secret-tool: Cannot create an item in a locked collection'));
    expect(here.kept()?.profiles).toEqual({});
    await keep('work', { url: 'https://pw.test', keyring: true });
    expect((await here.under({ env }).run('list')).code).toBe(1);
  });
});

describe('login --keyring', () => {
  test('is refused if there is no such program, and if something else is read back', async () => {
    expect(await login({ PATH: bin })).toEqual(refused('secret-tool is not installed'));
    install('secret-tool', 'cat > /dev/null; echo other');
    expect(await login(desktop())).toEqual(refused('it returned something else than it was given'));
    install('secret-tool', 'cat >&2; exit 1');
    expect(await login(desktop())).toEqual(refused('secret-tool: ***'));
    expect(here.kept()).toBe(undefined);
  });

  test('with a program that hangs is refused when its time is over', async () => {
    install('secret-tool', 'sleep 600');
    const entry = { profile: 'default', url: 'https://pw.test' };
    await expect(storeInKeyring(on('linux'), entry, token, 100)).rejects.toMatchObject({
      facts: [phrase('not-in-keyring', 'secret-tool did not answer within 0.1 s'), phrase('nothing-saved')],
    });
  });

  test('is not asked by a profile that does not use it', async () => {
    install('secret-tool', `echo asked >> '${here.file('asked')}'`);
    await keep('p', { url: 'https://pw.test', token });
    expect((await here.under({ env: desktop() }).run('list')).code).toBe(0);
    await here.under({ env: desktop() }).run('logout');
    expect(() => readFileSync(here.file('asked'))).toThrow('ENOENT');
  });

  test('that cannot remove the token says so', async () => {
    install('secret-tool', 'echo "Cannot autolaunch D-Bus" >&2; exit 1');
    await keep('work', { url: 'https://pw.test', keyring: true });
    expect(await here.under({ env: desktop() }).run('logout')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'pwpush: the keyring may still have the token of profile "work" (secret-tool: Cannot autolaunch D-Bus)\n' +
        'hint: unlock the keyring and remove it there\n',
    });
    expect(here.kept()?.profiles.work).toEqual({ url: 'https://pw.test' });
  });
});

describe('on other systems', () => {
  const entry = { profile: 'work', url: 'https://pw.test/a"b' };
  const own = 'pwpush https://pw.test/a"b';
  /** Installs a program; returns the arguments and the input that it got since. */
  const recording = (name: string, script: string) => {
    const paths = [here.file('args'), here.file('input')];
    const [args, input] = paths;
    install(name, `printf '<%s>' "$@" >> '${args}'; cat >> '${input}'\n${script}`);
    return () =>
      paths.map((path) => {
        const text = readFileSync(path, 'utf8');
        rmSync(path);
        return text;
      });
  };

  test('macOS: security reads the token, in hexadecimal, from its standard input', async () => {
    const talk = recording('security', '[ "$1" = -i ] || echo s3cret');
    await storeInKeyring(on('darwin'), entry, 's3cret');
    const hex = Buffer.from('s3cret').toString('hex');
    expect(talk()).toEqual([
      `<-i><find-generic-password><-a><work><-s><${own}><-w>`,
      `"add-generic-password" "-a" "work" "-s" "pwpush https://pw.test/a\\"b" "-U" "-X" "${hex}"\n`,
    ]);
    expect(await readFromKeyring(on('darwin'), entry)).toBe('s3cret');
    const profile = { url: entry.url, keyring: true };
    expect(await forgetProfile(on('darwin'), 'work', profile)).toBe(undefined);
    expect(talk()[0]).toContain('<delete-generic-password><-a><work>');
    recording('security', 'echo "security: The item could not be found" >&2; exit 44');
    expect(await forgetProfile(on('darwin'), 'work', profile)).toBe(undefined);
  });

  test('Windows: PowerShell reads everything from its standard input', async () => {
    const talk = recording('powershell.exe', "printf 's3cret'");
    await storeInKeyring(on('win32'), entry, 's3cret');
    const [args, input] = talk();
    expect(args).toContain('PasswordVault');
    expect(args).not.toMatch(/s3cret|pw\.test/);
    expect(input).toBe(`${own}\nwork\ns3cret\n${own}\nwork\n`);
  });
});

test('a program that is slow is ended with what it started', needsPrograms('pgrep'), async () => {
  const marker = here.file('marker');
  const words = ['sh', '-c', `trap '' TERM; sleep 600 '${marker}' & wait`] as const;
  install('sleep', 'exec tail -f /dev/null "$2"');
  expect(await runHelper(on('linux'), { words, limitMs: 50 })).toEqual({ failure: 'timeout' });
  // A killed process is there for a moment yet.
  await expect.poll(() => spawnSync('pgrep', ['-f', marker]).status, { message: 'the end of the process' }).toBe(1);
});
