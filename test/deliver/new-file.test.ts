import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { newFile } from '../../src/deliver/new-file';
import { eachPlace } from '../helpers/run';

const here = eachPlace();
/** In a folder that is empty at first. */
const at = (name: string) => here.file(`home/${name}`);
const names = () => readdirSync(at('')).sort();
const folder = (force = false) => ({
  path: here.file('home'),
  ...{ force, taken: new Set<string>() },
});

async function put(into: ReturnType<typeof folder>, name: string, text: string) {
  const file = await newFile(into, name);
  await file.handle.writeFile(text);
  return file.keep();
}

describe('a new file', () => {
  test('has a temporary name, 0600, until it is kept', async () => {
    const file = await newFile(folder(), 'a.txt');
    expect(names()).toEqual([expect.stringMatching(/^\.a\.txt\.[0-9a-f]{12}\.part$/)]);
    expect(statSync(at(names()[0] ?? '')).mode & 0o777).toBe(0o600);
    expect(await file.keep()).toBe(at('a.txt'));
    expect(names()).toEqual(['a.txt']);
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o600);
  });

  test('leaves nothing when it is discarded', async () => {
    await (await newFile(folder(), 'a.txt')).discard();
    expect(names()).toEqual([]);
  });

  test('with the longest name there can be works too', async () => {
    const name = `${'x'.repeat(251)}.txt`;
    await put(folder(), name, 'x');
    expect(names()).toEqual([name]);
  });

  test('takes the next free name, also of what came to be in the meantime', async () => {
    writeFileSync(at('a.txt'), 'mine');
    const file = await newFile(folder(), 'a.txt');
    writeFileSync(at('a (2).txt'), 'theirs');
    expect(await file.keep()).toBe(at('a (3).txt'));
    const kept = ['a.txt', 'a (2).txt'].map((name) => readFileSync(at(name), 'utf8'));
    expect(kept).toEqual(['mine', 'theirs']);
  });

  test.each([false, true])('of the same name in one run gets (2), --force %s', async (force) => {
    const into = folder(force);
    await put(into, 'A.txt', 'first');
    expect(await put(into, 'a.TXT', 'second')).toBe(at('a (2).TXT'));
    expect(readFileSync(at('A.txt'), 'utf8')).toBe('first');
  });

  test('overwrites a regular file with --force, and nothing else', async () => {
    writeFileSync(at('a'), 'old', { mode: 0o644 });
    mkdirSync(at('b'));
    symlinkSync(at('target'), at('c'));
    const into = folder(true);
    expect(await put(into, 'a', 'new')).toBe(at('a'));
    expect(await put(into, 'b', 'new')).toBe(at('b (2)'));
    expect(await put(into, 'c', 'new')).toBe(at('c (2)'));
    expect(readFileSync(at('a'), 'utf8')).toBe('new');
    expect(statSync(at('a')).mode & 0o777).toBe(0o600);
    expect(readlinkSync(at('c'))).toBe(at('target'));
    expect(names()).toEqual(['a', 'b', 'b (2)', 'c', 'c (2)']);
  });
});
