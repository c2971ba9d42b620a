import { type Context, Hono } from 'hono';
import type { PartOptions } from '../app-options';
import type { Env } from '../http/env';
import { json } from '../http/responses';
import { CHUNK } from '../keys/chunks';
import type { ReadableFile } from '../rules/files';

/** Bytes of memory that the chunks of a download take, sealed and opened. */
const STREAM_BYTES = 4 * CHUNK;

/** A download uses no view and needs no token, only the link. */
export function createDownloads({ files, log, events, limited }: PartOptions): Hono<Env> {
  const downloads = new Hono<Env>();
  downloads.use('/files/*', limited);

  downloads.get('/files/:link', async (c) => {
    const file = await files.open(c.req.param('link'));
    c.get('memory').add(STREAM_BYTES);
    const requested = requestedRange(c.req.raw, file);
    if (requested === 'none') {
      const headers = { 'content-range': `bytes */${file.size}` };
      return json({ error: 'That range is outside of the file.' }, 416, headers);
    }
    const whole = requested === 'all';
    const range = whole ? { first: 0, end: file.size } : requested;
    const headers = headersOf(file, range);
    if (!whole) headers['content-range'] = `bytes ${range.first}-${range.end - 1}/${file.size}`;
    return new Response(c.req.method === 'HEAD' ? null : stream(c, file, range), {
      status: whole ? 200 : 206,
      headers,
    });
  });

  /** Reads as fast as the client does. Cuts the connection on an error, so that the client sees an incomplete file. */
  function stream(c: Context<Env>, file: ReadableFile, { first, end }: ByteRange): ReadableStream {
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

/** Range is ignored unless the method is GET and If-Range matches the file (RFC 9110, 14.2). */
function requestedRange(request: Request, { size, tag }: ReadableFile): ByteRange | 'all' | 'none' {
  const condition = request.headers.get('if-range');
  if (request.method !== 'GET' || (condition !== null && condition !== `"${tag}"`)) return 'all';
  return parseRange(request.headers.get('range'), size);
}

function headersOf(
  { name, type, tag }: ReadableFile,
  { first, end }: ByteRange,
): Record<string, string> {
  return {
    'content-type': inertMediaType(type),
    'content-length': `${end - first}`,
    'content-disposition': attachment(name),
    'content-security-policy': "default-src 'none'; sandbox",
    'accept-ranges': 'bytes',
    etag: `"${tag}"`,
  };
}

/** Bytes from `first` up to, not including, `end`. */
interface ByteRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Parses a Range header (RFC 9110, 14) for a file of `size` bytes: one range, 'none' when it is unsatisfiable, or 'all'
 * for anything else, several ranges included.
 */
function parseRange(header: string | null, size: number): ByteRange | 'all' | 'none' {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  if (!match) return 'all';
  const [, from = '', to = ''] = match;
  if (from === '') return to === '' ? 'all' : suffix(Number(to), size);
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'all';
  if (first >= size) return 'none';
  return { first, end: to === '' ? size : Math.min(Number(to) + 1, size) };
}

function suffix(length: number, size: number): ByteRange | 'none' {
  if (length === 0 || size === 0) return 'none';
  return { first: Math.max(0, size - length), end: size };
}

/** Returns a Content-Disposition with which browsers save the file under `name` (RFC 6266). */
function attachment(name: string): string {
  // Some browsers decode percent signs in a plain filename too.
  const fallback = name.replace(/[^ -~]|["\\%]/gu, '_');
  const extended = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${fallback}"; filename*=UTF-8''${extended}`;
}

const ACTIVE =
  /(?:^|[^a-z])(?:x?html|xml|xsl|svg|css|wasm|flash|manifest|[a-z]*script)(?:$|[^a-z])/;

/**
 * Replaces types that a browser may execute by application/octet-stream. This is a second defence, as
 * Content-Disposition makes browsers save the file.
 */
function inertMediaType(type: string): string {
  const known = /^(?:application|audio|font|image|model|text|video)\//.test(type);
  return known && !ACTIVE.test(type) ? type : 'application/octet-stream';
}
