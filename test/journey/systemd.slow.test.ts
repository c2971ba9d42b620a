import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { onlyLong } from '../helpers/long';
import { needsPrograms } from '../helpers/needs';
import { person, program } from '../helpers/program';
import { cert, key } from '../server/certificate';

// The built program as systemd starts it.

const home = person();
const children: ChildProcess[] = [];
const env = { ...home.env, PWPUSH_SERVE_EPHEMERAL: 'true' };
const serve = [...program, 'serve'] as const;

afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = child.exitCode ?? child.signalCode ?? once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
});
interface Started {
  readonly child: ChildProcess;
  readonly stdout: Interface;
  readonly stderr: Interface;
  /** Resolves to exit code and signal. */
  readonly ended: Promise<unknown[]>;
}

function started(words: readonly string[], more: Record<string, string> = {}): Started {
  const [program = '', ...rest] = words;
  const child = spawn(program, rest, { env: { ...env, ...more }, stdio: 'pipe' });
  children.push(child);
  const ended = once(child, 'exit');
  const lines = (stream: NodeJS.ReadableStream | null) =>
    createInterface({ input: stream as NodeJS.ReadableStream });
  return { child, stdout: lines(child.stdout), stderr: lines(child.stderr), ended };
}

const lineOf = async (lines: Interface) => (await once(lines, 'line'))[0] as string;

async function lineWith(lines: Interface, pattern: RegExp): Promise<string> {
  for await (const line of lines) if (pattern.test(line)) return line;
  throw new Error(`never said ${pattern}`);
}

/** Opens sockets as systemd does, from descriptor 3 on, says where, and becomes the program given behind them. */
const activate = `
use Socket;
$^F = 100;
$| = 1;
my ($kinds, @program) = @ARGV;
my @kept;
my $next = 3;
for my $kind (split /,/, $kinds) {
  my $socket;
  if ($kind eq 'tcp') {
    socket($socket, AF_INET, SOCK_STREAM, 0) or die;
    bind($socket, pack_sockaddr_in(0, INADDR_LOOPBACK)) or die;
    listen($socket, 16) or die;
    print STDERR "port " . (unpack_sockaddr_in(getsockname($socket)))[0] . "\\n";
  } elsif ($kind eq 'udp') {
    socket($socket, AF_INET, SOCK_DGRAM, 0) or die;
  } else {
    socket($socket, AF_UNIX, SOCK_STREAM, 0) or die;
    bind($socket, pack_sockaddr_un($kind)) or die;
    listen($socket, 16) or die;
  }
  fileno($socket) == $next++ or die "not the descriptor expected";
  push @kept, $socket;
}
$ENV{LISTEN_PID} = $$;
$ENV{LISTEN_FDS} = scalar @kept;
exec @program;
`;

