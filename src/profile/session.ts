import { entryOf, type Manner } from '../cli/terminal/output';
import { ago } from '../cli/terminal/wording';
import { type Api, apiClient } from '../client/client';
import { parseReference, type Reference, repairsOf } from '../client/link';
import { isShellSafe } from '../contract/address';
import type { Context } from '../platform/context';
import { CliError, phrase, type Step, tried } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { storedProfiles } from './config-file';
import { accountOf, clientSettings, exposure, type Instance } from './connect';
import { type KeptReceipt, readReceipts } from './receipts';
import type { Profile } from './settings';
import { type Given, sourcesOf } from './sources';
import { chooseTarget, NoInstance, type Sources, type Target } from './target';

/** A push or request as a user named it. */
export interface Named extends Reference {
  /** The receipt of the push that was named as `last`. */
  readonly last?: KeptReceipt;
}

/** The same at its instance. */
export interface NamedItem extends Named, Instance {}

export type Session = ReturnType<typeof createSession>;

/** One run of a command. Its target is decided once and each token read once: `<(pass show token)` is empty the second time. */
export function createSession(context: Context, given: Given, manner: Manner) {
  const run = entryOf(context, manner);
  const sources = lazy(() => sourcesOf(run, given));
  const warned = new Set<string>();
  const warn = async (text: string | undefined, step?: Step) => {
    if (text === undefined || warned.has(text)) return;
    warned.add(text);
    await run.say.warn(text, step);
  };
  const clientAt = async (target: Target, connections?: number): Promise<Api> =>
    apiClient(await clientSettings(run, target, given.timeout, connections));
  const instanceAt = async (target: Target, connections?: number): Promise<Instance> => {
    const { base, baseFrom, ignored, token, tokenHint, withheld } = target;
    // What is typed must be readable even if it is not sent to this instance.
    await sources().typed.token?.read();
    await warn(ignored && ignoredText(ignored));
    const { host, origin } = new URL(base);
    const wayOut = isShellSafe(origin) ? phrase('send-elsewhere', origin) : undefined;
    await warn(withheld && `not sent to ${host}: ${withheld}`, wayOut);
    await warn(exposure(target));
    // Of a link, where the token for its instance is from, or how to send one.
    if (baseFrom === undefined && token !== undefined)
      await run.say.debug(`the token for ${base} is from ${token.from}`);
    if (baseFrom === undefined && tokenHint !== undefined) await run.say.advise(tokenHint);
    return { target, api: await clientAt(target, connections) };
  };
  /** The receipts of this machine, which are read once. */
  const receipts = lazy(() => readReceipts(context));
  /**
   * The push of a link, or the last one.
   * @throws CliError (usage) for an invalid link, or if there is no last push
   */
  const reference = (link: string): Named => {
    if (link !== 'last') return parseReference(link);
    const last = receipts().last();
    return { token: last.token, base: last.base, last };
  };
  /**
   * Where requests go, decided at the first call; nothing is read yet.
   * @throws CliError (usage) when nothing is configured
   */
  const target = lazy(() => targetOf(context, sources()));
  /** A client for each of several pushes, one per instance; all are made before the first request. */
  const connectEach = async (references: readonly Named[], connections?: number) => {
    const repairs = repairsOf(references);
    if (repairs) await run.say.note(repairs);
    const instances = new Map<string | undefined, Instance>();
    const connected: NamedItem[] = [];
    for (const one of references) {
      if (one.last) await run.say.remark(lastText(one.last, context.now()));
      const known = instances.get(one.base);
      const at = known ?? (await instanceAt(targetOf(context, sources(), one.base), connections));
      instances.set(one.base, at);
      connected.push({ ...one, ...at });
    }
    return connected;
  };
  return {
    ...run,
    given,
    sources,
    target,
    /**
     * The defaults of the profile in use for a new push.
     * @throws CliError (usage) when nothing is configured, or the profiles were ignored: one may encrypt, or limit pushes to
     * fewer days
     */
    defaults: (): Profile | undefined => {
      const { ignored, defaults } = target();
      if (ignored) throw ignored;
      return defaults;
    },
    /** Whether an error says that there is neither an address nor a profile. */
    isUnconfigured: (error: unknown) => error instanceof NoInstance,
    reference,
    receipts,
    /** A client for that instance. Warns about it; sends nothing yet. */
    connect: async (connections?: number) => instanceAt(target(), connections),
    /** What a link names, with a client for its instance. */
    connectTo: async (named: Named, connections?: number) => {
      const [item] = await connectEach([named], connections);
      return item as NamedItem;
    },
    connectEach,
    clientAt,
  };
}

/** A session of its own, in which everything is decided again, with other limits or without a token. */
export function another(
  { context, given, say }: Session,
  { context: within = context, ...change }: Partial<Given> & { readonly context?: Context } = {},
): Session {
  return createSession(within, { ...given, ...change }, say.manner);
}

/** Which push `last` is, as it need not be at the instance in use: `last: "db", made 2 min ago at pwpush.example`. */
function lastText({ base, receipt }: KeptReceipt, now: Date): string {
  const { name, url_token, created_at } = receipt;
  const which = name ? `"${name}"` : url_token;
  return `last: ${which}, made ${ago(created_at, now)} at ${new URL(base).host}`;
}

/**
 * Decides where requests go, also without the profiles, if what was typed and the environment have an address and a token.
 * @param linkBase the instance of a pasted link
 */
function targetOf(context: Context, sources: Sources, linkBase?: string): Target {
  const stored = tried(() => storedProfiles(context));
  if (!(stored instanceof CliError)) return chooseTarget(stored, sources, linkBase);
  // Throws for a profile that was named.
  const target = tried(() => chooseTarget({ profiles: {} }, sources, linkBase));
  if (target instanceof CliError || !(target.token || target.anonymous)) throw stored;
  return { ...target, ignored: stored };
}

/**
 * The ID of the account that a push belongs to: of its receipt, or else the one that the user chose.
 * @throws CliError (usage) for an instance that is known to have none
 */
export function accountOfPush({ receipts }: Session, push: NamedItem): number | undefined {
  const account = receipts().find(push)?.account_id;
  return typeof account === 'number' ? account : accountOf(push.target);
}

export const ignoredText = (ignored: CliError) => `${ignored.message}; profiles are ignored`;
