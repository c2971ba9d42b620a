import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decryptText } from '../../../../src/age/age';
import { pointOf } from '../../../../src/age/bech32';
import { parseIdentities } from '../../../../src/age/key-files';
import { encryptText, x25519Recipient } from '../../../../src/server/page/browser/age-passphrase';
import { platforms } from '../../../helpers/age';

const hex = (text: string) => Buffer.from(text, 'hex');
const asHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe.each(platforms)('X25519 on $platform', ({ x25519 }) => {
  // RFC 7748, section 5.2.
  test.each([
    [
      'a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4',
      'e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c',
      'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552',
    ],
    [
      '4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d',
      'e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493',
      '95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957',
    ],
  ])('of the vector %s', (secret, point, result) => {
    expect(asHex(x25519(hex(secret)).shared(hex(point)) as Uint8Array)).toBe(result);
  });

  test('a thousand times over', () => {
    let [k, u]: Uint8Array[] = [hex(`09${'00'.repeat(31)}`), hex(`09${'00'.repeat(31)}`)];
    for (let round = 0; round < 1000; round++)
      [k, u] = [x25519(k as Uint8Array).shared(u as Uint8Array) as Uint8Array, k];
    expect(asHex(k as Uint8Array)).toBe(
      '684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51',
    );
  });

  test('gives both sides the same secret, and a point of low order none', () => {
    for (const { x25519: others } of platforms) {
      const [one, other] = [x25519(randomBytes(32)), others(randomBytes(32))];
      expect(asHex(one.shared(other.point) as Uint8Array)).toBe(
        asHex(other.shared(one.point) as Uint8Array),
      );
      expect(one.shared(new Uint8Array(32))).toBe(undefined);
    }
  });
});

describe('a recipient', () => {
  // age.md, "Native recipient types", and the key pair of its examples.
  const PUBLIC = 'age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj';
  const SECRET = 'AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX';

  test('opens what the page encrypts to it', async () => {
    const armor = await encryptText('hunter2', x25519Recipient(pointOf(PUBLIC) as Uint8Array));
    expect((await decryptText(armor, parseIdentities(SECRET))).toString()).toBe('hunter2');
  });

  test.each([
    ['upper case', PUBLIC.toUpperCase()],
    ['a wrong letter', PUBLIC.replace('zvky', 'zvkx')],
    ['nothing', ''],
    ['a private key', SECRET],
    ['more after it', `${PUBLIC}x`],
  ])('is refused with %s', (_, text) => {
    expect(pointOf(text)).toBe(undefined);
  });

  test('of low order is refused', () => {
    for (const point of [new Uint8Array(32), Uint8Array.of(1, ...new Uint8Array(31))])
      expect(() => x25519Recipient(point)).toThrow();
  });
});
