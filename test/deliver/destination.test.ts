import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Destination, reserveFile } from '../../src/deliver/destination';
import { allOf, needsFile, needsPrograms, needsRoot } from '../helpers/needs';
import { place } from '../helpers/run';

const user = process.geteuid?.();
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pwpush-destination-'));
  path = join(folder, 'out');
});
afterEach(() => rmSync(folder, { recursive: true }));

const mode = (of: string) => (statSync(of).mode & 0o777).toString(8);

test('what is committed is there whole, 0600, and nothing beside it', async () => {
  const before = process.umask(0);
  const file = await reserveFile(path, false, user);
  await file.commit(Buffer.from([0, 255, 10]));
  process.umask(before);
  expect([readdirSync(folder), mode(path)]).toEqual([['out'], '600']);
  expect(readFileSync(path)).toEqual(Buffer.from([0, 255, 10]));
});

test('what is discarded leaves nothing', async () => {
  const file = await reserveFile(path, false, user);
  await file.discard();
  expect(readdirSync(folder)).toEqual([]);
});

test('a file that is there is left as it is, also one that came to be before the write', async () => {
  const file = await reserveFile(path, false, user);
  writeFileSync(path, 'theirs');
  await expect(file.commit('ours')).rejects.toMatchObject({ code: 'usage' });
  await expect(reserveFile(path, false, user)).rejects.toMatchObject({ code: 'usage' });
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['out'], 'theirs']);
});

test('with force it is replaced, and is 0600 whatever it was', async () => {
  writeFileSync(path, 'old');
  chmodSync(path, 0o644);
  await (await reserveFile(path, true, user)).commit('new');
  expect([readFileSync(path, 'utf8'), mode(path)]).toEqual(['new', '600']);
});

test('a link with --force stays, and the file behind it is written', async () => {
  const target = join(folder, 'target');
  writeFileSync(target, 'old');
  symlinkSync(target, path);
  await (await reserveFile(path, true, user)).commit('new');
  expect([lstatSync(path).isSymbolicLink(), readFileSync(target, 'utf8')]).toEqual([true, 'new']);
});

test('a pipe nobody reads is refused at once', needsPrograms('mkfifo'), async () => {
  execFileSync('mkfifo', [path]);
  await expect(reserveFile(path, false, user)).rejects.toMatchObject({ code: 'usage' });
});

test('a link planted after a look at a pipe is not followed', needsPrograms('mkfifo'), async () => {
  const [theirs, link] = [join(folder, 'theirs'), join(folder, 'link')];
  execFileSync('mkfifo', [path, theirs]);
  const reader = openSync(theirs, constants.O_RDONLY | constants.O_NONBLOCK);
  symlinkSync(theirs, link);
  // It has looked for links when it returns, and opens the pipe in a later turn.
  const reserving = reserveFile(path, false, user);
  renameSync(link, path);
  await expect(reserving).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('ELOOP') });
  closeSync(reader);
});

