import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  createReadStream,
  constants as flags,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deferred } from '../helpers/deferred';
import { type Late, lateProxy } from '../helpers/late-proxy';
import { answerJson, type Listening, rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsFile, needsPrograms, onUnix } from '../helpers/needs';
import {
  afterScript,
  alsoBinary,
  binary,
  type Ended,
  makePerson,
  onNode,
  type Person,
  person,
  program,
  pushed,
  type Running,
  rescued,
  serving,
  shell,
  start,
} from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';

// The built program, told to end, or cut off from whoever it talks to: it ends, says so, leaves nothing half-made, and
// loses no link or secret that it has, or that is on its way. Downloads are in files.slow.test.ts, prompts in
// terminal.slow.test.ts.

let somebody: Person;
beforeEach(() => {
  somebody = makePerson();
});
const at = (url: string, more: Record<string, string> = {}): Record<string, string> => ({
  ...somebody.env,
  ...{ PWPUSH_URL: url, PWPUSH_TOKEN: 't0ken', PWPUSH_EDITION: 'oss', ...more },
});
const fifo = (name: string) => {
  const path = join(somebody.folder, name);
  execFileSync('mkfifo', [path]);
  return path;
};
const needsFifo = needsPrograms('mkfifo');
const nowhere = 'http://127.0.0.1:1';

/** What an instance does with a request. */
type Talk = (socket: Socket, text: string) => unknown;

/** An instance on the wire; `asked` resolves to the first connection on which something was asked. */
async function instance(talk: Talk = () => {}) {
  const asked = deferred<Socket>();
  const { url, requests } = await rawServer((socket, text) => {
    talk(socket, text);
    asked.resolve(socket);
  });
  return { env: at(url), requests, asked: asked.promise };
}

