import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'man/pwpush-security.7'), 'utf8').replaceAll('\\-', '-');

/** Attack, test file and title of each entry of the sections about protections and encrypted pushes. */
const promises = page
  .split(/^\.Sh /m)
  .filter((section) => /^(PROTECTIONS|ENCRYPTED)/.test(section))
  .flatMap((section) => section.split(/^\.It /m).slice(1))
  .map((entry) => ({
    attack: entry.split('\n')[0] ?? '',
    file: /^\.Pa (test\/\S+) :$/m.exec(entry)?.[1] ?? '',
    title: /^\.Dq (.+)$/m.exec(entry)?.[1] ?? '',
  }));

describe('pwpush-security(7)', () => {
  test('names attacks, each once', () => {
    const attacks = promises.map(({ attack }) => attack);
    expect(attacks.length).toBeGreaterThan(20);
    expect(new Set(attacks).size).toBe(attacks.length);
  });

  test.each(promises)('$attack: $file carries it out', ({ file, title }) => {
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    const source = readFileSync(join(root, file), 'utf8');
    // A title, or a part of one: between quotes, on the line of a test, or the first line of a transcript.
    const titles = file.endsWith('.txt')
      ? [source.split('\n', 1).join()]
      : [...source.matchAll(/'((?:[^'\\\n]|\\.)*)'|`([^`\n]*)`/g)].map(
          ([, quoted, template]) => quoted ?? template ?? '',
        );
    expect(titles.filter((one) => one.includes(title))).not.toEqual([]);
  });

  test('is pointed to by the manual and the readme', () => {
    for (const file of ['man/pwpush.1', 'README.md', 'src/cli/help/topics.ts']) {
      const text = readFileSync(join(root, file), 'utf8');
      expect([file, /pwpush-security(\(7\)| 7|`\(7\))/.test(text)]).toEqual([file, true]);
    }
  });
});
