import { mac, open, seal, stretch } from './noble';
import { x25519, x25519Public } from './x25519';

/*
 * age v1 (https://c2sp.org/age) with a passphrase, in a browser, and encryption to a public key. Not `src/age/`, which is over node:crypto and Buffer.
 * It uses nothing that needs a secure context: the page also opens over plain http.
 */

/** What failed: `key` is a wrong key, `recipients` means that the file is encrypted to keys, not with a passphrase. */
export type Failure = 'armor' | 'header' | 'recipients' | 'key' | 'payload';

/** An error of decryption. */
export class Undecrypted extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
  }
}

/** The scrypt work factor of link keys, whose strength is in the key; words have a higher one (docs/encryption.md). */
export const LINK_WORK = 10;
/** The highest that is accepted: 1 GiB of memory, and some seconds. */
const MAX_WORK = 20;

const CHUNK = 64 * 1024;
const TAG = 16;
const SALT = 16;
const NONCE = 16;
const FILE_KEY = 16;

const utf8 = new TextEncoder();

/** Bytes of characters up to U+00FF. A loop, as `Uint8Array.from` takes three times as long. */
function ascii(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

// "ASCII armor".

const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const END = '-----END AGE ENCRYPTED FILE-----';
/** Characters and bytes of a line of armor. */
const COLUMNS = 64;
const LINE = 48;

/** Encodes an age file as armor, with a final line end. */
export function encodeArmor(file: Uint8Array): string {
  const lines = [BEGIN];
  for (let at = 0; at < file.length; at += LINE) lines.push(base64(file.subarray(at, at + LINE)));
  return `${lines.join('\n')}\n${END}\n`;
}

/**
 * Decodes armor, which must be canonical; white space around it and CRLF are accepted.
 * @throws Undecrypted (armor)
 */
export function decodeArmor(text: string): Uint8Array<ArrayBuffer> {
  const lines = text.trim().split(/\r?\n/);
  const last = lines.length - 2;
  if (lines[0] !== BEGIN || lines.pop() !== END) throw new Undecrypted('armor');
  const parts = lines.slice(1).map((line, at) => {
    const bytes = fromBase64(line, 'armor');
    const full = bytes.length === LINE;
    if (line === '' || line.length > COLUMNS || !(full || at === last - 1))
      throw new Undecrypted('armor');
    return bytes;
  });
  return joined(parts);
}

/** Base64 with padding, of a few bytes. */
function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

const unpadded = (bytes: Uint8Array) => base64(bytes).replace(/=+$/, '');

/** @throws Undecrypted for base64 that is not canonical (RFC 4648, section 3.5) */
function fromBase64(text: string, failure: Failure): Uint8Array {
  try {
    const bytes = ascii(atob(text));
    if (base64(bytes) === text) return bytes;
  } catch {
    // Thrown below.
  }
  throw new Undecrypted(failure);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// "Header", with the single stanza of section "The scrypt recipient type".

/** The longest header that matches, and the nonce after it, in bytes. */
const MAX_HEADER = 200;
const HEADER =
  /^(age-encryption\.org\/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9]\d*)\n([A-Za-z0-9+/]{43})\n---) ([A-Za-z0-9+/]{43})\n/;
/** A header that starts with another stanza. */
const RECIPIENTS = /^age-encryption\.org\/v1\n-> (?!scrypt )/;

interface Header {
  /** The bytes that the MAC covers. */
  readonly authenticated: Uint8Array;
  readonly mac: Uint8Array;
  readonly salt: Uint8Array;
  readonly work: number;
  /** The wrapped file key. */
  readonly body: Uint8Array;
  /** In bytes. */
  readonly length: number;
}

