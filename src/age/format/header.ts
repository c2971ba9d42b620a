import { AgeError } from '../age-error';
import {
  ascii,
  type Bytes,
  derive,
  fromUnpadded,
  isSame,
  joined,
  type Primitives,
  textOf,
  unpadded,
} from './platform';

// The header of an age file (https://c2sp.org/age, "Header").

/** The file key, wrapped for one recipient. */
export interface Stanza {
  readonly type: string;
  readonly args: readonly string[];
  readonly body: Uint8Array;
}

export interface Header {
  readonly stanzas: readonly Stanza[];
  /** The bytes that the MAC covers: everything up to and including `---`. */
  readonly authenticated: Uint8Array;
  readonly mac: Uint8Array;
}

/** The largest header that is accepted, in bytes. It has room for 1,300 X25519 recipients. */
export const MAX_HEADER = 128 * 1024;

const VERSION = 'age-encryption.org/v1';
/** Characters in a line of a stanza's body. A shorter line, which may be empty, ends the body ("Recipient stanza"). */
const COLUMNS = 64;
const ARGUMENTS = /^-> [!-~]+(?: [!-~]+)*$/;
const MAC_LINE = /^--- ([A-Za-z0-9+/]{43})$/;

/**
 * Encodes a header with its MAC.
 * @throws AgeError (key) for no recipients, too many, or a passphrase combined with other recipients
 */
export function encodeHeader(
  primitives: Primitives,
  stanzas: readonly Stanza[],
  fileKey: Uint8Array,
): Bytes {
  if (stanzas.length === 0) throw new AgeError('key', 'there is no recipient');
  if (!passphraseIsAlone(stanzas))
    throw new AgeError('key', 'a passphrase cannot be combined with other recipients');
  const lines = stanzas.map((stanza) => encodeStanza(primitives, stanza)).join('');
  const authenticated = ascii(`${VERSION}\n${lines}---`);
  const mac = unpadded(primitives, macOf(primitives, authenticated, fileKey));
  const header = joined([authenticated, ascii(` ${mac}\n`)]);
  if (header.length > MAX_HEADER) throw new AgeError('key', 'there are too many recipients');
  return header;
}

function encodeStanza(primitives: Primitives, { type, args, body }: Stanza): string {
  const text = unpadded(primitives, body);
  const full = text.slice(0, text.length - (text.length % COLUMNS));
  const lines = full.replace(/.{64}/g, '$&\n') + text.slice(full.length);
  return `-> ${[type, ...args].join(' ')}\n${lines}\n`;
}

/**
 * Parses a header, which ends with the MAC line.
 * @throws AgeError (header) for everything that the specification does not allow
 */
export function parseHeader(primitives: Primitives, bytes: Uint8Array): Header {
  const lines = textOf(bytes).split('\n');
  if (lines[0] !== VERSION) throw new AgeError('header', 'not an age v1 file');
  const stanzas: Stanza[] = [];
  let next = 1;
  while (lines[next]?.startsWith('->')) {
    const { stanza, end } = parseStanza(primitives, lines, next);
    stanzas.push(stanza);
    next = end;
  }
  const mac = fromUnpadded(primitives, MAC_LINE.exec(lines[next] ?? '')?.[1] ?? '');
  if (mac?.length !== 32 || lines.length !== next + 2 || lines[next + 1] !== '') throw damaged();
  if (stanzas.length === 0) throw damaged();
  if (!passphraseIsAlone(stanzas))
    throw new AgeError('header', 'the header combines a passphrase with other recipients');
  // The MAC covers everything before itself: before a space, 43 characters and a line end ("Header MAC").
  const authenticated = bytes.subarray(0, bytes.length - 1 - 43 - 1);
  return { stanzas, authenticated, mac };
}

function parseStanza(primitives: Primitives, lines: readonly string[], from: number) {
  const first = lines[from] ?? '';
  if (!ARGUMENTS.test(first)) throw damaged();
  const [type = '', ...args] = first.slice(3).split(' ');
  let last = from + 1;
  while (lines[last]?.length === COLUMNS) last++;
  const isEnded = (lines[last]?.length ?? COLUMNS) < COLUMNS;
  const body = fromUnpadded(primitives, lines.slice(from + 1, last + 1).join(''));
  if (!isEnded || body === undefined) throw damaged();
  return { stanza: { type, args, body }, end: last + 1 };
}

/** A passphrase must be alone: only someone who knows it can have made the file ("The scrypt recipient type"). */
function passphraseIsAlone(stanzas: readonly Stanza[]): boolean {
  return stanzas.length === 1 || stanzas.every(({ type }) => type !== 'scrypt');
}

/**
 * Verifies the MAC of a header, in constant time.
 * @throws AgeError (mac) when the header was changed
 */
export function verifyHeader(
  primitives: Primitives,
  { authenticated, mac }: Header,
  fileKey: Uint8Array,
): void {
  if (!isSame(macOf(primitives, authenticated, fileKey), mac))
    throw new AgeError('mac', 'the header was changed');
}

function macOf(primitives: Primitives, authenticated: Uint8Array, fileKey: Uint8Array): Uint8Array {
  const key = derive(primitives, fileKey, new Uint8Array(0), 'header');
  return primitives.hmac(key, authenticated);
}

function damaged(): AgeError {
  return new AgeError('header', 'the header is damaged');
}
