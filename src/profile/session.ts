import { readFileSync } from 'node:fs';
import { type GlobalOptions, parseEdition, seconds } from '../cli/options';
import { readAll } from '../cli/source';
import { type Invocation, invocation } from '../cli/terminal/output';
import { type Api, apiClient } from '../client/client';
import { parseReference, type Reference, repairText } from '../client/link';
import type { ApiSettings } from '../client/send-call';
import { isShellSafe } from '../contract/address';
import { API_PATH } from '../contract/api';
import type {
  ClientCertificate,
  Context,
  HeaderFields,
  HttpRequest,
  Token,
  Transport,
} from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import { whyUnreadable } from '../platform/files/file-error';
import { lazy } from '../platform/files/lazy';
import { GRACE } from '../platform/interrupts';
import { parseToken, readTokenFile } from './api-token';
import { travelsOpen } from './base-address';
import type { CertificateFiles } from './client-certificate';
import { commandWords } from './command-words';
import { storedProfiles } from './config-file';
import type { Receipt } from './receipts';
import type { Profile, StoredProfiles } from './settings';
import { type Access, chooseTarget, type Target, type TargetRequest } from './target';

const DEFAULT_TIMEOUT = 30;

/** An instance and the client for it. */
export interface Instance {
  readonly api: Api;
  readonly target: Target;
}

/** A push or request as a user named it, at its instance. */
export interface NamedItem extends Reference, Instance {}

/** One run of a command. Its target is decided once and each token read once: `<(pass show token)` is empty the second time. */
export interface Session extends Invocation {
  /** What options and environment say about the instance and the token. */
  readonly requested: TargetRequest;
  /**
   * Where requests go; decided at the first call.
   * @throws CliError (usage) when nothing is configured, or a token cannot be read
   */
  target(): Promise<Target>;
  /** A client for that instance. Warns about it; sends nothing yet. */
  connect(connections?: number): Promise<Instance>;
  /**
   * The push of a link, or the last one.
   * @throws CliError (usage) for an invalid link, or if there is no last push
   */
  reference(link: string): Promise<Reference>;
  /** A client for the instance of a link. */
  connectTo(
    link: string,
    connections?: number,
  ): Promise<Instance & { readonly reference: Reference }>;
  /** A client for each of several pushes, one per instance; all are made before the first request. */
  connectEach(references: readonly Reference[], connections?: number): Promise<NamedItem[]>;
  /**
   * The same push with the token that its receipt has, if there is one: the push was created without a token, so that
   * those of the user are not for it.
   */
  asCreator<T extends NamedItem>(push: T): Promise<T & { readonly receipt?: Receipt }>;
  /**
   * The id of the account that a push belongs to: of its receipt, or else the one that the user chose.
   * @throws CliError (usage) if there is no such account
   */
  accountOfPush(push: NamedItem): Promise<number | undefined>;
}

