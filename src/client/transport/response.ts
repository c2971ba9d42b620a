import { parseJson } from '../../contract/json';
import { orUndefined } from '../../contract/or-undefined';
import type { HttpResponse } from '../../platform/context';
import { CliError, phrase } from '../../platform/errors';
import { codeOf } from '../../platform/files/file-error';
import { timeoutError } from './network-errors';

export interface WholeResponse {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly body: Buffer;
}

export class ResponseTooLong extends CliError {
  constructor(status: number) {
    super('failed', phrase('response-too-long'), { status });
  }
}

export function isSuccess({ status }: Pick<WholeResponse, 'status'>): boolean {
  return status >= 200 && status <= 299;
}

/** Parses JSON. Returns undefined, which matches no schema, for any other body. */
export function jsonBody({ body }: Pick<WholeResponse, 'body'>): unknown {
  return orUndefined(() => parseJson(body));
}

/** Returns the first value of a header field, which may be repeated. */
export function header(response: Pick<HttpResponse, 'headers'>, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the seconds of `Retry-After` (RFC 9110, 10.2.3: seconds or a date); undefined if it is absent or invalid. */
export function retryAfter(response: Pick<HttpResponse, 'headers'>, now: Date): number | undefined {
  const value = header(response, 'retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value);
  if (!/[a-z]/i.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
}

/** A longer response is refused, to bound the memory for it. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A response may take this many times the `timeout` of a piece, however slow it is. */
const PATIENCE = 4;
/** The least speed of a response that exceeds `PATIENCE`: an instance could send a byte at a time for ever. */
const LEAST_BYTES_PER_SECOND = 4 * 1024;

/**
 * Reads the body of a response to its end, and decompresses it.
 * @param pace its `timeout` is the most seconds between two pieces; without it, the body may take any time
 * @throws TransportError for a body that is truncated or too slow; ResponseTooLong
 */
export async function readWhole(
  response: HttpResponse,
  url: string,
  pace: { readonly now: () => Date; readonly timeout?: number | undefined },
): Promise<WholeResponse> {
  const { now, timeout = Number.POSITIVE_INFINITY } = pace;
  const chunks: Uint8Array[] = [];
  let length = 0;
  let last = now().getTime();
  let seconds = 0;
  for await (const chunk of response.body) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new ResponseTooLong(response.status);
    const time = now().getTime();
    // The transport ends a longer wait, so that a longer time means that the clock was set or the machine slept.
    seconds += Math.min(Math.max(time - last, 0) / 1000, timeout);
    last = time;
    if (seconds > PATIENCE * timeout && length < LEAST_BYTES_PER_SECOND * seconds)
      throw timeoutError(phrase('too-slow', new URL(url).host), true);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  const body = Buffer.concat(chunks);
  // A proxy may compress although the request asks for `identity`.
  const coding = header(response, 'content-encoding')?.trim().toLowerCase() ?? '';
  const isCompressed = ['gzip', 'deflate', 'br'].includes(coding);
  return { status, headers, body: isCompressed ? await inflated(body, coding, status) : body };
}

async function inflated(body: Buffer, coding: string, status: number): Promise<Buffer> {
  if (body.length === 0) return body;
  const { brotliDecompressSync, unzipSync } = await import('node:zlib');
  try {
    const inflate = coding === 'br' ? brotliDecompressSync : unzipSync;
    return inflate(body, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw new ResponseTooLong(status);
    // A body that cannot be decompressed matches no schema, which the caller reports.
    return body;
  }
}

/** `discardBody` reads at most this many bytes, so that the connection can be reused. A longer body closes it. */
const MAX_DISCARDED_BYTES = 64 * 1024;
/** `discardBody` reads at most this many pieces, and does not wait for a body that comes a byte at a time. */
const MAX_PIECES = 4;

/** Reads or cancels a body, since an unread one would block the next HTTP request to its host. */
export async function discardBody(body: AsyncIterable<Uint8Array>): Promise<void> {
  let read = 0;
  let pieces = 0;
  for await (const chunk of body) {
    read += chunk.byteLength;
    pieces += 1;
    if (read > MAX_DISCARDED_BYTES || pieces === MAX_PIECES) return;
  }
}
