import { lookup } from 'node:dns/promises';
import { isIP, connect as plain, type Socket } from 'node:net';
import { type DetailedPeerCertificate, connect as secure } from 'node:tls';
import { isLocalhost } from '../../loopback';
import { raceWithLimit } from '../../system/abort';
import { connecting, LOCAL_ADDRESSES } from './localhost';
import type { Trust } from './tls-options';
import { openTunnel } from './tunnel';

/** The way to an instance, for looking at its parts one by one. */
export interface Way {
  readonly url: URL;
  readonly proxy: URL | undefined;
  readonly trust: Trust;
  /** Milliseconds for each part. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** What a handshake showed. */
export interface Shown {
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
  /** Node's code for why the certificate is not trusted. */
  readonly trouble: string | undefined;
  /** When the first of the chain ends. */
  readonly until: Date | undefined;
  readonly issuer: string;
  /** Whom it is for, such as `DNS:pw.example`. */
  readonly names: string;
}

/** The addresses of the host that is spoken to first; undefined when it is one itself. */
export async function addressesOf(way: Way): Promise<string[] | undefined> {
  const host = hostOf(way.proxy ?? way.url);
  if (isIP(host)) return undefined;
  if (isLocalhost(host)) return [...LOCAL_ADDRESSES];
  const found = await inTime(lookup(host, { all: true }), way);
  return found.map(({ address }) => address);
}

/** Opens a connection to the instance, through the proxy where there is one. */
export function reach(way: Way): Promise<Socket> {
  const { url, proxy, trust, timeout } = way;
  if (proxy === undefined || url.protocol === 'http:') return open(proxy ?? url, way);
  const wanted = { hostname: url.hostname, port: url.port };
  return new Promise((resolve, reject) => {
    openTunnel(wanted, proxy, trust, timeout, (error, socket) =>
      socket ? resolve(socket) : reject(error),
    );
  });
}

function open(to: URL, way: Way): Promise<Socket> {
  const port = Number(to.port || (to.protocol === 'https:' ? 443 : 80));
  const socket = plain({ ...connecting(to.hostname), host: hostOf(to), port });
  const opened = new Promise<Socket>((resolve, reject) => {
    // It stays: an error that comes later, with nobody listening, would end the process.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
  return inTime(opened, way, () => socket.destroy());
}

/** Shakes hands with whoever is there and says no more; the certificate is judged, and nobody refused. */
export function handshake(way: Way, raw: Socket): Promise<Shown> {
  const host = hostOf(way.url);
  const named = isIP(host) ? {} : { servername: host };
  const tls = { ...way.trust, ...named, host, ALPNProtocols: ['http/1.1'] };
  const socket = secure({ ...tls, socket: raw, rejectUnauthorized: false });
  const shaken = new Promise<Shown>((resolve, reject) => {
    socket.on('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate(true);
      const trouble: unknown = socket.authorizationError;
      resolve({
        protocol: socket.getProtocol() ?? 'TLS',
        trouble: trouble ? String(trouble) : undefined,
        until: endOf(certificate),
        issuer: String(certificate.issuer?.O ?? certificate.issuer?.CN ?? ''),
        names: certificate.subjectaltname ?? '',
      });
    });
  });
  return inTime(shaken, way).finally(() => socket.destroy());
}

/** When the first certificate of a chain ends; the last one of a chain is its own issuer. */
function endOf(certificate: DetailedPeerCertificate): Date | undefined {
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

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** @throws an error with undici's code for a connection that does not come about in time */
function inTime<T>(work: Promise<T>, way: Way, abandon = () => {}): Promise<T> {
  const signal = AbortSignal.any([way.signal, AbortSignal.timeout(way.timeout)]);
  return raceWithLimit(work, { signal }, () => {
    abandon();
    throw Object.assign(new Error('late'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
  });
}
