import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { type Listening, listening, rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { needs, needsFile, skipWithout } from '../helpers/needs';
import {
  alsoBinary,
  type Ended,
  onBinary,
  onNode,
  person,
  pwpush,
  shell,
  start,
} from '../helpers/program';
import type { Outcome } from '../helpers/run';
import { overSocket } from '../helpers/sockets';
import { cut, type OfferedFile, offering, whole } from '../helpers/transfer';

const somebody = person();
const LIVE =
  'links to files usually expire within minutes; pwpush get returns new ones, and uses another view';

const filesIn = (path: string) =>
  Object.fromEntries(
    readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'latin1')]),
  );

/** A folder to run in, and instances that are there until the test has finished. */
function world(finished: TestContext['onTestFinished']) {
  const folder = mkdtempSync(join(somebody.folder, 'here-'));
  const stop: (() => unknown)[] = [];
  finished(async () => {
    for (const one of stop) await one();
  });
  async function offered(
    files: readonly OfferedFile[] | Record<string, string>,
    payload: string | null = '',
    views = 4,
  ): Promise<Listening> {
    const list = Array.isArray(files)
      ? files
      : Object.entries(files).map(([filename, text]) => ({ filename, answer: whole(text) }));
    const instance = await offering(list, payload, views);
    stop.push(instance.close);
    return instance;
  }
  /** By the built program. */
  const getBuilt = (instance: Listening, ...words: string[]): Promise<Ended> =>
    pwpush(['get', `${instance.url}/p/abc`, ...words], { env: somebody.env, cwd: folder });
  /** The same in this process, over the same sockets: for what does not depend on the process. */
  const get = async (instance: Listening, ...words: string[]): Promise<Outcome> => {
    const from = process.cwd();
    process.chdir(folder);
    try {
      return await overSocket(['get', `${instance.url}/p/abc`, ...words]);
    } finally {
      process.chdir(from);
    }
  };
  return { folder, stop, offered, get, getBuilt, files: () => filesIn(folder) };
}

type World = ReturnType<typeof world>;
let folder: World['folder'];
let stop: World['stop'];
let offered: World['offered'];
let get: World['get'];
let getBuilt: World['getBuilt'];
let files: World['files'];
beforeEach(({ onTestFinished }) => {
  ({ folder, stop, offered, get, getBuilt, files } = world(onTestFinished));
});

