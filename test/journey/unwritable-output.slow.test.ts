import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { allOf, needsFile, needsPrograms, skipWithout } from '../helpers/needs';
import { alsoBinary, makePerson, type Person, program, shell, start } from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';

// The built program, cut off from whoever it talks to, with a link or a secret in its hands.

const missing = needsFile('/dev/full');
let somebody: Person;
const closing: (() => void)[] = [];
beforeEach(() => {
  somebody = makePerson();
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const LINK = 'https://pw.test/p/quyul5r5w08/r\n';

/** What was rescued. */
function rescued(): string[] {
  const folder = somebody.env.PWPUSH_STATE_DIR ?? '';
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name !== 'receipts.jsonl')
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

const answer = (socket: Socket, status: string, body: string) =>
  socket.write(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

/** An instance on the wire, and the environment of who uses it. */
async function instance(talk: (socket: Socket, text: string) => void) {
  const listener = await rawServer(talk);
  closing.push(listener.close);
  return { ...listener, env: { ...somebody.env, PWPUSH_URL: listener.url } };
}

const creating = () => instance((socket) => answer(socket, '201 Created', CREATED));
const giving = (payload: string) =>
  instance((socket) =>
    answer(socket, '200 OK', changed(RETRIEVED, { payload, views_remaining: 0 })),
  );

/** A pipe nobody reads, full to the brim; whether writing to it waits, or fails for now. */
function fullPipe(waits = false): number {
  skipWithout(needsPrograms('mkfifo'));
  const path = join(somebody.folder, 'full');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  closing.push(() => closeSync(fd));
  const fill = (bytes: Buffer) => {
    try {
      for (;;) writeSync(fd, bytes);
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' });
    }
  };
  fill(Buffer.alloc(4096));
  fill(Buffer.alloc(1));
  if (!waits) return fd;
  const waiting = openSync(path, constants.O_RDWR);
  closing.push(() => closeSync(waiting));
  return waiting;
}

describe('nothing takes what is printed (needs /dev/full)', missing, () => {
  test.each([
    '$PWPUSH push >/dev/full 2>/dev/full',
    '$PWPUSH push --json >/dev/full 2>/dev/full',
    '$PWPUSH push >&- 2>&-',
    '$PWPUSH push --json >/dev/full 2>&-',
    '$PWPUSH push 1</ 2>&-',
    // It cannot be expired again, since the answer to that makes no sense.
    '$PWPUSH push -v 1 >&- 2>/dev/full',
    '$PWPUSH push -v 1 --json 2>&-',
  ])('%s: the link is in a rescue file', async (line) => {
    const { env } = await creating();
    await shell(`printf s | ${line}`, { env });
    const [saved = '', ...others] = rescued();
    expect({ found: /https:[^"\n]+/.exec(saved)?.[0], others }).toEqual({
      found: LINK.trim(),
      others: [],
    });
  });

  test.each(['>/dev/full 2>/dev/full', '>&- 2>&-', '1</ 2>&-', '-o /dev/full 2>&-'])(
    'get %s: the secret is in a rescue file',
    alsoBinary,
    async (redirected) => {
      const { env } = await giving('hunter2');
      const { code } = await shell(`$PWPUSH get quyul5r5w08 ${redirected}`, { env });
      expect({ code, rescued: rescued() }).toEqual({ code: 1, rescued: ['hunter2'] });
    },
  );

  test('a reader that leaves midway gets a part; the whole is rescued', alsoBinary, async () => {
    const text = 'abcdefg\n'.repeat(100_000);
    const { env } = await giving(text);
    const line = '{ $PWPUSH get quyul5r5w08 2>"$HOME/err"; echo $? >"$HOME/status"; } | head -c 10';
    const { stdout } = await shell(line, { env });
    const status = readFileSync(`${somebody.folder}/status`, 'utf8');
    expect([stdout, status, rescued()[0] === text]).toEqual(['abcdefg\nab', '1\n', true]);
    const said = readFileSync(`${somebody.folder}/err`, 'utf8');
    rmSync(/rm '(.*)'$/m.exec(said)?.[1] ?? '');
    expect(rescued()).toEqual([]);
  });
});

describe('a signal while a pipe takes nothing', () => {
  test.each([
    ['SIGINT', 130, false],
    ['SIGINT', 130, true],
    ['SIGTERM', 143, true],
    ['SIGHUP', 129, true],
  ] as const)('%s: the link is in a rescue file', alsoBinary, async (signal, code, waits) => {
    const { env } = await creating();
    const fd = fullPipe(waits);
    // Told by the log that the answer is in; the rest of the log finds no room.
    const child = spawn(program[0], [...program.slice(1), 'push', '--debug'], {
      env,
      stdio: ['pipe', fd, 'pipe'],
    });
    child.stdin?.end('s');
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.stderr?.destroy();
    child.kill(signal);
    const [status] = await once(child, 'exit');
    expect({ status, rescued: rescued() }).toEqual({ status: code, rescued: [LINK] });
  });

  test('two signals in a row do not lose it: 130 or 143, by which comes first', async () => {
    const { env } = await creating();
    const fd = fullPipe();
    const child = spawn(program[0], [...program.slice(1), 'push', '--debug'], {
      env,
      stdio: ['pipe', fd, 'pipe'],
    });
    child.stdin?.end('s');
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.stderr?.destroy();
    child.kill('SIGINT');
    child.kill('SIGTERM');
    const [status] = await once(child, 'exit');
    expect(rescued()).toEqual([LINK]);
    expect([130, 143]).toContain(status);
  });

  test('the secret is in a rescue file', async () => {
    const { env } = await giving('hunter2');
    const fd = fullPipe();
    const words = [...program.slice(1), 'get', 'quyul5r5w08', '--debug'];
    const child = spawn(program[0], words, { env, stdio: ['pipe', fd, 'pipe'] });
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.stderr?.destroy();
    child.kill('SIGINT');
    const [status] = await once(child, 'exit');
    expect({ status, rescued: rescued() }).toEqual({ status: 130, rescued: ['hunter2'] });
  });
});

describe('the terminal goes away', needsPrograms('mkfifo', 'setsid'), () => {
  /** Resolves when the program has ended that has the FIFO as descriptor 3: nobody else tells it. */
  async function gone() {
    const fifo = join(somebody.folder, 'alive');
    execFileSync('mkfifo', [fifo]);
    const reading = createReadStream(fifo).resume();
    await once(reading, 'end');
  }

  test('without a word: the link is in a rescue file', alsoBinary, async () => {
    let asked = (_socket: Socket) => {};
    const waiting = new Promise<Socket>((resolve) => {
      asked = resolve;
    });
    const { env } = await instance((socket) => asked(socket));
    const ended = gone();
    // In a session of its own, so that no signal tells that the terminal is gone.
    const terminal = onTerminal('echo s | setsid -w $PWPUSH push 3>"$HOME/alive"; true', env);
    const socket = await waiting;
    terminal.hangUp();
    await terminal.ended;
    answer(socket, '201 Created', CREATED);
    await ended;
    expect(rescued()).toEqual([LINK]);
  });

  test('with SIGHUP, while the link is still looked for: it is in a rescue file', async () => {
    let previewed = (_socket: Socket) => {};
    const waiting = new Promise<Socket>((resolve) => {
      previewed = resolve;
    });
    const { env } = await instance((socket, text) => {
      if (text.startsWith('GET')) previewed(socket);
      else answer(socket, '201 Created', changed(CREATED, { html_url: '' }));
    });
    const ended = gone();
    const terminal = onTerminal('echo s | $PWPUSH push 3>"$HOME/alive"', env);
    await waiting;
    terminal.hangUp();
    await terminal.ended;
    // The shell dies of it, the program does its work before.
    await ended;
    expect(rescued()).toEqual([`${env.PWPUSH_URL}/p/quyul5r5w08/r\n`]);
  });
});

test('a creation that is not answered is told, and neither sent again nor looked for', async () => {
  const { env, requests } = await instance((socket) => void socket.destroy());
  const options = { env: { ...env, PWPUSH_TOKEN: 't0ken', PWPUSH_EDITION: 'oss' }, input: 's' };
  const { code, stderr } = await start(['push'], options).ended;
  expect({ code, asked: requests.map((text) => text.split(' HTTP')[0]) }).toEqual({
    code: 11,
    asked: ['POST /api/v2/pushes'],
  });
  expect(stderr).toContain('pwpush list');
});

describe('--output fails after the view was used (needs /dev/full)', missing, () => {
  /** Runs get, does something when the instance was asked, and lets it answer. */
  async function meanwhile(words: readonly string[], work: () => void) {
    const { env } = await instance((socket) => {
      work();
      answer(socket, '200 OK', changed(RETRIEVED, { views_remaining: 0 }));
    });
    const { code, stderr } = await start(['get', 'quyul5r5w08', ...words], { env, input: '' })
      .ended;
    return { code, problem: /^pwpush: (.*); the secret was saved to /m.exec(stderr)?.[1] };
  }

  test('its folder vanished', async () => {
    const folder = join(somebody.folder, 'out');
    mkdirSync(folder);
    const path = join(folder, 'secret');
    const outcome = await meanwhile(['-o', path], () => rmSync(folder, { recursive: true }));
    expect({ ...outcome, rescued: rescued() }).toEqual({
      code: 1,
      problem: `cannot write "${path}" (ENOENT)`,
      rescued: ['hunter2'],
    });
  });

  test('a folder took its name', async () => {
    const path = join(somebody.folder, 'secret');
    const outcome = await meanwhile(['-o', path, '--force'], () => mkdirSync(path));
    expect({ ...outcome, rescued: rescued() }).toEqual({
      code: 1,
      problem: `cannot write "${path}" (EISDIR)`,
      rescued: ['hunter2'],
    });
  });

  test('the device is full', async () => {
    const outcome = await meanwhile(['-o', '/dev/full'], () => {});
    expect({ ...outcome, rescued: rescued() }).toEqual({
      code: 1,
      problem: 'cannot write "/dev/full" (ENOSPC)',
      rescued: ['hunter2'],
    });
  });

  test('the reader of the pipe has left', allOf(needsPrograms('mkfifo'), alsoBinary), async () => {
    const path = join(somebody.folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const outcome = await meanwhile(['-o', path], () => closeSync(reader));
    expect({ ...outcome, rescued: rescued() }).toEqual({
      code: 1,
      problem: `cannot write "${path}" (EPIPE)`,
      rescued: ['hunter2'],
    });
  });
});
