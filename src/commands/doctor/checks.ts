import type { Socket } from 'node:net';
import { abilities, editionOf } from '../../cli/terminal/instance-info';
import { count } from '../../cli/terminal/wording';
import { apiClient } from '../../client/client';
import { proxyFor, tlsOptions } from '../../client/transport/connect-options';
import { networkError, TransportError } from '../../client/transport/network-errors';
import {
  addressesOf,
  handshake,
  openConnection,
  type ProbedConnection,
} from '../../client/transport/probe';
import { header } from '../../client/transport/response';
import type { InstanceVersion } from '../../contract/api';
import { DAY_MS } from '../../contract/lifetime';
import type { Context, Transport } from '../../platform/context';
import { CliError, failedError } from '../../platform/errors';
import { travelsOpen } from '../../profile/base-address';
import {
  BRIEF_SECONDS,
  briefSettings,
  certificateFor,
  certificatesOf,
  timeoutOf,
} from '../../profile/connect';
import type { Session } from '../../profile/session';
import { ignoredText, type Target } from '../../profile/target';

/** A certificate should be renewed before it has so little left. */
const SOON_DAYS = 14;

/** The result of a check that did not fail; it has more fields for later checks. */
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
  return { target, status: 'warning', message: `${message}; ${ignoredText(target.ignored)}` };
}

/** Headers and client certificate for a proxy in front of the instance can be read, and it has not expired. */
export async function checkAccess({ target }: Address, context: Context): Promise<Address> {
  const names = Object.keys((await target.headers?.()) ?? {});
  const headers = names.length === 0 ? [] : [`headers ${names.join(', ')}`];
  const shown = await target.certificate?.();
  if (shown === undefined) return { target, message: headers.join() };
  const { X509Certificate } = await import('node:crypto');
  const expires = new Date(new X509Certificate(shown.cert).validTo);
  const days = Math.floor((expires.getTime() - context.now().getTime()) / DAY_MS);
  const until = expires.toISOString().slice(0, 10);
  if (days < 0)
    throw failedError(`the client certificate expired on ${until}`, { hint: 'renew it' });
  const message = [...headers, `client certificate valid until ${until}`].join('; ');
  if (days >= SOON_DAYS) return { target, message };
  return { target, message, status: 'warning', hint: `renew it, ${count(days, 'day')} left` };
}

interface Route extends Address {
  readonly way: ProbedConnection;
}

export async function checkProxy({ target }: Address, session: Session): Promise<Route> {
  const { env, signal } = session.context;
  const url = new URL(target.base);
  const proxy = proxyFor(url, env);
  const tls = await tlsOptions({ env, ca: certificatesOf(target), insecure: target.insecure });
  const certificate = await certificateFor(target);
  const timeoutMs = Math.min(timeoutOf(session), BRIEF_SECONDS) * 1000;
  const message = proxy === undefined ? 'none' : `${proxy.protocol}//${proxy.host}`;
  return { target, way: { url, proxy, tls, certificate, timeoutMs, signal }, message };
}

export async function checkDns({ target, way }: Route): Promise<Route> {
  const { hostname } = way.proxy ?? way.url;
  const found = await addressesOf(way).catch((error) => unreachable(error, way));
  const message =
    found === undefined
      ? `${hostname} is an IP address`
      : `${way.proxy ? 'the proxy ' : ''}${hostname} is ${found.join(', ')}`;
  return { target, way, message };
}

interface Connected extends Route {
  /** Closed already, unless TLS comes next. */
  readonly socket: Socket;
}

export async function checkConnection({ target, way }: Route): Promise<Connected> {
  const socket = await openConnection(way).catch((error) => unreachable(error, way));
  const { remoteAddress = way.url.hostname, remotePort } = socket;
  if (way.url.protocol === 'http:') socket.destroy();
  const to = way.proxy
    ? `${way.url.host} through the proxy`
    : `${remoteAddress} port ${remotePort}`;
  return { target, way, socket, message: `connected to ${to}` };
}

export async function checkTls(
  { target, way, socket }: Connected,
  context: Context,
): Promise<Address> {
  if (way.url.protocol === 'http:') return { target, ...withoutTls(target.base, way.url) };
  const shown = await handshake(way, socket).catch((error) => unreachable(error, way));
  const { insecure } = target;
  const until = shown.expires?.toISOString().slice(0, 10);
  if (shown.certificateError !== undefined) {
    const { message, hint } = networkError({ code: shown.certificateError }, way.url, false, 0);
    const about = message + certificateDetail(shown.certificateError, shown.names, until);
    if (!insecure) throw new CliError('unreachable', about, { hint });
    return { target, status: 'warning', message: `${about}; accepted (insecure)` };
  }
  const days = Math.floor(((shown.expires?.getTime() ?? 0) - context.now().getTime()) / DAY_MS);
  const message = `${shown.protocol}, certificate by ${shown.issuer}, valid until ${until}`;
  if (insecure)
    return { target, status: 'warning', message: `${message}; not verified (insecure)` };
  if (days >= SOON_DAYS) return { target, message };
  const hint = `renew it, ${count(days, 'day')} left`;
  return { target, status: 'warning', message, hint };
}

