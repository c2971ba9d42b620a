// undici has types for its main module only, and not for its parts that are imported.
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/core/connect.js' {
  import type { buildConnector } from 'undici';
  export default function build(
    options: buildConnector.BuildOptions,
  ): import('./connect-options').Connector;
}
declare module 'undici/lib/core/symbols.js' {
  /** Names the method of a client that connects without a request. */
  export const kConnect: unique symbol;
}
