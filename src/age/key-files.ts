import { randomBytes } from 'node:crypto';
import { type Identity, type Recipient, x25519Identity, x25519Recipient } from './age';
import { AgeError } from './age-error';
import { decodeBech32, encodeBech32 } from './bech32';
import { x25519 } from './node-primitives';
import { sshIdentity, sshRecipient } from './ssh';

/**
 * Parses a recipients file or an authorized_keys file: one recipient per line, and comment lines that start with `#`.
 * With `leftOut`, it skips SSH keys of unsupported types, as age does, since the key lists of code hosts contain some.
 * @param leftOut called with the line number of a skipped key and the reason; without it, such a key is an error
 * @throws AgeError (key) for the first unusable line, with its number, and for a file without recipients; (key-type) if
 * the file has only keys of unsupported types
 */
export function parseRecipients(text: string, leftOut?: (why: string) => void): Recipient[] {
  const skipped: AgeError[] = [];
  const recipients = eachLine(text, 'recipient', parseRecipient, leftOut && skipped);
  const [first] = skipped;
  if (recipients.length === 0 && first) throw first;
  for (const { message } of skipped) leftOut?.(message);
  return recipients;
}

/**
 * Parses one recipient: `age1…`, or an SSH public key (sshd(8), "AUTHORIZED_KEYS FILE FORMAT").
 * @throws AgeError (key, key-type) when the recipient cannot be used; the message says why
 */
export function parseRecipient(text: string): Recipient {
  const line = text.trim();
  if (/^age1/i.test(line)) return ageRecipient(line);
  if (/^(AGE-|-----BEGIN .*PRIVATE KEY)/i.test(line))
    throw new AgeError('key', 'this is a private key; the public key is needed');
  const options = sshFields(line) ? '' : line.slice(0, optionsEnd(line));
  const [type, key] = sshFields(line.slice(options.length).trim()) ?? [];
  if (type === undefined || key === undefined)
    throw new AgeError('key', 'not a public key: neither age1… nor ssh-…');
  if (/(^|,)cert-authority(,|$)/i.test(options))
    throw new AgeError('key', 'this is the key of a certificate authority, not of a user');
  const wire = Buffer.from(key, 'base64');
  const reason = refusal(type);
  if (reason !== undefined) throw new AgeError(isOfType(wire, type) ? 'key-type' : 'key', reason);
  return sshRecipient(wire);
}

const SSH_KEY =
  /^((?:ssh|sk-ssh|ecdsa|sk-ecdsa|webauthn-sk)-[\w@.-]+)[ \t]+([A-Za-z0-9+/]+=*)(?:[ \t]|$)/;

/** Returns whether the bytes of a key begin with the name of its type (RFC 4253, section 6.6). */
function isOfType(wire: Buffer, type: string): boolean {
  return wire.length > 4 + type.length && wire.toString('latin1', 4, 4 + type.length) === type;
}

function sshFields(line: string): string[] | undefined {
  return SSH_KEY.exec(line)?.slice(1);
}

/** Returns the index at which the options before an SSH key end. As in sshd, `\"` does not count as a quote. */
function optionsEnd(line: string): number {
  let quoted = false;
  for (let index = 0; index < line.length; index++) {
    if (line.startsWith('\\"', index)) index++;
    else if (line[index] === '"') quoted = !quoted;
    else if (!quoted && /[ \t]/.test(line[index] ?? '')) return index;
  }
  return line.length;
}

function refusal(type: string): string | undefined {
  if (type === 'ssh-ed25519') return;
  const use = 'use one of type ssh-ed25519';
  if (type.includes('-cert-')) return `certificates (${type}) are not supported; ${use}`;
  if (/^(webauthn-)?sk-/.test(type)) return `security keys (${type}) cannot decrypt; ${use}`;
  if (type.startsWith('ecdsa-')) return `ECDSA keys (${type}) can only sign; ${use}`;
  return `SSH keys of type ${type} are not supported; ${use}`;
}

function ageRecipient(text: string): Recipient {
  const plugin = /^age1([a-z0-9+._-]+)1/i.exec(text)?.[1]?.toLowerCase();
  if (plugin === 'pq') throw new AgeError('key', 'post-quantum recipients are not supported');
  if (plugin !== undefined)
    throw new AgeError('key', `recipients of the age plugin ${plugin} are not supported`);
  return x25519Recipient(keyBytes(text, 'age'));
}

/**
 * Parses a file of identities: `AGE-SECRET-KEY-1…` lines with comments, or one SSH private key.
 * @throws AgeError (key-passphrase) for an SSH key with a passphrase; (key) for any other key that cannot be used
 */
export function parseIdentities(text: string): Identity[] {
  if (/^\s*(age-encryption\.org\/|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text))
    throw new AgeError('key', 'the identity file is encrypted with age; decrypt it first');
  if (/^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return [sshIdentity(text)];
  return eachLine(text, 'identity', parseIdentity);
}

function parseIdentity(line: string): Identity {
  const kind = /^AGE-(SECRET-KEY-PQ-|SECRET-KEY-|PLUGIN-)?/i.exec(line)?.[1]?.toUpperCase();
  if (kind === 'PLUGIN-') throw new AgeError('key', 'identities of age plugins are not supported');
  if (kind === 'SECRET-KEY-PQ-')
    throw new AgeError('key', 'post-quantum identities are not supported');
  if (kind === undefined)
    throw new AgeError('key', 'not an identity: neither AGE-SECRET-KEY-1… nor an SSH private key');
  return x25519Identity(keyBytes(line, 'age-secret-key-'));
}

/**
 * Parses the lines that are neither empty nor comments. The message of an error has the line number.
 * @param skipped collects errors (key-type); without it, they are thrown
 */
function eachLine<T>(
  text: string,
  what: string,
  parse: (line: string) => T,
  skipped?: AgeError[],
): T[] {
  const parsed: T[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    try {
      parsed.push(parse(line.trim()));
    } catch (error) {
      if (!(error instanceof AgeError)) throw error;
      const located = new AgeError(error.reason, `line ${index + 1}: ${error.message}`);
      if (!skipped || error.reason !== 'key-type') throw located;
      skipped.push(located);
    }
  }
  if (parsed.length === 0 && !skipped?.length) throw new AgeError('key', `the file has no ${what}`);
  return parsed;
}

/** Makes a key pair in the form of age-keygen(1). */
export function newKeyPair(): { readonly identity: string; readonly recipient: string } {
  const secret = randomBytes(32);
  const { point } = x25519(secret);
  return {
    identity: encodeBech32('age-secret-key-', secret).toUpperCase(),
    recipient: encodeBech32('age', point),
  };
}

/** @throws AgeError (key) when the checksum, the padding, the prefix or the length is wrong */
function keyBytes(text: string, prefix: string): Uint8Array {
  const decoded = decodeBech32(text);
  if (decoded?.prefix === prefix && decoded.bytes.length === 32) return decoded.bytes;
  throw new AgeError('key', 'the key is mistyped: its checksum is wrong');
}
