import { type Context, Hono } from 'hono';
import { CHUNK } from '../keys/chunks';
import { Refusal } from '../refusal';
import type { OfferedFile, OpenFile } from '../rules/files';
import { readRange, type Span } from './byte-range';
import { attachment } from './content-disposition';
import type { Env, PartOptions } from './parts';
import { json, refusalBody, refusalHead } from './responses';
import { harmlessType } from './safe-media-type';

/** Chunks that are in memory at once for a client that reads slowly, opened and sealed. */
const STREAM_BYTES = 4 * CHUNK;

/** The address of a file; `base` is what links begin with. */
export function fileUrl(file: OfferedFile, base: string): string {
  return `${base}/files/${file.link}`;
}

/** Where the files of a retrieval are fetched. It takes no view, and needs nothing but the link. */
export function createDownloads({ files, log, events, limited }: PartOptions): Hono<Env> {
  const downloads = new Hono<Env>();
  downloads.use('/files/*', limited);

  downloads.get('/files/:link', async (c) => {
    const file = await files.open(c.req.param('link'));
    c.get('memory').add(STREAM_BYTES);
    const range = asked(c.req.raw, file);
    if (range === 'none') {
      const headers = { 'content-range': `bytes */${file.size}` };
      return json({ error: 'There is nothing in that range.' }, 416, headers);
    }
    const whole = range === 'all';
    const span = whole ? { first: 0, end: file.size } : range;
    const headers = { ...head(file, span), ...(whole ? {} : contentRange(file, span)) };
    return new Response(c.req.method === 'HEAD' ? null : stream(c, file, span), {
      status: whole ? 200 : 206,
      headers,
    });
  });

  downloads.onError((error) => {
    if (!(error instanceof Refusal)) throw error;
    const { status, headers } = refusalHead(error);
    return json(refusalBody(error), status, headers);
  });

  /** Bytes as the client takes them. What breaks off is cut, so that it cannot be taken for the whole. */
  function stream(c: Context<Env>, file: OpenFile, { first, end }: Span): ReadableStream {
    const bytes = file.read(first, end);
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const { value, done } = await bytes.next();
            if (done) return controller.close();
            events.fileBytes('out', value.length);
            controller.enqueue(value);
          } catch (error) {
            log.failure(error);
            if (!c.env.cut) return controller.error(error);
            c.env.cut();
            controller.close();
          }
        },
        async cancel() {
          await bytes.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
  }

  return downloads;
}

/** A range goes with GET alone, and If-Range must name these very bytes. */
function asked(request: Request, { size, tag }: OpenFile): Span | 'all' | 'none' {
  const condition = request.headers.get('if-range');
  if (request.method !== 'GET' || (condition !== null && condition !== `"${tag}"`)) return 'all';
  return readRange(request.headers.get('range'), size);
}

function head({ name, type, tag }: OpenFile, { first, end }: Span) {
  return {
    'content-type': harmlessType(type),
    'content-length': `${end - first}`,
    'content-disposition': attachment(name),
    'content-security-policy': "default-src 'none'; sandbox",
    'accept-ranges': 'bytes',
    etag: `"${tag}"`,
  };
}

function contentRange({ size }: OpenFile, { first, end }: Span) {
  return { 'content-range': `bytes ${first}-${end - 1}/${size}` };
}
