// undici has no export map and ships types only for its whole; these are the parts we import.
declare module 'undici/lib/dispatcher/client.js' {
  const Client: new (origin: string, options: object) => import('./undici').Dispatcher;
  export default Client;
}
declare module 'undici/lib/dispatcher/pool.js' {
  /** As many clients for one origin as `connections` says, each made when the others are busy. */
  const Pool: new (origin: string, options: object) => import('./undici').Dispatcher;
  export default Pool;
}
declare module 'undici/lib/core/connect.js' {
  /** Makes what opens a client's sockets, from the options of `tls.connect` and a `timeout`. */
  export default function buildConnector(options: object): import('./upload').Connector;
}
declare module 'undici/lib/api/api-request.js' {
  export class RequestHandler {
    constructor(
      options: object,
      callback: (error: unknown, response: import('./undici').RawResponse) => void,
    );
    onConnect(abort: (error?: Error) => void, context: unknown): void;
    onHeaders(status: number, ...rest: unknown[]): void;
  }
}
