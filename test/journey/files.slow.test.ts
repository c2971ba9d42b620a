import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { contents } from '../helpers/contents';
import { deferred } from '../helpers/deferred';
import { mountDisk, needsDisk } from '../helpers/disk';
import { listening } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsFile } from '../helpers/needs';
import { alsoBinary, onBinary, onNode, person, pwpush, type Running, shell, start } from '../helpers/program';
import { cut, type OfferedFile, offering, taking, whole } from '../helpers/transfer';

// What files need of a process: its streams, folder, disk and signals. test/cases/get-files-*.txt, get-resume.txt and
// push-files-*.txt tell what is said, and test/deliver/ and test/send/ have the files themselves.

const somebody = person();
let folder: string;
let env: Record<string, string>;
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(somebody.folder, 'here-'));
  env = { ...somebody.env, PWPUSH_STATE_DIR: at("it's kept") };
});
const files = (name = '.') => contents(at(name));
const sizesIn = (name: string) =>
  readdirSync(at(name), { recursive: true, encoding: 'utf8' }).map((one) => statSync(join(at(name), one)).size);

const get = ({ url }: { url: string }, ...words: string[]) =>
  pwpush(['get', `${url}/p/abc`, ...words], { env, cwd: folder });

describe('get saves files', () => {
  const offered = (name: string, answer: OfferedFile['answer'], text = '', views = 4) =>
    offering([{ filename: name, answer }], text, views);

  const inGone = (line: string) => shell(`mkdir gone; cd gone; rmdir ../gone; ${line}`, { env, cwd: folder });

  test('to the state folder when the current one is gone: a view was used', onNode, async () => {
    const { url } = await offered('a', whole('A'), 'text', 0);
    const { code, stdout, stderr } = await inGone(`$PWPUSH get ${url}/p/abc`);
    const [name = ''] = readdirSync(at("it's kept"));
    expect([code, stdout, files(`it's kept/${name}`)]).toEqual([0, 'text', { a: 'A' }]);
    expect(stderr).toMatch(/^warning: cannot write to the current folder \(no such folder\)/);
  });

  test('not by an executable, which does not start there', onBinary, async () => {
    const { code, stdout, stderr } = await inGone('$PWPUSH get abc');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('The current working directory was deleted');
  });

  test('beside standard output if only part of one went there, and says so on a line of its own', async () => {
    let tries = 0;
    const part = 'y'.repeat(1_500_000);
    const { url } = await offered('a', (request, response) =>
      (tries++ === 0 ? cut(2_000_000, part) : whole('all'))(request, response),
    );
    const line = `$PWPUSH get ${url}/p/abc -o - 2>&1`;
    const { stdout } = await shell(line, { env, cwd: folder });
    expect(stdout.slice(part.length)).toMatch(
      /^\nsaved a \(3 B\)\npwpush: only part of the file was written .*; .* was saved to a\n/,
    );
    expect(files()).toEqual({ a: 'all' });
  });

  test('where there is room, and nothing of the others', allOf(needsDisk, alsoBinary), async () => {
    const disk = mountDisk(1);
    onTestFinished(() => disk.remove());
    const big = 'x'.repeat(2 * 1024 * 1024);
    const chunked: OfferedFile['answer'] = (_, response) => void response.write(big, () => response.end());
    const instance = await offering([
      { filename: 'announced', answer: whole(big) },
      { filename: 'chunked', answer: chunked },
      { filename: 'small', answer: whole('s') },
      { filename: 'empty', answer: whole('') },
    ]);
    const { code, stderr } = await get(instance, '-o', disk.folder);
    expect([code, ...stderr.split('\n').slice(0, 4)]).toEqual([
      1,
      expect.stringMatching(/^warning: announced: not enough disk space: 2\.0 MiB needed in /),
      'warning: chunked: cannot write the file (the disk is full)',
      `saved ${disk.folder}/small (1 B)`,
      `saved ${disk.folder}/empty (0 B)`,
    ]);
    expect(contents(disk.folder)).toEqual({ small: 's', empty: '' });
  });
});

