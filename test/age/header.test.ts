import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  decryptStream,
  decryptText,
  type Identity,
  MODERATE_WORK,
  passphraseIdentity,
  passphraseRecipient,
  x25519Identity,
  x25519Recipient,
} from '../../src/age/age';
import { encodeBech32, pointOf } from '../../src/age/bech32';
import { encodeHeader, MAX_HEADER, parseHeader } from '../../src/age/format/header';
import { readHeader } from '../../src/age/format/stream';
import { newLinkKey } from '../../src/age/key';
import { node } from '../../src/age/node-primitives';
import { encryptText, pieces } from '../helpers/age';

const fileKey = randomBytes(16);
const VERSION = 'age-encryption.org/v1\n';
const MAC = `--- ${'A'.repeat(43)}\n`;
const x25519 = x25519Recipient(Buffer.alloc(32, 9));
const identity = x25519Identity(Buffer.alloc(32, 7));

const opening = (file: string | Uint8Array, identities: Identity[] = [identity]) =>
  decryptStream(pieces(Buffer.from(file)), identities);

describe('hostile files', () => {
  const damaged = `${MAC}${'x'.repeat(16)}`;
  const scrypt = (work: number) => `-> scrypt ${'A'.repeat(22)} ${work}\n${'A'.repeat(43)}\n`;

  test.each([
    ['', /./],
    ['\0', /./],
    ['äöü\n--- äöü', /./],
    [`${VERSION}-> X25519 ä\n\n${damaged}`, /./],
    [`${VERSION}${damaged}`, /./],
    [`${VERSION}-> a\n\u00a0\n${damaged}`, /./],
    [`age-encryption.org/v2\n${damaged}`, /v1/],
    [`${VERSION}${scrypt(30)}${damaged}`, /2\^20/],
    [`${VERSION}${scrypt(17)}${damaged}`, /2\^16/, newLinkKey()],
  ])('%j', async (file, message, key = 'x') => {
    await expect(opening(file, [passphraseIdentity(key)])).rejects.toMatchObject({
      name: 'AgeError',
      reason: 'header',
      message: expect.stringMatching(message),
    });
  });

  test('a header that does not end is read up to its limit', async () => {
    let read = 0;
    async function* endless(piece: Uint8Array) {
      yield Buffer.from(VERSION);
      for (; ; read += piece.length) yield piece;
    }
    for (const piece of ['-> a\n\n', 'x'.repeat(100_000), '\n']) {
      read = 0;
      const file = decryptStream(endless(Buffer.from(piece)), [identity]);
      await expect(file).rejects.toThrow(`${MAX_HEADER}`);
      expect(read).toBeLessThan(MAX_HEADER + 100_000);
    }
  });
});

test('a header ends after a stanza of full lines, whose last line is empty', async () => {
  const text = `${VERSION}-> full\n${'A'.repeat(64)}\n\n${MAC}`;
  const { header } = await readHeader(pieces(Buffer.from(`${text}${'x'.repeat(16)}`)));
  expect(Buffer.from(header).toString()).toBe(text);
});

test('recipients that a header cannot have are refused', async () => {
  const refused = { name: 'AgeError', reason: 'key' };
  const large = { wrap: () => ({ type: 'large', args: [], body: Buffer.alloc(50_000) }) };
  await expect(encryptText('x', [large])).resolves.toContain('BEGIN AGE');
  // Too many, none, and a passphrase beside another.
  for (const recipients of [[large, large], [], [passphraseRecipient('x', 1), x25519]])
    await expect(encryptText('x', recipients)).rejects.toMatchObject(refused);
  expect(() => passphraseRecipient('', 1)).toThrow(expect.objectContaining(refused));
});

test('points of low order are refused, by the parser too', () => {
  // https://cr.yp.to/ecdh.html, "How do I validate Curve25519 public keys?"
  const low = [
    ...['00', '01'].map((first) => first.padEnd(64, '0')),
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    ...['ec', 'ed', 'ee'].map((first) => `${first}${'ff'.repeat(30)}7f`),
  ].map((hex) => Buffer.from(hex, 'hex'));
  const withLastBit = low.map((point) => Buffer.from(point.with(31, (point[31] ?? 0) | 0x80)));
  for (const point of [...low, ...withLastBit]) {
    expect(() => x25519Recipient(point)).toThrow(expect.objectContaining({ reason: 'key' }));
    expect(pointOf(encodeBech32('age', point))).toBe(undefined);
  }
  const good = Buffer.alloc(32, 9);
  x25519Recipient(good);
  expect(Buffer.from(pointOf(encodeBech32('age', good)) ?? '')).toEqual(good);
});

test.each([0, 1, 47, 48, 49, 96, 500])('a body of %i bytes is encoded and parsed', (length) => {
  const stanza = { type: 'a', args: ['b', '~!'], body: randomBytes(length) };
  const header = encodeHeader(node, [stanza, stanza], fileKey);
  expect(parseHeader(node, header).stanzas).toEqual([stanza, stanza]);
});

test('the highest work factor that a key of a link may have opens', async () => {
  const key = newLinkKey();
  const sealed = await encryptText('x', [passphraseRecipient(key, MODERATE_WORK)]);
  expect(String(await decryptText(sealed, [passphraseIdentity(key)]))).toBe('x');
});

test('no error has a key or a passphrase in it', async () => {
  const key = 'MARKER-passphrase';
  const armor = await encryptText('secret', [passphraseRecipient('another', 1)]);
  const error = await decryptText(armor, [passphraseIdentity(key)]).catch((thrown) => thrown);
  expect([error.name, error.reason]).toEqual(['AgeError', 'no-match']);
  expect(`${error.stack}${JSON.stringify(error)}`).not.toContain('MARKER');
});
