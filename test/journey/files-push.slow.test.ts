import { appendFileSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Listening, listening } from '../helpers/listen';
import { partOf, times } from '../helpers/long';
import { allOf, needsFile } from '../helpers/needs';
import { afterScript, alsoBinary, person, pwpush, shell, start } from '../helpers/program';
import { json, taking } from '../helpers/transfer';

const somebody = person();
const temporary = join(somebody.folder, 'tmp');
const path = (name: string) => join(somebody.folder, name);
const [a, b, big, some] = [path('a.txt'), path('ü "b".bin'), path('big'), path('some')];
/** Bytes: far more than the sockets of both sides hold, even beside what was read slowly. */
const BIG = 32 * 1024 * 1024;
/** More than one chunk or pipe holds, where all of it arrives. */
const SOME = 2 * 1024 * 1024;
beforeAll(() => {
  mkdirSync(temporary);
  writeFileSync(a, 'A\n');
  writeFileSync(b, Buffer.from([0, 255, 13, 10]));
  writeFileSync(big, Buffer.alloc(BIG, 'x'));
  writeFileSync(some, Buffer.alloc(SOME, 'x'));
});

let stop: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of stop) await one();
  stop = [];
  expect(readdirSync(temporary)).toEqual([]);
});
const at = (url: string) => ({ ...somebody.env, PWPUSH_URL: url, TMPDIR: temporary });
const LINK = 'https://pwpush.example/p/abc123\n';

describe('push --file', () => {
  let instance: Awaited<ReturnType<typeof taking>>;
  const push = (words: readonly string[], input = '') =>
    pwpush(['push', ...words], { env: at(instance.url), input });
  beforeEach(async () => {
    instance = await taking();
    stop.push(instance.close);
  });

  test('sends one multipart request: fields, message and files in order', alsoBinary, async () => {
    const words = ['-f', a, b, '-f', some, '--message', 'see ü', '--views', '2', '--deletable'];
    expect(await push(words)).toMatchObject({ code: 0, stdout: LINK });
    const [first, second, third, ...rest] = instance.pushes[0]?.slice(-3) ?? [];
    expect(rest).toEqual([]);
    expect(instance.pushes[0]?.slice(0, -3)).toEqual([
      { name: 'push[payload]', content: 'see ü' },
      { name: 'push[expire_after_views]', content: '2' },
      { name: 'push[deletable_by_viewer]', content: 'true' },
    ]);
    expect(first).toEqual({
      name: 'push[files][]',
      filename: 'a.txt',
      type: 'text/plain',
      content: 'A\n',
    });
    expect(second).toMatchObject({ filename: 'ü %22b%22.bin', content: '\u0000\u00ff\r\n' });
    expect(third?.content === 'x'.repeat(SOME)).toBe(true);
    expect(instance.seen).toEqual(['POST /api/v2/pushes']);
    const [headers] = instance.headers;
    expect(Number(headers?.['content-length'])).toBeGreaterThan(SOME);
    expect(headers?.['transfer-encoding']).toBeUndefined();
    expect(headers?.authorization).toBeUndefined();
  });

  test('does not read a pipe that nobody named, and sends no kind unless told', async () => {
    // The pipe stays open: a program that reads it would never end.
    const running = start(['push', '-f', a, '--kind', 'file'], { env: at(instance.url) });
    expect(await running.ended).toMatchObject({ code: 0, stdout: LINK });
    running.child.stdin?.destroy();
    await push(['-f', a]);
    expect(instance.pushes.map((one) => one.map(({ name }) => name))).toEqual([
      ['push[kind]', 'push[files][]'],
      ['push[files][]'],
    ]);
  });

  test(
    'of a size that the system does not say is refused, and not sent empty',
    allOf(needsFile('/proc/version'), alsoBinary),
    async () => {
      for (const line of ['-f /proc/version', '-f - </proc/version']) {
        const { code, stdout, stderr } = await shell(`$PWPUSH push ${line}`, {
          env: at(instance.url),
        });
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toContain(' is unknown; nothing was pushed');
      }
      expect(instance.pushes).toEqual([]);
    },
  );

  test('from a folder on standard input is refused', async () => {
    for (const words of ['push -f -', 'push', 'push --each']) {
      const { code, stderr } = await shell(`$PWPUSH ${words} </`, { env: at(instance.url) });
      expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
        code: 2,
        stderr: 'pwpush: standard input is a folder',
      });
    }
    expect(instance.seen).toEqual([]);
  });

  test.each(
    partOf(
      [
        ['a pipe', 'cat "$FILE" | $PWPUSH push -f - --filename in.gz'],
        ['a file', '$PWPUSH push -f - --filename in.gz <"$FILE"'],
        [
          'a file that was read before',
          '{ head -c1000 >/dev/null; $PWPUSH push -f - --filename in.gz; } <"$FILE"',
        ],
      ],
      0,
    ),
  )('takes standard input from %s', alsoBinary, async (_name, line) => {
    const env = { ...at(instance.url), FILE: some };
    expect(await shell(line, { env })).toMatchObject({ code: 0, stdout: LINK });
    const [part] = instance.pushes[0] ?? [];
    expect(part).toMatchObject({ filename: 'in.gz', type: 'application/gzip' });
    const length = line.includes('head') ? SOME - 1000 : SOME;
    expect(part?.content === 'x'.repeat(length)).toBe(true);
  });
});

