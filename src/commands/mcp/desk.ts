import { stat } from 'node:fs/promises';
import { safe } from '../../cli/terminal/safe';
import { savedText } from '../../cli/terminal/wording';
import { parseReference } from '../../client/link';
import type { Context } from '../../platform/context';
import { CliError, tried, usageError } from '../../platform/errors';
import { another, type Session } from '../../profile/session';
import { type Ran, type RunWorld, startedRun } from './started-run';
import { saidText, type Told } from './told';

/** What the operator allows, which callers cannot change. */
export interface Allowed {
  readonly root: string;
  readonly env: readonly string[];
  readonly run: readonly string[];
}

/** Where the tools work: starts runs of our own with what the operator allows. */
export interface Desk extends Allowed {
  readonly context: Context;
  /** Of the server: where its tools ask. */
  readonly session: Session;
  readonly signal: AbortSignal;
  /** Runs a command for an instance, with the global options of the server. */
  command(name: string, words: readonly string[], world: RunWorld): Promise<Ran>;
  /** The same for one that uses no instance. */
  local(name: string, words: readonly string[], world: RunWorld): Promise<Ran>;
  /** Resolves when all of them have ended. */
  idle(): Promise<unknown>;
}

/** @param global words of the options about the instance, which all runs have */
export function newDesk(
  session: Session,
  global: readonly string[],
  allowed: Allowed,
  signal: AbortSignal,
): Desk {
  const { context, say } = session;
  const { debug: isDebug } = say.manner;
  const debug = isDebug ? ['--debug'] : [];
  const toPush = allowed.env.filter((name) => !/^PWPUSH_/.test(name));
  /** The variables that a command does not get. */
  const withheld = (command: string) => {
    // A profile may be there by now. Without an instance of the operator, the passphrase is for none that a caller names;
    // the person who is asked by a request does not know it.
    const hasInstance = !(tried(another(session).target) instanceof CliError);
    return hasInstance && command !== 'request' ? toPush : [...toPush, 'PWPUSH_PASSPHRASE'];
  };
  const running = new Set<Promise<Ran>>();
  const started = (name: string, words: readonly string[], world: RunWorld): Promise<Ran> => {
    const ends = AbortSignal.any([signal, world.signal]);
    const rules = { withheld: withheld(name), debug: isDebug };
    const ran = startedRun(context, [name, ...words], rules, { ...world, signal: ends });
    running.add(ran);
    return ran.finally(() => running.delete(ran));
  };
  return {
    ...allowed,
    context,
    session,
    signal,
    command: (name, words, world) => started(name, [...global, ...debug, ...words], world),
    local: (name, words, world) => started(name, [...debug, ...words], world),
    idle: () => Promise.allSettled(running),
  };
}

/**
 * The words for a link, which is never taken for an option.
 * @throws CliError (usage) for anything else
 */
export function linkWords(link: string): readonly ['--', string] {
  checkLink(link);
  return ['--', link];
}

/** @throws CliError (usage) for what is no link */
export function checkLink(link: string): void {
  if (link !== 'last') parseReference(link);
  if (link.startsWith('-')) throw usageError('the ID begins with a dash', 'use the whole link');
}

/** Says where something was saved, by the path as it was given, and never what. */
export async function savedTo(place: string, given: string, { stderr }: Ran): Promise<Told> {
  const [path, named] = [place, given].map((one) => one.replace(/[/\\]$/, '')) as [string, string];
  const said = saidText(stderr.replaceAll(path, () => named)).split('\n');
  const saved = said.filter((line) => line.startsWith('saved '));
  const rest = said.filter((line) => !saved.includes(line));
  const found = await stat(path).catch(() => undefined);
  // Of a run that is quiet, or not over.
  if (saved.length === 0 && found?.isFile()) saved.push(savedText(safe(named), found.size));
  return { text: [...saved, ...rest].join('\n').trim() };
}