test.each(['out', 'link', 'fifo'])('stdout is no place for an agent: %s', async (name) => {
  const target = name === 'fifo' ? 'fifo' : 'out';
  const line = `mkfifo fifo; ln -s out link; exec 3<>fifo; $PWPUSH get abc --output ${name} --force >${target}`;
  const agent = { ...env, PWPUSH_URL: 'http://127.0.0.1:1', CLAUDECODE: '1' };
  const { code, stderr } = await shell(line, { env: agent, cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining('(CLAUDECODE)')]);
});

interface Ranged {
  /** What a download is given of the rest, by how often the file was asked for. */
  give(response: ServerResponse, rest: string, nth: number): unknown;
  /** The version at each time; the last one from then on. */
  readonly tags?: readonly string[];
  /** The time that is refused. */
  readonly refused?: number;
}

/** A file that is given from where it is asked for. */
function ranged(text: string, { give, tags = ['"1"'], refused }: Ranged) {
  const ranges: (string | undefined)[] = [];
  const answer: OfferedFile['answer'] = ({ headers: { range } }, response) => {
    const nth = ranges.push(range);
    if (nth === refused) return void response.writeHead(403).end();
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    const etag = tags[Math.min(nth, tags.length) - 1] as string;
    const part = { 'content-range': `bytes ${from}-${text.length - 1}/${text.length}` };
    response.writeHead(range ? 206 : 200, { etag, 'content-length': text.length - from, ...(range && part) });
    response.flushHeaders();
    give(response, text.slice(from), nth);
  };
  return { ranges, answer };
}

const pathIn = (stderr: string) => {
  const [, path = ''] = /pwpush get --resume '(.*)'\n/.exec(stderr) ?? [];
  return path.replaceAll("'\\''", "'");
};

describe('Ctrl-C in a download', () => {
  const text = 'x'.repeat(600_000).concat('y'.repeat(400_000));

  /** A file that stops in the middle, and then gives the rest of the version that `tags` says. */
  function stopping(...tags: string[]) {
    const begun = deferred();
    const { ranges, answer } = ranged(text, {
      tags,
      give: (response, rest, nth) =>
        nth > 1 ? response.end(rest) : response.write(rest.slice(0, 600_000), begun.resolve),
    });
    return { ranges, begun: begun.promise, file: { filename: '.big', answer } };
  }

  /** Runs `get` of a whole file and that one, and interrupts it when that has arrived in part. */
  async function interrupted({ file, begun }: ReturnType<typeof stopping>, views: number, ...words: string[]) {
    const instance = await offering([{ filename: 'done', answer: whole('D') }, file], 'text', views);
    const link = `${instance.url}/p/abc`;
    const { child, ended } = start(['get', link, ...words], { env, input: '', cwd: folder });
    await begun;
    await expect.poll(() => sizesIn('.'), { message: 'a part is on the disk' }).toContain(600_000);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(130);
    return { instance, link, stdout, stderr };
  }

  test('leaves no part of the file; the rest was handed over', async () => {
    const { stdout, stderr } = await interrupted(stopping('"1"'), 4, '--json');
    expect(stderr).toContain('"code":"interrupted","message":"interrupted; 1 file not saved"');
    expect(JSON.parse(stdout)).toMatchObject({
      payload: 'text',
      files: [{ saved_as: at('done') }, {}],
    });
    expect(files()).toEqual({ done: 'D' });
  });

  test('of the last view keeps the addresses; --resume takes no view', alsoBinary, async () => {
    const { instance, link, stdout, stderr } = await interrupted(stopping('"1"'), 0);
    const kept = pathIn(stderr);
    expect([stdout, stderr]).toEqual([
      'text',
      expect.stringContaining('interrupted; no view is left, and 1 file not saved'),
    ]);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, 'utf8')).not.toContain('text');
    const before = instance.seen.length;
    const words = ['get', link, '--resume', kept];
    expect(await pwpush(words, { env, cwd: folder })).toMatchObject({ code: 0, stdout: '' });
    expect(files()).toEqual({ done: 'D', _big: text });
    expect(instance.seen).toHaveLength(before + 1);
    expect(existsSync(kept)).toBe(false);
  });

  test.each(
    partOf(
      [
        ['continues with the bytes that are there', ['"1"'], 1],
        ['begins again with another version', ['"1"', '"2"'], 2],
      ],
      0,
    ),
  )('in a folder, --resume alone %s', alsoBinary, async (_, tags, downloads) => {
    const file = stopping(...tags);
    const { instance, stderr } = await interrupted(file, 0, '--output', 'in/');
    const [, command = ''] = /^hint: get the rest within minutes:\n {2}(.+)\n$/m.exec(stderr) ?? [];
    expect(command).toContain('pwpush get --resume ');
    expect(readdirSync(at('in'))).toContainEqual(expect.stringMatching(/\.part$/));
    mkdirSync(at('elsewhere'));
    const line = command.replace('pwpush', '$PWPUSH');
    expect(await shell(line, { env, cwd: at('elsewhere') })).toMatchObject({ code: 0 });
    expect(readdirSync(at('elsewhere'))).toEqual([]);
    expect(files('in')).toEqual({ done: 'D', 'secret.txt': 'text', _big: text });
    expect(readdirSync(at("it's kept"))).toEqual([]);
    expect(file.ranges).toEqual([undefined, 'bytes=600000-', ...[undefined].slice(2 - downloads)]);
    expect(instance.seen.filter((one) => one.includes('abc'))).toHaveLength(1);
  });
});

