import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needs, needsPrograms, onLinux, onUnix } from '../helpers/needs';
import {
  alsoBinary,
  binary,
  makePerson,
  onNode,
  type Person,
  program,
  type Running,
  start,
} from '../helpers/program';
import { changed, RETRIEVED } from '../helpers/reference';

// A signal during each kind of waiting: the program ends, says so, and leaves nothing half-made.
// test/journey/terminal.slow.test.ts has the prompts, test/journey/unwritable-output.slow.test.ts what must not be lost.

let somebody: Person;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  somebody = makePerson();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const signals = [
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
] as const;

const at = (url: string, more: Record<string, string> = {}): Record<string, string> => ({
  ...somebody.env,
  PWPUSH_URL: url,
  ...more,
});

/** Runs a command line, and sends the signal once `waiting` says that the program waits. */
async function stopped(
  words: readonly string[],
  env: Record<string, string>,
  signal: NodeJS.Signals,
  waiting: (running: Running) => Promise<unknown>,
  input: string | undefined = 's',
) {
  const running = start(words, { env, input, cwd: somebody.folder });
  await waiting(running);
  running.child.kill(signal);
  const { code, stdout, stderr } = await running.ended;
  return { code, stdout, stderr };
}

const ended = (code: number, word: string, hint?: string) => ({
  code,
  stdout: '',
  stderr: `pwpush: ${word}\n${hint === undefined ? '' : `hint: ${hint}\n`}`,
});

/** A listener; the promise resolves to the first connection that sent something. */
async function listener(answer: (socket: Socket, text: string) => void = () => {}) {
  let first = (_socket: Socket) => {};
  const asked = new Promise<Socket>((resolve) => {
    first = resolve;
  });
  const server = await rawServer((socket, text) => {
    answer(socket, text);
    first(socket);
  });
  closing.push(server.close);
  return { url: server.url, asked };
}

/** Whether this machine lets us be the first process of a container. */
const namespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