export function createSession(context: Context, options: GlobalOptions): Session {
  const run = invocation(context, options);
  const requested = targetRequestOf(run);
  const warned = new Set<string>();
  const warn = async (text: string | undefined) => {
    if (text === undefined || warned.has(text)) return;
    warned.add(text);
    await run.say.warn(text);
  };
  const instanceAt = async (target: Target, connections = 1): Promise<Instance> => {
    const { base, baseFrom, tokenFrom, tokenHint, ignored, withheld } = target;
    await warn(ignored);
    await warn(withheld && notSent(withheld, new URL(base)));
    await warn(exposure(target));
    if (baseFrom === undefined && tokenFrom !== undefined)
      await run.say.debug(`the token for ${base} is from ${tokenFrom}`);
    if (baseFrom === undefined && tokenHint !== undefined)
      await run.say.remark(`hint: ${tokenHint}`);
    return { target, api: await clientFor(run, target, connections) };
  };
  const instanceOf = async ({ base }: Reference, connections?: number) =>
    instanceAt(await targetOf(context, requested, base), connections);
  const referenceOf = async (link: string) => {
    if (link !== 'last') return parseReference(link);
    const { lastLink } = await import('./receipts');
    return parseReference(await lastLink(context, context.now()));
  };
  const findReceipt = lazy(async () => (await import('./receipts')).storedReceipts(context));
  const storedReceipt = async (push: NamedItem) => (await findReceipt())(push, push.target.base);
  let decided: Target | undefined;
  const target = async () => {
    decided ??= await targetOf(context, requested);
    return decided;
  };
  return {
    ...run,
    requested,
    target,
    reference: referenceOf,
    connect: async (connections) => instanceAt(await target(), connections),
    connectTo: async (link, connections) => {
      const reference = await referenceOf(link);
      await noteRepairs(run, [reference]);
      return { ...(await instanceOf(reference, connections)), reference };
    },
    asCreator: async (push) => {
      if (options.anonymous) return push;
      const receipt = await storedReceipt(push);
      if (receipt?.management_token === undefined) return push;
      const token = receipt.management_token;
      const managed = { ...push.target, token, tokenFrom: 'the receipt of the push' };
      return { ...push, receipt, target: managed, api: await clientFor(run, managed) };
    },
    accountOfPush: async (push) => {
      const account = (await storedReceipt(push))?.account_id;
      return typeof account === 'number' ? account : accountOf(push);
    },
    connectEach: async (references, connections) => {
      await noteRepairs(run, references);
      const instances = new Map<string | undefined, Instance>();
      const connected = [];
      for (const one of references) {
        const instance = instances.get(one.base) ?? (await instanceOf(one, connections));
        instances.set(one.base, instance);
        connected.push({ ...one, ...instance });
      }
      return connected;
    },
  };
}

async function noteRepairs({ say }: Invocation, references: readonly Reference[]): Promise<void> {
  const text = repairText(references);
  if (text !== undefined) await say.note(text);
}

/** What options and environment say about the instance. Each token is read at most once, when it is its turn. */
function targetRequestOf(run: Invocation): TargetRequest {
  const { context, options } = run;
  const { env } = context;
  const { tokenFile, header } = options;
  const readAccess = accessReader(context);
  const certificate = filesOf(options.cert, options.key, '--key');
  return {
    access: {
      ...readAccess({ certificate }),
      headers: header && lazy(() => typedHeaders(header)),
    },
    tokenOf: tokenReader(run),
    accessOf: (profile) =>
      readAccess({
        file: profile['headers-file'],
        certificate: filesOf(profile.cert, profile['cert-key'], 'the setting cert-key'),
      }),
    profile: options.profile,
    url: options.url,
    token: tokenFile === undefined ? undefined : lazy(() => tokenFrom(tokenFile, context)),
    anonymous: options.anonymous,
    caFile: options.caFile,
    insecure: options.insecure,
    account: options.account,
    env: {
      url: env.PWPUSH_URL || undefined,
      token: lazy(() => environmentToken(run)),
      tokenName: tokenVariables.find((name) => env[name]),
      profile: env.PWPUSH_PROFILE || undefined,
      caFile: env.PWPUSH_CA_FILE || undefined,
      edition: env.PWPUSH_EDITION ? parseEdition(env.PWPUSH_EDITION, 'PWPUSH_EDITION') : undefined,
      access: readAccess({
        file: env.PWPUSH_HEADERS_FILE || undefined,
        certificate: filesOf(
          env.PWPUSH_CERT_FILE || undefined,
          env.PWPUSH_CERT_KEY_FILE || undefined,
          'PWPUSH_CERT_KEY_FILE',
        ),
      }),
    },
  };
}

/** @throws CliError (usage) for a key without a certificate */
function filesOf(
  cert: string | undefined,
  key: string | undefined,
  named: string,
): CertificateFiles | undefined {
  if (cert !== undefined) return { cert, key };
  if (key === undefined) return undefined;
  throw usageError(`${named} is the key of a client certificate, but none is named`);
}

interface AccessPaths {
  readonly file?: string | undefined;
  readonly certificate?: CertificateFiles | undefined;
}

