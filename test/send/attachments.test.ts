import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { entryOf } from '../../src/cli/terminal/output';
import { apiClient } from '../../src/client/client';
import type { Attachment } from '../../src/client/form';
import { undiciTransport } from '../../src/client/transport/undici';
import type { Context } from '../../src/platform/context';
import { phrase } from '../../src/platform/errors';
import { mediaType, openAttachments, sendFiles } from '../../src/send/attachments';
import { joined } from '../helpers/age';
import { needsPrograms, skipWithout } from '../helpers/needs';
import { openPlace } from '../helpers/run';
import { heldFiles, taking } from '../helpers/transfer';

const here = openPlace();
afterAll(here.close);
const at = here.file;
beforeAll(() => {
  writeFileSync(at('a.txt'), 'A');
  writeFileSync(at('empty'), '');
  linkSync(at('a.txt'), at('hard'));
  symlinkSync(at('a.txt'), at('soft'));
  mkdirSync(at('folder'));
  if (!needsPrograms('mkfifo').skip) execFileSync('mkfifo', [at('fifo')]);
});

/** The part of a context that matters, with that piped in, and no terminal. */
function piped(bytes: () => AsyncIterable<Uint8Array>): Context {
  const { signal } = new AbortController();
  const [stdin, stderr] = [{ isTTY: false, bytes }, { isTTY: false }];
  return { env: {}, stdin, stderr, signal } as unknown as Context;
}
const texts = (...chunks: string[]) =>
  piped(async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  });

const open = (paths: readonly string[], context = texts()) => openAttachments(paths, context);

const content = async ({ bytes }: Attachment) => `${await joined(bytes())}`;

describe('files to attach', () => {
  test('have name, type, size and content, and can be read anew', async () => {
    const { files, close } = await open([at('a.txt'), at('empty')]);
    expect(files.map(({ name, type, size }) => ({ name, type, size }))).toEqual([
      { name: 'a.txt', type: 'text/plain', size: 1 },
      { name: 'empty', type: 'application/octet-stream', size: 0 },
    ]);
    for (const _try of [1, 2]) expect(await Promise.all(files.map(content))).toEqual(['A', '']);
    await close();
  });

  test('longer than a piece come whole and in order', async () => {
    const text = Array.from({ length: 500_000 }, (_, line) => `${line}\n`).join('');
    writeFileSync(at('long'), text);
    const { files, close } = await open([at('long')]);
    expect((await content(files[0] as Attachment)) === text).toBe(true);
    await close();
  });

  const pipe = () => {
    skipWithout(needsPrograms('mkfifo'));
    return [at('fifo')];
  };
  test.each([
    ['nothing there', () => [at('none')]],
    ['a folder', () => [at('folder')]],
    ['a pipe', pipe],
    ['a device', () => ['/dev/zero']],
    ['one named twice', () => [at('a.txt'), at('a.txt')]],
    ['a hard link', () => [at('a.txt'), at('hard')]],
    ['a symbolic link', () => [at('soft'), at('a.txt')]],
  ])('%s is refused, and nothing stays open', async (_what, paths) => {
    const opening = open([at('empty'), ...paths()]);
    await expect(opening).rejects.toMatchObject({ code: 'usage' });
    expect(heldFiles()).toEqual([]);
  });

  test('an unreadable one is refused', async () => {
    writeFileSync(at('locked'), '', { mode: 0o000 });
    // Root may read everything.
    const root = process.geteuid?.() === 0;
    if (root) process.seteuid?.(65_534);
    const opening = open([at('locked')]).finally(() => root && process.seteuid?.(0));
    await expect(opening).rejects.toMatchObject({ code: 'usage' });
  });

  test.each([
    ['shrinks', () => truncateSync(at('moving'), 5)],
    ['is emptied', () => truncateSync(at('moving'), 0)],
    ['grows', () => appendFileSync(at('moving'), 'more')],
    ['is written to', () => utimesSync(at('moving'), 1, 1)],
  ])('one that %s while it is sent is an error', async (_how, change) => {
    writeFileSync(at('moving'), 'x'.repeat(3 * 1024 * 1024));
    const { files, close } = await open([at('moving')]);
    const reading = async () => {
      let read = 0;
      for await (const _chunk of files[0]?.bytes() ?? []) if (read++ === 0) change();
    };
    const changed = phrase('changed-while-sent', `"${at('moving')}"`);
    const facts = [changed, phrase('request-incomplete')];
    await expect(reading()).rejects.toMatchObject({ code: 'failed', facts });
    await close();
  });
});

describe('standard input', () => {
  beforeAll(() => {
    mkdirSync(at('tmp'));
    vi.stubEnv('TMPDIR', at('tmp'));
  });
  afterAll(() => void vi.unstubAllEnvs());

  const left = () => [heldFiles(), readdirSync(at('tmp'))];

  test('is copied to where nobody finds it, and gone at the end', async () => {
    const { files, close } = await open(['-=x.pdf'], texts('one', '', 'two'));
    expect(files).toMatchObject([{ name: 'x.pdf', type: 'application/pdf', size: 6 }]);
    expect(left()).toEqual([[expect.stringMatching(/ \(deleted\)$/)], []]);
    expect(await Promise.all(files.map(content))).toEqual(['onetwo']);
    await close();
    expect(left()).toEqual([[], []]);
  });

  test('without a name is "stdin", and may be empty', async () => {
    const { files, close } = await open(['-']);
    expect(files).toMatchObject([{ name: 'stdin', size: 0 }]);
    await close();
  });

  test('that fails leaves nothing', async () => {
    const broken = piped(async function* () {
      yield Buffer.from('half');
      throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'read' });
    });
    await expect(open(['-'], broken)).rejects.toMatchObject({ code: 'EIO' });
    expect(left()).toEqual([[], []]);
  });

  test('and nine files, in a hundred pushes, leave no descriptor and no temporary file', async () => {
    const paths = Array.from({ length: 9 }, (_, number) => at(`${number}.txt`));
    for (const path of paths) writeFileSync(path, path);
    const instance = await taking();
    const transport = undiciTransport({ timeout: 30, env: {} });
    const client = apiClient({
      base: instance.url,
      userAgent: 'test',
      send: transport.send,
      now: () => new Date(),
      sleep: async () => {},
    });
    const context = texts('piped');
    const run = entryOf(context, { json: false, quiet: false, color: false, debug: false });
    for (let number = 0; number < 100; number++) {
      const attachments = await open([...paths, '-'], context);
      await sendFiles(run, attachments.files, (files) => client.create({}, files));
      await attachments.close();
    }
    await transport.close();
    await instance.close();
    expect(left()).toEqual([[], []]);
    expect(instance.pushes.map((parts) => parts.length)).toEqual(Array(100).fill(10));
    expect(instance.pushes.at(-1)?.at(-1)).toMatchObject({ filename: 'stdin', content: 'piped' });
  });
});

test.each([
  ['a.PDF', 'application/pdf'],
  ['a.tar.gz', 'application/gzip'],
  ['a', 'application/octet-stream'],
  ['pdf', 'application/octet-stream'],
  ['.env', 'application/octet-stream'],
  ['a.constructor', 'application/octet-stream'],
])('the media type of %j is %s', (name, type) => expect(mediaType(name)).toBe(type));
