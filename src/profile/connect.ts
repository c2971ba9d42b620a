import type { Entry } from '../cli/terminal/output';
import { seconds } from '../cli/values';
import type { ApiSettings } from '../client/api-settings';
import type { Api } from '../client/client';
import { logged } from '../client/transport/logged';
import { APPLICATION } from '../contract/api';
import { type Context, contextWith } from '../platform/context';
import { CliError, phrase, usageError } from '../platform/errors';
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

/**
 * The ID of the account that the user chose.
 * @throws CliError (usage) for an instance that is known to have no accounts
 */
export function accountOf({
  account,
  edition,
}: Pick<Target, 'account' | 'edition'>): number | undefined {
  if (account !== undefined && edition !== undefined && edition !== 'commercial')
    throw usageError('this instance has no accounts', phrase('remove-account'));
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
export async function briefSettings(
  { context, say }: Entry,
  target: Target,
  timeout: number | undefined,
): Promise<ApiSettings> {
  const signal = limited(context.signal, BRIEF_SECONDS * 1000);
  const seconds = Math.min(timeoutOf(context, timeout), BRIEF_SECONDS);
  const sleep = async () => {
    throw new CliError('rate_limited', phrase('rate-limited'));
  };
  const brief = { context: contextWith(context, { signal }), say };
  return { ...(await clientSettings(brief, target, seconds)), sleep, waiting: () => {} };
}

/**
 * Settings of a client for a target, whose secrets are read.
 * @param typed seconds for each response
 * @param connections how many requests run at once
 */
export async function clientSettings(
  { context, say }: Entry,
  target: Target,
  typed?: number,
  connections = 1,
): Promise<ApiSettings> {
  const timeout = timeoutOf(context, typed);
  const { base, addressHint, caFile, certificate, token, tokenHint, anonymous } = target;
  const given = await token?.read();
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
    ...{ base, addressHint, tokenHint },
    token: given,
    tokenFrom: token?.from,
    tokenOfProfile: token?.ofProfile,
    fromLink: target.baseFrom === undefined,
    headers: await target.headers?.(),
    open: open && lazy(() => open(base)),
    anonymous,
    userAgent: `pwpush/${context.version}`,
    send: say.manner.debug ? logged(send, context.now, say.debug) : send,
    now: context.now,
    timeout,
    sleep: context.sleep,
    patience: typed,
    repeats: target.edition && target.edition === APPLICATION,
    repeating: () =>
      say.note('the response was lost; sending the request again, which counts once'),
    waiting: (seconds, status) =>
      say.note(`the instance returned ${status}; retrying in ${seconds} s`),
  };
}

/** Seconds to wait for a response, as they were typed, or from the environment. */
export function timeoutOf({ env }: Pick<Context, 'env'>, typed: number | undefined): number {
  if (typed !== undefined) return typed;
  return env.PWPUSH_TIMEOUT
    ? seconds(env.PWPUSH_TIMEOUT, 'PWPUSH_TIMEOUT')
    : DEFAULT_TIMEOUT_SECONDS;
}

/** What comes before each certificate in PEM (RFC 7468). */
const BEGIN = /-----BEGIN (?=(?:X509 |TRUSTED )?CERTIFICATE-----)/;

/**
 * The PEM certificates that are trusted in addition to Node's. Node leaves out without a word what is indented, on one line, or has
 * `\n` for line ends, as variables and YAML make it.
 * @throws CliError (usage) for a file without certificates, and for one that cannot be read
 */
async function readCertificates(path: string): Promise<string> {
  const text = await readText(path, 'CA file');
  const { X509Certificate } = await import('node:crypto');
  const [, ...parts] = text.split(BEGIN);
  const found = parts.map((part, at) => {
    const [label, body = ''] = part.split('-----');
    const lines = body.replaceAll(/\\[nr]|\s/g, '').match(/.{1,64}/g) ?? [];
    const pem = [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
    try {
      new X509Certificate(pem);
      return pem;
    } catch {
      throw usageError(`certificate ${at + 1} of the CA file "${path}" is damaged`);
    }
  });
  if (found.length > 0) return found.join('');
  throw usageError(`the CA file "${path}" contains no PEM certificate`);
}
