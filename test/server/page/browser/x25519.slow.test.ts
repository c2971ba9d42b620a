import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decryptText } from '../../../../src/age/age';
import { pointOf } from '../../../../src/age/bech32';
import { parseIdentities } from '../../../../src/age/key-files';
import { encryptText, x25519Recipient } from '../../../../src/server/page/browser/age-passphrase';
import { platforms } from '../../../helpers/age';

// test/age/vectors.test.ts has those of age for each of them.
test.each(platforms)(
  'X25519 on $platform gives both sides the same secret, and a point of low order none',
  ({ x25519 }) => {
    for (const { x25519: others } of platforms) {
      const [one, other] = [x25519(randomBytes(32)), others(randomBytes(32))];
      const [a, b] = [one.shared(other.point), other.shared(one.point)] as Uint8Array[];
      expect(Buffer.from(a as Uint8Array).equals(b as Uint8Array)).toBe(true);
      expect(one.shared(new Uint8Array(32))).toBe(undefined);
    }
  },
);

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
