import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  closeSync,
  constants as flags,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { request as askFor } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { endings, exitStatus } from '../../src/platform/errors';
import { deferred } from '../helpers/deferred';
import { type Late, lateProxy } from '../helpers/late-proxy';
import { answerJson, type Listening, rawServer, socketServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needs, needsFile, needsPrograms, onUnix } from '../helpers/needs';
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
  pwpush,
  type Running,
  rescued,
  serving,
  shell,
  start,
  running as startedBy,
} from '../helpers/program';
import { gone, onTerminal } from '../helpers/pty';
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
  PWPUSH_URL: url,
  PWPUSH_TOKEN: 't0ken',
  PWPUSH_EDITION: 'oss',
  ...more,
});
const fifo = (name: string) => {
  const path = join(somebody.folder, name);
  execFileSync('mkfifo', ['-m', '600', path]);
  return path;
};
const needsFifo = needsPrograms('mkfifo');
const nowhere = 'http://127.0.0.1:1';

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

describe('SIGTERM', () => {
  const [code, ended] = [143, 'pwpush: terminated\n'];

  /** Runs a command line, and sends the signal once `waits` says that the program waits. */
  async function stopped(words: string, env: Record<string, string>, waits: (running: Running) => Promise<unknown>) {
    const running = start(words.split(' '), { env, input: 's', cwd: somebody.folder });
    await waits(running);
    running.child.kill('SIGTERM');
    return running.ended;
  }

  const half = (socket: Socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{');
  const patient = (socket: Socket) => socket.write('HTTP/1.1 429 No\r\nretry-after: 50\r\ncontent-length: 0\r\n\r\n');
  /** Grants more views than it was asked for, and does not take the push back. */
  const loose = (socket: Socket, text: string) =>
    text.startsWith('POST') && answerJson(socket, changed(CREATED, { expire_after_views: 9 }), '201 Created');
  const unseen = (socket: Socket, text: string) => {
    const listed = changed(CREATED, { expires_at: '2999-01-01T00:00:00.000Z' });
    answerJson(socket, text.includes('/audit') ? '{"logs":[]}' : `[${listed}]`);
  };
  const deaf = (socket: Socket) => socket.pause();

  // The command waits there once its log says so, or else once it has asked.
  // biome-ignore format: a table
  test.each<[when: string, line: string, talk: Talk, log: RegExp | undefined, before: string, after: string]>([
    ['in the middle of an answer', 'get abc', half, /pushes\/abc\S* 200/, '',
      '\nhint: a view may have been used: the owner can check with pwpush audit'],
    ['while waiting as the instance asked to', 'push', patient, /retrying/,
      'the instance returned 429; retrying in 50 s\n', ''],
    ['while a push that is too loose is taken back', 'push -v 2', loose, /pushes 201/, '',
      '; the instance granted looser limits than requested: 2 views requested, 9 granted; expiring the push FAILED, so ' +
      'the secret can still be read at https://pw.test/p/quyul5r5w08/r\nhint: expire it yourself: open the link and ' +
      'delete it, or run pwpush expire with a token'],
    ['in a long sleep between two looks', 'wait quyul5r5w08 --interval 3600', unseen, /pushes\/active\S* 200/, '', ''],
    ['while a file is being sent', 'push --file large', deaf, undefined, '', ''],
    ['while the instance does not answer', 'push', deaf, undefined, '',
      '\nhint: a push may exist: look for it with pwpush list and expire it before you push again'],
  ])('%s', alsoBinary, async (_when, line, talk, log, before, after) => {
    const { env, asked, requests } = await instance(talk);
    writeFileSync(join(somebody.folder, 'large'), '');
    truncateSync(join(somebody.folder, 'large'), 64 * 1024 * 1024);
    const { stderr, ...outcome } = await stopped(`${line} --debug`, env, ({ says }) =>
      log ? says(log, 'stderr') : asked,
    );
    expect(outcome).toEqual({ code, signal: null, stdout: '' });
    const lines = stderr.split('\n').filter((one) => /^(pwpush|hint|the)\b/.test(one));
    expect(lines.join('\n')).toBe(`${before}pwpush: terminated${after}`);
    const posts = requests.filter((one) => one.startsWith('POST'));
    expect(posts).toHaveLength(line.startsWith('push') ? 1 : 0);
  });

  test('while the name of the host is looked up (Node.js)', onNode, async () => {
    // A resolver that does not answer, and says that it was asked.
    const held = join(somebody.folder, 'held.cjs');
    const silent = "() => { process.stderr.write('asked\\n'); setInterval(() => {}, 1e6); }";
    writeFileSync(held, `require('dns').lookup = ${silent};`);
    const env = at('https://pw.test', { NODE_OPTIONS: `--require ${held}` });
    const { stderr, ...outcome } = await stopped('version', env, ({ says }) => says('asked', 'stderr'));
    // Nothing left, but that is not known of a signal.
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^asked\n${ended}`));
  });

  test('while TLS is being agreed on', alsoBinary, async () => {
    const hello = deferred();
    const { url } = await socketServer((socket) => socket.once('data', hello.resolve));
    const all = await stopped('push', at(url.replace('http', 'https')), () => hello.promise);
    expect(all).toMatchObject({ code, stdout: '', stderr: ended });
  });

  const held = ['push --from', 'list --token-file', 'list --headers-file', 'list --cert'];
  test.each(held)('while %s reads a held pipe', allOf(needsFifo, alsoBinary), async (words) => {
    const pipe = fifo('pipe');
    const all = await stopped(`${words} ${pipe}`, at(nowhere), async () => {
      const writer = await open(pipe, 'w');
      onTestFinished(() => writer.close());
    });
    expect(all).toEqual({ code, signal: null, stdout: '', stderr: ended });
  });

  test('while nobody writes to a pipe', allOf(needsFifo, onNode), async () => {
    const env = at(nowhere, { PWPUSH_TOKEN: '' });
    const all = await stopped(`list --token-file ${fifo('pipe')} --debug`, env, async ({ child }) => {
      const folder = `/proc/${child.pid}/fd`;
      const opened = () => readdirSync(folder).map((fd) => linkOf(join(folder, fd)));
      await expect.poll(opened, { message: 'the pipe is open' }).toContainEqual(expect.stringMatching(/pipe$/));
    });
    expect(all).toMatchObject({ code, signal: null });
  });

  test(
    'as the first process of a container, which no signal ends',
    allOf(needs('namespaces of processes (unshare)', namespaces), alsoBinary),
    async () => {
      const pipe = fifo('pipe');
      const words = ['--pid', '--fork', '--kill-child', ...program, 'push', '--from', pipe];
      const running = startedBy(spawn('unshare', words, { env: at(nowhere) }));
      const writer = await open(pipe, 'w');
      const children = `/proc/${running.child.pid}/task/${running.child.pid}/children`;
      process.kill(Number(readFileSync(children, 'utf8')), 'SIGTERM');
      await running.says(ended, 'stderr');
      await writer.close();
      expect(await running.ended).toMatchObject({ code, signal: null, stderr: ended });
    },
  );

  test.each([
    ['read', ['push']],
    ['copied to a file, of which nothing stays', ['push', '--file', '-']],
  ])('while standard input is being %s', alsoBinary, async (_, words) => {
    const { env, requests } = await instance();
    const TMPDIR = join(somebody.folder, 'tmp');
    mkdirSync(TMPDIR);
    const running = start(words, { env: { ...env, TMPDIR } });
    // More than a pipe holds: once that is gone, the program has begun to read.
    await new Promise((resolve) => running.child.stdin?.write(Buffer.alloc(1_000_000), resolve));
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code, stdout: '', stderr: ended });
    expect([readdirSync(TMPDIR), requests]).toEqual([[], []]);
  });
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

test('a pipe in place of a file that pwpush keeps is refused', needsFifo, async () => {
  mkdirSync(join(somebody.folder, 'config'), { mode: 0o700 });
  const [config, kept] = [fifo('config/config.json'), fifo('download')];
  const refused = (what: string) => expect.stringMatching(`^pwpush: ${what} is a pipe\n`);
  const { stderr } = await pwpush(['list'], { env: somebody.env });
  expect(stderr).toEqual(refused(`the config file "${config}"`));
  const resumed = await pwpush(['get', '--resume', kept], { env: at(nowhere) });
  expect(resumed.stderr).toEqual(refused(`the file "${kept}"`));
});

const mounts = spawnSync('unshare', ['--mount', 'true']).status === 0;
const needsMounts = allOf(needs('mounts of its own (unshare)', mounts), onNode);

test('--timeout ends a run while a name server is silent', needsMounts, async () => {
  const server = createSocket('udp4').bind(53, '127.0.0.53');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const settings = join(somebody.folder, 'resolv.conf');
  writeFileSync(settings, 'nameserver 127.0.0.53\noptions timeout:30 attempts:5\n');
  const line = `mount --bind ${settings} /etc/resolv.conf; exec $PWPUSH version --timeout 2`;
  const by = ['unshare', '--mount', 'sh', '-c', line];
  const env = at('https://pw.test', { PWPUSH: program.join(' ') });
  const { code, stderr } = await start([], { env, input: '', by }).ended;
  expect([code, stderr]).toEqual([9, expect.stringContaining('pw.test cannot be reached')]);
});

const namespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

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
    'push 1</ 2>&-',
    // It cannot be expired again, since the answer to that makes no sense.
    'push -v 1 >&- 2>/dev/full',
    'get quyul5r5w08 >/dev/full 2>/dev/full',
    'get quyul5r5w08 >&- 2>&-',
    'get quyul5r5w08 1</ 2>&-',
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

  test.each<[string, number[], string[], boolean]>([
    ['link', [130], ['SIGINT'], false],
    ['link', [129], ['SIGHUP'], true],
    ['link', [143], ['SIGTERM'], true],
    // By which comes first.
    ['link', [130, 143], ['SIGINT', 'SIGTERM'], false],
    ['secret', [130], ['SIGINT'], false],
  ])('the %s is in a rescue file: %j, %j', alsoBinary, async (what, codes, names, waits) => {
    const { env } = what === 'link' ? await creating() : await giving('hunter2');
    const command = what === 'link' ? ['push'] : ['get', 'quyul5r5w08'];
    // Told by the log that the answer is in; the rest of the log finds no room.
    const words = [...program.slice(1), ...command, '--debug'];
    const child = spawn(program[0], words, { env, stdio: ['pipe', fullPipe(waits), 'pipe'] });
    child.stdin?.end('s');
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.stderr?.destroy();
    for (const name of names) child.kill(name as NodeJS.Signals);
    const [status] = await once(child, 'exit');
    expect(rescued(env)).toEqual([what === 'link' ? LINK : 'hunter2']);
    expect(codes).toContain(status);
  });
});

describe('the terminal goes away', needsPrograms('mkfifo', 'setsid'), () => {
  test('without a word: the link is in a rescue file', alsoBinary, async () => {
    const { env, asked } = await instance();
    const ended = gone(env);
    // In a session of its own, so that no signal tells that the terminal is gone.
    const terminal = onTerminal('echo s | setsid -w $PWPUSH push 3>"$HOME/alive"; true', env);
    const socket = await asked;
    terminal.hangUp();
    await terminal.ended;
    answerJson(socket, CREATED, '201 Created');
    await ended;
    expect(rescued(env)).toEqual([LINK]);
  });

  test('with SIGHUP, while the link is still looked for: it is in a rescue file', async () => {
    const previewed = deferred();
    const { env } = await instance((socket, text) => {
      if (text.startsWith('GET')) previewed.resolve();
      else answerJson(socket, changed(CREATED, { html_url: '' }), '201 Created');
    });
    const ended = gone(env);
    const terminal = onTerminal('echo s | $PWPUSH push 3>"$HOME/alive"', env);
    await previewed.promise;
    terminal.hangUp();
    await terminal.ended;
    // The shell dies of it, the program does its work before.
    await ended;
    expect(rescued(env)).toEqual([`${env.PWPUSH_URL}/p/quyul5r5w08/r\n`]);
  });
});

/** The runtime of the executable stops its threads with one of these, and does not know the other. */
const isHandled = (name: string) => !binary || !['SIGPWR', 'SIGSTKFLT'].includes(name);

describe('a response that comes once the program has heard a signal', () => {
  const home = person();
  const service = serving(home.env);

  /** Makes the program say on stderr that it got a signal, right before it learns of it. */
  const hearing = join(home.folder, 'hearing.cjs');
  const by = afterScript(hearing);
  const late: Late = { share: 0, holding: () => {} };
  let proxy: Listening;
  beforeAll(async () => {
    const names = JSON.stringify(Object.keys(endings).filter(isHandled));
    writeFileSync(hearing, `for (const name of ${names}) process.on(name, () => process.stderr.write('heard\\n'));`);
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
  const payloadOf = async (link: string) => (await service.ask('GET', `/pushes/${tokenOf(link)}`)).json.payload;

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

  describe.each(partOf(SIGNALS, 0, 3))('%j between request and response loses', (names, code) => {
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
  });

  test('any other signal that can be handled loses no secret either', alsoBinary, async () => {
    const names = Object.entries(endings).flatMap(([name, code]) =>
      name in constants.signals && isHandled(name) ? [[name as NodeJS.Signals, exitStatus[code]] as const] : [],
    );
    for (const [name, code] of names) {
      const words = ['get', await lastView(), '--anonymous'];
      const ended = await interrupted(RETRIEVAL, words, '', [name]);
      expect({ name, ...ended }).toMatchObject({ name, code, stdout: 'hunter2' });
    }
  });

  /** What must not get lost, the request whose response is held, the command, and what shows that nothing is. */
  const losses: [what: string, held: RegExp, words: () => Promise<string[]>, kept: (all: Ended) => unknown][] = [
    [
      'no answer to a request',
      /^GET .*\/requests\/[\w-]+$/,
      async () => {
        const link = await question();
        await respond(link);
        return ['get', link];
      },
      ({ stdout }) => expect(stdout).toBe('hunter2'),
    ],
    [
      'no link of a push with files',
      CREATION,
      async () => ['push', '--file', hearing, '--message', 'a'],
      async ({ stdout }) => expect(await payloadOf(stdout)).toBe('a'),
    ],
    [
      'no link of a new request',
      /^POST .*\/requests$/,
      async () => ['request', 'Which?', '--no-encrypt'],
      async ({ stdout }) => expect((await respond(stdout)).status).toBe(200),
    ],
    [
      'no word that an answer arrived',
      /^PATCH /,
      async () => ['respond', await question(), '--from', hearing],
      ({ stderr }) => expect(stderr.split('\n')).toContain('the answer was sent'),
    ],
    [
      'no word that a push was expired',
      /^DELETE /,
      async () => ['expire', await lastView(), '--json'],
      ({ stdout }) => expect(JSON.parse(stdout)[0].expired).toBe(true),
    ],
  ];
  test.each(losses)('SIGTERM between a request and its response loses %s', async (_, held, words, kept) => {
    const all = await interrupted(held, await words());
    expect(all.code, all.stderr).toBe(143);
    await kept(all);
  });

  test('SIGTERM loses no secret of which half is there', async () => {
    late.share = 0.5;
    const all = await interrupted(RETRIEVAL, ['get', await lastView(), '--anonymous']);
    expect([all.code, all.stdout], all.stderr).toEqual([143, 'hunter2']);
  });

  test('is one of serve: Ctrl-C that arrives twice, as through npx, lets it finish', async () => {
    const words = ['serve', '--ephemeral', '--port', '0', '--json'];
    const serve = start(words, { env, input: '', by });
    const [line = ''] = await serve.says(/.*\n/);
    const { url, token } = JSON.parse(line);
    const authorization = `Bearer ${token}`;
    const push = askFor(`${url}/api/v2/pushes`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', expect: '100-continue' },
    });
    push.flushHeaders();
    await once(push, 'continue');
    for (const heard of [/heard/, /heard\n.*heard/s]) {
      serve.child.kill('SIGINT');
      await serve.says(heard, 'stderr');
    }
    push.end('{"push":{"payload":"hunter2"}}');
    const [{ statusCode }] = await once(push, 'response');
    expect({ statusCode, code: (await serve.ended).code }).toEqual({ statusCode: 201, code: 0 });
    expect(readdirSync(somebody.folder)).toEqual([]);
  });
});