describe('get saves files', () => {
  test('to the current folder, 0600, and prints the text alone', alsoBinary, async () => {
    const big = 'x'.repeat(5 * 1024 * 1024 + 1);
    const instance = await offered({ 'a.txt': 'A\n', 'ü.bin': big, empty: '' }, 'the text');
    expect(await getBuilt(instance)).toEqual({
      code: 0,
      signal: null,
      stdout: 'the text',
      stderr: `\nsaved a.txt (2 B)\nsaved ü.bin (5.0 MiB)\nsaved empty (0 B)\n`,
    });
    expect(files()).toEqual({ 'a.txt': 'A\n', 'ü.bin': big, empty: '' });
    expect(statSync(join(folder, 'a.txt')).mode & 0o777).toBe(0o600);
  });

  test.each(['', null])('without a text (%j) prints nothing', async (payload) => {
    const instance = await offered({ a: 'A' }, payload);
    expect(await get(instance, '--quiet')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('under safe names, and overwrites nothing', async () => {
    writeFileSync(join(folder, 'taken.txt'), 'mine');
    const hostile = [
      ['../../x', '1'],
      ['taken.txt', '2'],
      ['X', '3'],
      ['a\\b\u202e\u001b[2J', '4'],
      ['', '5'],
      ['..', '6'],
      ['CON', '7'],
      ['x'.repeat(400), '8'],
      ['/etc/passwd', '9'],
    ] as const;
    const instance = await offered(
      hostile.map(([filename, text]) => ({ filename, answer: whole(text) })),
    );
    const { code, stderr } = await get(instance);
    expect({ code, saved: stderr.split('\n').slice(0, 6) }).toEqual({
      code: 0,
      saved: [
        'saved x (1 B)',
        'saved taken (2).txt (1 B); "taken.txt" already existed',
        'saved X (2) (1 B); "X" already existed',
        'saved b[2J (1 B)',
        'saved file (1 B)',
        'saved file (2) (1 B); "file" already existed',
      ],
    });
    expect(files()).toEqual({
      x: '1',
      'taken.txt': 'mine',
      'taken (2).txt': '2',
      'X (2)': '3',
      'b[2J': '4',
      file: '5',
      'file (2)': '6',
      _CON: '7',
      ['x'.repeat(255)]: '8',
      passwd: '9',
    });
  });

  test('that begin with no dot or dash, unless --output names the folder; never as start-up files', async () => {
    const wanted = { '.env': '1', '-rf': '2', '.bash_profile': '3', 'a.txt:x': '4' };
    const long = { [`${'.'.repeat(200_000)}a`]: '5' };
    const instance = await offered({ ...wanted, ...long });
    expect([(await get(instance)).code, files()]).toEqual([
      0,
      { _env: '1', _rf: '2', _bash_profile: '3', 'a.txt_x': '4', [`_${'.'.repeat(252)}.a`]: '5' },
    ]);
    expect((await get(instance, '--output', 'named/')).code).toBe(0);
    expect(Object.keys(filesIn(join(folder, 'named'))).sort()).toEqual(
      ['.env', '_rf', '_bash_profile', 'a.txt_x', `${'.'.repeat(253)}.a`].sort(),
    );
  });

  test('over existing ones with --force, but not over each other', async () => {
    writeFileSync(join(folder, 'a'), 'mine');
    mkdirSync(join(folder, 'b'));
    const instance = await offered([
      { filename: 'a', answer: whole('1') },
      { filename: 'x/a', answer: whole('2') },
      { filename: 'b', answer: whole('3') },
    ]);
    expect(await get(instance, '--force')).toMatchObject({ code: 0 });
    rmSync(join(folder, 'b'), { recursive: true });
    expect(files()).toEqual({ a: '1', 'a (2)': '2', 'b (2)': '3' });
  });

  test('tells with --json where they are', async () => {
    const instance = await offered({ 'a.txt': 'A', b: 'B' }, 'text');
    const { code, stdout, stderr } = await get(instance, '--json');
    const push = JSON.parse(stdout);
    expect({ code, stderr, payload: push.payload, files: push.files }).toEqual({
      code: 0,
      stderr: '',
      payload: 'text',
      files: ['a.txt', 'b'].map((filename, at) => ({
        filename,
        content_type: 'application/octet-stream',
        url: `${instance.url}/file/${at}?signature=MARKER`,
        saved_as: join(folder, filename),
      })),
    });
  });

  test('not at all with --no-files', async () => {
    const instance = await offered({ a: 'A', b: 'B' }, 'text');
    expect(await get(instance, '--no-files')).toEqual({
      code: 0,
      stdout: 'text',
      stderr: '',
    });
    expect([files(), instance.seen.length]).toEqual([{}, 1]);
  });

  test(
    'to the state folder when the current one is gone: a view was used (Node.js)',
    onNode,
    async () => {
      const instance = await offered({ a: 'A' }, 'text', 0);
      const gone = join(folder, 'gone');
      const state = somebody.env.PWPUSH_STATE_DIR ?? '';
      const line = `mkdir ${gone}; cd ${gone}; rmdir ${gone}; $PWPUSH get ${instance.url}/p/abc`;
      const { code, stdout, stderr } = await shell(line, { env: somebody.env, cwd: folder });
      const [name = ''] = readdirSync(state);
      expect(name).toMatch(/^files-\d{4}-/);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'text',
        stderr: `warning: cannot write to the current folder (ENOENT): saving the files to ${state}/${name}\n\nsaved ${state}/${name}/a (1 B)\n`,
      });
    },
  );
});

test('an executable does not start where the current folder is gone', onBinary, async () => {
  const gone = join(folder, 'gone');
  const line = `mkdir ${gone}; cd ${gone}; rmdir ${gone}; $PWPUSH get abc`;
  const { code, stdout, stderr } = await shell(line, { env: somebody.env, cwd: folder });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('The current working directory was deleted');
});

test(
  'a text that cannot be printed is rescued, and the files are saved all the same',
  needsFile('/dev/full'),
  async () => {
    const instance = await offered({ a: 'A' }, 'text', 0);
    const line = `$PWPUSH get ${instance.url}/p/abc >/dev/full`;
    const { code, stderr } = await shell(line, { env: somebody.env, cwd: folder });
    const rescue = /the secret was saved to (\S+)/.exec(stderr)?.[1] ?? '';
    expect({ code, files: files(), rescued: readFileSync(rescue, 'utf8') }).toEqual({
      code: 1,
      files: { a: 'A' },
      rescued: 'text',
    });
  },
);

describe('get --output', () => {
  test.each(partOf(['out', 'out/', 'new/deeper/'], 0))(
    '%s is the folder of the files and the text, made 0700',
    async (output) => {
      if (output === 'out/') mkdirSync(join(folder, 'out'));
      const instance = await offered({ a: 'A' }, 'text');
      expect(await get(instance, '-o', output)).toMatchObject({
        code: 0,
        stdout: '',
        stderr: `saved ${join(output, 'secret.txt')} (4 B)\nsaved ${join(output, 'a')} (1 B)\n`,
      });
      expect(filesIn(join(folder, output))).toEqual({ a: 'A', 'secret.txt': 'text' });
      if (output !== 'out/') expect(statSync(join(folder, output)).mode & 0o777).toBe(0o700);
    },
  );

  test('of a file that is there takes the text with --force; the files go to the current folder', async () => {
    writeFileSync(join(folder, 'out'), 'old');
    const instance = await offered({ a: 'A' }, 'text');
    expect(await get(instance, '-o', 'out', '--force')).toEqual({
      code: 0,
      stdout: '',
      stderr: `warning: "out" is not a folder: saving the files to the current folder\nsaved a (1 B)\n`,
    });
    expect(files()).toEqual({ out: 'text', a: 'A' });
  });

  test('of a file that is there replaces it by the one file, not by several', async () => {
    writeFileSync(join(folder, 'out'), 'old');
    const one = await offered({ a: 'A' });
    expect(await get(one, '-o', 'out', '--force')).toMatchObject({ code: 0, stdout: '' });
    expect(files()).toEqual({ out: 'A' });
    const two = await offered({ a: 'A', b: 'B' });
    expect(await get(two, '-o', 'out', '--force')).toMatchObject({ code: 0, stdout: '' });
    expect(files()).toEqual({ out: 'A', a: 'A', b: 'B' });
  });

  test('of a folder, for a push without files, writes secret.txt there', async () => {
    const instance = await offered([], 'text');
    expect(await get(instance, '-o', '.')).toMatchObject({ code: 0, stdout: '' });
    expect(await get(instance, '-o', 'secret')).toMatchObject({ code: 0, stdout: '' });
    expect(files()).toEqual({ secret: 'text', 'secret.txt': 'text' });
  });

  test('of a folder keeps a file called secret.txt apart from the text, with --force too', async () => {
    const instance = await offered({ 'secret.txt': 'file' }, 'text');
    await get(instance, '-o', 'out/', '--force');
    expect(filesIn(join(folder, 'out'))).toEqual({
      'secret.txt': 'text',
      'secret (2).txt': 'file',
    });
  });

  test('of a folder, without a text, has the files alone', async () => {
    await get(await offered({ a: 'A' }), '-o', 'out/');
    expect(filesIn(join(folder, 'out'))).toEqual({ a: 'A' });
  });

  test('- writes the one file to stdout, and saves the text', alsoBinary, async () => {
    const big = Buffer.alloc(3 * 1024 * 1024, 'xyz').toString();
    const instance = await offered({ a: big }, 'text');
    const { code, stdout, stderr } = await getBuilt(instance, '-o', '-');
    expect({ code, same: stdout === big, stderr }).toEqual({
      code: 0,
      same: true,
      stderr: `warning: standard output is for the file: the text was saved to secret.txt\n`,
    });
    expect(files()).toEqual({ 'secret.txt': 'text' });
  });

  test('- of several files saves them, and says that it could not be', async () => {
    const instance = await offered({ a: 'A', b: 'B' }, 'text');
    expect(await get(instance, '-o', '-')).toEqual({
      code: 1,
      stdout: 'text',
      stderr: `\nsaved a (1 B)\nsaved b (1 B)\npwpush: --output - works with one file only; the 2 files were saved to the current folder\n`,
    });
    expect(files()).toEqual({ a: 'A', b: 'B' });
  });

  test('- of a push without files is its text', async () => {
    expect(await get(await offered([], 'text'), '-o', '-')).toMatchObject({
      code: 0,
      stdout: 'text',
    });
  });

  test.each(
    partOf(
      [
        ['the note of a file after a text', 'text', [], '\nsaved a (1 B)\n'],
        ['the error of a file after a text', 'text', ['-q'], '\npwpush: cannot save "a": '],
        ['what follows part of a file', '', ['-o', '-'], '\nretrying "a" in 1 s: 127.0.0.1'],
      ],
      0,
    ),
  )('%s begins a line of its own', async (_what, text, words, said) => {
    const answer = said.startsWith('\nsaved') ? whole('A') : cut(9, 'half');
    const instance = await offered([{ filename: 'a', answer }], text);
    const line = `$PWPUSH get ${instance.url}/p/abc ${words.join(' ')} 2>&1`;
    const { stdout } = await shell(line, { env: somebody.env, cwd: folder });
    expect(stdout).toContain((text || 'half') + said);
  });

  test('- whose reader has gone saves the file', alsoBinary, async () => {
    const big = 'x'.repeat(1024 * 1024);
    const instance = await offered({ a: big });
    // The reader is gone before the program writes.
    const line = `($PWPUSH get ${instance.url}/p/abc -o - 2>err; echo $? >status) | true; cat err status`;
    const { stdout } = await shell(line, { env: somebody.env, cwd: folder });
    expect(stdout).toContain(
      'pwpush: cannot write to standard output (EPIPE); the whole file was saved to a\n',
    );
    expect(stdout.trim().endsWith('\n1')).toBe(true);
    expect(files().a === big).toBe(true);
  });

  test('- of a file that is cut says so, and saves all of it', async () => {
    let tries = 0;
    const instance = await offered([
      {
        filename: 'a',
        answer: (request, response) => {
          tries++;
          (tries === 1 ? cut(2_000_000, 'y'.repeat(1_500_000)) : whole('whole'))(request, response);
        },
      },
    ]);
    const { code, stderr } = await get(instance, '-o', '-');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /\npwpush: only part of the file was written to standard output: .* (?:the response was cut short|the connection was closed); the whole file was saved to a\n/,
      ),
    });
    expect(files()).toEqual({ a: 'whole' });
  });
});

