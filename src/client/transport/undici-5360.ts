// undici 7.30.2 drops the body of a response, or throws where nobody can catch it, if the parser is paused when the connection
// ends, after which nothing more can arrive. Issue #5360 there, fixed in version 8, which requires Node.js 22.
import type { Dispatcher } from 'undici';
import type { Connector } from './connect-options';
import { forwarding } from './lifecycle';

/** Resumes the parser before undici sees the end of a connection; for the connections of one dispatcher. */
export function resuming() {
  const running = new Set<Dispatcher.DispatchController>();
  const connector =
    (open: Connector): Connector =>
    (to, callback) =>
      open(to, (error, socket) => {
        socket?.once('end', () => {
          for (const controller of running) controller.resume();
        });
        callback(error, socket);
      });
  const interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, resumed(handler, running));
  return { connector, interceptor };
}

function resumed(
  handler: Dispatcher.DispatchHandler,
  running: Set<Dispatcher.DispatchController>,
): Dispatcher.DispatchHandler {
  const next = forwarding(handler);
  let left = Number.NaN;
  return {
    onRequestStart: (controller, context) => {
      running.add(controller);
      next.onRequestStart(controller, context);
    },
    onResponseStart: (controller, status, headers, text) => {
      left = Number(headers['content-length'] ?? Number.NaN);
      next.onResponseStart(controller, status, headers, text);
    },
    onResponseData: (controller, chunk) => {
      next.onResponseData(controller, chunk);
      left -= chunk.byteLength;
      // A paused body is dropped when the connection is reset, even a complete one. Empty chunks come of `connector`.
      if (left === 0 || chunk.byteLength === 0) controller.resume();
    },
    onResponseEnd: (controller, trailers) => {
      running.delete(controller);
      next.onResponseEnd(controller, trailers);
    },
    onResponseError: (controller, error) => {
      running.delete(controller);
      next.onResponseError(controller, error);
    },
  };
}