describe('a file that changes while it is sent', () => {
  test.each(
    partOf(
      [
        ['grows', (path: string) => appendFileSync(path, 'x')],
        ['shrinks', (path: string) => truncateSync(path, 1024)],
      ],
      0,
    ),
  )('and %s cuts the request off before its end', async (_how, change) => {
    const moving = path('moving');
    writeFileSync(moving, Buffer.alloc(BIG, 'x'));
    let whole = false;
    const instance = await listening((request) => {
      // More than sockets hold has not been read yet: the program is in the middle of it.
      request.once('data', () => {
        change(moving);
        request.on('data', () => {});
      });
      request.on('end', () => {
        whole = true;
      });
      request.on('error', () => {});
    });
    stop.push(instance.close);
    const { code, stderr } = await pwpush(['push', '-f', moving], { env: at(instance.url) });
    expect([code, stderr.includes('changed')]).toEqual([1, true]);
    expect(whole).toBe(false);
    expect(instance.seen).toHaveLength(1);
  });
});

/** A proxy that answers before it read the body, in its own manner. */
async function early(talk: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    connections++;
    socket.on('error', () => {});
    socket.once('data', () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stop.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, connections: () => connections };
}

const TOO_LARGE =
  'HTTP/1.1 413 Request Entity Too Large\r\ncontent-type: text/html\r\ncontent-length: 17\r\nconnection: close\r\n\r\n<h1>too big</h1>\n';

describe('an answer that comes before all was sent', () => {
  test.each(
    partOf(
      [
        [
          'and the connection is reset',
          (socket: Socket) => socket.pause().write(TOO_LARGE, () => socket.resetAndDestroy()),
        ],
        [
          'and the connection is closed',
          (socket: Socket) => socket.pause().write(TOO_LARGE, () => socket.destroy()),
        ],
        ['and nothing more is read', (socket: Socket) => socket.pause().write(TOO_LARGE)],
        ['and the rest is read', (socket: Socket) => socket.resume().write(TOO_LARGE)],
        [
          'cut',
          (socket: Socket) => socket.pause().write(TOO_LARGE.slice(0, -5), () => socket.destroy()),
        ],
      ],
      0,
    ),
  )('wins: 413 %s', async (_how, talk) => {
    const proxy = await early(talk);
    const tries = times(3);
    for (let run = 0; run < tries; run++) {
      const { code, stderr } = await pwpush(['push', '-f', big], { env: at(proxy.url) });
      expect({ code, stderr }).toEqual({
        code: 8,
        stderr: expect.stringMatching(
          /^pwpush: the instance refused the request: text\/html, "<h1>too.*"\nhint: the files exceed a limit/,
        ),
      });
    }
    expect(proxy.connections()).toBe(tries);
  });

  test('429 is waited for, and then all of it is sent again', async () => {
    let asked = 0;
    const instance: Listening = await listening((request, response) => {
      asked++;
      const again = asked === 1;
      request.resume().on('end', () => {
        if (again) response.writeHead(429, { 'retry-after': '0' }).end();
        else json(response, 201, { url_token: 'abc', html_url: LINK.trim() });
      });
    });
    stop.push(instance.close);
    const ended = await pwpush(['push', '-f', some, '-q'], { env: at(instance.url) });
    expect(ended).toMatchObject({ code: 0, stdout: LINK });
    expect(instance.seen).toHaveLength(2);
  });
});

