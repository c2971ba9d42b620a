import { promises } from 'node:fs';
import type { LookupFunction, Socket } from 'node:net';
import { isLocalhost, isLoopback, parseWebUrl } from '../../contract/address';
import type { ClientCertificate, Environment, HttpSettings } from '../../platform/context';
import { phrase, usageError } from '../../platform/errors';

/** Opens connections for undici. */
export type Connector<To = object> = (to: To, callback: ConnectCallback) => unknown;
export type ConnectCallback = (error: Error | null, socket: Socket | null) => void;

/** Bytes of headers that a response may have: a view is spent by then, whatever policies a proxy adds to it. */
export const HEADER_BYTES = 256 * 1024;

/** Options of node:tls for both the instance and an https proxy. */
export interface TlsSettings {
  readonly ca?: string[];
  /** Always set: without it, Node reads `NODE_TLS_REJECT_UNAUTHORIZED`. */
  readonly rejectUnauthorized: boolean;
}

export async function tlsOptions({
  ca,
  insecure,
  env,
}: Pick<HttpSettings, 'ca' | 'insecure' | 'env'>): Promise<TlsSettings> {
  return {
    ...(ca === undefined ? {} : { ca: await withRoots(ca, env) }),
    rejectUnauthorized: !insecure,
  };
}

/** The client certificate for a URL; none for another origin than its own. */
export function certificateFor(
  { origin }: URL,
  { certificate }: Pick<HttpSettings, 'certificate'>,
): ClientCertificate | undefined {
  if (certificate?.origin !== origin) return undefined;
  return { cert: certificate.cert, key: certificate.key };
}

/** The option `ca` replaces the certificates that Node trusts, so they are included. */
async function withRoots(ca: string, env: Environment): Promise<string[]> {
  const { rootCertificates } = await import('node:tls');
  const extra = env.NODE_EXTRA_CA_CERTS;
  // Node itself only warns about a file that it cannot read.
  const more = extra ? await promises.readFile(extra, 'utf8').catch(() => '') : '';
  return [...rootCertificates, ca, ...(more === '' ? [] : [more])];
}

/** The addresses of `localhost`. */
const LOCAL_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** The second address is tried after this time: more than this process may be busy when the first one responds. */
const FIRST_ADDRESS_MS = 2000;

/** Options of node:net by which `localhost` is not resolved by DNS (RFC 6761, 6.3), and both its addresses are tried. */
export function lookupOptions(hostname: string) {
  if (!isLocalhost(hostname)) return {};
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: FIRST_ADDRESS_MS };
}

const lookup: LookupFunction = (_hostname, { all }, callback) => {
  if (!all) return callback(null, LOCAL_ADDRESSES[0], 4);
  const [four, six] = LOCAL_ADDRESSES;
  callback(null, [
    { address: four, family: 4 },
    { address: six, family: 6 },
  ]);
};

/**
 * The proxy for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, unless `NO_PROXY` (host names, suffixes,
 * `host:port`, `*`) contains its host. Lower-case names take precedence, as in curl. Never one for loopback addresses:
 * requests to them may be plain http and must not leave the machine.
 * @throws CliError (usage) when the variable is not an http or https address
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name.toLowerCase()] || env[name];
  if (!value || bypassed(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return parseProxy(name, value);
}

function parseProxy(name: string, value: string): URL {
  const proxy = parseWebUrl(value.includes('://') ? value : `http://${value}`);
  if (proxy) return proxy;
  // Without the value, which may contain a password.
  throw usageError(phrase('no-proxy-address', name), phrase('proxy-address'));
}

/** The host name or address of a URL, without the brackets of an IPv6 address. */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function bypassed(url: URL, list: string): boolean {
  const host = hostOf(url);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const withPort = /^(.*[^:]):(\d+)$/.exec(entry);
  if (withPort && !entry.startsWith('[') && (withPort[1] ?? '').includes(':'))
    return entry === host;
  const name = (withPort?.[1] ?? entry).replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
  if (withPort && withPort[2] !== port) return false;
  return host === name || host.endsWith(`.${name}`);
}
