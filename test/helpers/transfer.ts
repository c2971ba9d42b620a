import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Listening, listening } from './listen';
import { openFiles } from './memory';

function json(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

/** The parts of a multipart body; latin1, so that bytes can be compared. Rejects when it is cut. */
async function partsIn(request: IncomingMessage) {
  const headers = { 'content-type': request.headers['content-type'] as string };
  const form = await new Response(request as unknown as ReadableStream, { headers }).formData();
  const parts = [...form].map(async ([name, value]) => {
    if (typeof value === 'string') return { name, content: value };
    const content = Buffer.from(await value.arrayBuffer()).toString('latin1');
    return { name, filename: value.name, type: value.type, content };
  });
  return Promise.all(parts);
}

/** An instance that takes every push, and hands over what came with it. */
export async function taking() {
  const pushes: Awaited<ReturnType<typeof partsIn>>[] = [];
  const base = await listening(async (request, response) => {
    const parts = await partsIn(request).catch(() => undefined);
    if (!parts) return;
    pushes.push(parts);
    json(response, 201, { url_token: 'abc123', html_url: 'https://pwpush.example/p/abc123' });
  });
  return { ...base, pushes };
}

export interface OfferedFile {
  readonly filename: string;
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
export const heldFiles = () => openFiles().filter((path) => path.includes('/pwpush-'));