describe('a download that is killed', () => {
  const text = 'x'.repeat(4000);
  const state = () => readdirSync(at("it's kept"));

  /** Meanwhile another run of the words that resume it gives up. After its end, the next one gets the rest. */
  async function isResumed({ child, ended }: Running, words: readonly string[], ranges: readonly unknown[]) {
    const asked = ranges.length;
    const other = await pwpush(words, { env, cwd: folder });
    expect([other.code, ranges.length]).toEqual([1, asked]);
    expect(other.stderr).toContain('another run is getting the rest of');
    child.kill('SIGKILL');
    await ended;
    expect(await pwpush(words, { env, cwd: folder })).toMatchObject({ code: 0 });
  }

  test.each([
    ['before a byte came', 0],
    ['in the middle', 1000],
  ])('by --resume, %s, leaves all to the next', alsoBinary, async (_, bytes) => {
    const held = deferred();
    const { ranges, answer } = ranged(text, {
      // The run that was interrupted tries again.
      refused: 2,
      give: (response, rest, nth) => {
        if (nth === 1) response.write(rest.slice(0, 2000), () => response.destroy());
        else if (nth > 3) response.end(rest);
        else response.write(rest.slice(0, bytes), held.resolve);
      },
    });
    const instance = await offering([{ filename: 'big', answer }], '', 0);
    const { stderr } = await get(instance, '--output', 'in/');
    const words = ['get', '--resume', pathIn(stderr)];
    const running = start(words, { env, input: '', cwd: folder });
    await held.promise;
    await expect.poll(() => sizesIn('in'), { message: 'what came is on the disk' }).toEqual([2000 + bytes]);
    await isResumed(running, words, ranges);
    expect([files('in'), state(), ranges.at(-1)]).toEqual([{ big: text }, [], `bytes=${2000 + bytes}-`]);
  });

  test.each([
    ['to a folder', ['--output', 'in/'], 'before a byte came', 0],
    ['to a folder', ['--output', 'in/'], 'in the middle', 2000],
    ['to a folder, with --json', ['--json', '--output', 'in/'], 'in the middle', 2000],
    ['to standard output', ['--output', '-'], 'in the middle', 2000],
  ])('%s, leaves what it had to --resume', alsoBinary, async (_to, words, _when, bytes) => {
    const held = deferred();
    const { ranges, answer } = ranged(text, {
      give: (response, rest, nth) =>
        nth > 1 ? response.end(rest) : response.write(rest.slice(0, bytes), held.resolve),
    });
    const done = { filename: 'done', answer: whole('D') };
    const isFolder = words.includes('in/');
    const offered = [...(isFolder ? [done] : []), { filename: 'big', answer }];
    const instance = await offering(offered, isFolder ? 'text' : '', 0);
    mkdirSync(at('in'));
    const running = start(['get', `${instance.url}/p/abc`, ...words], { env, input: '', cwd: folder });
    await held.promise;
    if (isFolder) await expect.poll(() => sizesIn('in'), { message: 'what came is on the disk' }).toContain(bytes);
    const [claim = '', ...secrets] = state();
    const isLast = words.includes('--json');
    expect(secrets.map((name) => readFileSync(at(`it's kept/${name}`), 'utf8'))).toEqual(isLast ? ['text'] : []);
    await isResumed(running, ['get', '--resume', at(`it's kept/${claim.split('.')[0]}`), '-o', 'in/'], ranges);
    const texts = isFolder ? { done: 'D', ...(!isLast && { 'secret.txt': 'text' }) } : {};
    expect([files('in'), state()]).toEqual([{ big: text, ...texts }, secrets]);
    expect(ranges.at(-1)).toBe(isFolder && bytes > 0 ? `bytes=${bytes}-` : undefined);
    expect(instance.seen.filter((one) => one.includes('abc'))).toHaveLength(1);
  });
});

