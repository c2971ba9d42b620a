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
    encrypt: async (plain) =>
      (await page.encryptFile(plain, page.passphraseRecipient(KEY, 1))).chunks,
    decrypt: page.decryptFile,
  },
];

describe.each(builds)('$build', ({ build, encrypt, decrypt }) => {
  const encrypted = async (plain: Uint8Array, size?: number) =>
    joined(await encrypt(pieces(plain, size)));

  /** What is released of a file before it ends, and the reason if it fails. */
  async function outcome(file: Uint8Array, size?: number) {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of await decrypt(pieces(file, size), KEY))
        chunks.push(Buffer.from(chunk));
    } catch (error) {
      if (!(error instanceof AgeError)) throw error;
      return { plain: Buffer.concat(chunks), reason: error.reason };
    }
    return { plain: Buffer.concat(chunks), reason: undefined };
  }

  test.each(lengths)('%i bytes opens the other', async (length) => {
    const plain = randomBytes(length);
    for (const other of builds.filter((one) => one.build !== build)) {
      const file = await joined(await other.encrypt(pieces(plain)));
      expectSame((await outcome(file)).plain, plain);
    }
  });

  test.each(lengths)('%i bytes, in pieces of any size', async (length) => {
    const plain = randomBytes(length);
    for (const size of [997, CHUNK, SEALED, CHUNK + 1, 3 * CHUNK, 1_000_000]) {
      const { plain: opened, reason } = await outcome(await encrypted(plain, size), size);
      expect([reason, opened.equals(plain)]).toEqual([undefined, true]);
    }
  });

  test('empty pieces are nothing', async () => {
    const some = async function* () {
      for (const part of ['', 'a', '', 'b', '']) yield Buffer.from(part);
    };
    const file = await joined(await encrypt(some()));
    expect((await outcome(file)).plain.toString()).toBe('ab');
  });

  test('a piece may be reused after it was taken', async () => {
    const reused = async function* () {
      const piece = Buffer.alloc(50_000);
      for (const byte of [1, 2, 3, 4]) yield piece.fill(byte);
    };
    const file = await joined(await encrypt(reused()));
    const expected = Buffer.concat([1, 2, 3, 4].map((byte) => Buffer.alloc(50_000, byte)));
    expect((await outcome(file)).plain.equals(expected)).toBe(true);
  });

  test('files of the same plaintext have nothing in common', async () => {
    const [first, second] = [
      await encrypted(Buffer.alloc(100)),
      await encrypted(Buffer.alloc(100)),
    ];
    expect(first.length).toBe(second.length);
    expect(first.subarray(-116).equals(second.subarray(-116))).toBe(false);
  });

  describe('the source is closed', () => {
    function source(bytes: Uint8Array) {
      let closed = false;
      async function* reading() {
        try {
          yield* pieces(bytes, 1000);
          // As a connection that stays open.
          await new Promise(() => {});
        } finally {
          closed = true;
        }
      }
      return { reading: reading(), closed: () => closed };
    }

    test('when the key does not decrypt it', async () => {
      const { reading, closed } = source(await encrypted(randomBytes(5000)));
      await expect(decrypt(reading, ANOTHER)).rejects.toMatchObject({ reason: 'no-match' });
      expect(closed()).toBe(true);
    });

    test('when the rest was changed, and when the reader stops', async () => {
      const file = await encrypted(randomBytes(5 * CHUNK));
      const whole = source(file);
      for await (const _ of await decrypt(whole.reading, KEY)) break;
      expect(whole.closed()).toBe(true);
      const changed = source(file.fill(0, 1000, 2000));
      const chunks = await decrypt(changed.reading, KEY);
      await expect(chunks.next()).rejects.toMatchObject({ reason: 'payload' });
      expect(changed.closed()).toBe(true);
    });
  });

  describe('of a file that was damaged, only whole chunks before the damage are released', () => {
    const plain = randomBytes(3 * CHUNK + 100);
    const made = encrypted(plain);
    const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

    /** Released is a number of whole chunks from the beginning, all of them before `damage`. */
    async function check(file: Uint8Array, damage: number) {
      const whole = await made;
      const start = whole.length - (plain.length + 4 * 16);
      const { plain: opened, reason } = await outcome(file);
      expect(reason).toBeDefined();
      expect(opened.length % CHUNK).toBe(0);
      expect(opened.equals(plain.subarray(0, opened.length))).toBe(true);
      expect(opened.length / CHUNK).toBeLessThanOrEqual(Math.max(0, (damage - start) / SEALED));
    }

    test('truncated', () =>
      fc.assert(
        fc.asyncProperty(position, async (where) => {
          const file = await made;
          const length = Math.floor(where * file.length);
          await check(file.subarray(0, length), length);
        }),
        { numRuns },
      ));

    test('truncated at each border', async () => {
      const file = await made;
      const start = file.length - (plain.length + 4 * 16);
      for (const chunks of [0, 1, 2, 3])
        for (const more of [-16, -1, 0, 1, 15, 16, 17])
          await check(
            file.subarray(0, start + chunks * SEALED + more),
            start + chunks * SEALED + more,
          );
    });

    test('a bit flipped', () =>
      fc.assert(
        fc.asyncProperty(position, fc.integer({ min: 0, max: 7 }), async (where, bit) => {
          const file = Buffer.from(await made);
          const at = Math.floor(where * file.length);
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
      const start = file.length - (plain.length + 4 * 16);
      const parts = [0, 1, 2, 3].map((n) =>
        file.subarray(start + n * SEALED, start + (n + 1) * SEALED),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 }),
          async (order) => {
            if (order.join() === '0,1,2,3') return;
            const chunks = order.map((n) => parts[n] ?? Buffer.alloc(0));
            const same = order.findIndex((n, at) => n !== at);
            const intact = same < 0 ? order.length : same;
            await check(
              Buffer.concat([file.subarray(0, start), ...chunks]),
              start + intact * SEALED,
            );
          },
        ),
        { numRuns },
      );
    });

    test('bytes after the end, and another file after it', async () => {
      const file = await made;
      await check(Buffer.concat([file, Buffer.alloc(1)]), file.length);
      await check(Buffer.concat([file, file]), file.length);
    });

    test('the payload of another file, with the same key', async () => {
      const file = await made;
      const other = await encrypted(plain);
      const start = file.length - (plain.length + 4 * 16) - 16;
      await check(Buffer.concat([file.subarray(0, start), other.subarray(start)]), start);
    });
  });
});
