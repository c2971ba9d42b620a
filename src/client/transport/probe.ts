import { lookup } from 'node:dns/promises';
import { isIP, connect as plain, type Socket } from 'node:net';
import { type DetailedPeerCertificate, connect as secure } from 'node:tls';
import { isLocalhost } from '../../contract/address';
import type { ClientCertificate } from '../../platform/context';
import { raceWithLimit } from '../../platform/files/abort';
import { hostOf, LOCAL_ADDRESSES, lookupOptions, type TlsOptions } from './connect-options';
import { openTunnel } from './tunnel';

/** The connection to an instance whose steps are tried one by one. */
export interface ProbedConnection {
  readonly url: URL;
  readonly proxy: URL | undefined;
  readonly tls: TlsOptions;
  readonly certificate: ClientCertificate | undefined;
  /** Of each step. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Handshake {
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
  /** Node's error code if the certificate is not trusted. */
  readonly certificateError: string | undefined;
  /** When the first certificate of the chain expires. */
  readonly expires: Date | undefined;
  readonly issuer: string;
  /** Subject alternative names, such as `DNS:pw.example`. */
  readonly names: string;
}

/** Resolves the host of the proxy, or of the instance without one; undefined if it is an IP address. */
export async function addressesOf(to: ProbedConnection): Promise<string[] | undefined> {
  const host = hostOf(to.proxy ?? to.url);
  if (isIP(host)) return undefined;
  if (isLocalhost(host)) return [...LOCAL_ADDRESSES];
  const found = await withTimeout(lookup(host, { all: true }), to);
  return found.map(({ address }) => address);
}

/** Opens a connection to the instance, through the proxy if there is one. */
export function openConnection(to: ProbedConnection): Promise<Socket> {
  const { url, proxy, tls, timeoutMs } = to;
  if (proxy === undefined || url.protocol === 'http:') return openDirect(proxy ?? url, to);
  const host = { hostname: url.hostname, port: url.port };
  return new Promise((resolve, reject) => {
    openTunnel(host, { proxy, tls, timeoutMs }, (error, socket) =>
      socket ? resolve(socket) : reject(error),
    );
  });
}

function openDirect(url: URL, to: ProbedConnection): Promise<Socket> {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const socket = plain({ ...lookupOptions(url.hostname), host: hostOf(url), port });
  const opened = new Promise<Socket>((resolve, reject) => {
    // Not `once`: a later error without a listener would end the process.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
  return withTimeout(opened, to, () => socket.destroy());
}

/** Performs a TLS handshake and sends nothing else. Reports an untrusted certificate instead of refusing it. */
export function handshake(to: ProbedConnection, raw: Socket): Promise<Handshake> {
  const host = hostOf(to.url);
  const named = isIP(host) ? {} : { servername: host };
  const tls = { ...to.tls, ...to.certificate, ...named, host, ALPNProtocols: ['http/1.1'] };
  const socket = secure({ ...tls, socket: raw, rejectUnauthorized: false });
  const shaken = new Promise<Handshake>((resolve, reject) => {
    socket.on('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate(true);
      const error: unknown = socket.authorizationError;
      resolve({
        protocol: socket.getProtocol() ?? 'TLS',
        certificateError: error ? String(error) : undefined,
        expires: expiryOf(certificate),
        issuer: String(certificate.issuer?.O ?? certificate.issuer?.CN ?? ''),
        names: certificate.subjectaltname ?? '',
      });
    });
  });
  return withTimeout(shaken, to).finally(() => socket.destroy());
}

/** When the first certificate of a chain expires; the last one of a chain is its own issuer. */
function expiryOf(certificate: DetailedPeerCertificate): Date | undefined {
  let first: number | undefined;
  const seen = new Set<object>();
  for (
    let at: DetailedPeerCertificate | undefined = certificate;
    at?.valid_to && !seen.has(at);
    at = at.issuerCertificate
  ) {
    seen.add(at);
    const end = Date.parse(at.valid_to);
    if (!Number.isNaN(end)) first = Math.min(end, first ?? end);
  }
  return first === undefined ? undefined : new Date(first);
}

/** @throws an error with undici's code for a connection that is not opened in time */
function withTimeout<T>(work: Promise<T>, to: ProbedConnection, abandon = () => {}): Promise<T> {
  const signal = AbortSignal.any([to.signal, AbortSignal.timeout(to.timeoutMs)]);
  return raceWithLimit(work, { signal }, () => {
    abandon();
    throw Object.assign(new Error('late'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
  });
}