describe('push --file', () => {
  const LINK = 'https://pwpush.example/p/abc123\n';
  /** More than one chunk or pipe holds. */
  const SOME = 1024 * 1024;
  const some = join(somebody.folder, 'some');
  beforeAll(() => writeFileSync(some, Buffer.alloc(SOME, 'x')));
  const to = (url: string) => ({ ...env, PWPUSH_URL: url, PWPUSH_EDITION: 'oss', FILE: some });

  test('does not read a pipe that nobody named', async () => {
    const instance = await taking();
    // The pipe stays open: a program that reads it would never end.
    const running = start(['push', '-f', some], { env: to(instance.url) });
    expect(await running.ended).toMatchObject({ code: 0, stdout: LINK });
    running.child.stdin?.destroy();
  });

  test.each([
    ['-f /proc/version', 1, ' is unknown; nothing was pushed'],
    ['-f - </proc/version', 1, ' is unknown; nothing was pushed'],
    ['-f - </', 2, 'pwpush: standard input is a folder\n'],
    ['</', 2, 'pwpush: standard input is a folder\n'],
    ['--each </', 2, 'pwpush: standard input is a folder\n'],
    ['<&-', 2, 'pwpush: standard input is empty'],
  ])(
    'does not send what is no file of a known size: %s',
    allOf(needsFile('/proc/version'), alsoBinary),
    async (words, code, why) => {
      const instance = await taking();
      const ended = await shell(`$PWPUSH push ${words}`, { env: to(instance.url) });
      expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(why) });
      expect(instance.pushes).toEqual([]);
    },
  );

  test.each([
    ['a pipe', 'cat "$FILE" | $PWPUSH push -f -', 0],
    ['a file read before', '{ head -c1000 >/dev/null; $PWPUSH push -f -; } <"$FILE"', 1000],
  ])('takes standard input from %s', alsoBinary, async (_name, line, read) => {
    const instance = await taking();
    expect(await shell(line, { env: to(instance.url) })).toMatchObject({ code: 0, stdout: LINK });
    expect(instance.pushes[0]?.[0]?.content === 'x'.repeat(SOME - read)).toBe(true);
  });

  test('cuts the request off before its end if the file grows', async () => {
    writeFileSync(at('moving'), Buffer.alloc(32 * SOME, 'x'));
    let isWhole = false;
    const instance = await listening((request) => {
      request
        .on('error', () => {})
        .on('end', () => {
          isWhole = true;
        });
      // More than sockets hold has not been read yet: the program is in the middle of it.
      request.once('data', () => {
        appendFileSync(at('moving'), 'x');
        request.resume();
      });
    });
    const { code, stderr } = await pwpush(['push', '-f', at('moving')], { env: to(instance.url) });
    expect([code, stderr.includes('changed'), isWhole]).toEqual([1, true, false]);
    expect(instance.seen).toHaveLength(1);
  });
});
