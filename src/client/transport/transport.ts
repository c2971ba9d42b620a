/** A request as it goes out, in the shape of undici's `request`: plain objects, no globals of fetch. */
export interface WireRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** Absolute. May hold a passphrase in its query: never print it. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | StreamedBody | undefined;
}

/**
 * A body that is made while it is sent. It can be iterated anew, for a second try after a 429. A piece is
 * good until the next one is asked for: whoever keeps it copies it.
 */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** Bytes in all: its Content-Length. */
  readonly length: number;
}

export interface WireResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Iterating throws a `TransportError` when the answer is cut or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * One request, one answer; rejects with a `TransportError`, or with what its body threw, and nothing else.
 * Follows no redirect.
 */
export type Transport = (request: WireRequest) => Promise<WireResponse>;

export interface ClosableTransport {
  readonly send: Transport;
  /** Ends all connections at once, so that no idle one keeps the process alive. */
  close(): Promise<void>;
}

interface TransportErrorDetails {
  readonly sent: boolean;
  readonly timedOut?: boolean;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** No (whole) answer came. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** False only when the request provably never left: then nothing can have happened. */
  readonly sent: boolean;
  /** It was given up because nothing moved for the time allowed. */
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
