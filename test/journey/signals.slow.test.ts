import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  createReadStream,
  constants as flags,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { request as sendOn } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deferred } from '../helpers/deferred';
import { answerJson, type Listening, listening, rawServer, socketServer } from '../helpers/listen';
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
  type Running,
  rescued,
  running,
  serving,
  shell,
  start,
} from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';

// The built program, told to end, or cut off from whoever it talks to: it ends, says so, leaves nothing half-made, and
// loses no link or secret that it has, or that is on its way. Downloads are in files.slow.test.ts, prompts in
// prompts.slow.test.ts.

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

/** An instance on the wire; `asked` resolves to the first connection on which something was asked. */
async function instance(talk: (socket: Socket, text: string) => void = () => {}) {
  const asked = deferred<Socket>();
  const { url, requests } = await rawServer((socket, text) => {
    talk(socket, text);
    asked.resolve(socket);
  });
  return { env: at(url), requests, asked: asked.promise };
}

const signals = [
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
] as const;

describe.each(partOf(signals, 0))('%s', (signal, code, word) => {
  /** What is said in the end, and nothing else. */
  const said = (hint?: string) => `pwpush: ${word}\n${hint === undefined ? '' : `hint: ${hint}\n`}`;

  /** Runs a command line, and sends the signal once `waiting` says that the program waits. */
  async function stopped(
    words: readonly string[],
    env: Record<string, string>,
    waiting: (running: Running) => Promise<unknown>,
    input: string | undefined = 's',
  ) {
    const running = start(words, { env, input, cwd: somebody.folder });
    await waiting(running);
    running.child.kill(signal);
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
    const ended = await stopped(['version'], env, ({ says }) => says('asked', 'stderr'));
    // Nothing left, but that is not known of a signal.
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr.split('\n').slice(0, 2)).toEqual(['asked', `pwpush: ${word}`]);
  });

  test('while TLS is being agreed on', alsoBinary, async () => {
    const hello = deferred();
    const { url } = await socketServer((socket) => socket.once('data', hello.resolve));
    const ended = await stopped(['push'], at(url.replace('http', 'https')), () => hello.promise);
    expect(ended).toMatchObject({ code, stdout: '', stderr: said() });
  });

  const half = (socket: Socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
    );
  const patient = (socket: Socket) =>
    socket.write('HTTP/1.1 429 No\r\nretry-after: 50\r\ncontent-length: 0\r\n\r\n');
  /** Grants more views than it was asked for, and does not take the push back. */
  const loose = (socket: Socket, text: string) => {
    if (text.startsWith('POST'))
      answerJson(socket, changed(CREATED, { expire_after_views: 9 }), '201 Created');
  };
  const unseen = (socket: Socket, text: string) => {
    const listed = changed(CREATED, { expires_at: '2999-01-01T00:00:00.000Z' });
    answerJson(socket, text.includes('/audit') ? '{"logs":[]}' : `[${listed}]`);
  };
  const ended = `pwpush: ${word}`;

  test.each<[string, string[], (socket: Socket, text: string) => unknown, RegExp, string[]]>([
    [
      'in the middle of an answer',
      ['get', 'abc'],
      half,
      /pushes\/abc\S* 200/,
      [ended, 'hint: a view may have been used: the owner can check with pwpush audit'],
    ],
    [
      'while waiting as the instance asked to',
      ['push'],
      patient,
      /retrying/,
      ['the instance returned 429; retrying in 50 s', ended],
    ],
    [
      'while a push that is too loose is taken back',
      ['push', '-v', '2'],
      loose,
      /pushes 201/,
      [
        `${ended}; the instance granted looser limits than requested: 2 views requested, 9 granted; expiring the push FAILED, so the secret can still be read at https://pw.test/p/quyul5r5w08/r`,
        'hint: expire it yourself: open the link and delete it, or run pwpush expire with a token',
      ],
    ],
    [
      'in a long sleep between two looks',
      ['wait', 'quyul5r5w08', '--interval', '3600'],
      unseen,
      /pushes\/active\S* 200/,
      [ended],
    ],
  ])('%s', alsoBinary, async (_when, words, talk, log, last) => {
    const { env } = await instance(talk);
    const waiting = ({ says }: Running) => says(log, 'stderr');
    const { stderr, ...outcome } = await stopped([...words, '--debug'], env, waiting);
    expect(outcome).toEqual({ code, signal: null, stdout: '' });
    expect(stderr.split('\n').filter((line) => /^(pwpush|hint|the)\b/.test(line))).toEqual(last);
  });

  test.each([
    ['while a file is being sent', ['--file', 'large'], undefined],
    [
      'while the instance does not answer',
      [],
      'a push may exist: look for it with pwpush list and expire it before you push again',
    ],
  ])('%s', alsoBinary, async (_when, words, hint) => {
    const { env, asked, requests } = await instance((socket) => socket.pause());
    const file = join(somebody.folder, 'large');
    writeFileSync(file, '');
    truncateSync(file, 64 * 1024 * 1024);
    const ended = await stopped(['push', ...words], env, () => asked);
    expect(ended).toMatchObject({ code, stdout: '', stderr: said(hint) });
    expect(requests).toHaveLength(1);
  });

  /** Resolves once the program has opened it too, which then waits in a system call that nothing breaks off. */
  async function held(pipe: string): Promise<void> {
    const writer = await open(pipe, 'w');
    onTestFinished(() => writer.close());
  }

  test.each([
    ['the secret', '--from'],
    ['the passphrase', '--passphrase-file'],
  ])(
    'while %s is read from a pipe that somebody holds',
    allOf(needsFifo, alsoBinary),
    async (_what, option) => {
      const pipe = fifo('pipe');
      const ended = await stopped(['push', option, pipe], at(nowhere), () => held(pipe));
      // Node.js can only end by the signal itself: shells have the same status for both.
      expect(ended).toEqual({
        ...(binary ? { code, signal: null } : { code: null, signal }),
        ...{ stdout: '', stderr: said() },
      });
    },
  );

  test(
    'as the first process of a container, which no signal ends',
    allOf(needs('namespaces of processes (unshare)', namespaces), alsoBinary),
    async () => {
      const pipe = fifo('pipe');
      const words = ['--pid', '--fork', '--kill-child', ...program, 'push', '--from', pipe];
      const { child, ended, says } = running(spawn('unshare', words, { env: at(nowhere) }));
      const writer = await open(pipe, 'w');
      const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
      process.kill(Number(first), signal);
      await says(said(), 'stderr');
      await writer.close();
      expect(await ended).toMatchObject({ code, signal: null, stderr: said() });
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
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ code, stdout: '', stderr: said() });
    expect([readdirSync(TMPDIR), requests]).toEqual([[], []]);
  });
});

