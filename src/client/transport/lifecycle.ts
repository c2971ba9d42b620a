import { EventEmitter } from 'node:events';
import type { Dispatcher } from 'undici';
import type { HttpOptions } from '../../platform/context';

/** The life of one request: when it left, and when it is given up. */
export interface Lifecycle {
  /** Part of the request may have been sent: undici calls `onRequestStart` right before it writes. */
  left(): boolean;
  /** Emits `abort` when the request is given up. Not an `AbortSignal`, which takes longer to make than the rest. */
  readonly signal: EventEmitter & { readonly aborted: boolean };
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor;
  /** To be called when the request has ended. */
  over(): void;
}

/**
 * Returns what begins the life of a request, which is given up when the signal of the options aborts; but one whose effect
 * can no longer be prevented not until `grace` is over: the secret of a last view, or the link of a new push, may be on its
 * way. Its `complete` tells whether all of its body may have been sent.
 */
export function lifecycles({ signal, grace = 0 }: HttpOptions) {
  const running = new Set<() => void>();
  const endAll = () => {
    for (const end of running) end();
  };
  signal?.addEventListener('abort', endAll, { once: true });
  return (effect: boolean, complete: () => boolean): Lifecycle =>
    lifecycle({ effect, complete, grace, running, stopped: signal?.aborted === true });
}

interface Life {
  readonly effect: boolean;
  readonly complete: () => boolean;
  readonly grace: number;
  readonly running: Set<() => void>;
  readonly stopped: boolean;
}

function lifecycle({ effect, complete, grace, running, stopped }: Life): Lifecycle {
  let left = false;
  const given = Object.assign(new EventEmitter(), { aborted: stopped });
  const stop = () => {
    given.aborted = true;
    given.emit('abort');
  };
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    if (effect && left && complete()) timer = setTimeout(stop, grace);
    else stop();
  };
  running.add(begin);
  return {
    left: () => left,
    signal: given,
    interceptor: (dispatch) => (options, handler) =>
      dispatch(options, {
        ...limitingInterim(handler),
        onRequestStart: (controller, context) => {
          handler.onRequestStart?.(controller, context);
          // An aborted request is not written.
          left ||= !controller.aborted;
        },
      }),
    over: () => {
      clearTimeout(timer);
      running.delete(begin);
    },
  };
}

/** Each interim response, such as 103, restarts undici's timeout, so that their number is limited. */
const MAX_INTERIM = 10;

function limitingInterim(handler: Dispatcher.DispatchHandler): Required<Handler> {
  const next = forwarding(handler);
  let interim = 0;
  return {
    ...next,
    onResponseStart: (controller, status, headers, text) => {
      if (status < 200) interim++;
      if (interim <= MAX_INTERIM) next.onResponseStart(controller, status, headers, text);
      else controller.abort(Object.assign(new Error('no response'), { code: 'INTERIM_ONLY' }));
    },
  };
}

type Handler = Pick<
  Dispatcher.DispatchHandler,
  'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
>;

/**
 * A handler that passes everything on, to be changed in part. Not a subclass or proxy: undici's handlers have private
 * fields, which only calls on the handler itself can use.
 */
export function forwarding(handler: Dispatcher.DispatchHandler): Required<Handler> {
  return {
    onRequestStart: (...all) => handler.onRequestStart?.(...all),
    onResponseStart: (...all) => handler.onResponseStart?.(...all),
    onResponseData: (...all) => handler.onResponseData?.(...all),
    onResponseEnd: (...all) => handler.onResponseEnd?.(...all),
    onResponseError: (...all) => handler.onResponseError?.(...all),
  };
}