/** @throws Undecrypted (header, recipients) */
function parseHeader(start: Uint8Array): Header {
  const text = String.fromCharCode(...start.subarray(0, MAX_HEADER));
  const [whole = '', authenticated = '', salt = '', work = '', body = '', tag = ''] =
    HEADER.exec(text) ?? [];
  if (RECIPIENTS.test(text)) throw new Undecrypted('recipients');
  if (whole === '' || Number(work) > MAX_WORK) throw new Undecrypted('header');
  return {
    authenticated: ascii(authenticated),
    mac: fromBase64(`${tag}=`, 'header'),
    salt: fromBase64(`${salt}==`, 'header'),
    work: Number(work),
    body: fromBase64(`${body}=`, 'header'),
    length: whole.length,
  };
}

/**
 * The scrypt work factor of armor, which is higher for words than for link keys.
 * @throws Undecrypted (armor, header, recipients)
 */
export function workOf(armor: string): number {
  return parseHeader(decodeArmor(armor)).work;
}

function wrapKey(passphrase: string, salt: Uint8Array, work: number): Promise<Uint8Array> {
  const labelled = joined([ascii('age-encryption.org/v1/scrypt'), salt]);
  return stretch(utf8.encode(passphrase), labelled, work);
}

/** HKDF-SHA-256 (RFC 5869) of a single block: 32 bytes. */
function derive(secret: Uint8Array, salt: Uint8Array, info: string): Uint8Array {
  return mac(mac(salt, secret), ascii(`${info}\x01`));
}

function headerMac(authenticated: Uint8Array, fileKey: Uint8Array): Uint8Array {
  return mac(derive(fileKey, new Uint8Array(0), 'header'), authenticated);
}

/** In constant time; of the same length. */
function same(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0;
}

// "Payload".

