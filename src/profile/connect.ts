import type { GlobalOptions } from '../cli/options';
import { type Invocation, invocation } from '../cli/terminal/output';
import { seconds } from '../cli/values';
import { type Api, apiClient } from '../client/client';
import type { ApiSettings } from '../client/send-call';
import { API_PATH, APPLICATION } from '../contract/api';
import type { Context, HttpRequest, Transport } from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import { limited } from '../platform/files/abort';
import { lazy } from '../platform/files/lazy';
import { GRACE } from '../platform/interrupts';
import { readText } from '../platform/private-folder';
import { travelsOpen } from './base-address';
import type { Target } from './target';

const DEFAULT_TIMEOUT_SECONDS = 30;

/** An instance and the client for it. */
export interface Instance {
  readonly api: Api;
  readonly target: Target;
}

export async function clientFor(run: Invocation, target: Target, connections = 1): Promise<Api> {
  return apiClient(await settingsFor(run, target, connections));
}

/**
 * The ID of the account that the user chose.
 * @throws CliError (usage) for an instance that is known to have no accounts
 */
export function accountOf({
  account,
  edition,
}: Pick<Target, 'account' | 'edition'>): number | undefined {
  if (account !== undefined && edition !== undefined && edition !== 'commercial')
    throw usageError(
      'this instance has no accounts',
      'only the commercial edition has them; remove --account, or the setting of the profile',
    );
  return account;
}

/** The warning that others can read what is sent to a target; undefined if they cannot. */
export function exposure({ base, insecure }: Target): string | undefined {
  if (!insecure && !travelsOpen(base)) return undefined;
  const why = insecure ? 'insecure' : 'plain http';
  return `${why}: anyone between here and ${new URL(base).host} can read what is sent`;
}

/** Limit of a request on the side. */
const BRIEF_SECONDS = 10;

/** Settings for requests on the side, on a connection of their own: over within 10 s, without waiting for `Retry-After`. */
export async function briefSettings(run: Invocation, target: Target): Promise<ApiSettings> {
  const { context, options } = run;
  const signal = limited(context.signal, BRIEF_SECONDS * 1000);
  const timeout = Math.min(timeoutOf(context, options), BRIEF_SECONDS);
  const brief = invocation({ ...context, signal }, { ...options, timeout });
  const sleep = async () => {
    throw new CliError('rate_limited', 'rate limited by the instance');
  };
  return { ...(await settingsFor(brief, target)), sleep, waiting: () => {} };
}

async function settingsFor(run: Invocation, target: Target, connections = 1): Promise<ApiSettings> {
  const { context, options, say } = run;
  const timeout = timeoutOf(context, options);
  const { base, caFile, certificate, token, tokenFrom, tokenHint } = target;
  const { send, open } = await context.transport({
    timeout,
    ca: caFile === undefined ? undefined : await readCertificates(caFile),
    insecure: target.insecure,
    certificate: certificate && { ...(await certificate()), origin: new URL(base).origin },
    env: context.env,
    signal: context.signal,
    grace: GRACE.request,
    connections,
  });
  return {
    ...{ base, token, tokenFrom, tokenHint },
    fromLink: target.baseFrom === undefined,
    headers: await target.headers?.(),
    open: open && lazy(() => open(base)),
    anonymous: options.anonymous,
    userAgent: `pwpush/${context.version}`,
    send: options.debug ? logged(send, context.now, say.debug) : send,
    now: context.now,
    timeout,
    sleep: context.sleep,
    patience: options.timeout,
    repeats: target.edition && target.edition === APPLICATION,
    repeating: () =>
      say.note('the response was lost; sending the request again, which counts once'),
    waiting: (seconds, status) =>
      say.note(`the instance returned ${status}; retrying in ${seconds} s`),
  };
}

/** Seconds to wait for a response, from option or environment. */
export function timeoutOf(
  { env }: Pick<Context, 'env'>,
  { timeout }: Pick<GlobalOptions, 'timeout'>,
): number {
  if (timeout !== undefined) return timeout;
  return env.PWPUSH_TIMEOUT
    ? seconds(env.PWPUSH_TIMEOUT, 'PWPUSH_TIMEOUT')
    : DEFAULT_TIMEOUT_SECONDS;
}

/** The PEM certificates that are trusted in addition to Node's. */
async function readCertificates(path: string): Promise<string> {
  const text = await readText(path, 'CA file');
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw usageError(`the CA file "${path}" contains no PEM certificate`);
}

/** Logs method, host, shortened path, status and time of each request; never query, headers or body. */
function logged(
  send: Transport,
  now: () => Date,
  debug: (text: string) => Promise<void>,
): Transport {
  return async (request) => {
    const start = now().getTime();
    const log = (outcome: string | number) =>
      debug(`${request.method} ${shortened(request)} ${outcome} ${now().getTime() - start} ms`);
    try {
      const response = await send(request);
      await log(response.status);
      return response;
    } catch (error) {
      await log('failed');
      throw error;
    }
  };
}

function shortened({ url }: HttpRequest): string {
  const { host, pathname } = new URL(url);
  // The path of a file's link is signed: it gives access to the file.
  if (!pathname.includes(API_PATH)) return `${host}/…`;
  const path = pathname.replace(
    /(\/(?:pushes|requests)\/)(?!(?:active|expired|open|ready|closed)$)([^/]{1,3})[^/]*/,
    '$1$2…',
  );
  return `${host}${path}`;
}