const half = (socket: Socket) =>
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{');
/** Grants more views than it was asked for, and does not take the push back. */
const loose = (socket: Socket, text: string) =>
  text.startsWith('POST') &&
  answerJson(socket, changed(CREATED, { expire_after_views: 9 }), '201 Created');

/** What a command asks, and what is said in the end. */
const waiting: [when: string, line: string, talk: Talk, said: string][] = [
  [
    'in the middle of an answer',
    'get abc',
    half,
    'pwpush: terminated\nhint: a view may have been used: the owner can check with pwpush audit',
  ],
  [
    'while a push that is too loose is taken back',
    'push -v 2',
    loose,
    'pwpush: terminated; the instance granted looser limits than requested: 2 views requested, 9 granted; expiring the push FAILED, so the secret can still be read at https://pw.test/p/quyul5r5w08/r\nhint: expire it yourself: open the link and delete it, or run pwpush expire with a token',
  ],
];

describe('SIGTERM', () => {
  const [code, ended] = [143, 'pwpush: terminated\n'];

  /** Runs a command line, and sends the signal once `waits` says that the program waits. */
  async function stopped(
    words: readonly string[],
    env: Record<string, string>,
    waits: (running: Running) => Promise<unknown>,
  ) {
    const running = start(words, { env, input: 's', cwd: somebody.folder });
    await waits(running);
    running.child.kill('SIGTERM');
    return running.ended;
  }

  test('while the name of the host is looked up (Node.js)', onNode, async () => {
    // A resolver that does not answer, and says that it was asked.
    const held = join(somebody.folder, 'held.cjs');
    writeFileSync(
      held,
      "require('dns').lookup = () => { process.stderr.write('asked\\n'); setInterval(() => {}, 1e6); };",
    );
    const env = at('https://pw.test', { NODE_OPTIONS: `--require ${held}` });
    const { stderr, ...outcome } = await stopped(['version'], env, ({ says }) =>
      says('asked', 'stderr'),
    );
    // Nothing left, but that is not known of a signal.
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^asked\n${ended}`));
  });

  test.each(waiting)('%s', alsoBinary, async (_when, line, talk, said) => {
    const { env, requests } = await instance(talk);
    const { stderr, ...outcome } = await stopped([...line.split(' '), '--debug'], env, ({ says }) =>
      says(/pushes\S* 20[01]/, 'stderr'),
    );
    expect(outcome).toEqual({ code, signal: null, stdout: '' });
    const lines = stderr.split('\n').filter((one) => /^(pwpush|hint)\b/.test(one));
    expect(lines.join('\n')).toBe(said);
    const posts = requests.filter((one) => one.startsWith('POST'));
    expect(posts).toHaveLength(line.startsWith('push') ? 1 : 0);
  });

  test(
    'while the secret is read from a pipe that somebody holds',
    allOf(needsFifo, alsoBinary),
    async () => {
      const pipe = fifo('pipe');
      const all = await stopped(['push', '--from', pipe], at(nowhere), async () => {
        // Once it is open, the program waits in a system call that nothing breaks off.
        const writer = await open(pipe, 'w');
        onTestFinished(() => writer.close());
      });
      // Node.js can only end by the signal itself: shells have the same status for both.
      const how = binary ? { code, signal: null } : { code: null, signal: 'SIGTERM' };
      expect(all).toEqual({ ...how, stdout: '', stderr: ended });
    },
  );

  test('while standard input is copied to a file, of which nothing stays', alsoBinary, async () => {
    const { env, requests } = await instance();
    const TMPDIR = join(somebody.folder, 'tmp');
    mkdirSync(TMPDIR);
    const running = start(['push', '--file', '-'], { env: { ...env, TMPDIR } });
    // More than a pipe holds: once that is gone, the program has begun to read.
    await new Promise((resolve) => running.child.stdin?.write(Buffer.alloc(1_000_000), resolve));
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code, stdout: '', stderr: ended });
    expect([readdirSync(TMPDIR), requests]).toEqual([[], []]);
  });
});

test('SIGUSR1 opens no debugger in serve', allOf(onUnix, alsoBinary), async () => {
  const env = at(nowhere, { NODE_OPTIONS: '--inspect-port=0' });
  const { child, ended, says } = start(['serve', '--ephemeral', '--port', '0'], { env });
  const [url] = await says(/http:\/\/127\.0\.0\.1:\d+(?=.*\n)/);
  child.kill('SIGUSR1');
  // By then the process has had the signal.
  for (let count = 0; count < 3; count++) await (await fetch(`${url}/none`)).text();
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  expect([code, /debugger/i.test(stderr)]).toEqual([0, false]);
});

const LINK = 'https://pw.test/p/quyul5r5w08/r\n';
const creating = () => instance((socket) => answerJson(socket, CREATED, '201 Created'));
const giving = (payload: string) =>
  instance((socket) => answerJson(socket, changed(RETRIEVED, { payload, views_remaining: 0 })));

describe('nothing takes what is printed (needs /dev/full)', needsFile('/dev/full'), () => {
  test.each([
    'push >/dev/full 2>/dev/full',
    'push >&- 2>&-',
    // It cannot be expired again, since the answer to that makes no sense.
    'push -v 1 >&- 2>/dev/full',
    'get quyul5r5w08 >/dev/full 2>/dev/full',
    'get quyul5r5w08 >&- 2>&-',
    'get quyul5r5w08 -o /dev/full 2>&-',
  ])('%s: link or secret is in a rescue file', alsoBinary, async (line) => {
    const { env } = await (line.startsWith('push') ? creating() : giving('hunter2'));
    const { code } = await shell(`printf s | $PWPUSH ${line}`, { env });
    const wanted = line.startsWith('push') ? LINK : 'hunter2';
    expect([code === 0, rescued(env)]).toEqual([false, [wanted]]);
  });

  test('a reader that leaves midway gets a part; the whole is rescued', alsoBinary, async () => {
    const text = 'abcdefg\n'.repeat(100_000);
    const { env } = await giving(text);
    const line = '{ $PWPUSH get quyul5r5w08; echo $? >"$HOME/status"; } | head -c 10';
    const { stdout } = await shell(line, { env });
    const status = readFileSync(join(somebody.folder, 'status'), 'utf8');
    expect([stdout, status, rescued(env)[0] === text]).toEqual(['abcdefg\nab', '1\n', true]);
  });
});

describe('a signal while a pipe takes nothing', needsFifo, () => {
  /** A pipe nobody reads, full to the brim; whether writing to it waits, or fails for now. */
  function fullPipe(waits: boolean): number {
    const path = fifo('full');
    const fd = openSync(path, flags.O_RDWR | flags.O_NONBLOCK);
    onTestFinished(() => closeSync(fd));
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
    const waiting = openSync(path, flags.O_RDWR);
    onTestFinished(() => closeSync(waiting));
    return waiting;
  }

  test.each([
    ['link', 'SIGHUP', 129, true],
    ['link', 'SIGTERM', 143, false],
    ['secret', 'SIGINT', 130, false],
  ] as const)('the %s is in a rescue file: %s', alsoBinary, async (what, name, code, waits) => {
    const { env } = what === 'link' ? await creating() : await giving('hunter2');
    const command = what === 'link' ? ['push'] : ['get', 'quyul5r5w08'];
    // Told by the log that the answer is in; the rest of the log finds no room.
    const words = [...program.slice(1), ...command, '--debug'];
    const child = spawn(program[0], words, { env, stdio: ['pipe', fullPipe(waits), 'pipe'] });
    child.stdin?.end('s');
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.stderr?.destroy();
    child.kill(name);
    const [status] = await once(child, 'exit');
    expect(rescued(env)).toEqual([what === 'link' ? LINK : 'hunter2']);
    expect(status).toBe(code);
  });
});

test(
  'the terminal goes away without a word: the link is in a rescue file',
  allOf(needsPrograms('mkfifo', 'setsid'), alsoBinary),
  async () => {
    const { env, asked } = await instance();
    // Ends when the program has ended that has the FIFO as descriptor 3: nobody else tells it.
    const ended = once(createReadStream(fifo('alive')).resume(), 'end');
    // In a session of its own, so that no signal tells that the terminal is gone.
    const terminal = onTerminal('echo s | setsid -w $PWPUSH push 3>"$HOME/alive"; true', env);
    const socket = await asked;
    terminal.hangUp();
    await terminal.ended;
    answerJson(socket, CREATED, '201 Created');
    await ended;
    expect(rescued(env)).toEqual([LINK]);
  },
);

describe('a response that comes once the program has heard a signal', () => {
  const home = person();
  const service = serving(home.env);

  /** Makes the program say on stderr that it got a signal, right before it learns of it. */
  const hearing = join(home.folder, 'hearing.cjs');
  const HEARING = `for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(name, () => process.stderr.write('heard\\n'));`;
  const by = afterScript(hearing);
  const late: Late = { share: 0, holding: () => {} };
  let proxy: Listening;
  beforeAll(async () => {
    writeFileSync(hearing, HEARING);
    proxy = await lateProxy(service, late);
    return proxy.close;
  });

  let env: Record<string, string>;
  beforeEach(() => {
    late.share = 0;
    env = at(proxy.url, { PWPUSH_TOKEN: service.token, PWPUSH_EDITION: '' });
  });

  const lastView = async () =>
    (await pushed(service, 'hunter2', { expire_after_views: 1 })).replace(service.url, proxy.url);
  const question = async () => {
    const { json } = await service.ask('POST', '/requests', { request: { request: 'Which?' } });
    return `${proxy.url}/r/${json.url_token}`;
  };
  /** Links may go on after it. */
  const tokenOf = (link: string) => /\/[pr]\/([\w-]+)/.exec(link)?.[1];
  const respond = (link: string) =>
    service.ask('PATCH', `/requests/${tokenOf(link)}/respond`, {
      request: { response: 'hunter2' },
    });
  const payloadOf = async (link: string) =>
    (await service.ask('GET', `/pushes/${tokenOf(link)}`)).json.payload;

  /**
   * Runs a command line. Once the response to a request such as `GET /path` is held back it sends the signals, one after
   * the other is heard, and then lets the response go.
   */
  async function interrupted(
    held: RegExp,
    words: readonly string[],
    input = '',
    names: readonly NodeJS.Signals[] = ['SIGTERM'],
  ): Promise<Ended> {
    const left = [...names];
    const { child, ended } = start(words, { env, input, cwd: somebody.folder, by });
    const allHeard = deferred();
    const next = () => {
      const name = left.shift();
      if (name) child.kill(name);
      else allHeard.resolve();
    };
    child.stderr?.on('data', (chunk) => void (`${chunk}`.includes('heard') && next()));
    late.holding = (call) => {
      if (!held.test(call)) return;
      next();
      return allHeard.promise;
    };
    const all = await ended;
    // As a shell reports it: Node.js may have to end by the signal itself.
    return { ...all, code: all.code ?? 128 + constants.signals[all.signal as NodeJS.Signals] };
  }

  const SIGNALS = [
    [['SIGINT'], 130],
    [['SIGTERM'], 143],
    [['SIGHUP'], 129],
    // As npx does with Ctrl-C.
    [['SIGINT', 'SIGINT'], 130],
    [['SIGTERM', 'SIGINT'], 143],
  ] as const;
  const RETRIEVAL = /^GET .*\/pushes\//;
  const CREATION = /^POST .*\/pushes$/;

  describe.each(partOf(SIGNALS, 0, 3))(
    '%j between a request and its response loses',
    (names, code) => {
      test('no secret of a last view', async () => {
        const link = await lastView();
        const ended = await interrupted(RETRIEVAL, ['get', link, '--anonymous'], '', names);
        expect([ended.code, ended.stdout]).toEqual([code, 'hunter2']);
        expect(await payloadOf(link)).toBeNull();
      });

      test('no link of a new push', async () => {
        const ended = await interrupted(CREATION, ['push'], 'hunter2', names);
        expect([ended.code, await payloadOf(ended.stdout)]).toEqual([code, 'hunter2']);
      });
    },
  );

  describe('SIGTERM between a request and its response loses', () => {
    const said = async (...how: Parameters<typeof interrupted>) => {
      const { code, stdout, stderr } = await interrupted(...how);
      expect(code, stderr).toBe(143);
      return { stdout, stderr };
    };

    test('no secret of which half is there', async () => {
      late.share = 0.5;
      const words = ['get', await lastView(), '--anonymous'];
      expect((await said(RETRIEVAL, words)).stdout).toBe('hunter2');
    });

    test('no answer to a request', async () => {
      const link = await question();
      await respond(link);
      expect((await said(/^GET .*\/requests\/[\w-]+$/, ['get', link])).stdout).toBe('hunter2');
    });

    test('no link of a push with files', async () => {
      const { stdout } = await said(CREATION, ['push', '--file', hearing, '--message', 'a']);
      expect(await payloadOf(stdout)).toBe('a');
    });

    test('no link of a new request', async () => {
      const words = ['request', 'Which?', '--no-encrypt'];
      const { stdout } = await said(/^POST .*\/requests$/, words);
      expect((await respond(stdout)).status).toBe(200);
    });
  });
});