function withoutTls(base: string, { host }: URL): Finding {
  if (!travelsOpen(base)) return { message: 'not needed on loopback' };
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

/** Two clocks may differ by this: `Date` has whole seconds, and a response takes time. */
const SKEW_SECONDS = 60;

/** A request for the version. */
interface Asked {
  readonly target: Target;
  /** Redirects included. */
  readonly responses: readonly Responded[];
  readonly version: InstanceVersion | CliError;
}

interface Responded {
  readonly status: number;
  readonly location: string | undefined;
  /** The `Date` header. */
  readonly date: string | undefined;
  /** When it arrived, by the clock of this machine. */
  readonly at: Date;
}

/** Asks without a token, so that only the address is tested; with it if the instance requires one. */
export async function askVersion(target: Target, session: Session): Promise<Asked> {
  const responses: Responded[] = [];
  const ask = async (of: Target) => (await clientOf(of, session, responses)).version();
  const version = await ask({ ...target, token: undefined })
    .catch((error) => {
      const again = isRefusal(error) && target.token !== undefined;
      return again ? ask(target) : Promise.reject(error);
    })
    .catch((error) => {
      if (error instanceof CliError) return error;
      throw error;
    });
  return { target, responses, version };
}

const isRefusal = (error: unknown) => error instanceof CliError && error.code === 'unauthorized';

/** A client with a short limit, which adds each response to `responses`. */
async function clientOf(target: Target, session: Session, responses: Responded[] = []) {
  const settings = await briefSettings(session, target);
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    const { status } = response;
    const [location, date] = [header(response, 'location'), header(response, 'date')];
    responses.push({ status, location, date, at: session.context.now() });
    return response;
  };
  return apiClient({ ...settings, send });
}

/** The instance responds at its address, without redirecting. */
export function checkRedirect(asked: Asked): Finding & Asked {
  const moved = asked.responses.find(({ status }) => status >= 300 && status < 400);
  if (asked.responses.length === 0) return { ...asked, status: 'skipped', message: 'no response' };
  if (moved === undefined) return { ...asked, message: 'none' };
  if (asked.version instanceof CliError) throw asked.version;
  return {
    ...asked,
    status: 'warning',
    message: `${moved.status} to ${moved.location}; each request is made twice`,
    hint: 'use the address it redirects to',
  };
}

interface Api extends Finding {
  readonly target: Target;
  readonly version: InstanceVersion;
}

export function checkApi({ target, version }: Asked): Api {
  if (version instanceof CliError) throw version;
  const found = { target, version, message: editionOf(version) };
  if (version.api_version?.split('.')[0] === '2') return found;
  return { ...found, status: 'warning', hint: 'pwpush requires API v2' };
}

export function checkClock({ responses }: Asked): Finding {
  const { date, at } = responses.at(-1) ?? {};
  const sent = Date.parse(date ?? '');
  if (at === undefined || Number.isNaN(sent))
    return { status: 'skipped', message: 'the instance sent no date' };
  const ahead = Math.round((at.getTime() - sent) / 1000);
  if (Math.abs(ahead) <= SKEW_SECONDS) return { message: 'in sync' };
  const message = `this machine is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the instance`;
  throw failedError(message, { hint: 'correct the clock that is wrong, for example with NTP' });
}

export async function checkToken({ target, version }: Api, session: Session): Promise<Finding> {
  if (target.token !== undefined) {
    await (await clientOf(target, session)).list('active', 1);
    const { tokenFrom } = target;
    return { message: `from ${tokenFrom}, accepted: it can list, audit and expire its pushes` };
  }
  const login = target.tokenHint ?? 'log in with pwpush login';
  const hint = session.options.anonymous ? undefined : login;
  if (version.features?.anonymous_access === false)
    throw new CliError('unauthorized', 'none, and the instance requires one to push', {
      hint,
    });
  const message = 'none: you cannot list, audit or expire what you push';
  return { status: 'skipped', message, hint };
}

export function checkFeatures({ version }: Api): Finding {
  const message = abilities(version);
  if (message !== undefined) return { message };
  return { status: 'skipped', message: 'the instance does not report its features' };
}