/** Whether this machine lets us be the first process of a container. */
const namespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

const servers = [
  ['serve', '--ephemeral', '--port', '0'],
  ['request', '--here', '--host', '127.0.0.1'],
  ['push', '--here'],
];
test.each(partOf(servers, 0).map((words) => [words]))(
  'SIGUSR1 opens no debugger in %j',
  allOf(onUnix, alsoBinary),
  async (words) => {
    const env = at(nowhere, { NODE_OPTIONS: '--inspect-port=0' });
    const { child, ended, says } = start(words, { env, input: 's' });
    const stream = words[0] === 'request' ? 'stderr' : 'stdout';
    const [url] = await says(/http:\/\/127\.0\.0\.1:\d+(?=.*\n)/, stream);
    child.kill('SIGUSR1');
    // By then the process has had the signal.
    for (let count = 0; count < 3; count++) await (await fetch(`${url}/none`)).text();
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect({ code, debugger: /debugger/i.test(stderr) }).toEqual({
      code: words[0] === 'serve' ? 0 : 143,
      debugger: false,
    });
  },
);

const LINK = 'https://pw.test/p/quyul5r5w08/r\n';
const creating = () => instance((socket) => answerJson(socket, CREATED, '201 Created'));
const giving = (payload: string) =>
  instance((socket) => answerJson(socket, changed(RETRIEVED, { payload, views_remaining: 0 })));

