import { readFileSync } from 'node:fs';
import { type Api, type ApiSettings, apiClient } from './api/client';
import { API_PATH } from './api/contract';
import { parseReference, type Reference } from './api/reference';
import type { Context } from './context';
import { CliError, usageError } from './errors';
import type { Transport, WireRequest } from './http/transport';
import type { GlobalOptions } from './options';
import { seconds } from './options';
import { configFolder } from './profile/place';
import {
  chooseTarget,
  type StoredProfiles,
  type Target,
  travelsOpen,
  type Wishes,
} from './profile/profile';
import { readProfiles } from './profile/read';
import { parseToken, readTokenFile } from './profile/token';
import { terminal } from './terminal/output';

const DEFAULT_TIMEOUT = 30;

/** An instance to talk to, and what was decided about it. */
export interface Connection {
  readonly api: Api;
  readonly target: Target;
}

/** What options and environment say about the instance; reads the token files they name. */
export function wishesOf(context: Context, options: GlobalOptions): Wishes {
  const { env } = context;
  return {
    profile: options.profile,
    url: options.url,
    token: options.tokenFile === undefined ? undefined : readTokenFile(options.tokenFile),
    anonymous: options.anonymous,
    caFile: options.caFile,
    insecure: options.insecure,
    env: {
      url: env.PWPUSH_URL || undefined,
      token: () => environmentToken(context, options),
      tokenName: env.PWPUSH_TOKEN ? 'PWPUSH_TOKEN' : 'PWPUSH_TOKEN_FILE',
      profile: env.PWPUSH_PROFILE || undefined,
      caFile: env.PWPUSH_CA_FILE || undefined,
    },
  };
}

function environmentToken({ env }: Context, options: GlobalOptions): string | undefined {
  if (options.anonymous) return undefined;
  if (env.PWPUSH_TOKEN) return parseToken(env.PWPUSH_TOKEN, 'PWPUSH_TOKEN');
  return env.PWPUSH_TOKEN_FILE ? readTokenFile(env.PWPUSH_TOKEN_FILE) : undefined;
}

/** Where this run's requests go: pure decision over what is stored and wished. */
export function targetOf(context: Context, options: GlobalOptions, linkBase?: string): Target {
  const wishes = wishesOf(context, options);
  let stored: StoredProfiles;
  try {
    stored = readProfiles(configFolder(context));
  } catch (error) {
    const without = withoutProfiles(wishes, linkBase);
    if (!(error instanceof CliError) || without === undefined) throw error;
    return { ...without, ignored: `${error.message}; no profile applies, nor its defaults` };
  }
  return chooseTarget(stored, wishes, linkBase);
}

/** The decision that options and environment alone lead to, where they leave nothing open. */
function withoutProfiles(wishes: Wishes, linkBase?: string): Target | undefined {
  if (wishes.profile !== undefined || wishes.env.profile !== undefined) return undefined;
  try {
    const target = chooseTarget({ profiles: {} }, wishes, linkBase);
    return target.token !== undefined || wishes.anonymous ? target : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A client for the instance that options, environment and profiles name, or that a pasted link belongs to.
 * Nothing is sent yet. Of its calls as many run at once as it may have connections.
 */
export async function connect(
  context: Context,
  options: GlobalOptions,
  linkBase?: string,
  connections = 1,
): Promise<Connection> {
  const target = targetOf(context, options, linkBase);
  const say = terminal(context, options);
  if (target.ignored !== undefined) await say.warn(target.ignored);
  if (linkBase !== undefined && target.knownTo !== undefined)
    await say.remark(
      `hint: profile "${target.knownTo}" has a token for that instance: --profile ${target.knownTo}`,
    );
  return { target, api: await clientFor(context, options, target, connections) };
}

/** A client for the push that was named. */
export async function connectTo(
  context: Context,
  options: GlobalOptions,
  link: string,
  connections = 1,
): Promise<Connection & { readonly reference: Reference }> {
  const reference = parseReference(link);
  return { ...(await connect(context, options, reference.base, connections)), reference };
}

export async function clientFor(
  context: Context,
  options: GlobalOptions,
  target: Target,
  connections = 1,
): Promise<Api> {
  const settings = await settingsFor(context, options, target, connections);
  const say = terminal(context, options);
  if (!target.insecure && travelsOpen(target.base))
    await say.warn(
      `plain http: whoever is between here and ${new URL(target.base).host} can read what is sent`,
    );
  if (target.insecure)
    await say.warn(
      `insecure: whoever is between here and ${new URL(target.base).host} can read what is sent`,
    );
  return apiClient(settings);
}

/** Seconds for a question on the side. */
export const BRIEF = 10;

/** For a question on the side, on a connection of its own: it ends within 10 s, and waits for no `Retry-After`. */
export async function briefSettings(
  context: Context,
  options: GlobalOptions,
  target: Target,
): Promise<ApiSettings> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(BRIEF * 1000)]);
  const timeout = Math.min(timeoutOf(context, options), BRIEF);
  const settings = await settingsFor({ ...context, signal }, { ...options, timeout }, target);
  const sleep = async () => {
    throw new CliError('rate_limited', 'the instance asks to wait');
  };
  return { ...settings, sleep, waiting: () => {} };
}

async function settingsFor(
  context: Context,
  options: GlobalOptions,
  target: Target,
  connections = 1,
): Promise<ApiSettings> {
  const say = terminal(context, options);
  const transport = await context.transport({
    timeout: timeoutOf(context, options),
    ca: certificatesOf(target),
    insecure: target.insecure,
    env: context.env,
    signal: context.signal,
    connections,
  });
  return {
    base: target.base,
    token: target.token,
    tokenFrom: target.tokenFrom,
    knownTo: target.knownTo,
    userAgent: `pwpush/${context.version}`,
    send: options.debug ? logged(transport.send, context, options) : transport.send,
    now: context.now,
    sleep: context.sleep,
    waiting: (seconds, status) =>
      say.note(`the instance asks to wait (${status}); trying again in ${seconds} s`),
  };
}

/** Seconds for an answer to begin, as option or environment say. */
export function timeoutOf({ env }: Context, options: GlobalOptions): number {
  if (options.timeout !== undefined) return options.timeout;
  return env.PWPUSH_TIMEOUT ? seconds('PWPUSH_TIMEOUT')(env.PWPUSH_TIMEOUT) : DEFAULT_TIMEOUT;
}

/** The PEM certificates that are trusted for it besides. */
export function certificatesOf({ caFile }: Pick<Target, 'caFile'>): string | undefined {
  return caFile === undefined ? undefined : readCertificates(caFile);
}

function readCertificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(
      `the CA file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw usageError(`the CA file ${path} holds no PEM certificate`);
}

/** Logs method, host, shortened path, status and time of each request; never query, headers or body. */
function logged(send: Transport, context: Context, options: GlobalOptions): Transport {
  const say = terminal(context, options);
  return async (request) => {
    const start = context.now().getTime();
    const log = (outcome: string | number) =>
      say.debug(
        `${request.method} ${shortened(request)} ${outcome} ${context.now().getTime() - start} ms`,
      );
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

function shortened({ url }: WireRequest): string {
  const { host, pathname } = new URL(url);
  // The path of a file's link is signed: whoever has it, has the file.
  if (!pathname.includes(API_PATH)) return `${host}/…`;
  const path = pathname.replace(/(\/pushes\/)(?!active$|expired$)([^/]{1,3})[^/]*/, '$1$2…');
  return `${host}${path}`;
}