describe('sockets that are passed (perl)', needsPrograms('perl'), () => {
  const passed = (kinds: string, more: Record<string, string> = {}) =>
    started(['perl', '-e', activate, kinds, ...serve], more);

  test('are listened on, in place of the address in the settings', async () => {
    const { stdout, stderr } = passed('tcp,tcp', { PWPUSH_SERVE_HOST: '192.0.2.1' });
    const ports: string[] = [];
    for await (const line of stderr) {
      ports.push(/^port (\d+)$/.exec(line)?.[1] ?? '');
      if (ports.length === 2) break;
    }
    expect(await lineOf(stdout)).toBe(`http://127.0.0.1:${ports[0]}`);
    const answers = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/up`)).status);
    expect(await Promise.all(answers)).toEqual([200, 200]);
  });

  test('may be in the file system', async () => {
    const socketPath = join(home.folder, 'serve.sock');
    const { child, stdout, ended } = passed(socketPath);
    expect(await lineOf(stdout)).toBe('fd:3');
    const [answer] = await once(request({ socketPath, path: '/up' }).end(), 'response');
    expect(answer.statusCode).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('may speak TLS', async () => {
    const [certFile, keyFile] = ['cert.pem', 'key.pem'].map((name) => join(home.folder, name));
    writeFileSync(certFile ?? '', cert);
    writeFileSync(keyFile ?? '', key);
    const names = { PWPUSH_SERVE_TLS_CERT: certFile ?? '', PWPUSH_SERVE_TLS_KEY: keyFile ?? '' };
    const { child, stdout, ended } = passed('tcp', names);
    const url = await lineOf(stdout);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const [answer] = await once(httpsRequest(`${url}/up`, { ca: cert }).end(), 'response');
    expect(answer.statusCode).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  // It takes 20 seconds.
  test('have the usual timeouts', onlyLong, async () => {
    const { stdout } = passed('tcp');
    const port = Number(new URL(await lineOf(stdout)).port);
    const said = async (text: string) => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      socket.write(text);
      let received = '';
      for await (const part of socket) received += part;
      return received.match(/^HTTP\/1\.1 \d+/gm);
    };
    const whole = 'GET /up HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const all = [said('GET /up HTT'), said(whole), said(`${whole}GET`)];
    expect(await Promise.all(all)).toEqual([['HTTP/1.1 408'], ['HTTP/1.1 200'], ['HTTP/1.1 200']]);
  });

  test('that are none to listen on are named', async () => {
    const { stderr, ended } = passed('udp');
    expect(await lineWith(stderr, /^pwpush/)).toMatch(
      /^pwpush: descriptor 3, as passed by LISTEN_FDS, is not a socket to listen on/,
    );
    expect(await ended).toEqual([1, null]);
  });

  test('are left alone when they were passed to another process', async () => {
    const { stdout } = started([...serve, '--port', '0'], { LISTEN_PID: '1', LISTEN_FDS: '1' });
    expect(await lineOf(stdout)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});

/** Receives datagrams and prints them, a line for each assignment; a name that begins with @ is abstract. */
const receive = `
use Socket;
$| = 1;
my $name = $ARGV[0] =~ s/^@/\\0/r;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
bind($socket, pack_sockaddr_un($name)) or die;
print "bound\\n";
while (defined recv($socket, my $text, 4096, 0)) { print "$text\\n" unless $text =~ /^BARRIER/ }
`;

describe('what systemd is told', () => {
  const tools = ['perl', 'systemd-notify'];

  test.each([
    ['a path', join(home.folder, 'notify.sock')],
    ['an abstract name', `@pwpush-test-${process.pid}`],
  ])(
    'ready, reloading and stopping, at %s (perl, systemd-notify)',
    needsPrograms(...tools),
    async (_, name) => {
      const { stdout: told } = started(['perl', '-e', receive, name]);
      const said = told[Symbol.asyncIterator]();
      const next = async () => (await said.next()).value;
      expect(await next()).toBe('bound');
      const more = { NOTIFY_SOCKET: name, PWPUSH_SERVE_PORT: '0' };
      const { child, stdout, ended } = started(serve, more);
      const address = lineOf(stdout);
      expect(await next()).toBe('READY=1');
      expect((await fetch(`${await address}/up`)).status).toBe(200);
      child.kill('SIGHUP');
      expect([await next(), await next()]).toEqual(['RELOADING=1', 'READY=1']);
      child.kill('SIGTERM');
      expect(await next()).toBe('STOPPING=1');
      expect(await ended).toEqual([0, null]);
    },
  );

  test('where it cannot be, the log warns, and the service serves', async () => {
    const more = { NOTIFY_SOCKET: '/nonexistent', PWPUSH_SERVE_PORT: '0', PATH: '/nonexistent' };
    const { stdout, stderr } = started(serve, more);
    const warning = lineWith(stderr, /^warning:/);
    expect((await fetch(`${await lineOf(stdout)}/up`)).status).toBe(200);
    expect(await warning).toBe(
      'warning: systemd could not be notified of READY=1 (systemd-notify: ENOENT)',
    );
  });
});

/** The literal block of the manual that follows the name of a file. */
function example(name: string): string {
  const manual = readFileSync(new URL('../../man/pwpush-operation.7', import.meta.url), 'utf8');
  const block = manual.split(`${name} :\n.Bd -literal`)[1]?.split('\n.Ed\n')[0] ?? '';
  const text = block.slice(block.indexOf('\n') + 1);
  return text.replaceAll('\\-', '-').replaceAll('\\(ti', '~').replaceAll('\\e', '\\');
}

describe('the Debian package', () => {
  const packaged = (file: string) =>
    readFileSync(new URL(`../../deploy/debian/${file}`, import.meta.url), 'utf8');

  test("has at least the sandbox of the manual's unit", () => {
    const unit = example('/etc/systemd/system/pwpush.service');
    const sandbox = unit.slice(unit.indexOf('NoNewPrivileges='), unit.indexOf('[Install]'));
    const lines = sandbox.trim().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(packaged('pwpush.service').split('\n')).toEqual(expect.arrayContaining(lines));
  });

  test('names settings that there are', () => {
    const names = [...packaged('serve.env').matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(5);
    const manual = readFileSync(new URL('../../man/pwpush-serve.1', import.meta.url), 'utf8');
    expect(names.filter((name) => !manual.includes(`.It Ev ${name}\n`))).toEqual([]);
  });
});

test("systemd takes the manual's units (systemd-analyze)", needsPrograms('systemd-analyze'), () => {
  const files = ['pwpush.service', 'pwpush.socket'].map((file) => {
    const path = join(home.folder, file);
    const unit = example(`/etc/systemd/system/${file}`);
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