describe('a file that does not come at once', () => {
  test('is tried three times on its own link; the others are saved all the same', async () => {
    const instance = await offered([
      { filename: 'bad', answer: cut(100) },
      { filename: 'good', answer: whole('G') },
    ]);
    const { code, stdout, stderr } = await get(instance);
    const { host } = new URL(instance.url);
    const why = `${host} sent no complete response: the connection was closed`;
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `retrying "bad" in 1 s: ${why}\nretrying "bad" in 3 s: ${why}\nwarning: bad: ${why}\nsaved good (1 B)\npwpush: 1 of 2 files were not saved\nhint: ${LIVE}\n`,
    });
    expect(files()).toEqual({ good: 'G' });
    expect(instance.seen.map((line) => line.split('?')[0])).toEqual([
      'GET /api/v2/pushes/abc',
      ...Array(3).fill('GET /file/0'),
      'GET /file/1',
    ]);
  });

  test('is saved once if a later try succeeds', async () => {
    let tries = 0;
    const instance = await offered([
      {
        filename: 'a',
        answer: (request, response) => {
          tries++;
          if (tries === 1) response.writeHead(503).end();
          else (tries === 2 ? cut(100) : whole('A'))(request, response);
        },
      },
    ]);
    expect(await get(instance, '--quiet')).toMatchObject({ code: 0, stderr: '' });
    expect(files()).toEqual({ a: 'A' });
  });

  test('exits with 9 if its server cannot be reached', async () => {
    const instance = await listening((_request, response) => {
      const url = 'http://127.0.0.1:1/a';
      const body = JSON.stringify({
        url_token: 'abc',
        payload: null,
        files: [{ filename: 'a', url }],
      });
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    stop.push(instance.close);
    expect(await get(instance, '-q')).toMatchObject({ code: 9, stdout: '' });
  });

  test('leaves no part of it if it stalls', async () => {
    const answer: OfferedFile['answer'] = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
    };
    const instance = await offered([{ filename: 'a', answer }]);
    const { code, stderr } = await get(instance, '--timeout', '3', '-q');
    const { host } = new URL(instance.url);
    expect({ code, first: stderr.split('\n')[0] }).toEqual({
      code: 1,
      first: `pwpush: cannot save "a": ${host} did not respond within 3 s`,
    });
    expect(files()).toEqual({});
  });
});

