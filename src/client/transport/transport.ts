/** A request in the shape of undici's `request`: plain objects, as the globals of fetch take 30 ms to load on Node 20. */
export interface WireRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** Absolute. Its query may contain a passphrase: never print it. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | StreamedBody | undefined;
}

/**
 * A body that is produced while it is sent. It can be iterated again, for a retry after a 429. A chunk is valid until
 * the next one is requested; copy it to keep it.
 */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** Content-Length, in bytes. */
  readonly length: number;
}

export interface WireResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Iterating throws a `TransportError` when the response is truncated or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends one request and follows no redirect. Throws a `TransportError` or the error of its body, and nothing else. */
export type Transport = (request: WireRequest) => Promise<WireResponse>;

export interface ClosableTransport {
  readonly send: Transport;
  /** Closes all connections at once: an idle one would keep the process alive. */
  close(): Promise<void>;
}

interface TransportErrorDetails {
  readonly sent: boolean;
  readonly timedOut?: boolean;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** No response, or only a part of one, was received. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** False only if no part of the request can have been sent. */
  readonly sent: boolean;
  /** No data was transferred for the time allowed. */
  readonly timedOut: boolean;
  readonly hint: string | undefined;

  constructor(message: string, details: TransportErrorDetails) {
    super(message, { cause: details.cause });
    this.sent = details.sent;
    this.timedOut = details.timedOut ?? false;
    this.hint = details.hint;
  }
}

/** The first value of a header, or undefined. */
export function header(response: Pick<WireResponse, 'headers'>, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