describe('what another user made (needs root)', allOf(needsRoot, needsPrograms('mkfifo')), () => {
  const NOBODY = 65534;
  const SOMEBODY = 1;

  const refused = () => ({ code: 'usage', message: expect.stringMatching(path) });

  /** Makes the folder one of that owner and mode, with an entry of nobody's. */
  function prepared(entry: () => void, owner: number, folderMode: number) {
    entry();
    lchownSync(path, NOBODY, NOBODY);
    chownSync(folder, owner, owner);
    chmodSync(folder, folderMode);
  }

  test.each([
    [0, 0o1777, false],
    [NOBODY, 0o707, false],
    [0, 0o770, false],
    [0, 0o755, true],
    [NOBODY, 0o755, true],
  ])('a pipe in a folder of user %i, mode %o, is written to: %s', async (owner, mode, taken) => {
    prepared(() => execFileSync('mkfifo', [path]), owner, mode);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const reserved = await reserveFile(path, true, user).catch((error: unknown) => error);
    if (taken) await (reserved as Destination).commit('secret');
    else expect(reserved).toMatchObject(refused());
    const bytes = Buffer.alloc(10);
    const read = readSync(reader, bytes);
    closeSync(reader);
    expect(bytes.toString('utf8', 0, read)).toBe(taken ? 'secret' : '');
  });

  test.each([
    [0, 0o1777, false],
    [SOMEBODY, 0o1777, false],
    [NOBODY, 0o1777, true],
    [NOBODY, 0o757, false],
    [NOBODY, 0o775, false],
    [0, 0o755, true],
  ])('a link in a folder of user %i, mode %o, is followed: %s', async (owner, mode, taken) => {
    const home = place().folder;
    const target = join(home, 'target');
    writeFileSync(target, 'old');
    for (const [leads, named] of [
      [target, path],
      [home, join(path, 'target')],
      [home, join(path, '..', 'out', 'target')],
    ] as const) {
      prepared(() => symlinkSync(leads, path), owner, mode);
      const reserved = await reserveFile(named, true, user).catch((error: unknown) => error);
      if (taken) await (reserved as Destination).commit(named);
      else expect(reserved).toMatchObject(refused());
      expect(readFileSync(target, 'utf8')).toBe(taken ? named : 'old');
      rmSync(path);
    }
  });

  test.each([0, SOMEBODY])('a link of ours or of root is followed by user %i', async (me) => {
    const target = join(folder, 'target');
    writeFileSync(target, 'old');
    chmodSync(folder, 0o1777);
    symlinkSync('./target', path);
    lchownSync(path, me, me);
    await (await reserveFile(path, true, SOMEBODY)).commit('new');
    expect(readFileSync(target, 'utf8')).toBe('new');
  });
});

test('what is no place for a file is refused before anything is fetched', async () => {
  const at = (...names: string[]) => join(folder, ...names);
  symlinkSync(at('elsewhere'), at('dangling'));
  mkdirSync(at('folder'));
  writeFileSync(at('plain'), '');
  const server = createServer().listen(at('socket'));
  await once(server, 'listening');
  const inNone = ['', `${folder}/new/`, at('none', 'out'), at('plain', 'out')];
  for (const wrong of [...inNone, at('dangling'), at('folder'), at('socket')])
    await expect(reserveFile(wrong, true, user), wrong).rejects.toMatchObject({ code: 'usage' });
  expect(readdirSync(folder).sort()).toEqual(['dangling', 'folder', 'plain', 'socket']);
  server.close();
});

test('a device is written to as it is', async () => {
  const file = await reserveFile('/dev/null', false, user);
  await file.commit('secret');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

// Where people keep secrets in memory.
const missing = needsFile('/dev/shm');

describe('a file in /dev/shm is one like any other', missing, () => {
  const theirs = 'theirs, and longer than ours';
  let file: string;
  beforeEach(() => {
    file = join('/dev/shm', basename(folder));
    writeFileSync(file, theirs);
    chmodSync(file, 0o666);
  });
  afterEach(() => rmSync(file));

  test('that is there is left as it is, behind a link, too', async () => {
    symlinkSync(file, path);
    for (const named of [file, path])
      await expect(reserveFile(named, false, user)).rejects.toMatchObject({ code: 'usage' });
    expect([readFileSync(file, 'utf8'), mode(file)]).toEqual([theirs, '666']);
  });

  test('with force is replaced whole, and is ours alone', async () => {
    const before = openSync(file, 'r');
    if (process.getuid?.() === 0) chownSync(file, 65534, 65534);
    await (await reserveFile(file, true, user)).commit('ours');
    expect([readFileSync(file, 'utf8'), mode(file)]).toEqual(['ours', '600']);
    expect([statSync(file).uid, readFileSync(before, 'utf8')]).toEqual([process.getuid?.(), theirs]);
    closeSync(before);
  });
});

test('an open file is written to by its descriptor', missing, async () => {
  writeFileSync(path, '');
  const fd = openSync(path, 'r+');
  const names = [`/dev/fd/${fd}`, `/proc/self/fd/${fd}`, `/proc/${process.pid}/fd/${fd}`];
  for (const name of names) {
    await (await reserveFile(name, false, user)).commit(name);
    expect([name, readFileSync(path, 'utf8').slice(0, name.length)]).toEqual([name, name]);
  }
  closeSync(fd);
});
