import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { malformed, type ServiceRefusal } from '../service-errors';
import { utf8 } from './form-fields';

export interface Part {
  /** Its header fields by lower-case name, one character per byte. */
  readonly head: Readonly<Record<string, string>>;
  /** Must be read to the end. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

const MAX_PARTS = 100;
const HEAD_BYTES = 8 * 1024;

/**
 * Parses `multipart/form-data` (RFC 7578) and passes its parts to `take`, one after another, no faster than `take` reads
 * them, and none after `take` throws.
 * @throws ServiceRefusal when the form is malformed
 */
export async function readParts(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  take: (part: Part) => Promise<void>,
): Promise<void> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) throw broken('the Content-Type has no boundary');
  const parser = new Dicer({ boundary, ...{ maxHeaderSize: HEAD_BYTES } });
  const form = new FormParser(parser, take);
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await form.during(() => chunks.next());
      if (done) break;
      await form.write(value);
    }
    await form.end();
  } catch (error) {
    // Not awaited: it may wait for input that never comes.
    chunks.return?.().catch(() => undefined);
    await form.abort(error);
    throw error;
  }
}

/**
 * An awaitable front of Dicer, the parser inside @fastify/busboy. Not its `Busboy` class, which truncates names and
 * applies back-pressure to files only; formidable writes to disk, and @remix-run/multipart-parser keeps parts in memory.
 */
class FormParser {
  private readonly parts: Readable[] = [];
  private heads = 0;
  private taken = Promise.resolve();
  private failure: unknown;
  private finished = false;
  private go: () => void = () => {};
  private stop: (reason: unknown) => void = () => {};

  constructor(
    private readonly parser: Dicer,
    private readonly take: (part: Part) => Promise<void>,
  ) {
    parser.on('part', (part) => this.arrive(part));
    // When all parts have been read, the callback of the last write is never called.
    parser.on('finish', () => {
      this.finished = true;
      this.go();
    });
    parser.on('error', () => this.fail(broken('it ends before its last boundary')));
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.parse(() => this.parser.write(chunk, this.go));
  }

  async end(): Promise<void> {
    await this.parse(() => this.parser.end());
    if (this.heads < this.parts.length) throw broken('a part has no header');
    await this.taken;
  }

  /** Destroys the parts and waits until `take` has ended. */
  async abort(reason: unknown): Promise<void> {
    this.fail(reason);
    for (const part of this.parts) part.destroy();
    await this.taken.catch(() => undefined);
  }

  /** The result of `work`; rejects as soon as the form fails. */
  during<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) return reject(this.failure);
      this.stop = reject;
      work().then(resolve, reject);
    });
  }

  /** Resolves when the parser is ready for more, or has finished. Ignores what follows the last boundary. */
  private parse(work: () => void): Promise<void> {
    const parsed = () =>
      new Promise<void>((resolve, reject) => {
        if (this.finished) return resolve();
        this.go = resolve;
        try {
          work();
        } catch {
          // Dicer throws on some input after the last boundary.
          reject(broken('it continues after its last boundary'));
        }
      });
    return this.during(parsed);
  }

  private arrive(part: Readable): void {
    this.parts.push(part);
    // The reader of a part gets this error, too, but a part may have no reader yet.
    part.on('error', () => this.fail(broken('it ends in the middle of a part')));
    if (this.parts.length > MAX_PARTS) this.fail(broken(`it has more than ${MAX_PARTS} parts`));
    if (this.failure !== undefined) return;
    part.once('header', (fields: Record<string, string[]>) => {
      this.heads += 1;
      const head = Object.fromEntries(
        Object.entries(fields).map(([name, values]) => [name, values[0] ?? '']),
      );
      this.taken = this.taken.then(async () => {
        if (this.failure === undefined) await this.take({ head, bytes: part });
      });
      this.taken.catch((error: unknown) => this.fail(error));
    });
  }

  private fail(reason: unknown): void {
    this.failure ??= reason;
    this.stop(this.failure);
  }
}

function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

function broken(why: string): ServiceRefusal {
  return malformed(`The form is invalid: ${why}.`);
}

/*
 * Our own Content-Disposition, not the content-disposition package: that reads `C:\dir\x` as `C:dirx`, and neither
 * raw UTF-8 nor `%22`, which browsers send.
 */

/**
 * The name of a form field, and the file name if it is a file, of a part's Content-Disposition, one character per byte;
 * undefined when it has no `name`.
 */
export function readDisposition(text: string) {
  if (!/^\s*form-data\s*(?:;|$)/i.test(text)) return undefined;
  const values = new Map<string, string>();
  const pattern = /;\s*([^\s=;]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g;
  for (const [, key = '', quoted, bare = ''] of text.matchAll(pattern)) {
    const name = key.toLowerCase();
    if (!values.has(name)) values.set(name, quoted ?? bare.trim());
  }
  const name = values.get('name');
  if (name === undefined) return undefined;
  const plain = values.get('filename');
  const extended = values.get('filename*');
  return {
    name: unquoted(name),
    filename:
      (extended && readExtended(extended)) ?? (plain === undefined ? plain : unquoted(plain)),
  };
}

/**
 * A backslash escapes only quotes and backslashes: others are part of Windows paths. Browsers escape as %22, %0D and
 * %0A (HTML, 4.10.21.8).
 */
function unquoted(value: string): string {
  const text = value
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(?:22|0d|0a)/gi, (code) => decodeURIComponent(code));
  return utf8(Buffer.from(text, 'latin1')) ?? text;
}

/** `UTF-8''%e2%82%ac` (RFC 8187); undefined when it is malformed. */
function readExtended(value: string): string | undefined {
  const [, charset = '', encoded = ''] = /^([\w-]+)'[^']*'(.*)$/s.exec(value) ?? [];
  const bytes = encoded.replace(/%([\da-f]{2})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  if (/^utf-8$/i.test(charset)) return utf8(Buffer.from(bytes, 'latin1'));
  return /^iso-8859-1$/i.test(charset) ? bytes : undefined;
}
