import type { Command } from 'commander';
import type { Rows } from '../cli/declare';
import { type Closed, type GlobalOptions, type Options, withOptions } from '../cli/options';
import { invocation } from '../cli/terminal/output';
import { parseReference, type Reference, repairText } from '../client/link';
import { isShellSafe } from '../contract/address';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { storedProfiles } from './config-file';
import { accountOf, clientFor, exposure, type Instance } from './connect';
import { type KeptReceipt, readReceipts } from './receipts';
import type { StoredProfiles } from './settings';
import { targetRequestOf } from './sources';
import { chooseTarget, ignoredText, type Target, type TargetRequest } from './target';

/** A push or request as a user named it. */
export interface Named extends Reference {
  /** The receipt of the push that was named as `last`. */
  readonly last?: KeptReceipt;
}

/** The same at its instance. */
export interface NamedItem extends Named, Instance {}

export type Session<Given extends GlobalOptions = GlobalOptions> = ReturnType<
  typeof createSession<Given>
>;

/** One run of a command. Its target is decided once and each token read once: `<(pass show token)` is empty the second time. */
export function createSession<Given extends GlobalOptions>(context: Context, options: Given) {
  const run = invocation(context, options);
  /** What options and environment say about the instance and the token. */
  const requested = targetRequestOf(run);
  const warned = new Set<string>();
  const warn = async (text: string | undefined) => {
    if (text === undefined || warned.has(text)) return;
    warned.add(text);
    await run.say.warn(text);
  };
  const instanceAt = async (target: Target, connections = 1): Promise<Instance> => {
    const { base, baseFrom, ignored, tokenFrom, tokenHint, withheld } = target;
    await warn(ignored && ignoredText(ignored));
    await warn(withheld && notSent(withheld, new URL(base)));
    await warn(exposure(target));
    // Of a link, where the token for its instance is from, or how to send one.
    if (baseFrom === undefined && tokenFrom !== undefined)
      await run.say.debug(`the token for ${base} is from ${tokenFrom}`);
    if (baseFrom === undefined && tokenHint !== undefined)
      await run.say.remark(`hint: ${tokenHint}`);
    return { target, api: await clientFor(run, target, connections) };
  };
  const instanceOf = async ({ base }: Reference, connections?: number) =>
    instanceAt(await targetOf(context, requested, base), connections);
  /** The receipts of this machine, which are read once. */
  const receipts = lazy(() => readReceipts(context));
  /**
   * The push of a link, or the last one.
   * @throws CliError (usage) for an invalid link, or if there is no last push
   */
  const reference = async (link: string): Promise<Named> => {
    if (link !== 'last') return parseReference(link);
    const last = receipts().last();
    return { ...parseReference(last.receipt.html_url), last };
  };
  let decided: Target | undefined;
  /**
   * Where requests go; decided at the first call.
   * @throws CliError (usage) when nothing is configured, or a token cannot be read
   */
  const target = async () => {
    decided ??= await targetOf(context, requested);
    return decided;
  };
  /** A client for each of several pushes, one per instance; all are made before the first request. */
  const connectEach = async (references: readonly Named[], connections?: number) => {
    const repaired = repairText(references);
    if (repaired !== undefined) await run.say.note(repaired);
    const instances = new Map<string | undefined, Instance>();
    const connected: NamedItem[] = [];
    for (const one of references) {
      const instance = instances.get(one.base) ?? (await instanceOf(one, connections));
      instances.set(one.base, instance);
      connected.push({ ...one, ...instance });
    }
    return connected;
  };
  return {
    ...run,
    options,
    requested,
    target,
    reference,
    receipts,
    /** A client for that instance. Warns about it; sends nothing yet. */
    connect: async (connections?: number) => instanceAt(await target(), connections),
    /** What a link names, with a client for its instance. */
    connectTo: async (link: string, connections?: number) => {
      const [item] = await connectEach([await reference(link)], connections);
      return item as NamedItem;
    },
    connectEach,
  };
}

/**
 * The ID of the account that a push belongs to: of its receipt, or else the one that the user chose.
 * @throws CliError (usage) for an instance that is known to have none
 */
export async function accountOfPush(session: Session, push: NamedItem) {
  const account = session.receipts().find(push)?.account_id;
  return typeof account === 'number' ? account : accountOf(push.target);
}

/** Declares options on a command, and has it do the work with a session and its operands. */
export function withSession<R extends Rows & Closed<R>, Operands extends readonly unknown[]>(
  command: Command,
  context: Context,
  rows: R,
  work: (session: Session<Options<R>>, ...operands: Operands) => Promise<void>,
): Command {
  return withOptions(command, context, rows, (options, ...operands: Operands) =>
    work(createSession(context, options), ...operands),
  );
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
  await requested.options.token?.read();
  let stored: StoredProfiles;
  try {
    stored = storedProfiles(context);
  } catch (error) {
    const target = await targetWithoutProfiles(requested, linkBase);
    if (!(error instanceof CliError) || target === undefined) throw error;
    return { ...target, ignored: error };
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

/** The warning that options or variables are not sent to the address of a link, and how they are, still without a token. */
function notSent(withheld: string, { host, origin }: URL): string {
  const advice = isShellSafe(origin) ? `; to send it, add --url ${origin} --anonymous` : '';
  return `not sent to ${host}: ${withheld}${advice}`;
}
