import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { literal } from '../helpers/manual';
import { needsPrograms } from '../helpers/needs';
import { person, program, started } from '../helpers/program';
import { cert, tlsFiles } from '../server/certificate';

// The built program as systemd starts it.

const home = person();
const serve = [...program, 'serve'] as const;
const FIRST_LINE = /^(.*)\n/;

/** Starts a program, or `serve` by another one. */
function startedBy(by: readonly string[], more: Record<string, string> = {}) {
  const running = started([], { env: { ...home.env, PWPUSH_SERVE_EPHEMERAL: 'true', ...more }, by });
  const address = async () => (await running.says(FIRST_LINE))[1] ?? '';
  const stops = async () => {
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
  };
  return { ...running, address, stops };
}

/** Becomes a program with sockets that are passed as systemd passes them. */
const activate = join(import.meta.dirname, 'activate.pl');

describe('sockets that are passed (perl)', needsPrograms('perl'), () => {
  const passed = (kinds: string, more = {}) => startedBy(['perl', activate, kinds, ...serve], more);

  test('are listened on, in place of the address in the settings, with TLS', async () => {
    const more = { ...tlsFiles(home.folder), PWPUSH_SERVE_HOST: '192.0.2.1' };
    const { address, says, stops } = passed('tcp,tcp', more);
    const [, ...ports] = await says(/^port (\d+)\nport (\d+)\n/, 'stderr');
    expect(await address()).toBe(`https://127.0.0.1:${ports[0]}`);
    for (const port of ports) {
      const asked = httpsRequest(`https://127.0.0.1:${port}/up`, { ca: cert, agent: false }).end();
      const [answer] = await once(asked, 'response');
      expect(answer.resume().statusCode).toBe(200);
    }
    await stops();
  });

  test('may be in the file system', async () => {
    const socketPath = join(home.folder, 'serve.sock');
    const { address, stops } = passed(socketPath);
    expect(await address()).toBe('fd:3');
    const [answer] = await once(request({ socketPath, path: '/up' }).end(), 'response');
    expect(answer.statusCode).toBe(200);
    await stops();
  });
});

const receive = join(import.meta.dirname, 'receive.pl');

describe('what systemd is told', () => {
  test('ready, reloading and stopping', needsPrograms('perl', 'systemd-notify'), async () => {
    const name = join(home.folder, 'notify.sock');
    const { says } = startedBy(['perl', receive, name]);
    await says('bound\n');
    const more = { NOTIFY_SOCKET: name, PWPUSH_SERVE_PORT: '0' };
    const { address, child, stops } = startedBy(serve, more);
    await says('bound\nREADY=1\n');
    expect((await fetch(`${await address()}/up`)).status).toBe(200);
    child.kill('SIGHUP');
    await says('\nREADY=1\nRELOADING=1\nREADY=1\n');
    await stops();
    await says(/\nREADY=1\nSTOPPING=1\n$/);
  });

  test('where it cannot be, the log warns, and the service serves', async () => {
    const more = { NOTIFY_SOCKET: '/nonexistent', PWPUSH_SERVE_PORT: '0', PATH: '/nonexistent' };
    const { address, says } = startedBy(serve, more);
    expect((await fetch(`${await address()}/up`)).status).toBe(200);
    const warning = 'systemd could not be notified of READY=1 (systemd-notify: ENOENT)';
    await says(`warning: ${warning}\n`, 'stderr');
  });
});

test("the Debian package has at least the sandbox of the manual's unit, and both start again", () => {
  const unit = literal('/etc/systemd/system/pwpush.service :');
  const sandbox = unit.slice(unit.indexOf('NoNewPrivileges='), unit.indexOf('[Install]'));
  const lines = sandbox.trim().split('\n');
  expect(lines.length).toBeGreaterThan(20);
  const url = new URL('../../deploy/debian/pwpush.service', import.meta.url);
  const packaged = readFileSync(url, 'utf8').split('\n');
  expect(packaged).toEqual(expect.arrayContaining(lines));
  // The first so that the service says which file is missing.
  const again = [
    'SetCredential=instance.key:missing',
    'Restart=on-failure',
    'RestartSec=5',
    'RestartPreventExitStatus=2',
  ];
  again.push('After=network-online.target postgresql.service');
  for (const all of [packaged, unit.split('\n')]) expect(all).toEqual(expect.arrayContaining(again));
});

test("systemd takes the manual's units (systemd-analyze)", needsPrograms('systemd-analyze'), () => {
  const files = ['pwpush.service', 'pwpush.socket'].map((file) => {
    const path = join(home.folder, file);
    const unit = literal(`/etc/systemd/system/${file} :`);
    // It must be there, and on this machine it is not installed.
    writeFileSync(path, unit.replace('/usr/local/bin/pwpush', process.execPath));
    return path;
  });
  expect(readFileSync(files[0] ?? '', 'utf8')).toContain(`ExecStart=${process.execPath} serve`);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});