describe('a file that does not come', () => {
  test.each(
    partOf(
      [
        [404, 'its link returned 404; it may have expired'],
        [403, 'its link returned 403; it may have expired'],
        [204, 'its link returned 204; it is not a file'],
      ],
      0,
    ),
  )('because of %d is not tried again, and its address is not told', async (status, why) => {
    const answer: OfferedFile['answer'] = (_request, response) => response.writeHead(status).end();
    const instance = await offered([{ filename: 'a', answer }], 'text');
    const { code, stdout, stderr } = await get(instance);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: 'text',
      stderr: `\npwpush: cannot save "a": ${why}\nhint: ${LIVE}\n`,
    });
    expect(instance.seen).toHaveLength(2);
    const { stdout: object } = await get(instance, '--json');
    expect(JSON.parse(object).files[0].url).toContain('MARKER');
    expect(JSON.parse(object).files[0].saved_as).toBeUndefined();
  });

  test('more than was announced is left on the wire', async () => {
    const instance = await rawServer((socket, text) => {
      const { port } = socket.address() as { port: number };
      const url = `http://127.0.0.1:${port}/file`;
      const object = JSON.stringify({
        url_token: 'abc',
        payload: '',
        files: [{ filename: 'a', url }],
      });
      const body = text.startsWith('GET /file')
        ? 'content-length: 4\r\n\r\nfourand more'
        : `content-type: application/json\r\ncontent-length: ${object.length}\r\n\r\n${object}`;
      socket.write(`HTTP/1.1 200 OK\r\n${body}`);
    });
    stop.push(instance.close);
    const words = ['get', `${instance.url}/p/abc`, '-q'];
    const { code } = await pwpush(words, { env: somebody.env, cwd: folder });
    expect({ code, files: files() }).toEqual({ code: 0, files: { a: 'four' } });
  });

  test('because the disk is full: a hint, and nothing of it is left', alsoBinary, async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    const mounted = mountSmall(disk);
    skipWithout(needs('the right to mount', mounted));
    expect(mounted).toBe(true);
    stop.push(() => execFileSync('umount', [disk]));
    const big = 'x'.repeat(2 * 1024 * 1024);
    const instance = await offered([
      { filename: 'announced', answer: whole(big) },
      {
        filename: 'chunked',
        answer: (_request, response) => {
          response.write(big);
          response.end();
        },
      },
      { filename: 'small', answer: whole('s') },
    ]);
    const { code, stderr } = await getBuilt(instance, '-o', 'disk');
    expect({ code, stderr: stderr.split('\n').slice(0, 3) }).toEqual({
      code: 1,
      stderr: [
        expect.stringMatching(
          /^warning: announced: not enough disk space: 2\.0 MiB needed in "disk", \S+ KiB free$/,
        ),
        'warning: chunked: cannot write the file (the disk is full)',
        'saved disk/small (1 B)',
      ],
    });
    expect(filesIn(disk)).toEqual({ small: 's' });
  });
});

