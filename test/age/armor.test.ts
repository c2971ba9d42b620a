import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as armor from '../../src/age/format/armor';
import { parseRecipient } from '../../src/age/key-files';
import { node } from '../../src/age/node-primitives';
import { isArmored, recipientKinds, sealedWith } from '../../src/age/sealed-with';
import { encryptText, passphraseRecipient } from '../../src/server/page/browser/age-passphrase';
import { encryptText as encryptToKeys, platforms } from '../helpers/age';

const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

describe.each(platforms)('on $platform', ({ primitives }) => {
  const encodeArmor = (bytes: Uint8Array) => armor.encodeArmor(primitives, bytes);
  const decodeArmor = (text: string) => armor.decodeArmor(primitives, text);

  test('armor is decoded to what was encoded, also among white space and with CRLF', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encodeArmor(bytes);
        expect(text.length).toBe(armor.armorSize(bytes.length));
        for (const one of [text.trim(), ` \n\t${text}\r\n `, text.replaceAll('\n', '\r\n')]) {
          expect(isArmored(one)).toBe(true);
          expect(Buffer.from(decodeArmor(one)).equals(bytes)).toBe(true);
        }
      }),
    );
  });

  test('every other character makes it invalid', () => {
    const text = encodeArmor(randomBytes(100));
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: text.length - 2 }),
        fc.constantFrom(' ', '\n', '\r', '=', '-', '_', '\0', 'ä', 'Ａ', '\u2028'),
        fc.constantFrom(0, 1),
        (at, character, replaced) => {
          const changed = text.slice(0, at) + character + text.slice(at + replaced);
          const trimmed = changed.trim();
          if (trimmed.replaceAll('\r\n', '\n') === text.trim()) return;
          expect(() => decodeArmor(changed)).toThrow(/^the armor /);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([...['', ' ', 'hunter2', BEGIN, `x${BEGIN}\n`, `${BEGIN} \n`, `-${BEGIN}\n`, `a\n${BEGIN}\n`]])(
    '%j is no armor',
    (text) => {
      expect(isArmored(text)).toBe(false);
      expect(() => decodeArmor(text)).toThrow(/^the armor /);
    },
  );
});

test('the header of armor tells what opens it', async () => {
  const link = await encryptText('x', passphraseRecipient('a key', 10));
  const words = await encryptText('x', passphraseRecipient('six words', 11));
  const keys = await encryptToKeys('x', [parseRecipient(RECIPIENT)]);
  const [begin = ''] = link.split('\n');
  const texts = [link, ` \n${link.replaceAll('\n', '\r\n')}`, words, keys];
  expect(texts.map(sealedWith)).toEqual(['link', 'link', 'words', 'recipient']);
  const others = ['x', `a line\n${link}`, begin, `${begin}\n`, `${begin}\n</pre>\n\n`];
  expect(others.map(sealedWith)).toEqual(others.map(() => undefined));
});

test.each([
  [['X25519 a'], ['age1…']],
  [
    ['ssh-ed25519 a b', 'ssh-rsa a', 'abc-grease', 'def-grease x'],
    ['ssh-ed25519', 'ssh-rsa'],
  ],
  [
    ['piv-p256 a', 'X25519 a', 'ssh-ed25519 a b'],
    ['age1…', 'ssh-ed25519'],
  ],
  [['scrypt a 10'], []],
])('armor for %j is for keys that begin with %j', (stanzas, kinds) => {
  const lines = stanzas.map((stanza) => `-> ${stanza}\n${'A'.repeat(43)}\n`).join('');
  const file = Buffer.from(`age-encryption.org/v1\n${lines}--- MAC\n-> ssh-rsa a`);
  expect(recipientKinds(armor.encodeArmor(node, file))).toEqual(kinds);
});
