import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { literal } from './helpers/manual';
import { only } from './helpers/needs';
import { needsPostgres, startCluster } from './helpers/postgres';

// The Debian package, installed in a Debian that mmdebstrap made, with its own systemd as process 1: `.ci/run` says how.
// The tests are the life of one installation and depend on each other.

const root = process.env.PWPUSH_TEST_DEBIAN_ROOT;
const repository = fileURLToPath(new URL('..', import.meta.url));

const boot = join(import.meta.dirname, 'boot-debian.sh');

const childOf = (pid: string) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();

const inDebian = only('PWPUSH_TEST_DEBIAN_ROOT', root !== undefined);

describe('the Debian package (PWPUSH_TEST_DEBIAN_ROOT)', inDebian, () => {
  let folder: string;
  let machine: ChildProcess;
  /** Process 1 of the machine. */
  const first = () => childOf(childOf(`${machine.pid}`));
  let deb: string;
  let lintian: Promise<unknown>;

  const built = () => {
    const made = execFileSync(process.execPath, ['.config/deb.mjs', '--quick'], {
      cwd: repository,
      encoding: 'utf8',
    });
    return join(repository, made.split(' ')[0] ?? '');
  };

  function inside(words: readonly string[], input = '') {
    const env = ['env', '-i', 'PATH=/usr/sbin:/usr/bin', 'HOME=/root', 'LC_ALL=C.UTF-8'];
    const enter = ['--all', `--target=${first()}`, '--root', '--wd'];
    const { status, stdout, stderr } = spawnSync('nsenter', [...enter, ...env, ...words], {
      encoding: 'utf8',
      input,
    });
    return { status, stdout, stderr };
  }
  /** What it prints; it must succeed. */
  function out(words: readonly string[], input = ''): string {
    const { status, stdout, stderr } = inside(words, input);
    expect([words, status], stderr).toEqual([words, 0]);
    return stdout.trim();
  }
  const line = (text: string, input = '') => out(['sh', '-ec', text], input);
  const service = (property: string) =>
    out(['systemctl', 'show', `--property=${property}`, '--value', 'pwpush.service']);
  const push = (secret: string, port = 5200) => {
    const words = ['push', '--quiet', '--url', `http://127.0.0.1:${port}`];
    return out(['env', 'PWPUSH_RECEIPTS=off', 'pwpush', ...words], secret);
  };
  const get = (link: string) => out(['pwpush', 'get', '--quiet', link]);
  const files = () => line("find / -xdev -name '*pwpush*' | sort").split('\n');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pwpush-deb-'));
    deb = built();
    execFileSync('cp', [deb, folder]);
    // It takes 20 s, and the rest as long.
    const check = ['--allow-root', '--fail-on=error,warning', deb];
    // It leaves files of its own where temporary files belong.
    const env = { ...process.env, TMPDIR: folder };
    lintian = new Promise((resolve) => {
      execFile('lintian', check, { env }, (error, stdout) => resolve([error?.code ?? 0, stdout]));
    });
    machine = spawn('sh', [boot, root ?? '', folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    machine.stderr?.on('data', (text) => {
      said += text;
    });
    const running = () =>
      expect(inside(['systemctl', 'is-system-running', '--wait']).stdout).toMatch(/^(?:running|degraded)$/m);
    await vi.waitFor(running, { timeout: 60_000 }).catch((cause) => {
      throw new Error(`the machine does not run: ${said}`, { cause });
    });
  });
  afterAll(async () => {
    if (machine.exitCode === null) {
      const ended = once(machine, 'exit');
      process.kill(Number(first()), 'SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true });
  });

  test('is installed, and starts nothing', () => {
    out(['dpkg', '--install', `/media/${basename(deb)}`]);
    for (const unit of ['pwpush.service', 'pwpush.socket']) {
      expect(inside(['systemctl', 'is-enabled', unit]).stdout).toBe('disabled\n');
      expect(inside(['systemctl', 'is-active', unit]).stdout).toBe('inactive\n');
    }
    const modes = line('stat -c "%a %U %n" /etc/pwpush /etc/pwpush/* /var/lib/pwpush');
    expect(modes.split('\n')).toEqual([
      '700 root /etc/pwpush',
      '600 root /etc/pwpush/instance.key',
      '600 root /etc/pwpush/serve.env',
      '700 pwpush /var/lib/pwpush',
    ]);
    expect(out(['pwpush', '--version'])).toMatch(/^\d+\.\d+\.\d+/);
    const missing = inside(['sh', '-c', 'ldd /usr/bin/pwpush | grep "not found"']);
    expect(missing.stdout).toBe('');
  });

  test('serves in its sandbox, after the commands in serve.env', async () => {
    const env = readFileSync(join(repository, 'deploy/debian/serve.env'), 'utf8');
    const commands = [...env.matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command);
    expect(commands).toHaveLength(2);
    line("echo 'PWPUSH_SERVE_PORT=5200' >>/etc/pwpush/serve.env");
    expect(line(commands[0] ?? '')).toMatch(/^pwp_/);
    line(commands[1] ?? '');
    expect(service('ActiveState')).toBe('active');
    expect(get(push('hunter2'))).toBe('hunter2');
    const pid = service('MainPID');
    const status = line(`cat /proc/${pid}/status`);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    expect(status).toMatch(/^CapBnd:\t0{16}$/m);
    expect(line(`grep -c rwx /proc/${pid}/maps || :`)).toBe('0');
    // The user of the service reads neither the settings nor, next to the data, the key.
    const own = inside(['sh', '-c', 'runuser -u pwpush -- find /etc/pwpush /var/lib/pwpush']);
    expect(own.stdout).not.toMatch(/serve\.env|instance\.key/);
    out(['systemctl', 'reload', 'pwpush.service']);
    const journal = () => out(['journalctl', '--unit=pwpush.service']);
    await expect.poll(journal, { message: 'the reload is in the journal' }).toContain('reload certificate=none');
    // systemd 252 returns before the service has read its settings again: "reloading" until then.
    await expect.poll(() => service('ActiveState'), { message: 'the settings are read again' }).toBe('active');
    const security = out(['systemd-analyze', 'security', '--no-pager', 'pwpush.service']);
    const exposure = /Overall exposure level for pwpush\.service: ([\d.]+)/.exec(security)?.[1];
    expect(Number(exposure)).toBeLessThanOrEqual(1.2);
  });

  test('is upgraded: the service restarts, with the settings and data that it had', () => {
    const [link, pid] = [push('kept'), service('MainPID')];
    const settings = out(['cat', '/etc/pwpush/serve.env']);
    const next = join(folder, 'next');
    execFileSync('dpkg-deb', ['--raw-extract', deb, next]);
    for (const [file, from, to] of [
      ['DEBIAN/control', /^Version: .*$/m, 'Version: 99'],
      ['etc/pwpush/serve.env', /^/, '# New in version 99.\n'],
    ] as const) {
      const path = join(next, file);
      writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
    }
    const words = ['--root-owner-group', '-Znone', '--build', next, join(folder, 'next.deb')];
    execFileSync('dpkg-deb', words, { stdio: 'ignore' });
    out(['dpkg', '--force-confdef', '--force-confold', '--install', '/media/next.deb']);
    expect(out(['dpkg', '--status', 'pwpush'])).toContain('\nVersion: 99\n');
    expect(out(['cat', '/etc/pwpush/serve.env'])).toBe(settings);
    expect(service('ActiveState')).toBe('active');
    expect(service('MainPID')).not.toBe(pid);
    expect(get(link)).toBe('kept');
  });

  test('listens on its socket, which starts the service', () => {
    out(['systemctl', 'stop', 'pwpush.service']);
    out(['systemctl', 'enable', '--now', 'pwpush.socket']);
    expect(service('ActiveState')).toBe('inactive');
    expect(get(push('through the socket', 5100))).toBe('through the socket');
    expect(service('ActiveState')).toBe('active');
  });

  test('is removed, which leaves settings and data, and purged', () => {
    out(['dpkg', '--remove', 'pwpush']);
    expect(service('ActiveState')).toBe('inactive');
    expect(inside(['systemctl', 'is-active', 'pwpush.socket']).stdout).toBe('inactive\n');
    expect(inside(['pwpush', '--version']).status).toBe(127);
    expect(files()).toEqual(expect.arrayContaining(['/etc/pwpush', '/var/lib/pwpush']));
    expect(out(['ls', '/var/lib/pwpush'])).toContain('pwpush.db');
    out(['dpkg', '--purge', 'pwpush']);
    expect(files()).toEqual(['']);
  });

  describe('pwpush-operation(7), for the program of npm', () => {
    const commands = (mark: string) => literal(mark).replaceAll(/^# /gm, '');
    /** Runs the lines of the page that contain the mark, after others. */
    const asRoot = (mark: string, before = '') => {
      // systemd counts the starts of the last ten seconds.
      line('systemctl reset-failed pwpush.service || :');
      return line(before + commands(mark));
    };
    const newestKey = () => line('head -n 1 /etc/pwpush/instance.key');

    function changesKey(before?: string) {
      const [link, key] = [push('kept', 5100), newestKey()];
      expect(asRoot('serve rekey --data', before)).toMatch(/^\d+ push(?:es)? resealed$/);
      expect(newestKey()).not.toBe(key);
      expect(get(link)).toBe('kept');
    }
    test('its commands make a service, and put its backup in its place', () => {
      execFileSync('cp', [join(folder, 'next/usr/bin/pwpush'), folder]);
      line('install -m 0755 /media/pwpush /usr/local/bin/pwpush');
      line('cat >/etc/systemd/system/pwpush.service', literal('[Service]\nType=notify'));
      // The package leaves its user.
      line('ln -s /usr/local/bin/pwpush /usr/bin; userdel pwpush');
      expect(asRoot('useradd')).toMatch(/^pwp_/m);
      const link = push('before', 5100);
      expect(asRoot('serve backup')).toContain('/var/backups/pwpush/pwpush.db');
      expect(get(link)).toBe('before');
      expect(asRoot('serve restore')).toBe('/var/lib/pwpush/pwpush.db');
      expect(get(link)).toBe('before');
    });

    test('its commands change the key of a SQLite', () => changesKey());

    test('its commands change the key of a PostgreSQL, and move its data to a folder', needsPostgres, async () => {
      chmodSync(folder, 0o755);
      const cluster = await startCluster({ within: folder });
      onTestFinished(() => cluster.remove());
      // The user of the service finds the socket there.
      chmodSync(cluster.folder, 0o755);
      const { port } = cluster;
      const name = await cluster.createDatabase();
      const host = `/media/${basename(cluster.folder)}`;
      const url = `postgres://postgres@/${name}?host=${host}&port=${port}`;
      line('cat >>/etc/pwpush/environment', `DATABASE_URL=${url}\n`);
      line('systemctl restart pwpush');
      const exported = commands('DATABASE_URL=');
      changesKey(exported);
      const [link, settings] = [push('moved', 5100), '/etc/pwpush/environment'];
      asRoot('--to /var/lib/pwpush/sqlite', exported);
      expect(inside(['systemctl', 'start', 'pwpush']).status).not.toBe(0);
      line(`echo PWPUSH_SERVE_DATA=/var/lib/pwpush/sqlite >${settings}`);
      line('systemctl reset-failed pwpush; systemctl start pwpush');
      expect(get(link)).toBe('moved');
    });
  });

  test('has no fault that lintian knows', async () => {
    expect(await lintian).toEqual([0, '']);
  });
});
