import type { Dispatcher } from 'undici';
import type { HttpResponse } from '../../platform/context';

/** A connection is paused when this many bytes of a body wait to be read. */
const MOST_WAITING = 64 * 1024;
/** Each interim response, such as 103, restarts undici's timeout, so that their number is limited. */
const MAX_INTERIM = 10;

type Controller = Dispatcher.DispatchController;

interface ExchangeSettings {
  readonly effect: boolean;
  /** Returns true if some of a streamed body cannot have been sent yet. */
  readonly unfinished: () => boolean;
  readonly running: Set<Exchange>;
  /** Exchanges of the connection whose body waits to be read; see `resume`. */
  readonly paused: Set<Exchange>;
  readonly explain: (error: unknown, exchange: Exchange) => Error;
}

/** undici calls the handlers of a request in turn, while the reader of its response iterates the body. */
export class Exchange implements Dispatcher.DispatchHandler, AsyncIterable<Uint8Array> {
  /** A part of the HTTP request may have been sent. */
  sent = false;
  stopped = false;
  responded = false;
  readonly response: Promise<HttpResponse>;
  private settle!: {
    readonly resolve: (response: HttpResponse) => void;
    readonly reject: (error: Error) => void;
  };
  private controller: Controller | undefined;
  private timer: NodeJS.Timeout | undefined;
  private interim = 0;
  /** Bytes of the body that have not arrived; NaN if the length is unknown. */
  private left = Number.NaN;
  private readonly chunks: Uint8Array[] = [];
  private waiting = 0;
  private wake: (() => void) | undefined;
  private end: { readonly error?: unknown } | undefined;

  constructor(private readonly options: ExchangeSettings) {
    this.response = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    options.running.add(this);
  }

  /** Waits `grace` milliseconds before it aborts an HTTP request that has an effect and was sent. */
  stop(grace: number): void {
    if (grace > 0 && this.options.effect && this.sent && !this.options.unfinished()) {
      this.timer = setTimeout(() => this.stop(0), grace);
      return;
    }
    this.stopped = true;
    this.controller?.abort(new Error('stopped'));
  }

  /**
   * Resumes a paused body. The end of a connection also calls this: undici 7.30.2 drops a body that is paused at the
   * end, or throws where nobody can catch it (undici issue #5360, fixed in version 8, which requires Node.js 22).
   */
  resume(): void {
    this.options.paused.delete(this);
    this.controller?.resume();
  }

  /** undici calls this right before it writes an HTTP request. It does not write an aborted one. */
  onRequestStart(controller: Controller): void {
    this.controller = controller;
    if (this.stopped) this.stop(0);
    else this.sent = true;
  }

  onResponseStart(controller: Controller, status: number, headers: HttpResponse['headers']): void {
    if (status < 200) {
      this.interim++;
      if (this.interim > MAX_INTERIM)
        controller.abort(Object.assign(new Error('no response'), { code: 'INTERIM_ONLY' }));
      return;
    }
    this.responded = true;
    this.left = Number(headers['content-length'] ?? Number.NaN);
    this.settle.resolve({ status, headers, body: this });
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    // `resume` at the end of a connection causes an empty piece.
    if (chunk.byteLength === 0) return;
    this.left -= chunk.byteLength;
    this.waiting += chunk.byteLength;
    this.chunks.push(chunk);
    if (this.wake) {
      this.wake();
      // A complete body is not paused: it would be dropped if the connection is reset.
    } else if (this.waiting >= MOST_WAITING && this.left !== 0) {
      this.options.paused.add(this);
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.finish({});
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.finish({ error });
  }

  private finish(end: { readonly error?: unknown }): void {
    clearTimeout(this.timer);
    this.options.running.delete(this);
    this.options.paused.delete(this);
    this.end = end;
    if (!this.responded) this.settle.reject(this.options.explain(end.error, this));
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.chunks.shift();
        if (chunk !== undefined) {
          this.waiting -= chunk.byteLength;
          yield chunk;
        } else if (this.end === undefined) {
          await this.more();
        } else {
          if ('error' in this.end) throw this.options.explain(this.end.error, this);
          return;
        }
      }
    } finally {
      // A body that is not read would block the connection.
      if (this.end === undefined) this.controller?.abort(new Error('not read'));
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        resolve();
      };
      this.resume();
    });
  }
}
