import { inWords } from '../cli/in-words';
import { invocation, type Manner } from '../cli/terminal/output';
import type { Api } from '../client/client';
import { parseReference, type Reference, repairsOf } from '../client/link';
import { isShellSafe } from '../contract/address';
import type { Context } from '../platform/context';
import { CliError, phrase, type Step } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { storedProfiles } from './config-file';
import { accountOf, clientFor, exposure, type Instance } from './connect';
import { type KeptReceipt, readReceipts } from './receipts';
import type { Profile, StoredProfiles } from './settings';
import { type Given, sourcesOf } from './sources';
import {
  type Chosen,
  chooseTarget,
  NoInstance,
  type Sources,
  type Target,
  withTokenRead,
} from './target';

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
  const run = invocation(context, manner);
  const sources = lazy(() => sourcesOf(run, given));
  const { timeout } = given;
  const warned = new Set<string>();
  const warn = async (text: string | undefined, step?: Step) => {
    if (text === undefined || warned.has(text)) return;
    warned.add(text);
    await run.say.warn(text, step);
  };
  /** A client for a target, as `clientFor` makes it. */
  const clientAt = (target: Target, connections = 1): Promise<Api> =>
    clientFor(run, target, { connections, timeout });
  const instanceAt = async (target: Target, connections = 1): Promise<Instance> => {
    const { base, baseFrom, ignored, tokenFrom, tokenHint, withheld } = target;
    await warn(ignored && ignoredText(ignored));
    const { host, origin } = new URL(base);
    const wayOut = isShellSafe(origin) ? phrase('send-elsewhere', origin) : undefined;
    await warn(withheld && `not sent to ${host}: ${withheld}`, wayOut);
    await warn(exposure(target));
    // Of a link, where the token for its instance is from, or how to send one.
    if (baseFrom === undefined && tokenFrom !== undefined)
      await run.say.debug(`the token for ${base} is from ${tokenFrom}`);
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
    return { ...parseReference(last.receipt.html_url), last };
  };
  /**
   * Where requests go, decided at the first call; nothing is read yet.
   * @throws CliError (usage) when nothing is configured
   */
  const chosen = lazy(() => chosenOf(context, sources()));
  const target = lazy(() => readTarget(sources(), chosen()));
  /** A client for each of several pushes, one per instance; all are made before the first request. */
  const connectEach = async (references: readonly Named[], connections?: number) => {
    const repairs = repairsOf(references);
    if (repairs) await run.say.note(await inWords(repairs));
    const instances = new Map<string | undefined, Instance>();
    const connected: NamedItem[] = [];
    for (const one of references) {
      const known = instances.get(one.base);
      const at = known ?? (await instanceAt(await targetOf(one.base), connections));
      instances.set(one.base, at);
      connected.push({ ...one, ...at });
    }
    return connected;
  };
  const targetOf = async (linkBase?: string) =>
    readTarget(sources(), chosenOf(context, sources(), linkBase));
  return {
    ...run,
    given,
    sources,
    chosen,
    /** The same with the token, which is read once. */
    target,
    /**
     * The defaults of the profile in use for a new push.
     * @throws CliError (usage) when nothing is configured, or the profiles were ignored: one may encrypt, or limit pushes to
     * fewer days
     */
    defaults: (): Profile | undefined => {
      const { ignored, defaults } = chosen();
      if (ignored) throw ignored;
      return defaults;
    },
    /** Whether an error says that there is neither an address nor a profile. */
    isUnconfigured: (error: unknown) => error instanceof NoInstance,
    reference,
    receipts,
    /** A client for that instance. Warns about it; sends nothing yet. */
    connect: async (connections?: number) => instanceAt(await target(), connections),
    /** What a link names, with a client for its instance. */
    connectTo: async (named: Named, connections?: number) => {
      const [item] = await connectEach([named], connections);
      return item as NamedItem;
    },
    connectEach,
    clientAt,
    /** The same, in which everything is decided again. */
    again: () => createSession(context, given, manner),
    /** The session without a token, whatever was typed. */
    anonymous: () => createSession(context, { ...given, anonymous: true }, manner),
    /** The session in another context, such as one that something limits. */
    within: (limited: Context, seconds = given.timeout) =>
      createSession(limited, { ...given, timeout: seconds }, manner),
  };
}

/** What is typed for a token must be readable even if that is not sent to this instance. */
async function readTarget({ typed }: Sources, chosen: Chosen): Promise<Target> {
  await typed.token?.read();
  return withTokenRead(chosen);
}

/**
 * Decides where requests go, also without the profiles, if what was typed and the environment have an address and a token.
 * @param linkBase the instance of a pasted link
 */
function chosenOf(context: Context, sources: Sources, linkBase?: string): Chosen {
  let stored: StoredProfiles;
  try {
    stored = storedProfiles(context);
  } catch (error) {
    const { profile, envProfile, anonymous } = sources;
    const named = profile !== undefined || envProfile !== undefined;
    const chosen = named ? undefined : withoutProfiles(sources, linkBase);
    if (!(error instanceof CliError) || !(chosen?.source || (chosen && anonymous))) throw error;
    return { ...chosen, ignored: error };
  }
  return chooseTarget(stored, sources, linkBase);
}

function withoutProfiles(sources: Sources, linkBase?: string): Chosen | undefined {
  try {
    return chooseTarget({ profiles: {} }, sources, linkBase);
  } catch {
    return undefined;
  }
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
