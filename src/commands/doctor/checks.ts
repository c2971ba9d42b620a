import { abilities, editionOf } from '../../cli/terminal/instance-info';
import type { Entry } from '../../cli/terminal/output';
import { count } from '../../cli/terminal/wording';
import { apiClient } from '../../client/client';
import { proxyFor, systemCas } from '../../client/transport/connect-options';
import { proxyName } from '../../client/transport/network-errors';
import { header } from '../../client/transport/response';
import type { InstanceVersion } from '../../contract/decode';
import { DAY_MS } from '../../contract/lifetime';
import type { Context, HttpResponse, Transport } from '../../platform/context';
import { CliError, failedError, phrase } from '../../platform/errors';
import { briefSettings, exposure, ignoredText } from '../../profile/connect';
import { type Sources, type Target, targetOf } from '../../profile/target';
import { adviceFor } from '../../words/phrase';

/** A client certificate should be renewed before it has so little left. */
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

export function checkAddress(sources: Sources): Address {
  // Where the address is from stands in this check alone.
  const target = { ...targetOf(sources), addressHint: undefined };
  const { base, baseFrom, ignored } = target;
  const warnings = [ignored && ignoredText(ignored), exposure(target)].filter(Boolean);
  const message = [`${base}, from ${baseFrom}`, ...warnings].join('; ');
  return { target, message, ...(warnings.length > 0 && { status: 'warning' }) };
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
  if (days < 0) throw failedError(phrase('certificate-ended', until), { steps: phrase('renew') });
  const message = [...headers, `client certificate valid until ${until}`].join('; ');
  if (days >= SOON_DAYS) return { target, message };
  return { target, message, status: 'warning', hint: `renew it, ${count(days, 'day')} left` };
}

export function checkProxy({ target }: Address, { env }: Context): Address {
  const proxy = proxyFor(new URL(target.base), env);
  return { target, message: proxy ? `${proxyName(proxy)} (${proxy.variable})` : 'none' };
}

/** Which CAs are trusted besides those that are built in. */
export async function checkCas({ target }: Address, { env }: Context): Promise<Address> {
  const system = await systemCas(env);
  const variable = env.SSL_CERT_FILE ? ' (SSL_CERT_FILE)' : '';
  const own = target.caFile ? [target.caFile] : [];
  const message = ['built-in', ...own, ...(system ? [system.path + variable] : [])].join(', ');
  if (system || !variable) return { target, message };
  return {
    target,
    message,
    status: 'warning',
    hint: 'SSL_CERT_FILE must be a PEM file of certificates',
  };
}

/** Two clocks may differ by this: `Date` has whole seconds, and a response takes time. */
const SKEW_SECONDS = 60;

interface Asked {
  readonly target: Target;
  /** Redirects included. */
  readonly responses: readonly Responded[];
  readonly version: InstanceVersion | CliError;
}

interface Responded {
  readonly response: HttpResponse;
  /** When it arrived, by the clock of this machine. */
  readonly at: Date;
}

/** Asks without a token, so that only the address is tested; with it if the instance requires one. */
export async function askVersion(target: Target, entry: Entry): Promise<Asked> {
  const responses: Responded[] = [];
  const ask = async (of: Target) => (await clientOf(of, entry, responses)).version();
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
async function clientOf(target: Target, entry: Entry, responses: Responded[] = []) {
  const settings = await briefSettings(entry, target);
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    responses.push({ response, at: entry.context.now() });
    return response;
  };
  return apiClient({ ...settings, send });
}

interface Api extends Finding, Asked {
  readonly version: InstanceVersion;
}

/** The instance supports API v2 at this address, without redirecting. */
export function checkApi(asked: Asked): Api {
  const { version, responses } = asked;
  if (version instanceof CliError) throw version;
  const message = editionOf(version);
  const found = { ...asked, version, message };
  const moves = ({ response }: Responded) => response.status >= 300 && response.status < 400;
  const { response: moved } = responses.find(moves) ?? {};
  if (moved)
    return {
      ...found,
      status: 'warning',
      message: `${message}; ${moved.status} to ${header(moved, 'location')}, so that each request is made twice`,
      hint: 'use the address it redirects to',
    };
  if (version.api_version?.split('.')[0] === '2') return found;
  return { ...found, status: 'warning', hint: 'pwpush requires API v2' };
}

export function checkClock({ responses }: Asked): Finding {
  const last = responses.at(-1);
  const sent = Date.parse((last && header(last.response, 'date')) ?? '');
  if (last === undefined || Number.isNaN(sent))
    return { status: 'skipped', message: 'the instance sent no date' };
  const ahead = Math.round((last.at.getTime() - sent) / 1000);
  if (Math.abs(ahead) <= SKEW_SECONDS) return { message: 'in sync' };
  const clocks = phrase('clocks-differ', Math.abs(ahead), ahead > 0 ? 'ahead of' : 'behind');
  throw failedError(clocks, { steps: phrase('correct-clock') });
}

export async function checkToken({ target, version }: Api, entry: Entry): Promise<Finding> {
  if (target.token !== undefined) {
    await (await clientOf(target, entry)).list('active', 1);
    return {
      message: `from ${target.token.from}, accepted: it can list, audit and expire its pushes`,
    };
  }
  const login = adviceFor(target.tokenHint ?? 'log in with pwpush login').text;
  const hint = target.anonymous ? undefined : login;
  if (version.features?.anonymous_access === false)
    throw new CliError('unauthorized', phrase('no-token-to-push'), {
      steps: hint,
    });
  const message = 'none: you cannot list, audit or expire what you push';
  return { status: 'skipped', message, hint };
}

export function checkFeatures({ version }: Api): Finding {
  const message = abilities(version);
  if (message !== undefined) return { message };
  return { status: 'skipped', message: 'the instance does not report its features' };
}