/** Makes `Access` of paths. Each file is read once in a run: a passphrase is asked for once, and a pipe is empty then. */
function accessReader(context: Context): (paths: AccessPaths) => Access {
  const headers = new Map<string, () => Promise<HeaderFields>>();
  const certificates = new Map<string, () => Promise<ClientCertificate>>();
  const once = <T>(known: Map<string, () => Promise<T>>, key: string, read: () => Promise<T>) => {
    const reader = known.get(key) ?? lazy(read);
    known.set(key, reader);
    return reader;
  };
  return ({ file, certificate }) => ({
    headers:
      file === undefined
        ? undefined
        : once(headers, file, async () =>
            (await import('./header-fields')).readHeadersFile(file, context.uid),
          ),
    certificate:
      certificate &&
      once(certificates, JSON.stringify([certificate.cert, certificate.key]), async () =>
        (await import('./client-certificate')).readClientCertificate(certificate, context),
      ),
  });
}

async function typedHeaders(lines: readonly string[]): Promise<HeaderFields> {
  const { parseHeaders } = await import('./header-fields');
  const place = (at: number) => (lines.length === 1 ? '--header' : `--header ${at + 1}`);
  return parseHeaders(lines.map((text, at) => ({ text, place: place(at) })));
}

async function tokenFrom(path: string, { stdin }: Context): Promise<string> {
  if (path !== '-') return readTokenFile(path);
  if (stdin.isTTY) throw usageError('--token-file - reads standard input, but nothing is piped in');
  return parseToken((await readAll(stdin.bytes())).toString('utf8'), 'standard input');
}

/** The first that is set has the token. */
const tokenVariables = ['PWPUSH_TOKEN', 'PWPUSH_TOKEN_FILE', 'PWPUSH_TOKEN_COMMAND'] as const;

async function environmentToken(run: Invocation): Promise<Token | undefined> {
  const { env } = run.context;
  if (run.options.anonymous) return undefined;
  if (env.PWPUSH_TOKEN) return parseToken(env.PWPUSH_TOKEN, 'PWPUSH_TOKEN');
  // A variable applies to many commands, each of which has its own standard input.
  if (env.PWPUSH_TOKEN_FILE === '-')
    throw usageError('PWPUSH_TOKEN_FILE cannot be -', 'use --token-file - to read standard input');
  if (env.PWPUSH_TOKEN_FILE) return readTokenFile(env.PWPUSH_TOKEN_FILE);
  const command = env.PWPUSH_TOKEN_COMMAND;
  return command ? commandToken(run, command, 'PWPUSH_TOKEN_COMMAND') : undefined;
}

/** Gets the token from the output of a command, once. */
function commandToken(run: Invocation, command: string, from: string): () => Promise<string> {
  const words = commandWords(command, from);
  return lazy(async () => (await import('./token-command')).runTokenCommand(run, words, from));
}

function keptElsewhere(run: Invocation, name: string, profile: Profile): Token | undefined {
  const { 'token-command': command, keyring, url } = profile;
  if (command !== undefined)
    return commandToken(run, command, `the token-command of profile "${name}"`);
  if (!keyring || url === undefined) return undefined;
  return lazy(async () =>
    (await import('./system-keyring')).readFromKeyring(run.context, { profile: name, url }),
  );
}

/** The token of a profile that does not store it itself; each is got once in a run. */
function tokenReader(run: Invocation) {
  const known = new Map<string, Token>();
  return (name: string, profile: Profile): Token | undefined => {
    const token = known.get(name) ?? keptElsewhere(run, name, profile);
    if (token !== undefined) known.set(name, token);
    return token;
  };
}

/**
 * Decides where requests go.
 * @param linkBase the instance of a pasted link
 * @throws CliError (usage) when nothing is configured, or a token cannot be read
 */
async function targetOf(
  context: Context,
  requested: TargetRequest,
  linkBase?: string,
): Promise<Target> {
  // --token-file must be readable even if its token is not sent to this instance.
  await requested.token?.();
  let stored: StoredProfiles;
  try {
    stored = storedProfiles(context);
  } catch (error) {
    const target = await targetWithoutProfiles(requested, linkBase);
    if (!(error instanceof CliError) || target === undefined) throw error;
    return { ...target, ignored: `${error.message}; profiles are ignored` };
  }
  return chooseTarget(stored, requested, linkBase);
}

