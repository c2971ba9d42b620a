import { promises } from 'node:fs';
import { BlockList, isIP, type LookupFunction, type Socket } from 'node:net';
import { hostOf, isLocalhost, isLoopback, parseWebUrl } from '../../contract/address';
import { orUndefined } from '../../contract/or-undefined';
import type { ClientCertificate, Environment, HttpSettings } from '../../platform/context';
import { phrase, usageError } from '../../platform/errors';

/** Opens a connection. The signal of `within` ends what is not connected in time. */
export type Connector<To = object> = (
  to: To & { readonly signal?: AbortSignal },
  callback: ConnectCallback,
) => unknown;
export type ConnectCallback = (error: Error | null, socket: Socket | null) => void;

/** The most bytes of response headers. A proxy may add long headers to the response to a call that used a view. */
export const HEADER_BYTES = 256 * 1024;

/** Options of node:tls for one address. */
export interface TlsSettings extends Partial<ClientCertificate> {
  readonly ca?: string[];
  /** A certificate of `ca` is trusted although it is no root, and the one above it is missing. */
  readonly allowPartialTrustChain?: true;
  /** Without this, Node reads `NODE_TLS_REJECT_UNAUTHORIZED`. */
  readonly rejectUnauthorized: boolean;
}

/**
 * Decides whom to trust at an address, and what it sees of the user.
 * @param origin of what is asked; undefined for a proxy, which has none of what is configured for the instance
 * @param system the CAs of the system, maybe none, for a second try: with them, those of NODE_EXTRA_CA_CERTS need not be
 *   roots either. The first has a CA that the user names alone, as it takes 14 ms to read all roots beside it.
 */
export async function tlsOptions(
  { ca, instance, env }: Pick<HttpSettings, 'ca' | 'instance' | 'env'>,
  origin: string | undefined,
  system?: string,
): Promise<TlsSettings> {
  const own = origin === instance?.origin ? instance : undefined;
  const named = [origin && ca, system].filter((pem) => pem !== undefined);
  const others = system === undefined ? [] : await nodeRoots(env);
  const all = [...others, ...named].filter((pem) => pem !== '');
  return {
    ...own?.certificate,
    ...(named.length > 0 && { ca: all, allowPartialTrustChain: true }),
    rejectUnauthorized: !own?.insecure,
  };
}

/** Returns what Node trusts by default, since the option `ca` replaces it. */
async function nodeRoots(env: Environment): Promise<string[]> {
  const { rootCertificates } = await import('node:tls');
  const extra = env.NODE_EXTRA_CA_CERTS;
  // Node itself only warns about a file that it cannot read.
  const more = extra ? await promises.readFile(extra, 'utf8').catch(() => '') : '';
  return [...rootCertificates, more];
}

/** Debian, Fedora, openSUSE, Alpine and BSD keep the CAs that they trust in these files. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Reads the PEM file that `SSL_CERT_FILE` names, as OpenSSL does, else the distribution's; undefined without one. */
export async function systemCas(
  env: Environment,
): Promise<{ readonly path: string; readonly pem: string } | undefined> {
  for (const path of env.SSL_CERT_FILE ? [env.SSL_CERT_FILE] : SYSTEM_FILES) {
    const pem = await promises.readFile(path, 'utf8').catch(() => '');
    if (pem.includes('-----BEGIN')) return { path, pem };
  }
  return undefined;
}

/**
 * Limits the whole time until a connection is ready: names, tunnels, handshakes, and a second try. `timeout` of sockets
 * and of node:http limits silence, which a proxy that sends a byte at a time does not keep.
 */
export function within<To extends object>(
  milliseconds: number,
  open: Connector<To>,
  late = (): Error => Object.assign(new Error('connection timeout'), { code: 'ETIMEDOUT' }),
): Connector<To> {
  return (to, callback) => {
    const end = new AbortController();
    const timer = setTimeout(() => {
      callback(late(), null);
      end.abort();
    }, milliseconds).unref();
    open({ ...to, signal: end.signal }, (error, socket) => {
      clearTimeout(timer);
      if (!end.signal.aborted) callback(error, socket);
    });
  };
}

/** A CA that has ended may have a newer certificate. */
const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY|GET)_\w+|CERT_(UNTRUSTED|HAS_EXPIRED))$/;

/**
 * Connects again with all CAs, those of the system too, if the server is not trusted without them. They are not loaded
 * before, since reading hundreds of certificates takes longer than a handshake. No HTTP request is sent over the first
 * connection.
 */
export async function trustingSystem<To>(
  open: (system?: string) => Promise<Connector<To>>,
  env: Environment,
): Promise<Connector<To>> {
  const first = await open();
  let second: Promise<Connector<To>> | undefined;
  return (to, callback) =>
    first(to, (error, socket) => {
      const { code, cause } = (error ?? {}) as { code?: string; cause?: { code?: string } };
      if (!UNTRUSTED.test(`${code}`) && !UNTRUSTED.test(`${cause?.code}`))
        return callback(error, socket);
      second ??= systemCas(env).then((system) => open(system?.pem ?? ''));
      second.then(
        (connect) => connect(to, callback),
        () => callback(error, null),
      );
    });
}