describe('nothing takes what is printed (needs /dev/full)', needsFile('/dev/full'), () => {
  test.each([
    'push >/dev/full 2>/dev/full',
    'push --json >/dev/full 2>&-',
    'push >&- 2>&-',
    'push 1</ 2>&-',
    // It cannot be expired again, since the answer to that makes no sense.
    'push -v 1 >&- 2>/dev/full',
    'push -v 1 --json 2>&-',
  ])('%s: the link is in a rescue file', async (line) => {
    const { env } = await creating();
    await shell(`printf s | $PWPUSH ${line}`, { env });
    const [saved = '', ...others] = rescued(env);
    expect([/https:[^"\n]+/.exec(saved)?.[0], others]).toEqual([LINK.trim(), []]);
  });

  test.each(['>/dev/full 2>/dev/full', '>&- 2>&-', '1</ 2>&-', '-o /dev/full 2>&-'])(
    'get %s: the secret is in a rescue file',
    alsoBinary,
    async (redirected) => {
      const { env } = await giving('hunter2');
      const { code } = await shell(`$PWPUSH get quyul5r5w08 ${redirected}`, { env });
      expect({ code, rescued: rescued(env) }).toEqual({ code: 1, rescued: ['hunter2'] });
    },
  );

  test('a reader that leaves midway gets a part; the whole is rescued', alsoBinary, async () => {
    const text = 'abcdefg\n'.repeat(100_000);
    const { env } = await giving(text);
    const line = '{ $PWPUSH get quyul5r5w08 2>"$HOME/err"; echo $? >"$HOME/status"; } | head -c 10';
    const { stdout } = await shell(line, { env });
    const [status = '', said = ''] = ['status', 'err'].map((name) =>
      readFileSync(join(somebody.folder, name), 'utf8'),
    );
    expect([stdout, status, rescued(env)[0] === text]).toEqual(['abcdefg\nab', '1\n', true]);
    rmSync(/rm '(.*)'$/m.exec(said)?.[1] ?? '');
    expect(rescued(env)).toEqual([]);
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
    ['link', [130], ['SIGINT'], true],
    ['link', [143], ['SIGTERM'], true],
    ['link', [129], ['SIGHUP'], true],
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
  /** Resolves when the program has ended that has the FIFO as descriptor 3: nobody else tells it. */
  async function gone() {
    await once(createReadStream(fifo('alive')).resume(), 'end');
  }

  test('without a word: the link is in a rescue file', alsoBinary, async () => {
    const { env, asked } = await instance();
    const ended = gone();
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
    const ended = gone();
    const terminal = onTerminal('echo s | $PWPUSH push 3>"$HOME/alive"', env);
    await previewed.promise;
    terminal.hangUp();
    await terminal.ended;
    // The shell dies of it, the program does its work before.
    await ended;
    expect(rescued(env)).toEqual([`${env.PWPUSH_URL}/p/quyul5r5w08/r\n`]);
  });
});

describe('a response that comes once the program has heard a signal', () => {
  const home = person();
  const service = serving(home.env);

  /** Makes the program say on stderr that it got a signal, right before it learns of it. */
  const hearing = join(home.folder, 'hearing.cjs');
  const HEARING = `for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(name, () => process.stderr.write('heard\\n'));`;
  /** The requests whose responses are held back, such as `GET /path`. */
  let held: RegExp | undefined;
  /** Half of the response is sent at once. */
  let halved = false;
  /** Called when the response, or half of it, is there; it goes on when this resolves. */
  let holding: () => Promise<unknown>;
  let proxy: Listening;
  beforeAll(async () => {
    writeFileSync(hearing, HEARING);
    proxy = await listening(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const onward = sendOn(service.url + url, { method, headers });
      onward.end(await buffer(request));
      const [answer] = await once(onward, 'response');
      const body = await buffer(answer);
      response.writeHead(answer.statusCode, answer.headers);
      const late = held?.test(`${method} ${url}`) ?? false;
      const half = late && halved ? body.length >> 1 : 0;
      if (half > 0) response.write(body.subarray(0, half));
      if (late) await holding();
      response.end(body.subarray(half));
    });
    return proxy.close;
  });

  let env: Record<string, string>;
  beforeEach(() => {
    held = undefined;
    halved = false;
    env = at(proxy.url, { PWPUSH_TOKEN: service.token, PWPUSH_EDITION: '' });
  });

  const linkOf = (kind: 'p' | 'r', { json }: { json: { url_token: string } }) =>
    `${proxy.url}/${kind}/${json.url_token}`;
  const lastView = async () => {
    const push = { payload: 'hunter2', expire_after_views: 1 };
    return linkOf('p', await service.ask('POST', '/pushes', { push }));
  };
  const question = async () =>
    linkOf('r', await service.ask('POST', '/requests', { request: { request: 'Which?' } }));
  /** Links may go on after it. */
  const tokenOf = (link: string) => /\/[pr]\/([\w-]+)/.exec(link)?.[1];
  const respond = (link: string) =>
    service.ask('PATCH', `/requests/${tokenOf(link)}/respond`, {
      request: { response: 'hunter2' },
    });
  const payloadOf = async (link: string) =>
    (await service.ask('GET', `/pushes/${tokenOf(link)}`)).json.payload;
  /** What the links on stdout open. */
  const opened = ({ stdout }: Ended) => Promise.all(stdout.trim().split('\n').map(payloadOf));

  /**
   * Runs a command line. Once `requests` responses are held back it sends the signals, one after the other is heard, and
   * then lets the responses go.
   */
  async function interrupted(
    words: readonly string[],
    input: string,
    names: readonly NodeJS.Signals[],
    requests = 1,
  ): Promise<Ended> {
    const left = [...names];
    const by = afterScript(hearing);
    const { child, ended } = start(words, { env, input, cwd: somebody.folder, by });
    const allHeard = deferred();
    const next = () => {
      const name = left.shift();
      if (name) child.kill(name);
      else allHeard.resolve();
    };
    let heard = '';
    child.stderr?.on('data', (chunk) => {
      const before = heard.split('heard').length;
      heard += chunk;
      if (heard.split('heard').length > before) next();
    });
    let waiting = 0;
    holding = () => {
      waiting += 1;
      if (waiting === requests) next();
      return allHeard.promise;
    };
    const all = await ended;
    held = undefined;
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

  describe.each(partOf(SIGNALS, 0, 3))(
    '%j between a request and its response loses',
    (names, code) => {
      test('no secret of a last view', async () => {
        const link = await lastView();
        held = /^GET .*\/pushes\//;
        const ended = await interrupted(['get', link, '--anonymous'], '', names);
        expect([ended.code, ended.stdout]).toEqual([code, 'hunter2']);
        expect(await payloadOf(link)).toBeNull();
      });

      test('no link of a new push', async () => {
        held = /^POST .*\/pushes$/;
        const ended = await interrupted(['push'], 'hunter2', names);
        expect([ended.code, await opened(ended)]).toEqual([code, ['hunter2']]);
      });
    },
  );

  describe('SIGTERM between a request and its response loses', () => {
    const ended = async (words: readonly string[], input = '', requests = 1) => {
      const all = await interrupted(words, input, ['SIGTERM'], requests);
      expect(all.code, all.stderr).toBe(143);
      return all;
    };

    test.each([
      ['no secret of which half is there', ['get', 'LINK', '--anonymous'], 'hunter2', []],
      [
        'no secret for run, which starts nothing',
        ['run', 'LINK', '--anonymous', '--as', 'A', '--', 'env'],
        '',
        ['hunter2'],
      ],
    ])('%s', async (_what, words, printed, saved) => {
      const link = await lastView();
      held = /^GET .*\/pushes\//;
      halved = printed !== '';
      const { stdout } = await ended(words.map((word) => word.replace('LINK', link)));
      expect([stdout, rescued(env)]).toEqual([printed, saved]);
    });

    test('no answer to a request', async () => {
      const link = await question();
      await respond(link);
      held = /^GET .*\/requests\/[\w-]+$/;
      expect((await ended(['get', link])).stdout).toBe('hunter2');
    });

    test.each<[string, string[], string, string[]]>([
      ['with files', ['push', '--file', hearing, '--message', 'a'], '', ['a']],
      ['of each line', ['push', '--each'], 'a\nb\n', ['a', 'b']],
    ])('no link of pushes %s', async (_which, words, input, secrets) => {
      held = /^POST .*\/pushes$/;
      expect(await opened(await ended(words, input, secrets.length))).toEqual(secrets);
    });

    test('no link of a new request', async () => {
      held = /^POST .*\/requests$/;
      const { stdout } = await ended(['request', 'Which?', '--no-encrypt']);
      expect((await respond(stdout.trim())).status).toBe(200);
    });

    test('no word that an answer arrived', async () => {
      held = /^PATCH /;
      const { stderr } = await ended(['respond', await question()], 'hunter2');
      expect(stderr.split('\n')).toContain('the answer was sent');
    });

    test('no word that a push was expired', async () => {
      held = /^DELETE /;
      const { stdout } = await ended(['expire', await lastView(), '--json']);
      expect(JSON.parse(stdout)[0].expired).toBe(true);
    });
  });

  test('is one of serve: Ctrl-C that arrives twice, as through npx, lets it finish', async () => {
    const words = ['serve', '--ephemeral', '--port', '0', '--json'];
    const serve = start(words, { env, input: '', by: afterScript(hearing) });
    const [line = ''] = await serve.says(/.*\n/);
    const { url, token } = JSON.parse(line);
    const push = sendOn(`${url}/api/v2/pushes`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        expect: '100-continue',
      },
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
