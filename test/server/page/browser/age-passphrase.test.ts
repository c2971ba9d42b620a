import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decryptStream, decryptText as nodeDecrypt } from '../../../../src/age/age';
import { AgeError } from '../../../../src/age/age-error';
import { parseRecipient } from '../../../../src/age/key-files';
import { isLinkKey } from '../../../../src/age/link-key';
import { passphraseIdentity, passphraseRecipient } from '../../../../src/age/recipients';
import {
  decryptFile,
  decryptText,
  encryptFile,
  encryptText,
  newLinkKey,
  passphraseRecipient as ofPage,
  passphraseWork,
} from '../../../../src/server/page/browser/age-passphrase';
import { keysIn } from '../../../../src/server/page/browser/keys-in';
import {
  encryptText as encryptForNode,
  encryptStream,
  expectSame,
  joined,
  lengths,
  pieces,
} from '../../../helpers/age';

// The age of the page, which runs in browsers, against that of the command line. test/age has the vectors of the format.

const KEY = 'TDwSkAO2ZmVrJkGOCxCbJg';
const identities = [passphraseIdentity(KEY)];
// The lowest work factor.
const recipients = [passphraseRecipient(KEY, 1)];

/** What is released before decryption ends, and the failure if there is one. */
async function outcome(file: Uint8Array, passphrase = KEY, size = 10_000) {
  const chunks: Uint8Array[] = [];
  try {
    const opened = await decryptFile(pieces(file, size), passphrase);
    for await (const chunk of opened) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    return { plain: Buffer.concat(chunks), failure: error.reason };
  }
  return { plain: Buffer.concat(chunks), failure: undefined };
}

const encrypted = async (plain: Uint8Array) =>
  joined((await encryptStream(pieces(plain), recipients)).bytes);

describe.each([...lengths, 131_072])('%i bytes', (length) => {
  const plain = randomBytes(length);

  test('of the command line are decrypted by the page', async () => {
    const file = await encrypted(plain);
    for (const size of [997, 65_552, Number.POSITIVE_INFINITY]) {
      const { plain: opened, failure } = await outcome(file, KEY, size);
      expect(failure).toBeUndefined();
      expectSame(opened, plain);
    }
  });

  test('of the page are decrypted by the command line', async () => {
    for (const size of [997, 65_536, Number.POSITIVE_INFINITY]) {
      const { chunks } = await encryptFile(pieces(plain, size), ofPage(KEY, 1));
      const file = await joined(chunks);
      expectSame(await joined(await decryptStream(pieces(file), identities)), plain);
    }
  });
});

test('a text is the same afterwards to the character, in both directions', async () => {
  const text = '\uFEFF π = "3.14"\r\n\0🔑\n\n';
  const armor = await encryptText(text, ofPage(KEY, 10));
  expect((await nodeDecrypt(armor, identities)).toString()).toBe(text);
  expect(await decryptText(` \n${armor.replaceAll('\n', '\r\n')}`, KEY)).toBe(text);
  expect(await passphraseWork(armor)).toBe(10);
  const empty = await encryptText('', ofPage(KEY, 1));
  expect(await decryptText(empty, KEY)).toBe('');
});

test('files of the same plaintext have nothing in common', async () => {
  const [one, other] = [
    await encryptText('a', ofPage(KEY, 1)),
    await encryptText('a', ofPage(KEY, 1)),
  ];
  expect(one.split('\n').filter((line) => other.includes(line))).toEqual([
    ...['-----BEGIN AGE ENCRYPTED FILE-----', '-----END AGE ENCRYPTED FILE-----', ''],
  ]);
});

test('with another key nothing is released', async () => {
  const file = await encrypted(randomBytes(70_000));
  expect(await outcome(file, newLinkKey())).toEqual({
    plain: Buffer.alloc(0),
    failure: 'no-match',
  });
});

test('a file to keys is recognized, and not decrypted', async () => {
  const recipient = parseRecipient(
    'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
  );
  const armor = await encryptForNode('x', [recipient]);
  await expect(passphraseWork(armor)).rejects.toMatchObject({ reason: 'key' });
  await expect(decryptText(armor, KEY)).rejects.toMatchObject({ reason: 'key' });
});

test('keys are found in fragments, pasted links and typed words', () => {
  const words = 'abacus-bloated-cycling-dwindle-emperor-fidgety';
  const link = `https://pw.example/p/abcdefghij0123456789#${KEY}`;
  expect(isLinkKey(newLinkKey())).toBe(true);
  expect(keysIn(`#${KEY}`)).toEqual([KEY, `#${KEY}`]);
  expect(keysIn(` ${KEY}\n`)).toEqual([KEY]);
  for (const text of [link, `<${link}>.`, `${link}&utm_source=x`, link.replace('#', '%23')])
    expect(keysIn(text)[0]).toBe(KEY);
  expect(keysIn(words)).toEqual([words]);
  expect(keysIn(` ${words.replaceAll('-', '  ').toUpperCase()} `)[0]).toBe(words);
  expect(keysIn('Tr0ub4dor &3')).toEqual(['Tr0ub4dor &3']);
  expect(keysIn('  ')).toEqual([]);
});
