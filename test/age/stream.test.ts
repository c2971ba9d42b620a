import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decryptStream, passphraseIdentity, passphraseRecipient } from '../../src/age/age';
import { AgeError } from '../../src/age/age-error';
import * as page from '../../src/server/page/browser/age-passphrase';
import { encryptStream, expectSame, joined, lengths, pieces } from '../helpers/age';
import { long } from '../helpers/long';

const CHUNK = 64 * 1024;
const SEALED = CHUNK + 16;
const numRuns = long ? 200 : 20;
const KEY = page.newLinkKey();
const ANOTHER = page.newLinkKey();

type Bytes = AsyncIterable<Uint8Array>;

interface Build {
  readonly build: string;
  /** Encrypts to `KEY`, with the lowest work factor. */
  readonly encrypt: (plain: Bytes) => Promise<Bytes>;
  readonly decrypt: (file: Bytes, key: string) => Promise<AsyncGenerator<Uint8Array>>;
}

const builds: readonly Build[] = [
  {
    build: 'the command line',
    encrypt: async (plain) => (await encryptStream(plain, [passphraseRecipient(KEY, 1)])).bytes,
    decrypt: (file, key) => decryptStream(file, [passphraseIdentity(key)]),
  },
  {
    build: 'the page',
    encrypt: async (plain) => (await page.encryptFile(plain, page.passphraseRecipient(KEY, 1))).chunks,
    decrypt: page.decryptFile,
  },
];

describe.each(builds)('$build', ({ build, encrypt, decrypt }) => {
  const encrypted = async (plain: Uint8Array, size?: number) => joined(await encrypt(pieces(plain, size)));

  /** What is released of a file before it ends, and the reason if it fails. */
  async function outcome(file: Uint8Array, size?: number) {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of await decrypt(pieces(file, size), KEY)) chunks.push(Buffer.from(chunk));
    } catch (error) {
      if (!(error instanceof AgeError)) throw error;
      return { plain: Buffer.concat(chunks), reason: error.reason };
    }
    return { plain: Buffer.concat(chunks), reason: undefined };
  }

  test.each(lengths)('%i bytes, of the other too, in pieces of any size', async (length) => {
    const plain = randomBytes(length);
    for (const size of [997, CHUNK, SEALED, CHUNK + 1, 3 * CHUNK, 1_000_000]) {
      const { plain: opened, reason } = await outcome(await encrypted(plain, size), size);
      expect([reason, opened.equals(plain)]).toEqual([undefined, true]);
    }
    for (const other of builds.filter((one) => one.build !== build)) {
      const file = await joined(await other.encrypt(pieces(plain)));
      expectSame((await outcome(file)).plain, plain);
    }
  });

  test('empty pieces are nothing, and a piece may be reused after it was taken', async () => {
    const reused = async function* () {
      const piece = Buffer.alloc(50_000);
      yield new Uint8Array();
      for (const byte of [1, 2, 3, 4]) {
        yield piece.fill(byte);
        yield new Uint8Array();
      }
    };
    const file = await joined(await encrypt(reused()));
    const expected = Buffer.concat([1, 2, 3, 4].map((byte) => Buffer.alloc(50_000, byte)));
    expectSame((await outcome(file)).plain, expected);
  });

  test('the source is closed when the key is wrong, the reader stops, or the rest was changed', async () => {
    let closed = 0;
    async function* source(bytes: Uint8Array) {
      try {
        yield* pieces(bytes, 1000);
        await new Promise(() => {});
      } finally {
        closed += 1;
      }
    }
    const file = await encrypted(randomBytes(5 * CHUNK));
    await expect(decrypt(source(file), ANOTHER)).rejects.toMatchObject({ reason: 'no-match' });
    expect(closed).toBe(1);
    for await (const _ of await decrypt(source(file), KEY)) break;
    expect(closed).toBe(2);
    const chunks = await decrypt(source(file.fill(0, 1000, 2000)), KEY);
    await expect(chunks.next()).rejects.toMatchObject({ reason: 'payload' });
    expect(closed).toBe(3);
  });

  describe('of a file that was damaged, only whole chunks before the damage are released', () => {
    const plain = randomBytes(3 * CHUNK + 100);
    const sealed = plain.length + 4 * 16;
    const made = encrypted(plain);

    /** Released is a number of whole chunks from the beginning, all of them before `damage`. */
    async function check(file: Uint8Array, damage: number) {
      const start = (await made).length - sealed;
      const { plain: opened, reason } = await outcome(file);
      expect(reason).toMatch(/^(header|payload)$/);
      expect(opened.length % CHUNK).toBe(0);
      expect(opened.equals(plain.subarray(0, opened.length))).toBe(true);
      expect(opened.length / CHUNK).toBeLessThanOrEqual(Math.max(0, (damage - start) / SEALED));
    }

    const borders = [0, 1, 2, 3].flatMap((chunks) =>
      [-16, -1, 0, 1, 15, 16, 17].map((more): [number] => [chunks * SEALED + more]),
    );
    test('truncated, at each border too', () =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: -150, max: sealed - 1 }), async (left) => {
          const file = await made;
          const length = Math.max(0, file.length - sealed + left);
          await check(file.subarray(0, length), length);
        }),
        { numRuns, examples: borders },
      ));

    test('a bit flipped', () =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: -16, max: sealed - 1 }), fc.nat(7), async (where, bit) => {
          const file = Buffer.from(await made);
          const at = file.length - sealed + where;
          file.writeUInt8(file.readUInt8(at) ^ (1 << bit), at);
          await check(file, at);
        }),
        { numRuns },
      ));

    test('each bit of the header flipped', async () => {
      const whole = await encrypted(Buffer.from('secret'));
      const length = whole.lastIndexOf('\n---') + 50;
      for (let at = 0; at < length * 8; at++) {
        const file = Buffer.from(whole);
        file.writeUInt8(file.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
        const { plain: opened, reason } = await outcome(file);
        expect(opened.length).toBe(0);
        expect(['header', 'mac', 'no-match', 'payload']).toContain(reason);
      }
    });

    test('chunks exchanged, repeated or left out', async () => {
      const file = await made;
      const start = file.length - sealed;
      const parts = [0, 1, 2, 3].map((n) => file.subarray(start + n * SEALED, start + (n + 1) * SEALED));
      const orders = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 });
      const property = fc.asyncProperty(orders, async (order) => {
        if (order.join() === '0,1,2,3') return;
        const chunks = order.map((n) => parts[n] ?? Buffer.alloc(0));
        const same = order.findIndex((n, at) => n !== at);
        const intact = same < 0 ? order.length : same;
        await check(Buffer.concat([file.subarray(0, start), ...chunks]), start + intact * SEALED);
      });
      await fc.assert(property, { numRuns });
    });

    test('continued, or with the payload of another file of the same key', async () => {
      const file = await made;
      for (const more of [Buffer.alloc(1), file]) await check(Buffer.concat([file, more]), file.length);
      const other = await encrypted(plain);
      const start = file.length - sealed - 16;
      await check(Buffer.concat([file.subarray(0, start), other.subarray(start)]), start);
    });
  });
});
