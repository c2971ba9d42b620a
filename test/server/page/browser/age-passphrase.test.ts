import { createHash, randomBytes } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import * as vectors from 'cctv-age';
import { describe, expect, test } from 'vitest';
import { decryptStream, encryptStream, decryptText as nodeDecrypt } from '../../../../src/age/age';
import { parseRecipient } from '../../../../src/age/key-files';
import { isLinkKey } from '../../../../src/age/link-key';
import { passphraseIdentity, passphraseRecipient } from '../../../../src/age/recipients';
import {
  decodeArmor,
  decryptFile,
  decryptText,
  encodeArmor,
  encryptFile,
  encryptText,
  keysIn,
  newLinkKey,
  passphraseWrap,
  Undecrypted,
  workOf,
} from '../../../../src/server/page/browser/age-passphrase';
import { expectSame, joined, lengths, pieces } from '../../../helpers/age';

// The age of the page, which runs in browsers, against that of the command line and the vectors of the format.

const KEY = 'TDwSkAO2ZmVrJkGOCxCbJg';
const identities = [passphraseIdentity(KEY)];
// The lowest work factor.
const recipients = [passphraseRecipient(KEY, 1)];

/** What is released before decryption ends, and the failure if there is one. */
async function outcome(file: Uint8Array, passphrase = KEY, size = 10_000) {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of decryptFile(pieces(file, size), passphrase)) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof Undecrypted)) throw error;
    return { plain: Buffer.concat(chunks), failure: error.failure };
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
      const file = await joined(encryptFile(pieces(plain, size), passphraseWrap(KEY, 1)));
      expectSame(await joined(await decryptStream(pieces(file), identities)), plain);
    }
  });
});

test('a text is the same afterwards to the character, in both directions', async () => {
  const text = '\uFEFF π = "3.14"\r\n\0🔑\n\n';
  const armor = await encryptText(text, passphraseWrap(KEY, 10));
  expect((await nodeDecrypt(armor, identities)).toString()).toBe(text);
  expect(await decryptText(` \n${armor.replaceAll('\n', '\r\n')}`, KEY)).toBe(text);
  expect(workOf(armor)).toBe(10);
  const empty = await encryptText('', passphraseWrap(KEY, 1));
  expect(await decryptText(empty, KEY)).toBe('');
});

test('files of the same plaintext have nothing in common', async () => {
  const [one, other] = [
    await encryptText('a', passphraseWrap(KEY, 1)),
    await encryptText('a', passphraseWrap(KEY, 1)),
  ];
  expect(one.split('\n').filter((line) => other.includes(line))).toEqual([
    ...['-----BEGIN AGE ENCRYPTED FILE-----', '-----END AGE ENCRYPTED FILE-----', ''],
  ]);
});

test('with another key nothing is released', async () => {
  const file = await encrypted(randomBytes(70_000));
  expect(await outcome(file, newLinkKey())).toEqual({ plain: Buffer.alloc(0), failure: 'key' });
});

test('a file to keys is recognized, and not decrypted', async () => {
  const recipient = parseRecipient(
    'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
  );
  const file = await joined((await encryptStream(pieces(randomBytes(10)), [recipient])).bytes);
  expect((await outcome(file)).failure).toBe('recipients');
});

