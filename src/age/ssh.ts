import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { AgeError } from './age-error';
import { derive, unpadded } from './format/platform';
import {
  argument,
  ephemeral,
  FILE_KEY,
  type Identity,
  invalidStanza,
  openFileKey,
  type Recipient,
  sealFileKey,
} from './format/stanzas';
import { node, x25519 } from './node-primitives';

// SSH keys as recipients. They are not in age.md; the reference implementation defines them
// (https://pkg.go.dev/filippo.io/age/agessh).

const ED25519 = 'age-encryption.org/v1/ssh-ed25519';
/** Bits of an RSA modulus: the minimum of age, and the maximum of OpenSSH. */
const RSA_BITS = { least: 2048, most: 16_384 };
const RSA = {
  padding: constants.RSA_PKCS1_OAEP_PADDING,
  oaepHash: 'sha256',
  oaepLabel: Buffer.from('age-encryption.org/v1/ssh-rsa'),
};

/**
 * An SSH public key, for encryption.
 * @param type ssh-ed25519 or ssh-rsa
 * @param wire the key as RFC 4253, section 6.6, and RFC 8709, section 4, encode it
 * @throws AgeError (key)
 */
export function sshRecipient(type: string, wire: Buffer): Recipient {
  const key = reader(wire);
  if (key.string().toString('latin1') !== type) throw invalidKey();
  const first = key.string();
  if (type === 'ssh-ed25519' && first.length === 32 && key.ended()) return edRecipient(wire, first);
  const second = type === 'ssh-rsa' ? key.string() : undefined;
  if (second === undefined || !key.ended()) throw invalidKey();
  return rsaRecipient(wire, first, second);
}

function edRecipient(wire: Buffer, edwards: Buffer): Recipient {
  const point = montgomery(edwards);
  // Throws for a point of low order.
  ephemeral(node, x25519, point);
  const wrapKey = edWrapKey(wire, point);
  return {
    async wrap(fileKey) {
      const { share, shared } = ephemeral(node, x25519, point);
      const body = await sealFileKey(node, wrapKey(share, shared), fileKey);
      return { type: 'ssh-ed25519', args: [tag(wire), unpadded(node, share)], body };
    },
  };
}

function edIdentity(wire: Buffer, seed: Uint8Array): Identity {
  // RFC 8032, section 5.1.5; X25519 clears and sets the bits.
  const pair = x25519(createHash('sha512').update(seed).digest().subarray(0, 32));
  const wrapKey = edWrapKey(wire, pair.point);
  return {
    type: 'ssh-ed25519',
    unwrap(stanza) {
      const [mark, text, ...more] = stanza.args;
      argument(node, mark, 4);
      const share = argument(node, text, 32);
      if (more.length > 0) throw invalidStanza();
      if (mark !== tag(wire)) return;
      const shared = pair.shared(share);
      if (shared === undefined) throw invalidStanza();
      return openFileKey(node, wrapKey(share, shared), stanza);
    },
  };
}

/** Returns a function that derives the wrap key; a tweak binds it to the SSH key. */
function edWrapKey(wire: Buffer, point: Uint8Array) {
  const tweak = x25519(derive(node, Buffer.alloc(0), wire, ED25519));
  return (share: Uint8Array, shared: Uint8Array) => {
    const tweaked = tweak.shared(shared);
    if (tweaked === undefined) throw invalidStanza();
    return derive(node, tweaked, Buffer.concat([share, point]), ED25519);
  };
}