/** Far more than the four without progress that are a stall. */
const LOOKS = 7;

/** Makes the program look for progress at SIGUSR2, not by the clock, and say when it has. */
const LOOKING = `
  const every = setInterval;
  const looks = [];
  setInterval = (look) => {
    looks.push(look);
    return every(() => {}, 2 ** 30);
  };
  process.on('SIGUSR2', () => {
    for (const look of looks) look();
    process.stderr.write('looked\\n');
  });`;

describe('no answer', () => {
  test(
    'when an upload stalls: the outcome is unknown, and nothing is sent again',
    alsoBinary,
    async () => {
      const stalled = await early((socket) => socket.pause());
      const words = ['push', '-f', big, '--timeout', '1'];
      const env = { ...at(stalled.url), PWPUSH_EDITION: 'oss' };
      const { code, stderr } = await pwpush(words, { env });
      const { host } = new URL(stalled.url);
      expect({ code, stderr }).toEqual({
        code: 11,
        stderr: `pwpush: ${host} accepted no more data within 1 s\nhint: a push may exist; without a token it cannot be looked up, and expires by its limits\n`,
      });
      expect(stalled.connections()).toBe(1);
    },
  );

  test('when all was sent: the outcome is unknown', async () => {
    const silent = await early((socket) => socket.resume());
    const words = ['push', '-f', a, '--timeout', '1'];
    expect(await pwpush(words, { env: at(silent.url) })).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('did not respond within 1 s'),
    });
  });

  test('does not cut an upload that moves, however long it takes', async () => {
    const script = path('looking.cjs');
    writeFileSync(script, LOOKING);
    let looked = () => {};
    const slow = await early((socket) => {
      let got = 0;
      let looks = 0;
      socket.on('data', (data) => {
        got += data.length;
        // Less would be risky: a system may acknowledge several megabytes at once.
        if (looks < LOOKS && got > ((looks + 1) * BIG) / (LOOKS + 1)) {
          looks += 1;
          socket.pause();
          looked = () => void socket.resume();
          child.kill('SIGUSR2');
        }
        if (got < BIG) return;
        const body = JSON.stringify({ url_token: 'abc', html_url: LINK.trim() });
        socket.end(
          `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    const words = ['push', '-f', big, '--timeout', '60'];
    const { child, ended } = start(words, { env: at(slow.url), by: afterScript(script) });
    child.stderr?.on('data', () => looked());
    const { code, stdout, stderr } = await ended;
    expect([code, stdout, stderr.split('looked\n').length - 1]).toEqual([0, LINK, LOOKS]);
  });

  test('when nothing listens: nothing happened', async () => {
    const { code, stderr } = await pwpush(['push', '-f', a], { env: at('http://127.0.0.1:1') });
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
      code: 9,
      stderr: 'pwpush: 127.0.0.1:1 cannot be reached: the connection was refused',
    });
  });
});

describe('Ctrl-C', () => {
  test.each(
    partOf(
      [
        ['in the middle of an upload', `push -f ${big}`],
        ['in the middle of an upload of what was piped in', 'push -f -'],
      ],
      0,
    ),
  )('%s: 130, no temporary file, and nothing was pushed', async (_name, words) => {
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const stalled = await early((socket) => {
      socket.pause();
      arrived();
    });
    const input = words.endsWith('-') ? Buffer.alloc(BIG) : '';
    const { child, ended } = start(words.split(' '), { env: at(stalled.url), input });
    await asked;
    child.kill('SIGINT');
    expect(await ended).toEqual({
      code: 130,
      signal: null,
      stdout: '',
      stderr: 'pwpush: interrupted\n',
    });
  });

  test('while what is piped in is still being copied: nothing is left, nothing sent', async () => {
    const instance = await taking();
    stop.push(instance.close);
    const { child, ended } = start(['push', '-f', '-'], { env: at(instance.url) });
    // More than a pipe holds is taken, so that the program is reading it.
    await new Promise((resolve) => child.stdin?.write(Buffer.alloc(1024 * 1024), resolve));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stderr: 'pwpush: interrupted\n' });
    expect(instance.seen).toEqual([]);
  });
});
