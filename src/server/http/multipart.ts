import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { malformed, type ServiceRefusal } from '../service-errors';
import { utf8 } from './form-fields';

interface Part {
  readonly name: string;
  /** Undefined for a field. */
  readonly filename: string | undefined;
  readonly type: string | undefined;
  readonly isEmpty: boolean;
  /** Bytes that are not read before the next part are skipped. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Header fields by lower-case name, one character per byte. */
type Head = Readonly<Record<string, string>>;

/** What the parser finds in a form: a head, pieces of the bytes that follow it, and null at their end. */
type Token = Head | Uint8Array | null;

const MAX_PARTS = 100;
const HEAD_BYTES = 8 * 1024;

/**
 * Yields the parts of `multipart/form-data` (RFC 7578) as they arrive. Reads the body no faster than the caller reads
 * the parts, and stops when the caller does.
 * @throws ServiceRefusal when the form is malformed
 */
export async function* partsOf(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<Part> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) throw broken('the Content-Type has no boundary');
  const tokens = tokensOf(body, boundary);
  for await (const head of tokens) {
    if (head === null || head instanceof Uint8Array) continue;
    const { value: first } = await tokens.next();
    const bytes = bytesFrom(first, tokens);
    yield { ...namesIn(head), type: head['content-type'], isEmpty: first === null, bytes };
  }
}

async function* bytesFrom(first: Token, tokens: AsyncGenerator<Token>): AsyncGenerator<Uint8Array> {
  for (let piece = first; piece instanceof Uint8Array; piece = (await tokens.next()).value)
    yield piece;
}

/**
 * Uses Dicer, the parser inside @fastify/busboy. Its `Busboy` class truncates names and applies back-pressure to files
 * only; formidable writes to disk, and @remix-run/multipart-parser keeps parts in memory.
 */
async function* tokensOf(body: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Token> {
  const config = { boundary, maxHeaderSize: HEAD_BYTES };
  const parser = new Dicer(config);
  const tokens: Token[] = [];
  let [heads, ends, isWhole] = [0, 0, false];
  parser.on('finish', () => {
    isWhole = true;
  });
  parser.on('part', (part: Readable) => {
    part.once('header', (fields: Record<string, string[]>) => {
      heads += 1;
      const entries = Object.entries(fields).map(([name, values]) => [name, values[0] ?? '']);
      tokens.push(Object.fromEntries(entries));
    });
    // Replaces the stream's own queue, which would report the end of the part too late. No queue is needed, as all of a
    // chunk is read before the parser gets the next one.
    part.push = (piece: Uint8Array | null) => {
      tokens.push(piece);
      if (piece !== null) return true;
      ends += 1;
      return part.emit('end');
    };
  });
  for await (const chunk of body) {
    try {
      parser.write(chunk);
    } catch {
      // Dicer throws on some input after the last boundary.
      throw broken('it continues after its last boundary');
    }
    if (ends > heads) throw broken('a part has no header');
    if (heads > MAX_PARTS) throw broken(`it has more than ${MAX_PARTS} parts`);
    yield* tokens.splice(0);
  }
  if (!isWhole) throw broken('it ends before its last boundary');
}

function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

function broken(why: string): ServiceRefusal {
  return malformed(`The form is invalid: ${why}.`);
}

/*
 * Our own parser of Content-Disposition: the content-disposition package reads `C:\dir\x` as `C:dirx`, and neither raw
 * UTF-8 nor `%22`, which browsers send.
 */

/** Returns the name of a part, and the file name if it is a file. */
function namesIn({ 'content-disposition': text = '' }: Head): Pick<Part, 'name' | 'filename'> {
  const values = new Map<string, string>();
  const pattern = /;\s*([^\s=;]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g;
  for (const [, key = '', quoted, bare = ''] of text.matchAll(pattern)) {
    const name = key.toLowerCase();
    if (!values.has(name)) values.set(name, quoted ?? bare.trim());
  }
  const name = /^\s*form-data\s*(?:;|$)/i.test(text) ? values.get('name') : undefined;
  if (name === undefined) throw broken('a part has no name');
  const plain = values.get('filename');
  const extended = values.get('filename*');
  return {
    name: unquoted(name),
    filename:
      (extended && readExtended(extended)) ?? (plain === undefined ? plain : unquoted(plain)),
  };
}

/**
 * Unescapes a value. A backslash escapes only quotes and backslashes: others are part of Windows paths. Browsers escape
 * quotes and line ends as %22, %0D and %0A (HTML Standard, 4.10.21.8).
 */
function unquoted(value: string): string {
  const text = value
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(?:22|0d|0a)/gi, (code) => decodeURIComponent(code));
  return utf8(Buffer.from(text, 'latin1')) ?? text;
}

/** Decodes a value like `UTF-8''%e2%82%ac` (RFC 8187); undefined when it is malformed. */
function readExtended(value: string): string | undefined {
  const [, charset = '', encoded = ''] = /^([\w-]+)'[^']*'(.*)$/s.exec(value) ?? [];
  const bytes = encoded.replace(/%([\da-f]{2})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  if (/^utf-8$/i.test(charset)) return utf8(Buffer.from(bytes, 'latin1'));
  return /^iso-8859-1$/i.test(charset) ? bytes : undefined;
}