function rsaRecipient(wire: Buffer, e: Buffer, n: Buffer): Recipient {
  // Before it is imported: a key over the limit would make later imports fail on Node.js 24.
  checkPublic(e, n);
  const jwk = { kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') };
  const key = keyOf(() => createPublicKey({ key: jwk, format: 'jwk' }));
  return {
    wrap: (fileKey) => ({
      type: 'ssh-rsa',
      args: [tag(wire)],
      body: publicEncrypt({ key, ...RSA }, fileKey),
    }),
  };
}

function rsaIdentity(wire: Buffer, key: KeyObject): Identity {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  checkBits(bits);
  return {
    type: 'ssh-rsa',
    unwrap({ args, body }) {
      argument(node, args[0], 4);
      if (args.length !== 1) throw invalidStanza();
      if (args[0] !== tag(wire) || body.length !== Math.ceil(bits / 8)) return;
      const fileKey = decrypted(key, body);
      if (fileKey && fileKey.length !== FILE_KEY) throw invalidStanza();
      return fileKey;
    },
  };
}

function decrypted(key: KeyObject, body: Uint8Array): Buffer | undefined {
  try {
    return privateDecrypt({ key, ...RSA }, body);
  } catch {
    return;
  }
}

/** As crypto/rsa of Go: with an exponent of 1, anybody can decrypt; other wrong numbers make OpenSSL fail, or nobody can. */
function checkPublic(e: Buffer, n: Buffer): void {
  const [exponent, modulus] = [numberOf(e), numberOf(n)];
  checkBits(modulus === 0n ? 0 : modulus.toString(2).length);
  const odd = (exponent & modulus & 1n) === 1n;
  if (!odd || exponent < 3n || exponent >= 2n ** 31n || isNegative(e) || isNegative(n))
    throw new AgeError('key', 'the RSA key is invalid');
}

function checkBits(bits: number): void {
  if (bits < RSA_BITS.least)
    throw new AgeError('key', `an RSA key needs at least ${RSA_BITS.least} bits, not ${bits}`);
  if (bits > RSA_BITS.most)
    throw new AgeError('key', `an RSA key has at most ${RSA_BITS.most} bits, not ${bits}`);
}

function tag(wire: Uint8Array): string {
  return unpadded(node, createHash('sha256').update(wire).digest().subarray(0, 4));
}

// From Ed25519 to X25519 (RFC 7748, section 4.1): u = (1 + y) / (1 - y).

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** @throws AgeError (key) when the bytes are not a point of the curve */
function montgomery(edwards: Uint8Array): Buffer {
  const y = BigInt(`0x${Buffer.from(edwards).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  // On the curve, x² = (y² - 1) / (d y² + 1) is a square (RFC 8032, section 5.1.3), which Euler's criterion tells.
  const square = (y * y - 1n) * power(D * y * y + 1n, P - 2n);
  if (y >= P || power(square, (P - 1n) / 2n) === P - 1n) throw invalidKey();
  const u = ((1n + y) * power(1n - y, P - 2n)) % P;
  return Buffer.from(u.toString(16).padStart(64, '0'), 'hex').reverse();
}

/** The power of a number modulo P. Not in constant time: for public keys only. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = ((base % P) + P) % P;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}

// Private keys.

/**
 * An SSH private key, for decryption: of OpenSSH, or in PEM (PKCS #1, PKCS #8).
 * @param passphrase of an encrypted key in PEM; node:crypto cannot decrypt the format of OpenSSH, which uses bcrypt
 * @throws AgeError (key-passphrase) when the passphrase is missing or wrong; (key) for a key that cannot be used
 */
export function sshIdentity(pem: string, passphrase?: string): Identity {
  const [, openssh] =
    /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END/.exec(pem) ?? [];
  if (openssh !== undefined) return opensshIdentity(Buffer.from(openssh, 'base64'));
  const encrypted = /ENCRYPTED/.test(pem);
  if (encrypted && passphrase === undefined)
    throw new AgeError('key-passphrase', 'the private key needs its passphrase');
  const key = keyOf(
    () => createPrivateKey(passphrase === undefined ? pem : { key: pem, passphrase }),
    encrypted
      ? new AgeError('key-passphrase', 'the passphrase of the private key is wrong')
      : invalidKey(),
  );
  const { asymmetricKeyType: type = '' } = key;
  if (type !== 'rsa' && type !== 'ed25519') throw notSupported(type);
  const { d, x, e, n } = key.export({ format: 'jwk' });
  if (type === 'rsa') return rsaIdentity(wireOf('ssh-rsa', mpint(e), mpint(n)), key);
  return edIdentity(wireOf('ssh-ed25519', fromUrl(x)), fromUrl(d));
}

/** Format: PROTOCOL.key of OpenSSH. */
function opensshIdentity(bytes: Buffer): Identity {
  const file = reader(bytes);
  if (file.take(15).toString('latin1') !== 'openssh-key-v1\0') throw invalidKey();
  const [cipher] = [file.string(), file.string(), file.string()];
  if (cipher.toString('latin1') !== 'none')
    throw new AgeError(
      'openssh-passphrase',
      'an OpenSSH private key with a passphrase cannot be read',
    );
  if (file.take(4).readUInt32BE() !== 1) throw invalidKey();
  const wire = file.string();
  const secret = reader(file.string());
  // Two equal numbers, to check the passphrase.
  secret.take(8);
  const type = secret.string().toString('latin1');
  if (type === 'ssh-ed25519') {
    secret.string();
    return edIdentity(wire, secret.string().subarray(0, 32));
  }
  if (type !== 'ssh-rsa') throw notSupported(type);
  const [n, e, d, qi, p, q] = Array.from({ length: 6 }, secret.string);
  return rsaIdentity(wire, rsaKey({ n, e, d, qi, p, q }));
}

/** Adds the two numbers that OpenSSH does not store (RFC 8017, section 3.2). */
function rsaKey(numbers: Record<'n' | 'e' | 'd' | 'qi' | 'p' | 'q', Buffer | undefined>) {
  const { d, p, q } = numbers;
  const parts = Object.entries({ ...numbers, dp: reduced(d, p), dq: reduced(d, q) });
  const jwk = Object.fromEntries(parts.map(([name, one]) => [name, one?.toString('base64url')]));
  return keyOf(() => createPrivateKey({ key: { kty: 'RSA', ...jwk }, format: 'jwk' }));
}

/** d modulo (prime - 1). */
function reduced(d: Buffer = Buffer.alloc(1), prime: Buffer = Buffer.alloc(1)): Buffer {
  if (numberOf(prime) < 2n) throw invalidKey();
  const hex = (numberOf(d) % (numberOf(prime) - 1n)).toString(16);
  return Buffer.from(hex.padStart(prime.length * 2, '0'), 'hex');
}

/** Reads strings of SSH (RFC 4251, section 5). */
function reader(bytes: Buffer) {
  let at = 0;
  /** @throws AgeError (key) when there are not enough bytes */
  const take = (length: number) => {
    if (length > bytes.length - at) throw invalidKey();
    at += length;
    return bytes.subarray(at - length, at);
  };
  return { take, string: () => take(take(4).readUInt32BE()), ended: () => at === bytes.length };
}

function wireOf(type: string, ...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(
    [Buffer.from(type), ...fields].flatMap((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(field.length);
      return [length, field];
    }),
  );
}

/** An mpint (RFC 4251, section 5): a zero byte keeps it positive. */
function mpint(base64url: string | undefined): Buffer {
  const bytes = fromUrl(base64url);
  return isNegative(bytes) ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}

const isNegative = ([first = 0]: Buffer) => first >= 0x80;

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex') || '0'}`);
}

function fromUrl(base64url = ''): Buffer {
  return Buffer.from(base64url, 'base64url');
}

/** Reads a key; error messages of OpenSSL are not passed on. */
function keyOf(read: () => KeyObject, error = invalidKey()): KeyObject {
  try {
    return read();
  } catch {
    throw error;
  }
}

function notSupported(type: string): AgeError {
  const name = /^[\w@.-]{1,64}$/.test(type) ? `type ${type}` : 'this type';
  return new AgeError('key', `private keys of ${name} are not supported, only Ed25519 and RSA`);
}

function invalidKey(): AgeError {
  return new AgeError('key', 'the key is damaged');
}
