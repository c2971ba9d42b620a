import { readdirSync, readlinkSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { type Listening, listening } from './listen';

export function json(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

export interface Part {
  readonly name: string;
  readonly filename?: string;
  readonly type?: string;
  readonly content: string;
}

/** The parts of a multipart body; latin1, so that bytes can be compared. Rejects when it is cut. */
export function parts(request: IncomingMessage): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    const found: Part[] = [];
    const headers = request.headers as IncomingMessage['headers'] & { 'content-type': string };
    const form = new Busboy({ headers, preservePath: true, limits: { fieldSize: 1e7 } });
    form.on('field', (name, content) => found.push({ name, content }));
    form.on('file', (name, stream, filename, _encoding, type) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () =>
        found.push({ name, filename, type, content: Buffer.concat(chunks).toString('latin1') }),
      );
    });
    form.on('finish', () => resolve(found));
    form.on('error', reject);
    request.on('aborted', () => reject(new Error('the request was cut')));
    request.pipe(form);
  });
}

/** An instance that takes every push, and hands over what came with it. */
export async function taking(): Promise<Listening & { readonly pushes: Part[][]; cut: number }> {
  const pushes: Part[][] = [];
  const counts = { cut: 0 };
  const base = await listening((request, response) => {
    parts(request).then(
      (got) => {
        pushes.push(got);
        json(response, 201, { url_token: 'abc123', html_url: 'https://pwpush.example/p/abc123' });
      },
      () => {
        counts.cut++;
      },
    );
  });
  return {
    ...base,
    pushes,
    get cut() {
      return counts.cut;
    },
  };
}

export interface OfferedFile {
  readonly filename: string;
  /** What its link answers. */
  readonly answer: RequestListener;
}

/** An instance whose push `abc` holds a text and files. */
export async function offering(
  files: readonly OfferedFile[],
  payload: string | null = '',
  views = 4,
): Promise<Listening> {
  const self: Listening = await listening((request, response) => {
    const at = /^\/file\/(\d+)/.exec(request.url ?? '')?.[1];
    const file = at === undefined ? undefined : files[Number(at)];
    if (file) return file.answer(request, response);
    const offered = files.map(({ filename }, place) => ({
      filename,
      content_type: 'application/octet-stream',
      url: `${self.url}/file/${place}?signature=MARKER`,
    }));
    json(response, 200, {
      url_token: 'abc',
      payload,
      files: offered,
      views_remaining: views,
      days_remaining: 6,
    });
  });
  return self;
}

/** Answers these bytes. */
export const whole =
  (content: string | Buffer): RequestListener =>
  (_request, response) => {
    const body = Buffer.from(content as string);
    response.writeHead(200, { 'content-length': body.length }).end(body);
  };

/** Answers the beginning of so many bytes, and breaks. */
export const cut =
  (length: number, beginning = 'half'): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': length });
    response.write(beginning, () => response.destroy());
  };

/** Files of ours that this process holds open, also those without a name; sockets come and go. */
export function heldFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.includes('/pwpush-') ? [target] : [];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}