/** The target if options and environment alone decide it. */
async function targetWithoutProfiles(
  requested: TargetRequest,
  linkBase?: string,
): Promise<Target | undefined> {
  if (requested.profile !== undefined || requested.env.profile !== undefined) return undefined;
  try {
    const target = await chooseTarget({ profiles: {} }, requested, linkBase);
    return target.token !== undefined || requested.anonymous ? target : undefined;
  } catch {
    return undefined;
  }
}

export async function clientFor(run: Invocation, target: Target, connections = 1): Promise<Api> {
  return apiClient(await settingsFor(run, target, connections));
}

/**
 * The id of the account that the user chose.
 * @throws CliError (usage) if there is no such account
 */
export async function accountOf({ api, target }: Instance): Promise<number | undefined> {
  const { account, edition } = target;
  if (account === undefined) return undefined;
  if (edition !== undefined && edition !== 'commercial')
    throw usageError('this instance has no accounts', 'only the commercial edition has them');
  const { accountId } = await import('../client/edition');
  return accountId(api, account).catch((error) => {
    if (!(error instanceof CliError) || error.code !== 'not_found') throw error;
    throw error.with({ hint: `${error.hint}; remove --account, or the setting of the profile` });
  });
}

/** The warning that options or variables are not sent to the address of a link, and how they are, still without a token. */
function notSent(withheld: string, { host, origin }: URL): string {
  const advice = isShellSafe(origin) ? `; to send it, add --url ${origin} --anonymous` : '';
  return `not sent to ${host}: ${withheld}${advice}`;
}

/** The warning that others can read what is sent to a target; undefined if they cannot. */
export function exposure({ base, insecure }: Target): string | undefined {
  if (!insecure && !travelsOpen(base)) return undefined;
  const why = insecure ? 'insecure' : 'plain http';
  return `${why}: anyone between here and ${new URL(base).host} can read what is sent`;
}

/** Seconds for a request on the side. */
export const BRIEF = 10;

/** Settings for requests on the side, on a connection of their own: over within 10 s, without waiting for `Retry-After`. */
export async function briefSettings(run: Invocation, target: Target): Promise<ApiSettings> {
  const { context, options } = run;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(BRIEF * 1000)]);
  const timeout = Math.min(timeoutOf(run), BRIEF);
  const brief = invocation({ ...context, signal }, { ...options, timeout });
  const sleep = async () => {
    throw new CliError('rate_limited', 'rate limited by the instance');
  };
  return { ...(await settingsFor(brief, target)), sleep, waiting: () => {} };
}

async function settingsFor(run: Invocation, target: Target, connections = 1): Promise<ApiSettings> {
  const { context, options, say } = run;
  const timeout = timeoutOf(run);
  const { send, open } = await context.transport({
    timeout,
    ca: certificatesOf(target),
    insecure: target.insecure,
    certificate: await certificateFor(target),
    env: context.env,
    signal: context.signal,
    grace: GRACE.request,
    connections,
  });
  const { base, token, tokenFrom, tokenHint } = target;
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
    waiting: (seconds, status) =>
      say.note(`the instance returned ${status}; retrying in ${seconds} s`),
  };
}

/** The client certificate of a target, for its origin. */
export async function certificateFor({ base, certificate }: Pick<Target, 'base' | 'certificate'>) {
  return certificate && { ...(await certificate()), origin: new URL(base).origin };
}

/** Seconds to wait for a response, from option or environment. */
export function timeoutOf(run: {
  readonly context: Pick<Context, 'env'>;
  readonly options: Pick<GlobalOptions, 'timeout'>;
}): number {
  const { env } = run.context;
  const { options } = run;
  if (options.timeout !== undefined) return options.timeout;
  return env.PWPUSH_TIMEOUT ? seconds('PWPUSH_TIMEOUT')(env.PWPUSH_TIMEOUT) : DEFAULT_TIMEOUT;
}

/** The PEM certificates that are trusted in addition to Node's. */
export function certificatesOf({ caFile }: Pick<Target, 'caFile'>): string | undefined {
  return caFile === undefined ? undefined : readCertificates(caFile);
}

function readCertificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(`cannot read the CA file "${path}": ${whyUnreadable(error)}`);
  }
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
