import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { AgeError } from './age-error';
import { derive, unpadded } from './format/platform';
import {
  argument,
  ephemeral,
  type Identity,
  invalidStanza,
  openFileKey,
  type Recipient,
  sealFileKey,
} from './format/stanzas';
import { node, x25519 } from './node-primitives';

// The specification of age does not have SSH keys as recipients; its reference implementation defines them
// (https://pkg.go.dev/filippo.io/age/agessh).

const TYPE = 'ssh-ed25519';
const LABEL = `age-encryption.org/v1/${TYPE}`;

/**
 * Returns a recipient that wraps the file key for an SSH public key.
 * @param wire the key as RFC 8709, section 4, encodes it
 * @throws AgeError (key) when the key is damaged
 */
export function sshRecipient(wire: Buffer): Recipient {
  const key = reader(wire);
  const type = key.string().toString('latin1');
  const edwards = key.string();
  if (type !== TYPE || edwards.length !== 32 || !key.ended()) throw invalidKey();
  const point = montgomery(edwards);
  // `ephemeral` throws for a point of low order, before anything is encrypted.
  ephemeral(node, x25519, point);
  const wrapKey = wrapKeyFor(wire, point);
  return {
    async wrap(fileKey) {
      const { share, shared } = ephemeral(node, x25519, point);
      const body = await sealFileKey(node, wrapKey(share, shared), fileKey);
      return { type: TYPE, args: [tag(wire), unpadded(node, share)], body };
    },
  };
}

function identityOf(wire: Buffer, seed: Uint8Array): Identity {
  // The private scalar is a part of the hash (RFC 8032, section 5.1.5). X25519 clears and sets its bits.
  const pair = x25519(createHash('sha512').update(seed).digest().subarray(0, 32));
  const wrapKey = wrapKeyFor(wire, pair.point);
  return {
    type: TYPE,
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

/** Returns a function that derives the wrap key. A tweak binds the wrap key to the SSH key. */
function wrapKeyFor(wire: Buffer, point: Uint8Array) {
  const tweak = x25519(derive(node, Buffer.alloc(0), wire, LABEL));
  return (share: Uint8Array, shared: Uint8Array) => {
    const tweaked = tweak.shared(shared);
    if (tweaked === undefined) throw invalidStanza();
    return derive(node, tweaked, Buffer.concat([share, point]), LABEL);
  };
}

function tag(wire: Uint8Array): string {
  return unpadded(node, createHash('sha256').update(wire).digest().subarray(0, 4));
}

/** The prime and the constant of Ed25519 (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Converts a point of Ed25519 to one of X25519 (RFC 7748, section 4.1): u = (1 + y) / (1 - y).
 * @throws AgeError (key) when the bytes are not a point of the curve
 */
function montgomery(edwards: Uint8Array): Buffer {
  const y = BigInt(`0x${Buffer.from(edwards).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  // On the curve, x² = (y² - 1) / (d y² + 1) is a square (RFC 8032, section 5.1.3) by Euler's criterion.
  const square = (y * y - 1n) * power(D * y * y + 1n, P - 2n);
  if (y >= P || power(square, (P - 1n) / 2n) === P - 1n) throw invalidKey();
  const u = ((1n + y) * power(1n - y, P - 2n)) % P;
  return Buffer.from(u.toString(16).padStart(64, '0'), 'hex').reverse();
}

/** Raises a number to a power modulo P. It is not constant-time, so that it must get public keys only. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = ((base % P) + P) % P;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}

/**
 * Parses an SSH private key in the format of OpenSSH, or in PEM (PKCS #8, RFC 5958).
 * @throws AgeError (key-passphrase) for a key with a passphrase; (key) for any other key that cannot be used
 */
export function sshIdentity(pem: string): Identity {
  const openssh = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END/.exec(pem)?.[1];
  if (openssh !== undefined) return opensshIdentity(Buffer.from(openssh, 'base64'));
  const label = /-----BEGIN ([A-Z]+) PRIVATE KEY-----/.exec(pem)?.[1];
  if (label === 'ENCRYPTED') throw needsPassphrase();
  if (label !== undefined && label !== 'OPENSSH') throw notSupported(label);
  const key = pemKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw notSupported(`${key.asymmetricKeyType}`);
  const { x, d } = key.export({ format: 'jwk' });
  return identityOf(wireOf(fromUrl(x)), fromUrl(d));
}

function pemKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // The error of OpenSSL is dropped, since its message may contain a part of the key.
    throw invalidKey();
  }
}

/** Parses a private key in the format that PROTOCOL.key of OpenSSH specifies. */
function opensshIdentity(bytes: Buffer): Identity {
  const file = reader(bytes);
  if (file.take(15).toString('latin1') !== 'openssh-key-v1\0') throw invalidKey();
  const [cipher] = [file.string(), file.string(), file.string()];
  if (file.take(4).readUInt32BE() !== 1) throw invalidKey();
  const wire = file.string();
  const type = reader(wire).string().toString('latin1');
  if (type !== TYPE) throw notSupported(type);
  // The passphrase goes through bcrypt, which node:crypto does not have.
  if (cipher.toString('latin1') !== 'none') throw needsPassphrase();
  const secret = reader(file.string());
  // Two equal numbers, which check the passphrase, are before the type and the public key.
  secret.take(8);
  const [, , seedAndPoint] = [secret.string(), secret.string(), secret.string()];
  return identityOf(wire, seedAndPoint.subarray(0, 32));
}

/** Reads strings of SSH (RFC 4251, section 5). */
function reader(bytes: Buffer) {
  let offset = 0;
  /** @throws AgeError (key) when there are not enough bytes */
  const take = (length: number) => {
    if (length > bytes.length - offset) throw invalidKey();
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  return { take, string: () => take(take(4).readUInt32BE()), ended: () => offset === bytes.length };
}

/** Encodes a public key as RFC 8709, section 4, specifies. */
function wireOf(point: Buffer): Buffer {
  const length = (bytes: number) => Buffer.from([0, 0, 0, bytes]);
  return Buffer.concat([length(TYPE.length), Buffer.from(TYPE), length(point.length), point]);
}

function fromUrl(base64url = ''): Buffer {
  return Buffer.from(base64url, 'base64url');
}

function notSupported(type: string): AgeError {
  const name = /^[\w@.-]{1,64}$/.test(type) ? `type ${type}` : 'this type';
  return new AgeError('key', `private keys of ${name} are not supported, only Ed25519`);
}

function needsPassphrase(): AgeError {
  return new AgeError('key-passphrase', 'a private key with a passphrase cannot be read');
}

function invalidKey(): AgeError {
  return new AgeError('key', 'the key is damaged');
}
