import { expect, test } from 'vitest';
import { decryptText as nodeDecrypt, passphraseIdentity } from '../../../../src/age/age';
import { pointOf } from '../../../../src/age/bech32';
import { parseIdentities, parseRecipient } from '../../../../src/age/key-files';
import { isLinkKey } from '../../../../src/age/link-key';
import {
  decryptText,
  encryptText,
  newLinkKey,
  passphraseRecipient as ofPage,
  passphraseWork,
  x25519Recipient,
} from '../../../../src/server/page/browser/age-passphrase';
import { keysIn } from '../../../../src/server/page/browser/keys-in';
import { encryptText as encryptForNode } from '../../../helpers/age';

// The age of the page, which runs in browsers. test/age has what it shares with that of the command line.

const KEY = 'TDwSkAO2ZmVrJkGOCxCbJg';
const identities = [passphraseIdentity(KEY)];

test('a text is the same afterwards to the character, in both directions', async () => {
  const text = '\uFEFF π = "3.14"\r\n\0🔑\n\n';
  const armor = await encryptText(text, ofPage(KEY, 10));
  expect((await nodeDecrypt(armor, identities)).toString()).toBe(text);
  expect(await decryptText(` \n${armor.replaceAll('\n', '\r\n')}`, KEY)).toBe(text);
  expect(await passphraseWork(armor)).toBe(10);
  const empty = await encryptText('', ofPage(KEY, 1));
  expect(await decryptText(empty, KEY)).toBe('');
});

test('a file to keys is recognized, and not decrypted', async () => {
  const recipient = parseRecipient('age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p');
  const armor = await encryptForNode('x', [recipient]);
  await expect(passphraseWork(armor)).rejects.toMatchObject({ reason: 'key' });
  await expect(decryptText(armor, KEY)).rejects.toMatchObject({ reason: 'key' });
});

test('a text to a public key opens with its private key', async () => {
  // age.md, "Native recipient types": the key pair of its examples.
  const point = pointOf('age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj');
  const armor = await encryptText('hunter2', x25519Recipient(point as Uint8Array));
  const secret = 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX';
  expect((await nodeDecrypt(armor, parseIdentities(secret))).toString()).toBe('hunter2');
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
  expect(keysIn(`\u201c${words.replaceAll('-', '\u2013')}.\u201d`)[0]).toBe(words);
  expect(keysIn(`\u201c${KEY}\u201d.`)[0]).toBe(KEY);
  expect(keysIn('caf\u00e9')).toEqual(['caf\u00e9', 'cafe\u0301']);
  expect(keysIn('cafe\u0301')).toEqual(['caf\u00e9', 'cafe\u0301']);
  expect(keysIn('Tr0ub4dor &3')).toEqual(['Tr0ub4dor &3']);
  expect(keysIn('  ')).toEqual([]);
});
