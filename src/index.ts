/** The typed client for Node programs: `import { createClient } from 'pwpush'`. */
import { setTimeout } from 'node:timers/promises';
import { type Api, apiClient } from './client/client';
import { undiciTransport } from './client/transport/undici';
import { endedBy } from './platform/errors';
import { version } from './platform/package-version';
import { parseBase } from './profile/base-address';
import { parseHeaders } from './profile/header-fields';
import { refuseOpenToken } from './profile/target';

export type { Api } from './client/client';
export type { FileResponse } from './client/file-link';
export type { Attachment } from './client/form';
export { parseReference, type Reference } from './client/link';
export type {
  Account,
  AuditEntry,
  InstanceVersion,
  Kind,
  NewPush,
  Preview,
  Push,
  PushFile,
} from './contract/api';
export { CliError, type ErrorCode } from './platform/errors';

export interface ClientOptions {
  /** Base address of the instance, such as `https://pwpush.example`. */
  readonly url: string;
  /** API token; sent to that instance only. */
  readonly token?: string;
  /** Seconds to connect, to the start of a response, and between two pieces of it. Default: 30. */
  readonly timeout?: number;
  /** PEM certificates trusted in addition to Node's. */
  readonly ca?: string;
  /** For a proxy in front of the instance; sent to that instance only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A client certificate and its private key, as PEM; shown to that instance only. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Accept any certificate, and a token over plain http. */
  readonly insecure?: boolean;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read from. Default: no proxy. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Aborts requests, and waits for `Retry-After` with the code `interrupted`. */
  readonly signal?: AbortSignal;
}

export interface Client extends Api {
  /** Ends all connections, so that the process can end. */
  close(): Promise<void>;
}

/**
 * Makes a client for API v2 of one instance. Its methods reject with a `CliError`; pwpush(1) lists the codes.
 * @throws CliError (usage) if `url` is not an address, a header is invalid, or token or headers would be sent over plain http
 */
export function createClient(options: ClientOptions): Client {
  const base = parseBase(options.url);
  const { token, insecure = false, certificate, timeout = 30 } = options;
  const headers = options.headers && parseHeaders(linesOf(options.headers));
  refuseOpenToken({ base, token, insecure, headers: headers && (async () => headers) });
  const transport = undiciTransport({
    timeout,
    ca: options.ca,
    insecure,
    certificate: certificate && { ...certificate, origin: new URL(base).origin },
    env: options.env ?? {},
    signal: options.signal,
  });
  const api = apiClient({
    base,
    token,
    headers,
    userAgent: `pwpush/${version}`,
    send: transport.send,
    now: () => new Date(),
    timeout,
    sleep: (milliseconds) => sleep(milliseconds, options.signal),
  });
  return { ...api, close: transport.close };
}

function linesOf(headers: Readonly<Record<string, string>>) {
  return Object.entries(headers).map(([name, value], at) => ({
    text: `${name}: ${value}`,
    place: `header ${at + 1}`,
  }));
}

async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(milliseconds, undefined, { signal });
  } catch (error) {
    throw signal ? endedBy(signal) : error;
  }
}
