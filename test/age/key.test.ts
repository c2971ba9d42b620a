import { describe, expect, test } from 'vitest';
import { newLinkKey, newWords, parseKey } from '../../src/age/key';
import { keyProof, newKeySalt, proofAt } from '../../src/age/key-proof';
import { isLinkKey } from '../../src/age/link-key';
import { wordList } from '../../src/age/words';
import { platforms } from '../helpers/age';

const list = await wordList();

test('a link key is 128 bits in 22 characters, another each time', () => {
  const keys = Array.from({ length: 100 }, newLinkKey);
  expect(new Set(keys).size).toBe(100);
  for (const key of keys) {
    expect(key).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(Buffer.from(key, 'base64url').length).toBe(16);
    expect(isLinkKey(key)).toBe(true);
    for (const text of [` ${key}\n`, `\u201c${key}\u201d.`]) expect(parseKey(text, list)).toBe(key);
  }
});

const A21 = 'A'.repeat(21);
test.each(['', A21, `${A21}AA`, `${A21}B`, `${A21}=`, 'ä'.repeat(22)])('%j is no key', (text) => {
  expect(isLinkKey(text)).toBe(false);
  expect(() => parseKey(text, list)).toThrow('a key is 22 characters, or 6 or more words');
});

test.each(['#', '%23', ' https://pw.test/p/abc#', 'https://pw.test/p/abc%2523'])(
  'a link key is found after %j',
  (before) => {
    const key = newLinkKey();
    expect(parseKey(`${before}${key}`, list)).toBe(key);
    expect(parseKey(`${before}${key}&utm_source=mail\n`, list)).toBe(key);
    expect(() => parseKey(`${before}${key}A`, list)).toThrow('a key is 22');
  },
);

describe('words', () => {
  test('are at least six of the list, without those that have a hyphen', () => {
    const made = Array.from({ length: 200 }, () => newWords(list));
    expect(new Set(made).size).toBe(200);
    for (const words of made) {
      expect(words.split('-')).toHaveLength(6);
      expect(words.split('-').filter((word) => !list.includes(word))).toEqual([]);
    }
    expect(newWords(list, 2).split('-')).toHaveLength(6);
    expect(newWords(list, 8).split('-')).toHaveLength(8);
    expect(newWords(['yo-yo', 'abacus'])).toBe('abacus-abacus-abacus-abacus-abacus-abacus');
  });

  const KEY = 'abacus-zoom-abdomen-acid-yoga-wreath';
  test.each([
    KEY,
    ' Abacus Zoom  abdomen\tacid yoga WREATH\n',
    'abacus - zoom - abdomen - acid - yoga - wreath',
    '\u201cAbacus\u2013zoom\u2014abdomen, acid; yoga. Wreath.\u201d',
    '1. abacus\n2. zoom\n3. abdomen\n4. a\u0301c\u0130d_yoga/wreath\u200b',
  ])('%j is read as it was meant', (typed) => {
    expect(parseKey(typed, list)).toBe(KEY);
  });

  test('that are mistyped are named by their position', () => {
    const typed = 'abacus zoom abdomenn acid yoga wreath';
    expect(() => parseKey(typed, list)).toThrow(/^word 3 of the key is not in the word list$/);
    expect(() => parseKey('abacus zoom abdomen acid yoga', list)).toThrow('6 or more words');
  });
});

const LINK_KEY = 'Zm9v-_YmFyIGJhego0MjEw';
const WORDS = 'abacus-abdomen-abdominal-abide-abiding-ability';
const SALT = 'AAECAwQFBgcICQoLDA0ODw';

// They are from hmac and hashlib.scrypt of Python, the first also from openssl.
describe.each(platforms)('a proof, on $platform', (platform) => {
  test('a link key is proved by HKDF, whatever the salt', async () => {
    for (const salt of [undefined, SALT])
      expect(await keyProof(platform, LINK_KEY, salt)).toBe('hAfrg5GYp9KlhtHsy4udnQ');
  });

  test('what is shown counts at one address', async () => {
    const shown = (base: string) => proofAt(platform.primitives, 'hAfrg5GYp9KlhtHsy4udnQ', base);
    expect(shown('https://pw.test')).toBe('xZ1vLzF9en2o_ZYN3SASaQ');
    expect(shown('https://pw.test:8443/x')).not.toBe(shown('https://pw.test:8443'));
  });

  test('words are stretched with the salt of their push', async () => {
    expect(await keyProof(platform, WORDS, SALT)).toBe('_LIpFUaibLvglSiVVwthow');
    const salt = newKeySalt(platform.primitives);
    expect(salt).toMatch(/^[\w-]{21}[AQgw]$/);
    expect(await keyProof(platform, WORDS, salt)).not.toBe('_LIpFUaibLvglSiVVwthow');
  });

  const damaged = ['', `${SALT}A`, `${SALT.slice(1)}B`, 'AAECAwQFBgcICQoLDA0OD+', `${SALT}==`];
  test.each([undefined, ...damaged])('nothing is made of words with the salt %s', async (salt) => {
    expect(await keyProof(platform, WORDS, salt)).toBeUndefined();
  });
});
