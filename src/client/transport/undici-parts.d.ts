// undici has no export map and ships types only for its whole; these are the parts we import.
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  /** As many clients for one origin as `connections` says, each made when the others are busy. */
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/core/connect.js' {
  import type { buildConnector } from 'undici';
  /** Makes what opens a client's sockets, from the options of `tls.connect` and a `timeout`. */
  export default function build(options: buildConnector.BuildOptions): import('./upload').Connector;
}
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';
  /** `Dispatcher.request` as a function; undici puts it on its dispatchers only where all of undici is loaded. */
  export default function request(
    this: Dispatcher,
    options: Omit<Dispatcher.RequestOptions, 'body'> & {
      /** undici documents iterables too, and its types leave them out. */
      readonly body?: string | AsyncIterable<Uint8Array> | undefined;
    },
  ): Promise<Dispatcher.ResponseData>;
}