/** A counter of 11 bytes, big-endian, and a flag for the last chunk. */
function chunkNonce(number: number, last: boolean): Uint8Array {
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setUint32(7, number);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

type Pieces = AsyncIterable<Uint8Array>;

/** Reads exact lengths from pieces of any. */
function readerOf(pieces: Pieces) {
  const source = pieces[Symbol.asyncIterator]();
  let held = new Uint8Array(0);
  let ended = false;
  /** Holds that many bytes, or all there are. */
  const hold = async (length: number) => {
    if (held.length >= length || ended) return;
    const parts: Uint8Array[] = [held];
    for (let size = held.length; size < length; ) {
      const { value, done } = await source.next();
      ended = done === true;
      if (done) break;
      parts.push(value);
      size += value.length;
    }
    held = joined(parts);
  };
  const take = (length: number) => {
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  };
  return {
    take,
    async peek(length: number) {
      await hold(length);
      return held.subarray(0, length);
    },
    /** The next chunk, and whether it is the last one. */
    async chunk(size: number) {
      await hold(size + 1);
      const last = held.length <= size;
      return { chunk: take(size), last };
    },
    close: () => source.return?.(),
  };
}

/** Wraps a file key: the stanza, with its line ends. */
export type Wrap = (fileKey: Uint8Array) => Promise<string>;

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

const sealFileKey = (key: Uint8Array, fileKey: Uint8Array) =>
  unpadded(seal(key, new Uint8Array(12), fileKey));

/** @param work base-two logarithm of the scrypt work factor */
export function passphraseWrap(passphrase: string, work: number): Wrap {
  return async (fileKey) => {
    const salt = random(SALT);
    const body = sealFileKey(await wrapKey(passphrase, salt, work), fileKey);
    return `-> scrypt ${unpadded(salt)} ${work}\n${body}\n`;
  };
}

/**
 * Wraps for an X25519 public key ("The X25519 recipient type").
 * @throws Error for a point of low order, whose secret is always zero (RFC 7748, section 6.1)
 */
export function recipientWrap(point: Uint8Array): Wrap {
  return async (fileKey) => {
    const secret = random(32);
    const share = x25519Public(secret);
    const shared = x25519(secret, point);
    if (shared.every((byte) => byte === 0)) throw new Error();
    const key = derive(shared, joined([share, point]), 'age-encryption.org/v1/X25519');
    return `-> X25519 ${unpadded(share)}\n${sealFileKey(key, fileKey)}\n`;
  };
}

/** Encrypts a stream as an age file, in constant memory. */
export async function* encryptFile(
  pieces: Pieces,
  wrap: Wrap,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const fileKey = random(FILE_KEY);
  const stanza = await wrap(fileKey);
  const authenticated = ascii(`age-encryption.org/v1\n${stanza}---`);
  const nonce = random(NONCE);
  yield joined([authenticated, ascii(` ${unpadded(headerMac(authenticated, fileKey))}\n`), nonce]);
  const key = derive(fileKey, nonce, 'payload');
  const reader = readerOf(pieces);
  for (let number = 0, ended = false; !ended; number++) {
    const { chunk, last } = await reader.chunk(CHUNK);
    yield seal(key, chunkNonce(number, last), chunk) as Uint8Array<ArrayBuffer>;
    ended = last;
  }
}

/**
 * Decrypts an age file, in constant memory. It yields a chunk only after verifying it; the file is complete when the
 * generator ends.
 * @param mac that its header must have, in base64 without padding
 * @throws Undecrypted (header, recipients, key, payload)
 */
export async function* decryptFile(
  pieces: Pieces,
  passphrase: string,
  mac?: string,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const reader = readerOf(pieces);
  try {
    const header = parseHeader(await reader.peek(MAX_HEADER));
    if (mac !== undefined && unpadded(header.mac) !== mac) throw new Undecrypted('payload');
    const wrap = await wrapKey(passphrase, header.salt, header.work);
    const fileKey = open(wrap, new Uint8Array(12), header.body);
    if (fileKey === undefined) throw new Undecrypted('key');
    if (!same(headerMac(header.authenticated, fileKey), header.mac))
      throw new Undecrypted('header');
    await reader.peek(header.length + NONCE);
    reader.take(header.length);
    const nonce = reader.take(NONCE);
    if (nonce.length < NONCE) throw new Undecrypted('header');
    const key = derive(fileKey, nonce, 'payload');
    for (let number = 0, ended = false; !ended; number++) {
      const { chunk, last } = await reader.chunk(CHUNK + TAG);
      const plain = open(key, chunkNonce(number, last), chunk);
      if (plain === undefined || (plain.length === 0 && number > 0))
        throw new Undecrypted('payload');
      if (plain.length > 0) yield plain as Uint8Array<ArrayBuffer>;
      ended = last;
    }
  } finally {
    await reader.close();
  }
}

/** The MAC of the header with which a file begins, in base64 without padding. */
export function macIn(start: Uint8Array): string {
  return /\n--- (\S{43})\n/.exec(String.fromCharCode(...start.subarray(0, MAX_HEADER)))?.[1] ?? '';
}

/** Encrypts a text as armor. */
export async function encryptText(text: string, wrap: Wrap): Promise<string> {
  return encodeArmor(await whole(encryptFile(one(utf8.encode(text)), wrap)));
}

/**
 * Decrypts armor that holds a text.
 * @throws Undecrypted
 */
export async function decryptText(armor: string, passphrase: string): Promise<string> {
  const bytes = await whole(decryptFile(one(decodeArmor(armor)), passphrase));
  // A byte order mark is a part of the text.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

async function* one(piece: Uint8Array) {
  yield piece;
}

async function whole(pieces: Pieces): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return joined(parts);
}

// The key.

/** A new key for a link: 128 random bits in 22 characters of base64url. */
export function newLinkKey(): string {
  const text = unpadded(crypto.getRandomValues(new Uint8Array(16)));
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/**
 * The key in a fragment, a pasted link or a field: mail gateways append to links, and words are typed in any case, with
 * spaces or hyphens. Several where that is not certain, the more likely first.
 */
export function keysIn(text: string): string[] {
  const typed = text.trim();
  const linked = /(?:^|#|%23|%2523)([\w-]{22})(?![\w-])/.exec(typed)?.[1];
  const words = typed.toLowerCase().split(/[\s-]+/);
  const likely = linked ?? (words.length < 6 ? typed : words.join('-'));
  return [...new Set([likely, typed])].filter((key) => key !== '');
}
