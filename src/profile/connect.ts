import type { Entry } from '../cli/terminal/output';
import { ago } from '../cli/terminal/wording';
import { seconds } from '../cli/values';
import type { ApiSettings } from '../client/api-settings';
import { type Api, apiClient } from '../client/client';
import { type Reference, repairsOf } from '../client/link';
import { isShellSafe } from '../contract/address';
import { API_PATH, APPLICATION } from '../contract/api';
import { lazy } from '../contract/lazy';
import { type Context, contextWith, type HttpRequest, type Transport } from '../platform/context';
import { CliError, type Hint, phrase, usageError } from '../platform/errors';
import { limited } from '../platform/files/abort';
import { readVariable } from '../platform/files/read-variable';
import { GRACE } from '../platform/interrupts';
import { travelsOpen } from './base-address';
import type { KeptReceipt } from './receipts';
import { credentials } from './sources';
import type { Target } from './target';

const DEFAULT_TIMEOUT_SECONDS = 30;

export interface Instance {
  readonly api: Api;
  readonly target: Target;
  /** The instance is in the memory of this process, so that nobody else runs it. */
  readonly ephemeral?: true;
}

interface Connectable extends Pick<Reference, 'repairs'> {
  readonly target: Target;
  readonly last?: KeptReceipt;
}

/** Adds a client for the item's target, and warns about the target. Sends nothing. */
export async function connect<T extends Connectable>(
  entry: Entry,
  item: T,
  connections?: number,
): Promise<T & Instance> {
  const [connected] = await connectEach(entry, [item], connections);
  return connected as T & Instance;
}

/** Makes all clients before the first HTTP request, so that an unreadable secret fails the run before it. */
export async function connectEach<T extends Connectable>(
  entry: Entry,
  items: readonly T[],
  connections?: number,
): Promise<(T & Instance)[]> {
  const { context, say } = entry;
  const repairs = repairsOf(items);
  if (repairs) await say.note(repairs);
  for (const { last } of items) if (last) await say.remark(lastText(last, context.now()));
  const targets = [...new Set(items.map(({ target }) => target))];
  for (const { typedToken } of targets) await typedToken?.read();
  for (const [text, hint] of new Map(targets.flatMap(warningsOf)))
    if (text !== undefined) await say.warn(text, hint);
  const apis = new Map<Target, Api>();
  for (const target of targets) {
    const { base, baseFrom, token, tokenHint } = target;
    // The user did not choose the instance of a link, and may not expect that a token is sent to it.
    if (baseFrom === undefined && token !== undefined)
      await say.debug(`the token for ${base} is from ${token.from}`);
    if (baseFrom === undefined && tokenHint !== undefined) await say.advise(tokenHint);
    apis.set(target, await clientOf(entry, target, connections));
  }
  return items.map((item) => ({ ...item, api: apis.get(item.target) as Api }));
}

/** Makes a client without the warnings of `connect`. */
export async function clientOf(entry: Entry, target: Target, connections?: number): Promise<Api> {
  return apiClient(await clientSettings(entry, target, connections));
}

/** The last push need not be at the instance in use: `last: "db", made 2 min ago at pwpush.example`. */
function lastText({ base, receipt }: KeptReceipt, now: Date): string {
  const { name, url_token, created_at } = receipt;
  const which = name ? `"${name}"` : url_token;
  return `last: ${which}, made ${ago(created_at, now)} at ${new URL(base).host}`;
}

function warningsOf(target: Target): [text: string | undefined, hint: Hint | undefined][] {
  const { base, ignored, withheld } = target;
  const { host, origin } = new URL(base);
  const elsewhere = isShellSafe(origin) ? phrase('send-elsewhere', origin) : undefined;
  return [
    [ignored && ignoredText(ignored), undefined],
    [withheld && `not sent to ${host}: ${withheld}`, elsewhere],
    [exposure(target), undefined],
  ];
}

export const ignoredText = (ignored: CliError) => `${ignored.message}; profiles are ignored`;

/** @throws CliError (usage) for an instance that is known to have no accounts */
export function accountOf({ account, edition }: Pick<Target, 'account' | 'edition'>) {
  if (account !== undefined && edition !== undefined && edition !== 'commercial')
    throw usageError('this instance has no accounts', phrase('remove-account'));
  return account;
}

/** Returns a warning if others can read what is sent to a target. */
export function exposure({ base, insecure }: Target): string | undefined {
  if (!insecure && !travelsOpen(base)) return undefined;
  const why = insecure ? 'insecure' : 'plain http';
  return `${why}: anyone between here and ${new URL(base).host} can read what is sent`;
}

const BRIEF_SECONDS = 10;

/** Returns settings for HTTP requests on the side: their own connection, 10 s, and no wait for `Retry-After`. */
export async function briefSettings({ context, say }: Entry, target: Target): Promise<ApiSettings> {
  const signal = limited(context.signal, BRIEF_SECONDS * 1000);
  const timeout = Math.min(timeoutOf(context, target.timeout), BRIEF_SECONDS);
  const sleep = async () => {
    throw new CliError('rate_limited', phrase('rate-limited'));
  };
  const brief = { context: contextWith(context, { signal }), say };
  return { ...(await clientSettings(brief, { ...target, timeout })), sleep, waiting: () => {} };
}

/**
 * Reads the secrets of a target.
 * @param connections how many HTTP requests run at once
 */
export async function clientSettings(
  { context, say }: Entry,
  target: Target,
  connections = 1,
): Promise<ApiSettings> {
  const timeout = timeoutOf(context, target.timeout);
  const { base, addressHint, caFile, certificate, token, tokenHint, anonymous } = target;
  const secret = await token?.read();
  const { send, open } = await context.transport({
    timeout,
    ca: caFile === undefined ? undefined : await (await credentials()).readCertificates(caFile),
    instance: {
      origin: new URL(base).origin,
      certificate: await certificate?.(),
      insecure: target.insecure,
    },
    env: context.env,
    signal: context.signal,
    grace: GRACE.request,
    connections,
  });
  return {
    base,
    addressHint,
    tokenHint,
    token: secret,
    tokenFrom: token?.from,
    tokenOfProfile: token?.ofProfile,
    insecure: target.insecure,
    audience: target.audience,
    fromLink: target.baseFrom === undefined,
    headers: await target.headers?.(),
    open: open && lazy(() => open(base)),
    anonymous,
    userAgent: `pwpush/${context.version}`,
    send: say.manner.debug ? logged(send, context.now, say.debug) : send,
    now: context.now,
    timeout,
    sleep: context.sleep,
    patience: target.timeout,
    repeats: target.edition && target.edition === APPLICATION,
    repeating: (lost) => say.note(lost.and(phrase('sending-again'))),
    waiting: (seconds, status) =>
      say.note(`the instance returned ${status}; retrying in ${seconds} s`),
  };
}

/** Logs method, host, shortened path, status and time of each HTTP request; never query, headers or body. */
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

/** Returns the timeout in seconds. */
export function timeoutOf({ env }: Pick<Context, 'env'>, typed: number | undefined): number {
  if (typed !== undefined) return typed;
  const text = readVariable(env, 'PWPUSH_TIMEOUT');
  return text === undefined ? DEFAULT_TIMEOUT_SECONDS : seconds(text, 'PWPUSH_TIMEOUT');
}
