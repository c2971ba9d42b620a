import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import * as files from 'cctv-age';
import { describe, expect, test } from 'vitest';
import { AgeError } from '../../src/age/age-error';
import { decodeBech32 } from '../../src/age/bech32';
import { decrypted } from '../../src/age/format/age-file';
import { decodeArmor } from '../../src/age/format/armor';
import { type Identity, scryptIdentity, secretIdentity } from '../../src/age/format/stanzas';
import { parseIdentities } from '../../src/age/key-files';
import { pieces, platforms } from '../helpers/age';
import { partOf } from '../helpers/long';

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

type Platform = (typeof platforms)[number];

function identitiesOf({ fields }: Vector, { primitives, scrypt, x25519 }: Platform): Identity[] {
  const secret = (key: string) => decodeBech32(key)?.bytes ?? new Uint8Array(32);
  return [
    ...(fields.get('identity') ?? []).map((key) => secretIdentity(primitives, x25519, secret(key))),
    ...(fields.get('passphrase') ?? []).map((one) => scryptIdentity(primitives, scrypt, one)),
  ];
}

function fileOf({ fields, file }: Vector, { primitives }: Platform): Uint8Array {
  return fields.has('armored') ? decodeArmor(primitives, file.toString('latin1')) : file;
}

/** How decryption ends, and what it released before. */
async function outcome(one: Vector, size: number, platform: Platform) {
  const { primitives } = platform;
  const chunks: Uint8Array[] = [];
  let opened = false;
  let result = 'success';
  try {
    const file = fileOf(one, platform);
    const plain = await decrypted(primitives, pieces(file, size), identitiesOf(one, platform));
    opened = true;
    for await (const chunk of plain) chunks.push(Buffer.from(chunk));
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    result = error.reason;
  }
  return { result, opened, plain: Buffer.concat(chunks) };
}

test('the package has the vectors', () => {
  expect([readable.length, hybrid.length]).toEqual([124, 19]);
});

describe.each(platforms)('on $platform', (platform) => {
  const sizes = [
    ['whole', Number.POSITIVE_INFINITY],
    ['in pieces of 1,000 bytes', 1000],
  ] as const;
  describe.each(partOf(sizes, platforms.indexOf(platform)))('%s', (_, size) => {
    test.each(readable)('$name', async (one) => {
      const { result, opened, plain } = await outcome(one, size, platform);
      expect(result).toBe(reasons[one.fields.get('expect')?.[0] ?? '']);
      expect(opened).toBe(one.fields.has('payload'));
      const hash = createHash('sha256').update(plain).digest('hex');
      if (opened) expect(hash).toBe(one.fields.get('payload')?.[0]);
      const keys = one.fields.get('identity') ?? [];
      if (keys.length > 0) expect(parseIdentities(keys.join('\n'))).toHaveLength(keys.length);
    });
  });
});

test.each(hybrid)('$name needs a post-quantum key, which is refused', ({ fields }) => {
  const keys = fields.get('identity') ?? [];
  expect(() => parseIdentities(keys.join('\n'))).toThrow('post-quantum identities are not supported');
});
