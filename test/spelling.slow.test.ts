import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { needsPrograms } from './helpers/needs';

const root = fileURLToPath(new URL('..', import.meta.url));
const own = join(root, 'test/words.txt');
const listed = new Set(readFileSync(own, 'utf8').split('\n'));
const files = (folder: string, end: RegExp) =>
  readdirSync(join(root, folder))
    .filter((name) => end.test(name))
    .map((name) => join(folder, name));

const page = (path: string) =>
  execFileSync('mandoc', ['-T', 'utf8', join(root, path)], { encoding: 'utf8' })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: how mandoc makes letters bold
    .replace(/.\u0008/g, '')
    .replace(/‘[^’]*’/g, ' ')
    // The codes of languages.
    .replace(/\bca, cs,.*?zh-CN/s, ' ');

/** Markdown without code, names of tests, links and markup. */
const prose = (path: string) =>
  readFileSync(join(root, path), 'utf8').replace(
    /(?<=`test\/[^`]+`), [^\n]+? \||^```.*?^```|^ {4}.*$|`[^`]*`|\]\([^)]*\)|<[^>]*>|https?:\S+/gms,
    ' ',
  );

function misspelt(text: string): string[] {
  const input = text.replace(/\S*[\d_/@=$]\S*|\b[A-Z]{2,}s?\b/g, ' ').replace(/’/g, "'");
  const found = execFileSync('hunspell', ['-d', 'en_US', '-l'], {
    input,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  return [...new Set(found.split('\n'))].filter((word) => word !== '' && !listed.has(word)).sort();
}

test('manuals and documents have no spelling mistakes', needsPrograms('hunspell', 'mandoc'), () => {
  const text = [
    ...files('man', /\.\d$/).map(page),
    ...[...files('.', /\.md$/), ...files('docs', /\.md$/)].map(prose),
  ].join('\n');
  expect(misspelt(text), `correct it, or add it to ${own}`).toEqual([]);
});