const LOCALHOST = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
] as const;

/** Milliseconds for each address of a host. Node gives up one after a quarter of a second, and does not return to it. */
const ADDRESS_MS = 2000;

/**
 * Returns how a host is found and named, with which every connection is made. Node resolves `localhost` by DNS, unless
 * `lookup` returns both loopback addresses (RFC 6761, 6.3). It takes the name in the certificate of a proxy from
 * `Host`, which names the instance.
 */
export function hostOptions(url: Pick<URL, 'hostname'>) {
  const host = hostOf(url);
  return {
    host,
    servername: isIP(host) === 0 ? host : '',
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    ...(isLocalhost(host) ? { lookup } : {}),
  };
}

const lookup: LookupFunction = (_hostname, { all }, callback) =>
  all ? callback(null, [...LOCALHOST]) : callback(null, LOCALHOST[0].address, LOCALHOST[0].family);

export interface ChosenProxy {
  /** The URL of a SOCKS proxy has the scheme http, too. */
  readonly url: URL;
  readonly port: number;
  /** User name and password, which are empty for a proxy without a login. */
  readonly login: readonly string[];
  readonly variable: string;
  /** With `socks5`, this client resolves the host name of the instance; with `socks5h`, the proxy does. */
  readonly socks: 'socks5' | 'socks5h' | undefined;
}

/**
 * Chooses the proxy for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, or `ALL_PROXY`, unless `NO_PROXY` (host
 * names, suffixes, `host:port`, ranges of addresses, `*`) contains its host. Lower-case names take precedence, as in
 * curl. Loopback addresses have no proxy: their connections may be plain http and must not leave the machine.
 * @throws CliError (usage) when the variable is not the address of a supported proxy
 */
export function proxyFor(url: URL, env: Environment): ChosenProxy | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const own = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const variable = [own.toLowerCase(), own, 'all_proxy', 'ALL_PROXY'].find((name) => env[name]);
  if (variable === undefined || bypassed(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return parseProxy(variable, env[variable] ?? '');
}

/** The most bytes of a user name or a password (RFC 1929, 2). */
const MOST_SOCKS_BYTES = 255;

function parseProxy(variable: string, value: string): ChosenProxy {
  const [, written, rest] = /^(?:([^:/@]*):\/\/)?(.*)$/s.exec(value) ?? [];
  // GNOME exports `socks://`, and its SOCKS proxy resolves names.
  const scheme = written?.toLowerCase() === 'socks' ? 'socks5h' : written;
  const socks = (['socks5', 'socks5h'] as const).find((name) => name === scheme?.toLowerCase());
  const url = parseWebUrl(`${socks || scheme === undefined ? 'http' : scheme}://${rest}`);
  // The error does not quote the value, which may contain a password.
  if (url === undefined)
    throw usageError(phrase('no-proxy-address', variable), phrase('proxy-address'));
  // An unescaped backslash, `#`, `?` or `/` in the password ends the host of a URL, so that such a value is refused.
  const login = orUndefined(() => [url.username, url.password].map(decodeURIComponent));
  const after = url.pathname + url.search + url.hash;
  if (value.includes('\\') || after.includes('@') || login === undefined)
    throw usageError(phrase('no-proxy-address', variable), phrase('proxy-escapes'));
  if (socks && login.some((part) => Buffer.byteLength(part) > MOST_SOCKS_BYTES))
    throw usageError(phrase('proxy-login-long', variable, MOST_SOCKS_BYTES));
  // `url.port` is empty for port 80 of http and port 443 of https.
  const [, port] = /:(\d+)\/?$/.exec(value) ?? [];
  const usual = socks ? 1080 : url.protocol === 'https:' ? 443 : 80;
  return { url, variable, socks, login, port: Number(url.port || port || usual) };
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
  if (entry.includes('/')) return contains(entry, host);
  const withPort = /^(.*[^:]):(\d+)$/.exec(entry);
  if (withPort && !entry.startsWith('[') && (withPort[1] ?? '').includes(':'))
    return entry === host;
  const name = (withPort?.[1] ?? entry).replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
  if (withPort && withPort[2] !== port) return false;
  return host === name || host.endsWith(`.${name}`);
}

/** Returns whether a range of addresses (RFC 4632, 3.1; RFC 4291, 2.3) contains the host. Names are not resolved. */
function contains(range: string, host: string): boolean {
  const [, network = '', bits] = /^\[?([\da-f.:]+)\]?\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(host);
  if (family === 0 || isIP(network) !== family || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), `ipv${family as 4 | 6}`);
  return list.check(host, `ipv${family as 4 | 6}`);
}
