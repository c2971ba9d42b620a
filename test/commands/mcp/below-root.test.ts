import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileBelow, newBelow } from '../../../src/commands/mcp/below-root';
import { scratch } from '../../helpers/memory';

let folder: string;
let root: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(scratch, 'pwpush-test-')));
  root = join(folder, 'root');
  mkdirSync(join(root, 'inner/deep'), { recursive: true });
  mkdirSync(join(folder, 'root-of-another'));
  writeFileSync(join(folder, 'secret'), 's');
  writeFileSync(join(root, 'file'), 's');
  symlinkSync('file', join(root, 'to-file'));
  symlinkSync('inner', join(root, 'to-inner'));
  symlinkSync('..', join(root, 'inner/to-parent'));
  symlinkSync(folder, join(root, 'out'));
  symlinkSync(join(folder, 'secret'), join(root, 'to-secret'));
  symlinkSync(join(folder, 'missing'), join(root, 'dangling'));
  symlinkSync('/dev/stdin', join(root, 'to-stdin'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync(root, join(folder, 'to-root'));
  execFileSync('mkfifo', [join(root, 'fifo')]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// biome-ignore format: a table
const outside = () => [
  '..', '../secret', 'inner/../../secret', 'inner/..', './../secret', '/', '/etc/passwd', 'out/secret', 'out/new',
  'to-inner/../../secret', 'inner/to-parent/out/secret', join(folder, 'secret'), join(folder, 'root-of-another/x'),
  `${root}/../secret`, '/dev/null', '/dev/stdin', '/dev/fd/1', '/proc/self/fd/1', '/proc/self/environ',
  '/proc/self/cwd/x', '', 'a\0b', 'inner\\..\\..\\secret',
];

describe('a file that exists', () => {
  test('is found below the root, through links that stay there', async () => {
    const file = join(root, 'file');
    for (const path of ['file', './/file', file, 'to-file', 'inner/to-parent/file'])
      expect(await fileBelow(root, path)).toBe(file);
    for (const path of ['file', file]) expect(await fileBelow(join(folder, 'to-root'), path)).toBe(file);
  });

  test('is refused anywhere else, and if it is no regular file', async () => {
    const others = ['to-secret', 'dangling', 'to-stdin', 'loop', 'fifo', 'inner', 'missing', '.'];
    for (const path of [...outside(), ...others])
      await expect(fileBelow(root, path), path).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a new file', () => {
  test('is placed below the root, without links', async () => {
    expect(await newBelow(root, 'new')).toBe(join(root, 'new'));
    expect(await newBelow(root, join(root, 'new'))).toBe(join(root, 'new'));
    expect(await newBelow(root, 'to-inner/new')).toBe(join(root, 'inner/new'));
    expect(await newBelow(join(folder, 'to-root'), '.hidden')).toBe(join(root, '.hidden'));
    expect(await newBelow(root, 'to-inner')).toBe(`${join(root, 'inner')}/`);
    expect(await newBelow(root, 'inner/a/b/')).toBe(`${join(root, 'inner/a/b')}/`);
    expect(await newBelow(root, '.')).toBe(`${root}/`);
  });

  test('is refused anywhere else, over what is there, and in a folder that is missing', async () => {
    const others = ['file', 'to-file', 'to-secret', 'dangling', 'to-stdin', 'loop', 'fifo'];
    const inMissing = ['missing/new', 'dangling/new', 'dangling/new/', 'file/new', 'file/new/'];
    for (const path of [...outside(), ...others, ...inMissing])
      await expect(newBelow(root, path), path).rejects.toMatchObject({ code: 'usage' });
  });

  test('is no device or descriptor even if the root is that of the system', async () => {
    for (const path of ['dev/null', 'dev/stdin', 'dev/tty', 'dev/fd/0', 'proc/self/mem'])
      await expect(newBelow('/', path), path).rejects.toMatchObject({ code: 'usage' });
    await expect(fileBelow('/', 'dev/null')).rejects.toMatchObject({ code: 'usage' });
    expect(await fileBelow('/', join(root, 'file'))).toBe(join(root, 'file'));
  });
});
