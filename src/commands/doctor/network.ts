import type { Socket } from 'node:net';
import { proxyFor, tlsOptions } from '../../client/transport/connect-options';
import { networkError, TransportError } from '../../client/transport/network-errors';
import type { ProbedConnection } from '../../client/transport/probe';
import type { Context } from '../../context';
import { CliError } from '../../errors';
import { type Target, travelsOpen } from '../../profile/target';
import { BRIEF, certificatesOf, type Session, timeoutOf } from '../../session';
import { count } from '../../terminal/wording';

const DAY = 24 * 60 * 60 * 1000;
/** Days before its end by which a certificate should have been renewed. */
const SOON = 14;

/** What a check found when it did not fail; what later checks need of it are fields of its own. */
export interface Finding {
  readonly status?: 'warning' | 'skipped';
  readonly message: string;
  readonly hint?: string | undefined;
}

interface Address extends Finding {
  readonly target: Target;
}

export async function checkAddress(session: Session): Promise<Address> {
  const target = await session.target();
  const message = `${target.base}, from ${target.baseFrom}`;
  if (target.ignored === undefined) return { target, message };
  return { target, status: 'warning', message: `${message}; ${target.ignored}` };
}

interface Route extends Address {
  readonly way: ProbedConnection;
}

export async function checkProxy({ target }: Address, session: Session): Promise<Route> {
  const { env, signal } = session.context;
  const url = new URL(target.base);
  const proxy = proxyFor(url, env);
  const tls = await tlsOptions({ env, ca: certificatesOf(target), insecure: target.insecure });
  const timeout = Math.min(timeoutOf(session), BRIEF) * 1000;
  const message = proxy === undefined ? 'none' : `${proxy.protocol}//${proxy.host}`;
  return { target, way: { url, proxy, tls, timeout, signal }, message };
}

export async function checkDns({ target, way }: Route): Promise<Route> {
  const { addressesOf } = await import('../../client/transport/probe');
  const { hostname } = way.proxy ?? way.url;
  const found = await addressesOf(way).catch((error) => unreachable(error, way));
  const message =
    found === undefined
      ? `${hostname} is an address, not a name`
      : `${way.proxy ? 'the proxy ' : ''}${hostname} is ${found.join(', ')}`;
  return { target, way, message };
}

interface Connected extends Route {
  /** Closed already, unless TLS comes next. */
  readonly socket: Socket;
}

export async function checkConnection({ target, way }: Route): Promise<Connected> {
  const { openConnection } = await import('../../client/transport/probe');
  const socket = await openConnection(way).catch((error) => unreachable(error, way));
  const { remoteAddress = way.url.hostname, remotePort } = socket;
  if (way.url.protocol === 'http:') socket.destroy();
  const to = way.proxy
    ? `${way.url.host}, through the proxy`
    : `${remoteAddress} port ${remotePort}`;
  return { target, way, socket, message: `open to ${to}` };
}

export async function checkTls(
  { target, way, socket }: Connected,
  context: Context,
): Promise<Address> {
  if (way.url.protocol === 'http:') return { target, ...withoutTls(target.base, way.url) };
  const { handshake } = await import('../../client/transport/probe');
  const shown = await handshake(way, socket).catch((error) => unreachable(error, way));
  const { insecure } = target;
  const until = shown.expires?.toISOString().slice(0, 10);
  if (shown.certificateError !== undefined) {
    const { message, hint } = networkError({ code: shown.certificateError }, way.url, false, 0);
    const about = message + certificateDetail(shown.certificateError, shown.names, until);
    if (!insecure) throw new CliError('unreachable', about, { hint });
    return { target, status: 'warning', message: `${about}; accepted all the same (insecure)` };
  }
  const days = Math.floor(((shown.expires?.getTime() ?? 0) - context.now().getTime()) / DAY);
  const message = `${shown.protocol}, certificate by ${shown.issuer}, valid until ${until}`;
  if (insecure)
    return { target, status: 'warning', message: `${message}; not verified (insecure)` };
  if (days >= SOON) return { target, message };
  const hint = `${count(days, 'day')} left: have it renewed`;
  return { target, status: 'warning', message, hint };
}

function withoutTls(base: string, { host }: URL): Finding {
  if (!travelsOpen(base)) return { message: 'none, and none needed: nothing leaves this machine' };
  return {
    status: 'warning',
    message: `none: anyone between here and ${host} can read what is sent`,
    hint: 'use https',
  };
}

function certificateDetail(code: string, names: string, until: string | undefined): string {
  if (code === 'CERT_HAS_EXPIRED') return ` (on ${until})`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ` (${names})`;
  return '';
}

/** @throws CliError (unreachable) that says what failed and where */
function unreachable(error: unknown, { url, proxy }: ProbedConnection): never {
  const { message, hint } =
    error instanceof TransportError
      ? error
      : networkError(error, failedHost(error, url, proxy), false, 0);
  throw new CliError('unreachable', message, { hint, cause: error });
}

/** The host that an error is about: a proxy's own refusals name the instance that was not reached. */
function failedHost(error: unknown, url: URL, proxy: URL | undefined): URL {
  const { code } = error as NodeJS.ErrnoException;
  return proxy === undefined || code?.startsWith('PROXY_') ? url : proxy;
}
