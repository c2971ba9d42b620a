import { readFileSync } from 'node:fs';
import { type Api, type ApiSettings, apiClient } from './client/client';
import { parseReference, type Reference } from './client/link';
import type { Transport, WireRequest } from './client/transport/transport';
import type { Context } from './context';
import { API_PATH } from './contract';
import { CliError, usageError } from './errors';
import { readAll } from './input/source';
import { once } from './lazy';
import type { GlobalOptions } from './options';
import { seconds } from './options';
import { configFolder } from './profile/folders';
import { readProfiles, type StoredProfiles } from './profile/profile';
import { chooseTarget, type Target, type TargetRequest, travelsOpen } from './profile/target';
import { parseToken, readTokenFile } from './profile/token-file';
import { terminal } from './terminal/output';

const DEFAULT_TIMEOUT = 30;

/** An instance to talk to, and what was decided about it. */
export interface Connection {
  readonly api: Api;
  readonly target: Target;
}

/**
 * What options and environment say about the instance. Made once per run, which reads each token once: a second look
 * into a pipe such as `<(pass show token)` finds nothing.
 */
export function wishesOf(context: Context, options: GlobalOptions): TargetRequest {
  const { env } = context;
  const { tokenFile } = options;
  return {
    profile: options.profile,
    url: options.url,
    token: tokenFile === undefined ? undefined : once(() => tokenFrom(tokenFile, context)),
    anonymous: options.anonymous,
    caFile: options.caFile,
    insecure: options.insecure,
    env: {
      url: env.PWPUSH_URL || undefined,
      token: once(() => environmentToken(context, options)),
      tokenName: env.PWPUSH_TOKEN ? 'PWPUSH_TOKEN' : 'PWPUSH_TOKEN_FILE',
      profile: env.PWPUSH_PROFILE || undefined,
      caFile: env.PWPUSH_CA_FILE || undefined,
    },
  };
}

async function tokenFrom(path: string, { stdin }: Context): Promise<string> {
  if (path !== '-') return readTokenFile(path);
  if (stdin.isTTY) throw usageError('--token-file - reads standard input, and nothing is piped in');
  return parseToken((await readAll(stdin.bytes())).toString('utf8'), 'standard input');
}

async function environmentToken(
  { env }: Context,
  options: GlobalOptions,
): Promise<string | undefined> {
  if (options.anonymous) return undefined;
  if (env.PWPUSH_TOKEN) return parseToken(env.PWPUSH_TOKEN, 'PWPUSH_TOKEN');
  // A variable holds for many commands, and each has a standard input of its own.
  if (env.PWPUSH_TOKEN_FILE === '-')
    throw usageError('PWPUSH_TOKEN_FILE names a file', 'standard input is --token-file -');
  return env.PWPUSH_TOKEN_FILE ? readTokenFile(env.PWPUSH_TOKEN_FILE) : undefined;
}

/**
 * Decides where requests go.
 * @param linkBase the instance of a pasted link
 * @throws CliError (usage) when nothing is configured, or a token cannot be read
 */
export async function targetOf(
  context: Context,
  wishes: TargetRequest,
  linkBase?: string,
): Promise<Target> {
  // A file that was named must be readable, whether its token goes along or not.
  await wishes.token?.();
  let stored: StoredProfiles;
  try {
    stored = readProfiles(configFolder(context));
  } catch (error) {
    const without = await withoutProfiles(wishes, linkBase);
    if (!(error instanceof CliError) || without === undefined) throw error;
    return { ...without, ignored: `${error.message}; no profile applies, nor its defaults` };
  }
  return chooseTarget(stored, wishes, linkBase);
}

/** The decision that options and environment alone lead to, where they leave nothing open. */
async function withoutProfiles(
  wishes: TargetRequest,
  linkBase?: string,
): Promise<Target | undefined> {
  if (wishes.profile !== undefined || wishes.env.profile !== undefined) return undefined;
  try {
    const target = await chooseTarget({ profiles: {} }, wishes, linkBase);
    return target.token !== undefined || wishes.anonymous ? target : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A client for the instance that was decided on. Nothing is sent yet. Of its calls as many run at once as it may have
 * connections.
 */
export async function connect(
  context: Context,
  options: GlobalOptions,
  target: Target,
  connections = 1,
): Promise<Connection> {
  const say = terminal(context, options);
  if (target.ignored !== undefined) await say.warn(target.ignored);
  await warnIfReadable(context, options, target);
  if (target.baseFrom === undefined && target.knownTo !== undefined)
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
  const target = await targetOf(context, wishesOf(context, options), reference.base);
  return { ...(await connect(context, options, target, connections)), reference };
}

/**
 * A client for each instance that links belong to, by the links' base; made before the first request, so that what is
 * wrong with the command line is told at once.
 */
export async function connectEach(
  context: Context,
  options: GlobalOptions,
  references: readonly Reference[],
  connections = 1,
): Promise<ReadonlyMap<string | undefined, Connection>> {
  const all = new Map<string | undefined, Connection>();
  const wishes = wishesOf(context, options);
  for (const base of new Set(references.map((one) => one.base))) {
    const target = await targetOf(context, wishes, base);
    all.set(base, await connect(context, options, target, connections));
  }
  return all;
}

export async function clientFor(
  context: Context,
  options: GlobalOptions,
  target: Target,
  connections = 1,
): Promise<Api> {
  return apiClient(await settingsFor(context, options, target, connections));
}

/** Warns where others can read what is sent. */
export async function warnIfReadable(
  context: Context,
  options: GlobalOptions,
  { base, insecure }: Target,
): Promise<void> {
  if (!insecure && !travelsOpen(base)) return;
  const why = insecure ? 'insecure' : 'plain http';
  const { host } = new URL(base);
  await terminal(context, options).warn(
    `${why}: whoever is between here and ${host} can read what is sent`,
  );
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
    anonymous: options.anonymous,
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