describe.each(partOf(signals, 0))('%s', (signal, code, word) => {
  test('while the name of the host is looked up (Node.js)', onNode, async () => {
    // A resolver that does not answer, and says that it was asked.
    const held = join(somebody.folder, 'held.cjs');
    writeFileSync(
      held,
      "require('dns').lookup = () => { process.stderr.write('asked\\n'); setInterval(() => {}, 1e6); };",
    );
    const env = at('https://pw.test', { NODE_OPTIONS: `--require ${held}` });
    const waiting = ({ child }: Running) => once(child.stderr as NodeJS.ReadableStream, 'data');
    // Nothing left, but that is not known of a signal.
    const { stderr, ...rest } = await stopped(['version'], env, signal, waiting);
    expect({ ...rest, stderr: stderr.split('\n').slice(0, 2) }).toEqual({
      code,
      stdout: '',
      stderr: ['asked', `pwpush: ${word}`],
    });
  });

  test('while connecting (needs /proc)', onLinux, async () => {
    const { port, close } = await unaccepting();
    closing.push(close);
    const mine = new Set(connecting(port));
    const waiting = () =>
      expect.poll(() => connecting(port).some((one) => !mine.has(one))).toBe(true);
    expect(await stopped(['version'], at(`http://127.0.0.1:${port}`), signal, waiting)).toEqual(
      ended(code, word),
    );
  });

  test('while TLS is being agreed on', alsoBinary, async () => {
    const server = createServer((socket) => socket.on('error', () => {}));
    closing.push(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const hello = once(server, 'connection').then(([socket]) => once(socket, 'data'));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await stopped(['push'], at(url), signal, () => hello)).toEqual(ended(code, word));
  });

  test('in the middle of an answer', alsoBinary, async () => {
    const { url } = await listener((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
      ),
    );
    const waiting = ({ child }: Running) => once(child.stderr as NodeJS.ReadableStream, 'data');
    const words = ['get', 'abc', '--debug'];
    const { stderr, ...rest } = await stopped(words, at(url), signal, waiting, '');
    expect(rest).toEqual({ code, stdout: '' });
    expect(stderr.split('\n').filter((line) => /^(pwpush|hint):/.test(line))).toEqual([
      `pwpush: ${word}`,
      'hint: a view may have been used: the owner can check with pwpush audit',
    ]);
  });

  test('while waiting as the instance asked to', async () => {
    const { url } = await listener((socket) =>
      socket.write('HTTP/1.1 429 No\r\nretry-after: 50\r\ncontent-length: 0\r\n\r\n'),
    );
    const waiting = ({ child }: Running) => once(child.stderr as NodeJS.ReadableStream, 'data');
    expect(await stopped(['push'], at(url), signal, waiting)).toEqual({
      code,
      stdout: '',
      stderr: `the instance returned 429; retrying in 50 s\npwpush: ${word}\n`,
    });
  });

  test('while a file is being sent', alsoBinary, async () => {
    const { url, asked } = await listener((socket) => socket.pause());
    const file = join(somebody.folder, 'large');
    writeFileSync(file, '');
    truncateSync(file, 64 * 1024 * 1024);
    // It is not all there, so no push can exist.
    expect(await stopped(['push', '--file', file], at(url), signal, () => asked)).toEqual(
      ended(code, word),
    );
  });

  test('while a file is being fetched: no part of it stays', alsoBinary, async () => {
    let url = '';
    let begun = () => {};
    const fetching = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const instance = await listener((socket, text) => {
      const files = [{ filename: 'a', content_type: 'text/plain', url: `${url}/file` }];
      const body = changed(RETRIEVED, { files, payload: '' });
      const [length, content] = text.startsWith('GET /file') ? [1000, 'x'] : [body.length, body];
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${content}`,
      );
      if (length === 1000) begun();
    });
    url = instance.url;
    const folder = join(somebody.folder, 'inbox');
    mkdirSync(folder);
    const words = ['get', 'abc', '-o', folder];
    const waiting = async () => {
      await fetching;
      await expect.poll(() => readdirSync(folder).length).toBe(1);
    };
    const outcome = await stopped(words, at(url), signal, waiting, '');
    expect({ ...outcome, left: readdirSync(folder) }).toMatchObject({ code, stdout: '', left: [] });
    expect(outcome.stderr).toContain(`pwpush: ${word}\n`);
  });

  test('while another program writes the profiles: they stay as they are', async () => {
    const config = somebody.env.PWPUSH_CONFIG_DIR ?? '';
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.json.new.0.lock'), '');
    const { url, asked } = await listener((socket, text) => {
      const body = text.includes('/version') ? '{}' : '[]';
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n${body}`,
      );
    });
    const waiting = async () => {
      const socket = await asked;
      // The second request; after its response comes the lock.
      await once(socket, 'data');
    };
    const outcome = await stopped(['login', url], at(url), signal, waiting, 't0ken');
    expect(outcome).toEqual(ended(code, word));
    expect(readdirSync(config)).toEqual(['config.json.new.0.lock']);
  });

  test.each([
    ['the secret', '--from'],
    ['the passphrase', '--passphrase-file'],
  ])(
    'while %s is read from a pipe that somebody holds',
    allOf(needsPrograms('mkfifo'), alsoBinary),
    async (_what, option) => {
      const pipe = join(somebody.folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      // Open once the program has opened it too, which then waits in a system call that nothing breaks off.
      const waiting = async () => {
        const writer = await open(pipe, 'w');
        closing.push(() => writer.close());
      };
      const words = ['push', option, pipe];
      const env = at('http://127.0.0.1:1');
      // Node.js can only end by the signal itself: shells have the same status for both.
      const running = start(words, { env, input: 's' });
      await waiting();
      running.child.kill(signal);
      expect(await running.ended).toEqual({
        ...(binary ? { code, signal: null } : { code: null, signal }),
        stdout: '',
        stderr: `pwpush: ${word}\n`,
      });
    },
  );

  test(
    'as the first process of a container, which no signal ends',
    allOf(needs('namespaces of processes (unshare)', namespaces), alsoBinary),
    async () => {
      const pipe = join(somebody.folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const words = ['--pid', '--fork', '--kill-child', ...program];
      const child = spawn('unshare', [...words, 'push', '--from', pipe], {
        env: at('http://127.0.0.1:1'),
      });
      const writer = await open(pipe, 'w');
      const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
      const exit = once(child, 'exit');
      process.kill(Number(first), signal);
      const [said] = await once(child.stderr, 'data');
      await writer.close();
      expect([String(said), ...(await exit)]).toEqual([`pwpush: ${word}\n`, code, null]);
    },
  );

  /** Writes more than a pipe holds: once that is gone, the program has begun to read. */
  const reading = ({ child }: Running) =>
    new Promise((resolve) => child.stdin?.write(Buffer.alloc(1_000_000, 'x'), resolve));

  test('while standard input is being read', alsoBinary, async () => {
    const { url } = await listener();
    const env = at(url);
    const running = start(['push'], { env });
    await reading(running);
    running.child.kill(signal);
    expect(await running.ended).toMatchObject(ended(code, word));
  });

  test('while standard input is being copied to a file: nothing stays of it', async () => {
    const { url } = await listener();
    const temporary = join(somebody.folder, 'tmp');
    mkdirSync(temporary);
    const running = start(['push', '--file', '-'], { env: at(url, { TMPDIR: temporary }) });
    await reading(running);
    running.child.kill(signal);
    expect(await running.ended).toMatchObject(ended(code, word));
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test.each(
  partOf(
    [
      [['serve', '--ephemeral', '--port', '0']],
      [['request', '--here', '--host', '127.0.0.1']],
      [['push', '--here']],
    ],
    0,
  ),
)('SIGUSR1 opens no debugger in %j', allOf(onUnix, alsoBinary), async (words) => {
  const env = at('http://127.0.0.1:1', { NODE_OPTIONS: '--inspect-port=0' });
  const { child, ended } = start(words, { env, input: 's' });
  const [url] = await new Promise<string[]>((resolve) => {
    let said = '';
    const look = (chunk: Buffer) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+(?=.*\n)/.exec(said);
      if (found) resolve(found);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
  });
  child.kill('SIGUSR1');
  // By then the process has had the signal.
  for (let count = 0; count < 3; count++) await (await fetch(`${url}/none`)).text();
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  expect({ code, debugger: /debugger/i.test(stderr) }).toEqual({
    code: words[0] === 'serve' ? 0 : 143,
    debugger: false,
  });
});

/** The connections to a port of this machine that are not yet answered, by their own port (proc_pid_net(5)). */
function connecting(port: number): string[] {
  const SYN_SENT = '02';
  const to = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (!existsSync('/proc/net/tcp')) return [];
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote, state]) => remote === to && state === SYN_SENT)
    .map(([, local = '']) => local);
}

/** A port whose queue is full, so that connecting to it takes as long as it may. */
async function unaccepting() {
  const script = `
    const server = require('net').createServer().listen(
      { port: 0, host: '127.0.0.1', backlog: 1 },
      () => {
        require('fs').writeSync(1, String(server.address().port));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    );`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [told] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  const port = Number(told);
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await expect.poll(() => connecting(port).length).toBeGreaterThan(0);
  const close = () => {
    for (const filler of fillers) filler.destroy();
    child.kill('SIGKILL');
  };
  return { port, close };
}
