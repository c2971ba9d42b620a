import { describe, expect, test } from 'vitest';
import { newLinkKey, newWords } from '../../src/age/key';
import { linkKeyIn } from '../../src/age/link-key';
import { isNearKey, looksLikeWords } from '../../src/age/near-key';
import { wordList } from '../../src/age/words';
import { generate, generateWords } from '../../src/cli/random-secret';

const list = await wordList();

/** As the client asks: without the list where a text does not look like words. */
const isNear = (text: string) => isNearKey(text, looksLikeWords(text) ? list : []);
const fifty = <T>(make: () => T): T[] => Array.from({ length: 50 }, make);

const WORDS = 'abacus-zoom-abdomen-acid-yoga-wreath';
const KEY = 'Zm9v-_YmFyIGJhego0MjEw';
const LINK = 'https://pw.test/p/abc';

describe('most of a key is noticed', () => {
  test.each([
    ['one space left out', 'abacus zoom abdomenacid yoga wreath'],
    ['no spaces', 'abacuszoomabdomenacidyogawreath'],
    ['CamelCase', 'AbacusZoomAbdomenAcidYogaWreath'],
    ['five of six', 'abacus-zoom-abdomen-acid-yoga'],
    ['five of six, joined', 'zoomabdomenacidyogawreath'],
    ['one mistyped', 'abacus-zoom-abdomn-acid-yoga-wreath'],
    ['two mistyped', 'abacus-zom-abdomen-acid-yoga-wraeth'],
    ['the longest word, joined', 'abacuszoomzoologistacidyoga'],
    ['two mistyped, joined', 'abacuszomabdomenacidyogawraeth'],
    ['two of five mistyped', 'abaccus zoom abdomen acid yoqa'],
    ['upper case', WORDS.toUpperCase()],
    ['commas', WORDS.replaceAll('-', ', ')],
    ['numbers', '1. abacus\n2. zoom\n3. abdomen\n4. acid\n5. yoga\n6. wreath'],
    ['joined by digits', 'abacus1zoom2abdomen3acid4yoga5wreath6'],
    ['a digit after six', `${WORDS}7`],
    ['words around them', `the words are ${WORDS}, as I said`],
    ['eight words', `${WORDS}-abbey-abide`],
    ['a link key', KEY],
    ['without its first character', KEY.slice(1)],
    ['without its last character', KEY.slice(0, -1)],
    ['one character twice', KEY.replace('YY', 'YYY').replace('go', 'ggo')],
    ['another last character', `${KEY.slice(0, -1)}x`],
    ['a space in it', `${KEY.slice(0, 9)} ${KEY.slice(9)}`],
    ['two line ends in it', `${KEY.slice(0, 9)}\n${KEY.slice(9, 20)}\n${KEY.slice(20, -1)}`],
    ['quotes around it', `\u201c${KEY.slice(1)}\u201d.`],
    ['words before it', `the key is ${KEY.slice(1)}`],
    ['a sign before it', `#${KEY.slice(1)}`],
    ['a name before it', `key=${KEY.slice(1)}`],
    ['invisible characters in it', `${KEY.slice(0, 9)}\u00ad\u200b${KEY.slice(9)}`],
    ['wide characters', KEY.replace('Z', '\uff3a').replace('9', '\uff19')],
    ['soft hyphens in words', WORDS.replaceAll('o', 'o\u00ad')],
    ['a private key of age', 'AGE-SECRET-KEY-1QQQQ'],
    ['a private key of SSH', '-----BEGIN OPENSSH PRIVATE KEY-----'],
    ['a link with a key', `${LINK}#${KEY}`],
    ['a link whose key was cut', `${LINK}#${KEY.slice(0, -1)}`],
    ['a link with half a key', `${LINK}#${KEY.slice(0, 11)}`],
    ['a link with an escaped half', `${LINK}%2523${KEY.slice(0, 11)}&x`],
    ['a link without its scheme', `pw.test/p/abc#${KEY.slice(0, 11)}`],
  ])('%s: %s', (_, text) => {
    expect(isNear(text)).toBe(true);
  });

  test('in all that is made', () => {
    for (const [key, words] of fifty(() => [newLinkKey(), newWords(list)] as const))
      for (const text of [
        ...[key, ` ${key}\n`, `#${key}`, `${LINK}%23${key}&x`],
        ...[words, words.replaceAll('-', ''), words.replace(/-\w+$/, ''), `${words}\n`],
        ...[words.replace(/-[a-z]+-/, '-xqzx-'), newWords(list, 8)],
      ])
        expect([text, isNear(text)]).toEqual([text, true]);
  });
});

describe('a passphrase is none', () => {
  test('that was generated', async () => {
    const all = fifty(() => fifty(() => generateWords(5))).flat();
    for (const text of await Promise.all(all)) {
      expect(text).toMatch(/^(?:[a-z]+-){4}[a-z]+[2-9]$/);
      expect([text, isNear(text)]).toEqual([text, false]);
    }
    const others = ['signs', 'alnum', 'hex'] as const;
    // One of some 5,000 has a whole key between signs.
    for (const of of others)
      for (const count of [16, 24])
        for (const text of await Promise.all(fifty(() => generate({ of, count }))))
          expect([text, isNear(text)]).toEqual([text, linkKeyIn(text) !== undefined]);
  });

  test.each([
    '',
    'hunter2',
    'Tr0ub4dor&3',
    'correct horse battery staple',
    'CorrectHorseBatteryStaple',
    'correcthorsebatterystaple1',
    'the quick brown fox jumps over it',
    'thequickbrownfoxjumpsoverit',
    'ich habe heute leider gar keine zeit',
    'internationalization',
    'a b c d e f g',
    'A'.repeat(22).replace(/A$/, 'B'),
    '550e8400-e29b-41d4-a716-446655440000',
    'a sentence with #hash',
    'abacus-zoom-abdomen-acid',
    'abacus-zom-abdomn-acid-yoga-wraeth',
    KEY.slice(2),
    `${KEY}xx`,
    'https://pw.test/p/abc',
  ])('%j', (text) => {
    expect(isNear(text)).toBe(false);
  });

  test('and only what has the letters of five words asks for the list', () => {
    const none = [
      'hunter2',
      'correct horse',
      'Tr0ub4dor&3',
      '550e8400-e29b-41d4-a716-446655440000',
      'a b c d e f g h i j k l m n o',
    ];
    expect(none.filter(looksLikeWords)).toEqual([]);
    expect(['age ace act aim air', WORDS].filter(looksLikeWords)).toHaveLength(2);
  });
});