function mountSmall(path: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a link', () => {
  const token = { PWPUSH_TOKEN: 'MARKER-token' };

  test('is followed across hosts, with the token to the instance’s own first address only', async () => {
    const hops: string[] = [];
    const note = (who: string, url: string | undefined, authorization: string | undefined) =>
      hops.push(`${who} ${url} ${authorization ?? 'no token'}`);
    const store = await listening((request, response) => {
      note('store', request.url, request.headers.authorization);
      if (request.url === '/back') response.writeHead(302, { location: `${own.url}/last` }).end();
      else whole('A')(request, response);
    });
    const own: Listening = await listening((request, response) => {
      note('own', request.url, request.headers.authorization);
      if (request.url === '/first')
        response.writeHead(302, { location: '/second?x=1' }).end('moved');
      else if (request.url === '/second?x=1')
        response.writeHead(307, { location: `${store.url}/back#part` }).end();
      else if (request.url === '/last')
        response.writeHead(303, { location: `${store.url}/a` }).end();
      else {
        const file = { filename: 'a', url: `${own.url}/first` };
        const body = JSON.stringify({ url_token: 'abc', payload: '', files: [file] });
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      }
    });
    stop.push(store.close, own.close);
    const env = { ...somebody.env, ...token, PWPUSH_URL: own.url };
    const ended = await pwpush(['get', 'abc', '-q', '--debug'], { env, cwd: folder });
    expect(ended).toMatchObject({ code: 0, stdout: '' });
    expect(ended.stderr).not.toMatch(/MARKER|first|second|back|last/);
    expect(hops).toEqual([
      'own /api/v2/pushes/abc Bearer MARKER-token',
      'own /first Bearer MARKER-token',
      'own /second?x=1 no token',
      'store /back no token',
      'own /last no token',
      'store /a no token',
    ]);
    expect(files()).toEqual({ a: 'A' });
  });

  test('on another host gets no token at all', async () => {
    const store = await listening(whole('A'));
    const own = await listening((_request, response) => {
      const file = { filename: 'a', url: `${store.url}/a` };
      const body = JSON.stringify({ url_token: 'abc', payload: '', files: [file] });
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    stop.push(store.close, own.close);
    const env = { ...somebody.env, ...token, PWPUSH_URL: own.url };
    expect(await pwpush(['get', 'abc', '-q'], { env, cwd: folder })).toMatchObject({ code: 0 });
    expect(store.headers.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test('that leads in circles is given up after ten redirects', async () => {
    const answer: OfferedFile['answer'] = (request, response) =>
      response.writeHead(302, { location: request.url }).end();
    const instance = await offered([{ filename: 'a', answer }]);
    expect(await get(instance)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot save "a": its link redirects more than 10 times'),
    });
    expect(instance.seen).toHaveLength(1 + 11);
  });
});

describe('Ctrl-C in a download', () => {
  test.each(partOf([[], ['--json']], 0))(
    'leaves no file, 130; the text was handed over %j',
    async (...words) => {
      let arrived = () => {};
      const asked = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const instance = await offered(
        [
          { filename: 'done', answer: whole('D') },
          {
            filename: 'endless',
            answer: (_request, response) => {
              response.writeHead(200, { 'content-length': 10 * 1024 * 1024 });
              response.write(Buffer.alloc(2 * 1024 * 1024), arrived);
            },
          },
        ],
        'text',
      );
      const all = ['get', `${instance.url}/p/abc`, ...words];
      const { child, ended } = start(all, { env: somebody.env, input: '', cwd: folder });
      await asked;
      child.kill('SIGINT');
      const { code, stdout, stderr } = await ended;
      expect({ code, last: stderr.split('\n').at(-2) }).toEqual({
        code: 130,
        last: expect.stringMatching(/interrupted/),
      });
      expect(files()).toEqual({ done: 'D' });
      if (words.length === 0) expect(stdout).toBe('text');
      else
        expect(JSON.parse(stdout)).toMatchObject({
          payload: 'text',
          files: [{ saved_as: join(folder, 'done') }, {}],
        });
    },
  );

  /** A file whose first download does not end, and what becomes of it when it begins. */
  function endless(filename: string) {
    let began = () => {};
    const asked = new Promise<void>((resolve) => {
      began = resolve;
    });
    let times = 0;
    const answer: OfferedFile['answer'] = (request, response) => {
      if (times++ > 0) return whole('E')(request, response);
      response.writeHead(200, { 'content-length': 10 * 1024 * 1024 });
      response.write(Buffer.alloc(2 * 1024 * 1024), began);
    };
    return { asked, file: { filename, answer } };
  }

  test(
    'of the last view keeps the addresses, and --resume gets the rest without a view',
    alsoBinary,
    async () => {
      const { asked, file } = endless('endless');
      const instance = await offered([{ filename: 'done', answer: whole('D') }, file], 'text', 0);
      const state = { ...somebody.env, PWPUSH_STATE_DIR: join(folder, '..', 'kept') };
      const link = `${instance.url}/p/abc`;
      const { child, ended } = start(['get', link], { env: state, input: '', cwd: folder });
      await asked;
      child.kill('SIGINT');
      const { code, stderr } = await ended;
      const path = /pwpush get --resume '(.*)'\n/.exec(stderr)?.[1] ?? '';
      expect(code).toBe(130);
      expect(stderr).toContain('interrupted; no view is left, and 1 file not saved');
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, 'utf8')).not.toContain('text');
      const before = instance.seen.length;
      const run = (...words: string[]) => pwpush(['get', ...words], { env: state, cwd: folder });
      expect(await run(link.replace('abc', 'abd'), '--resume', path)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is of another push'),
      });
      expect(await run(link, '--resume', 'done')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('"done" was not kept by an interrupted pwpush get'),
      });
      expect(instance.seen).toHaveLength(before);
      expect(await run(link, '--resume', path)).toMatchObject({ code: 0, stdout: '' });
      expect(files()).toEqual({ done: 'D', endless: 'E' });
      expect(instance.seen).toHaveLength(before + 1);
      expect(existsSync(path)).toBe(false);
    },
  );

  /** A file that breaks off, and then gives the rest of the version `tags` says. */
  function breaking(...tags: string[]) {
    const text = 'x'.repeat(600_000).concat('y'.repeat(400_000));
    const ranges: (string | undefined)[] = [];
    let began = () => {};
    const asked = new Promise<void>((resolve) => {
      began = resolve;
    });
    const answer: OfferedFile['answer'] = ({ headers: { range } }, response) => {
      const etag = tags[Math.min(ranges.push(range), tags.length) - 1];
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
      const whole = text.length;
      const part = { 'content-range': `bytes ${from}-${whole - 1}/${whole}` };
      response.writeHead(range ? 206 : 200, {
        etag,
        'content-length': whole - from,
        ...(range ? part : {}),
      });
      if (ranges.length > 1) response.end(text.slice(from));
      else response.write(text.slice(0, 600_000), began);
    };
    return { text, ranges, asked, file: { filename: '.big', answer } };
  }

  test.each(
    partOf(
      [
        ['continues with the bytes that are there', ['"1"'], 1],
        ['begins again with another version', ['"1"', '"2"'], 2],
      ],
      0,
    ),
  )('in a folder, --resume alone %s', alsoBinary, async (_, tags, times) => {
    const { text, ranges, asked, file } = breaking(...tags);
    const instance = await offered([file], 'text', 0);
    const state = { ...somebody.env, PWPUSH_STATE_DIR: join(folder, "it's kept") };
    const words = ['get', `${instance.url}/p/abc`, '--output', 'in/'];
    writeFileSync(join(folder, 'mine'), '');
    mkdirSync(join(folder, 'in'));
    const { child, ended } = start(words, { env: state, input: '', cwd: folder });
    await asked;
    await expect
      .poll(() =>
        readdirSync(join(folder, 'in')).map((name) => statSync(join(folder, 'in', name)).size),
      )
      .toContain(600_000);
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    const [, command = ''] = /^hint: get the rest within minutes:\n {2}(.+)\n$/m.exec(stderr) ?? [];
    expect([code, command]).toEqual([130, expect.stringContaining('pwpush get --resume ')]);
    expect(readdirSync(join(folder, 'in'))).toContainEqual(expect.stringMatching(/\.part$/));
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    const line = command.replace('pwpush', '$PWPUSH');
    expect(await shell(line, { env: state, cwd: elsewhere })).toMatchObject({ code: 0 });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(filesIn(join(folder, 'in'))).toEqual({ 'secret.txt': 'text', '.big': text });
    expect(readdirSync(join(folder, "it's kept"))).toEqual([]);
    expect(ranges).toEqual([undefined, 'bytes=600000-', ...[undefined].slice(2 - times)]);
    expect(instance.seen.filter((line) => line.includes('abc'))).toHaveLength(1);
  });

  test(
    'after a failure, too; a text that could not be printed is rescued beside them',
    needsFile('/dev/full'),
    async () => {
      let times = 0;
      const answer: OfferedFile['answer'] = (request, response) =>
        times++ === 0 ? response.writeHead(403).end() : whole('A')(request, response);
      const instance = await offered([{ filename: 'a', answer }], 'text', 0);
      const state = { ...somebody.env, PWPUSH_STATE_DIR: join(folder, 'state') };
      const link = `${instance.url}/p/abc`;
      const line = `$PWPUSH get ${link} --output in/`;
      const full = `$PWPUSH get ${link} >/dev/full`;
      for (const [one, kept] of [
        [full, ['download', 'secret']],
        [line, ['download']],
      ] as const) {
        times = 0;
        const { code, stderr } = await shell(one, { env: state, cwd: folder });
        expect(code).toBe(1);
        expect(stderr).toContain('cannot save "a": ');
        expect(stderr).not.toContain(LIVE);
        const left = readdirSync(join(folder, 'state'));
        expect(left.map((name) => name.replace(/-.*/, '')).sort()).toEqual(kept);
        const path = /pwpush get --resume '(.*)'\n/.exec(stderr)?.[1] ?? '';
        const words = ['get', link, '--output', 'in/', '--resume', path];
        expect((await pwpush(words, { env: state, cwd: folder })).code).toBe(0);
        expect(readFileSync(join(folder, 'in', 'a'), 'utf8')).toBe('A');
        rmSync(join(folder, 'in'), { recursive: true });
        rmSync(join(folder, 'state'), { recursive: true });
      }
    },
  );
});
