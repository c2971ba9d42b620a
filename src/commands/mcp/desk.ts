import { stat } from 'node:fs/promises';
import { type GlobalOptions, globalRows } from '../../cli/options';
import { safe } from '../../cli/terminal/safe';
import { parseReference } from '../../client/link';
import type { Context } from '../../platform/context';
import { usageError } from '../../platform/errors';
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
  readonly options: GlobalOptions;
  readonly signal: AbortSignal;
  /** Runs a command for an instance, with the global options of the server. */
  command(name: string, words: readonly string[], world: RunWorld): Promise<Ran>;
  /** The same for one that uses no instance. */
  local(name: string, words: readonly string[], world: RunWorld): Promise<Ran>;
  /** Resolves when all of them have ended. */
  idle(): Promise<unknown>;
}

export function newDesk(
  context: Context,
  options: GlobalOptions,
  allowed: Allowed,
  signal: AbortSignal,
): Desk {
  const global = globalWords(options);
  const debug = options.debug ? ['--debug'] : [];
  const given = { withheld: allowed.env, debug: options.debug };
  const running = new Set<Promise<Ran>>();
  const started = (argv: readonly string[], world: RunWorld): Promise<Ran> => {
    const ends = AbortSignal.any([signal, world.signal]);
    const ran = startedRun(context, argv, given, { ...world, signal: ends });
    running.add(ran);
    return ran.finally(() => running.delete(ran));
  };
  return {
    ...allowed,
    context,
    options,
    signal,
    command: (name, words, world) => started([name, ...global, ...debug, ...words], world),
    local: (name, words, world) => started([name, ...debug, ...words], world),
    idle: () => Promise.allSettled(running),
  };
}

/** About the output, which is ours. */
const OUTPUT = ['json', 'quiet', 'input', 'color', 'debug'];

/** The global options about the instance, as words of a command line. */
function globalWords(options: GlobalOptions): string[] {
  const given = new Map<string, unknown>(Object.entries(options));
  return Object.entries(globalRows).flatMap(([name, { option, fallback }]) => {
    const value = given.get(name);
    if (OUTPUT.includes(name) || value === undefined || value === fallback) return [];
    if (value === true) return [`${option.long}`];
    return [value].flat().map((one) => `${option.long}=${one}`);
  });
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
  const found = await stat(path).catch(() => undefined);
  const said = saidText(stderr.replaceAll(path, () => named));
  if (!found?.isFile()) return { text: `saved to ${safe(named)}/\n${said}`.trim() };
  // Of one file, the command may say it too.
  const more = said.split('\n').filter((line) => !line.startsWith(`saved ${safe(named)} (`));
  return { text: `saved to ${safe(given)}, ${found.size} bytes\n${more.join('\n')}`.trim() };
}
