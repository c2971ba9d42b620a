import { describe, expect, test } from 'vitest';
import { keyProof, newKeySalt } from '../../src/age/key-proof';
import { platforms } from '../helpers/age';

const KEY = 'Zm9v-_YmFyIGJhego0MjEw';
const WORDS = 'abacus-abdomen-abdominal-abide-abiding-ability';
const SALT = 'AAECAwQFBgcICQoLDA0ODw';

// The proofs are from hmac and hashlib.scrypt of Python, the first also from openssl.
describe.each(platforms)('on $platform', (platform) => {
  test('a link key is proved by HKDF, whatever the salt', async () => {
    for (const salt of [undefined, SALT])
      expect(await keyProof(platform, KEY, salt)).toBe('hAfrg5GYp9KlhtHsy4udnQ');
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
