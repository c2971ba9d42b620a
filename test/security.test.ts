import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { promises } from '../.ci/promises.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The entries of the sections about protections and encrypted pushes. */
const entries = read('man/pwpush-security.7')
  .split(/^\.Sh /m)
  .filter((section) => /^(PROTECTIONS|ENCRYPTED)/.test(section))
  .flatMap((section) => section.split(/^\.It /m).slice(1));

// That the tests pass is judged by their results: test/helpers/promises.ts.
describe('pwpush-security(7)', () => {
  test('names attacks, each once, with the tests that carry them out', () => {
    const attacks = entries.map((entry) => entry.split('\n')[0] ?? '');
    expect(attacks.length).toBeGreaterThan(20);
    expect(new Set(attacks).size).toBe(attacks.length);
    expect(entries.filter((entry) => !/^\.Pa test\/\S+ :\n\.Dq .+$/m.test(entry))).toEqual([]);
  });

  test('names files of tests that exist, and the first lines of transcripts', () => {
    expect(promises().filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
    for (const { file, title } of promises())
      if (file.endsWith('.txt')) expect(read(file).split('\n', 1).join()).toContain(title);
  });

  test('is pointed to by the manual and the readme', () => {
    for (const file of ['man/pwpush.1', 'README.md'])
      expect([file, /pwpush-security(\(7\)| 7|`\(7\))/.test(read(file))]).toEqual([file, true]);
  });
});
