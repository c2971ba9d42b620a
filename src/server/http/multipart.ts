import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { Refusal } from '../refusal';

/** A part of a form. */
export interface Part {
  /** The fields of its head by lower-cased name, each byte a character. */
  readonly head: Readonly<Record<string, string>>;
  /** To be read to its end. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

const MAX_PARTS = 100;
const HEAD_BYTES = 16 * 1024;

/**
 * Reads `multipart/form-data` (RFC 7578) and gives its parts to `take`, one after another. No faster than `take`
 * reads them, and no further once it throws. Throws a `Refusal` when the form is broken.
 */
export async function readParts(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  take: (part: Part) => Promise<void>,
): Promise<void> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) throw broken('the Content-Type names no boundary');
  const parser = new Dicer({ boundary, ...{ maxHeaderSize: HEAD_BYTES } });
  const form = new Form(parser, take);
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await form.during(() => chunks.next());
      if (done) break;
      await form.write(value);
    }
    await form.end();
  } catch (error) {
    // Not awaited: what it waits for itself may never come.
    chunks.return?.().catch(() => undefined);
    await form.abort(error);
    throw error;
  }
}

/** Busboy's own parser, of which its `Busboy` loses part of a name and half of back-pressure, as one that is awaited. */
class Form {
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
    // All parts were read to their end; a write of which they are the last is never called back.
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
    if (this.heads < this.parts.length) throw broken('a part has no head');
    await this.taken;
  }

  /** Ends whoever is reading a part, and waits until they have. */
  async abort(reason: unknown): Promise<void> {
    this.fail(reason);
    for (const part of this.parts) part.destroy();
    await this.taken.catch(() => undefined);
  }

  /** What `work` comes to, unless something goes wrong meanwhile. */
  during<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) return reject(this.failure);
      this.stop = reject;
      work().then(resolve, reject);
    });
  }

  /** Waits until the parser goes on after `work`, has finished, or fails. What follows the last boundary is not looked at. */
  private parse(work: () => void): Promise<void> {
    const parsed = () =>
      new Promise<void>((resolve, reject) => {
        if (this.finished) return resolve();
        this.go = resolve;
        try {
          work();
        } catch {
          // It stumbles over some of what may follow in the same write.
          reject(broken('it goes on after its last boundary'));
        }
      });
    return this.during(parsed);
  }

  private arrive(part: Readable): void {
    this.parts.push(part);
    // Whoever reads it gets the error, too; nobody may be reading it yet.
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

function broken(why: string): Refusal {
  return new Refusal('malformed', `The form is broken: ${why}.`);
}