describe('of a file that was damaged, only whole chunks before the damage are released', () => {
  const plain = randomBytes(150_000);
  const made = encrypted(plain);
  const startOf = (file: Uint8Array) => file.length - plain.length - 3 * 16;

  async function check(file: Uint8Array, most: number) {
    const { plain: opened, failure } = await outcome(file);
    expect(failure).toBeDefined();
    expect([opened.length % 65_536, opened.length <= most]).toEqual([0, true]);
    expect(opened.equals(plain.subarray(0, opened.length))).toBe(true);
  }

  test('truncated at each border', async () => {
    const file = await made;
    for (const chunks of [0, 1, 2])
      for (const more of [-16, -1, 0, 1, 15, 16, 17])
        await check(file.subarray(0, startOf(file) + chunks * 65_552 + more), chunks * 65_536);
    for (const length of [0, 1, 50, 149, 160]) await check(file.subarray(0, length), 0);
  });

  test('extended, exchanged, or with a bit flipped', async () => {
    const file = await made;
    const start = startOf(file);
    const [one, two, three] = [0, 1, 2].map((at) =>
      file.subarray(start + at * 65_552, start + (at + 1) * 65_552),
    ) as [Buffer, Buffer, Buffer];
    const header = file.subarray(0, start);
    await check(Buffer.concat([file, Buffer.alloc(1)]), 131_072);
    await check(Buffer.concat([header, two, one, three]), 0);
    await check(Buffer.concat([header, one, three]), 65_536);
    await check(Buffer.concat([header, one, one, two, three]), 65_536);
    for (const at of [start + 5, start + 70_000, file.length - 1]) {
      const changed = Buffer.from(file);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await check(changed, Math.floor((at - start) / 65_552) * 65_536);
    }
  });

  test('each bit of the header flipped', async () => {
    const file = await encrypted(Buffer.from('secret'));
    for (let bit = 0; bit < (file.lastIndexOf('\n---') + 49) * 8; bit++) {
      const changed = Buffer.from(file);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { plain: opened, failure } = await outcome(changed);
      // A higher work factor is slow, and not another test.
      expect([opened.length, typeof failure]).toEqual([0, 'string']);
    }
  });
});

test.each([
  ['no last line', (armor: string) => armor.replace(/-----END.*/, '')],
  ['text after it', (armor: string) => `${armor}more`],
  ['text before it', (armor: string) => `more\n${armor}`],
  ['a short line', (armor: string) => armor.replace(/^(.{10})/m, '$1\n')],
  ['an empty line', (armor: string) => armor.replace('\n', '\n\n')],
  ['characters that are not base64', (armor: string) => armor.replace(/\nYWdl/, '\nYW*l')],
])('armor with %s is refused', async (_, change) => {
  const armor = await encryptText('a secret of more than a line, in armor', passphraseWrap(KEY, 1));
  expect(() => decodeArmor(change(armor))).toThrow(new Undecrypted('armor'));
});

describe('vectors of the format with a passphrase', () => {
  const files = Object.entries(vectors).map(([name, bytes]) => vector(name, Buffer.from(bytes)));
  const own = files.filter(({ fields }) => fields.has('passphrase'));

  function vector(name: string, bytes: Buffer) {
    const end = bytes.indexOf('\n\n');
    const lines = bytes.subarray(0, end).toString().split('\n');
    const fields = new Map(lines.map((line) => line.split(/: (.*)/) as [string, string]));
    const file = bytes.subarray(end + 2);
    return { name, fields, file: fields.has('compressed') ? inflateSync(file) : file };
  }

  const failures: Record<string, readonly (string | undefined)[]> = {
    success: [undefined],
    'no match': ['key', 'recipients'],
    'HMAC failure': ['header'],
    // With several stanzas, the file is not the page's.
    'header failure': ['header', 'recipients'],
    'payload failure': ['payload'],
    'armor failure': ['armor'],
  };

  test('are there', () => {
    expect(own.length).toBeGreaterThan(20);
  });

  test.each(own)('$name', async ({ fields, file }) => {
    const bytes = fields.has('armored') ? decodeArmor(file.toString('latin1')) : file;
    const { plain, failure } = await outcome(bytes, fields.get('passphrase'));
    expect(failures[fields.get('expect') ?? '']).toContain(failure);
    if (failure === undefined)
      expect(createHash('sha256').update(plain).digest('hex')).toBe(fields.get('payload'));
  });

  test.each(files.filter(({ fields }) => fields.has('armored')))(
    '$name: armor',
    ({ fields, file }) => {
      const text = file.toString('latin1');
      if (fields.get('expect') === 'armor failure')
        return expect(() => decodeArmor(text)).toThrow(new Undecrypted('armor'));
      expect(encodeArmor(decodeArmor(text))).toBe(`${text.trim().replaceAll('\r\n', '\n')}\n`);
    },
  );
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
