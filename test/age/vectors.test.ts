import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import * as files from 'cctv-age';
import { describe, expect, test } from 'vitest';
import { decryptStream } from '../../src/age/age';
import { AgeError } from '../../src/age/age-error';
import { decodeArmor, encodeArmor } from '../../src/age/armor';
import { encodeHeader, parseHeader } from '../../src/age/header';
import { parseIdentities } from '../../src/age/key-files';
import { type Identity, passphraseIdentity } from '../../src/age/recipients';
import { readHeader } from '../../src/age/stream';

// The test vectors of the age format: https://c2sp.org/CCTV/age.

interface Vector {
  readonly name: string;
  readonly fields: ReadonlyMap<string, string[]>;
  readonly file: Buffer;
}

const vectors = Object.entries(files).map(([name, bytes]) => vector(name, Buffer.from(bytes)));

function vector(name: string, bytes: Buffer): Vector {
  const end = bytes.indexOf('\n\n');
  const fields = new Map<string, string[]>();
  for (const line of bytes.subarray(0, end).toString().split('\n')) {
    const [key = '', value = ''] = line.split(/: (.*)/);
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  const file = bytes.subarray(end + 2);
  return { name, fields, file: fields.has('compressed') ? inflateSync(file) : file };
}

const has = (key: string, pattern: RegExp) => (one: Vector) =>
  Boolean(one.fields.get(key)?.some((value) => pattern.test(value)));
const isHybrid = has('identity', /^AGE-SECRET-KEY-PQ-/);
const readable = vectors.filter((one) => !isHybrid(one));
const hybrid = vectors.filter(isHybrid);

const reasons: Record<string, string> = {
  success: 'success',
  'no match': 'no-match',
  'HMAC failure': 'mac',
  'header failure': 'header',
  'payload failure': 'payload',
  'armor failure': 'armor',
};

function identitiesOf({ fields }: Vector): Identity[] {
  const keys = fields.get('identity') ?? [];
  return [
    ...(keys.length > 0 ? parseIdentities(keys.join('\n')) : []),
    ...(fields.get('passphrase') ?? []).map(passphraseIdentity),
  ];
}

/** Bytes in pieces of that many. */
async function* pieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** How decryption ends, and what it released before. */
async function outcome(one: Vector, size: number) {
  const chunks: Buffer[] = [];
  let opened = false;
  let result = 'success';
  try {
    const file = one.fields.has('armored') ? decodeArmor(one.file.toString('latin1')) : one.file;
    const plain = await decryptStream(pieces(file, size), identitiesOf(one));
    opened = true;
    for await (const chunk of plain) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    result = error.reason;
  }
  return { result, opened, plain: Buffer.concat(chunks) };
}

test('the package has the vectors', () => {
  expect([readable.length, hybrid.length]).toEqual([124, 19]);
});

describe.each([
  ['whole', Number.POSITIVE_INFINITY],
  ['in pieces of 1,000 bytes', 1000],
])('%s', (_, size) => {
  test.each(readable)('$name', async (one) => {
    const { result, opened, plain } = await outcome(one, size);
    expect(result).toBe(reasons[one.fields.get('expect')?.[0] ?? '']);
    expect(opened).toBe(one.fields.has('payload'));
    if (opened)
      expect(createHash('sha256').update(plain).digest('hex')).toBe(one.fields.get('payload')?.[0]);
  });
});

test.each(hybrid)('$name needs a post-quantum key, which is refused', (one) => {
  expect(() => identitiesOf(one)).toThrow('post-quantum identities are not supported');
});

test.each(vectors.filter((one) => !has('expect', /header|armor/)(one)))(
  '$name: what is parsed is encoded again to the byte',
  async (one) => {
    const armored = one.fields.has('armored');
    const file = armored ? decodeArmor(one.file.toString('latin1')) : one.file;
    const normal = one.file.toString('latin1').trim().replaceAll('\r\n', '\n');
    if (armored) expect(encodeArmor(file)).toBe(`${normal}\n`);
    const { header } = await readHeader(pieces(file, 100));
    const fileKey = Buffer.from(one.fields.get('file key')?.[0] ?? '', 'hex');
    const again = encodeHeader(parseHeader(header).stanzas, fileKey);
    // The MAC of hmac_bad is wrong.
    expect(again.subarray(0, -45)).toEqual(header.subarray(0, -45));
    if (!has('expect', /HMAC/)(one)) expect(again).toEqual(header);
  },
);
