import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { locales } from '../../../src/contract/api';
import { localeOf, wordsFor } from '../../../src/server/page/language';
import type { PhraseKey, PluralForms } from '../../../src/server/page/phrases';

const asking = (query: string, accepted?: string) =>
  new Request(`http://pw.test/p/abc${query}`, {
    headers: accepted === undefined ? {} : { 'accept-language': accepted },
  });

test.each([
  ['', undefined, 'en'],
  ['', 'tlh, sv;q=0.5, da;q=0.7', 'da'],
  ['', 'de;q=0, sv;q=0.1', 'sv'],
  ['', 'en-US,de;q=0.9', 'en'],
  ['', 'en-GB', 'en-GB'],
  ['', 'nb-NO', 'no'],
  ['', 'pt', 'pt-BR'],
  ['', 'zh-Hans-CN', 'zh-CN'],
  ['', 'x'.repeat(5000), 'en'],
  ['?locale=ur', 'fr', 'ur'],
  ['?locale=pt-br', 'fr', 'pt-BR'],
  ['?locale=tlh', 'fr', 'fr'],
  ['?locale=__proto__', undefined, 'en'],
])('the language of a page %s with %s is %s', (query, accepted, locale) => {
  expect(localeOf(asking(query, accepted))).toBe(locale);
});

const folder = join(import.meta.dirname, '../../../src/server/page/locales');
const files = readdirSync(folder).map((file) => file.replace('.json', ''));
type Phrases = Record<string, string | PluralForms>;
const isNote = (key: string) => key.startsWith('@');
const read = (locale: string): Phrases =>
  Object.fromEntries(
    Object.entries(JSON.parse(readFileSync(join(folder, `${locale}.json`), 'utf8'))).filter(([key]) => !isNote(key)),
  ) as Phrases;
const english = read('en');
const placeholders = (text: string) => [...text.matchAll(/\{([^}]*)\}?/g)].map(([, name]) => name).sort();

test('each language of the reference has a table, and no other; British English has that of English', () => {
  expect([...files, 'en-GB'].sort()).toEqual([...locales].sort());
});

describe.each(files)('%s', (locale) => {
  test('has phrases of English in their order, with their placeholders', () => {
    const strings = read(locale);
    expect(Object.keys(strings)).toEqual(Object.keys(english).filter((key) => key in strings));
    for (const [key, phrase] of Object.entries(strings)) {
      const original = english[key];
      expect(typeof phrase, key).toBe(typeof original);
      const texts = typeof phrase === 'string' ? [phrase] : Object.values(phrase);
      for (const text of texts) {
        expect(placeholders(text), key).toEqual(
          placeholders(typeof original === 'string' ? original : (original?.other ?? '')),
        );
        expect(text, key).not.toMatch(/^\s|\s$|[<>]|&\w+;|^$/);
      }
    }
  });

  test('has words for nearly all, and those of English for the rest', async () => {
    const strings = read(locale);
    const words = await wordsFor(asking(`?locale=${locale}`));
    for (const [key, phrase] of Object.entries(english))
      if (typeof phrase === 'string') expect(words.text(key as PhraseKey)).toBe(strings[key] ?? phrase);
    const missing = Object.keys(english).filter((key) => !(key in strings));
    expect(missing.length, `${missing}`).toBeLessThan(10);
  });

  test('has the plural forms of the language', () => {
    const categories = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
    for (const [key, phrase] of Object.entries(read(locale)))
      if (typeof phrase !== 'string') expect(Object.keys(phrase).sort(), key).toEqual([...categories].sort());
  });
});

test('numbers, times and sizes are written as the language does', async () => {
  const english = await wordsFor(asking(''));
  const [hour, day] = [3_600_000, 86_400_000];
  const times = [90 * day, 1.5 * day - 1, 1.5 * hour - 1, 60_000, 0];
  expect(times.map((time) => english.when(time))).toEqual([
    ...['in 90 days', 'in 36 hours', 'in 90 minutes', 'in 1 minute', 'in 1 second'],
  ]);
  const sizes = [1, 1023, 1_600_000, 3 * 1024 ** 5].map((bytes) => english.size(bytes));
  expect(sizes).toEqual(['1 byte', '1,023 bytes', '1.5\u00a0MiB', '3,072\u00a0TiB']);
  const urdu = await wordsFor(asking('?locale=ur'));
  // Read once.
  expect(await wordsFor(asking('', 'ur'))).toBe(urdu);
  expect(urdu.size(2048)).toBe('\u20682\u00a0KiB\u2069');
  const htmlOf = ({ pieces }: { pieces: readonly unknown[] }) => pieces.join('').replace('\u202f', ' ');
  expect(htmlOf(english.date(Date.UTC(2026, 0, 5, 3, 4, 5)))).toBe(
    '<time datetime="2026-01-05T03:04:05.000Z" data-time="date">January 5, 2026 at 3:04 AM UTC</time>',
  );
  expect(htmlOf(english.clockTime(Date.UTC(2026, 0, 5, 13, 4, 5)))).toMatch(/>1:04:05 PM UTC<\/time>$/);
});
