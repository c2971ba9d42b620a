import { stat } from 'node:fs/promises';
import { type GlobalOptions, globalWords } from '../../cli/options';
import type { Entry } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { savedText } from '../../cli/terminal/wording';
import { parseReference } from '../../client/link';
import type { Context, Environment, RunEvent } from '../../platform/context';
import { CliError, tried, usageError } from '../../platform/errors';
import { sourcesOf } from '../../profile/sources';
import { type NoInstance, type Target, targetOrNone } from '../../profile/target';
import { type Ran, saidText, type Told } from './told';

/** What the operator allows, which callers cannot change. */
export interface Allowed {
  readonly root: string;
  readonly env: readonly string[];
  readonly run: readonly string[];
}

/** Where the tools work: starts runs of our own with what the operator allows. */
export interface Desk extends Allowed {
  readonly context: Context;
  /** Where the tools ask: decided each time, as a profile may be there by now. */
  target(): Target | NoInstance;
  readonly signal: AbortSignal;
  command(name: string, words: readonly string[], world: RunWorld): Promise<Ran>;
  local(name: string, words: readonly string[], world: RunWorld): Promise<Ran>;
  /** Resolves when all of them have ended. */
  idle(): Promise<unknown>;
}

/** @param options about the instance, which all runs have */
export function newDesk(
  entry: Entry,
  options: GlobalOptions,
  allowed: Allowed,
  signal: AbortSignal,
): Desk {
  const { context, say } = entry;
  const global = globalWords(options);
  const target = () => targetOrNone(sourcesOf(entry, options));
  const { debug: isDebug } = say.manner;
  const debug = isDebug ? ['--debug'] : [];
  const toPush = allowed.env.filter((name) => !/^PWPUSH_/.test(name));
  /** The variables that a command does not get. */
  const withheld = (command: string) => {
    // A profile may be there by now. Without an instance of the operator, the passphrase is for none that a caller names;
    // the person who is asked by a request does not know it.
    const hasInstance = !(tried(target) instanceof CliError);
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
    target,
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

/** What one of our own runs gets, besides its command line. */
export interface RunWorld {
  readonly signal: AbortSignal;
  readonly input?: string;
  /** Called with what it tells in lines on its standard output, which has nothing else then. */
  readonly happened?: (event: RunEvent) => void;
}

/** Bytes of each stream that are kept; of more, the end. */
const KEPT_BYTES = 1024 * 1024;
/** Bytes of a line that are waited for. */
const LONGEST_LINE = 64 * 1024;

/**
 * Starts our own program, and waits for its end.
 * @param withheld variables that it does not have
 * @param debug whether it has `--debug`, whose lines go to our standard error
 */
export async function startedRun(
  { env, startOwn, stderr: log }: Pick<Context, 'env' | 'startOwn' | 'stderr'>,
  argv: readonly string[],
  { withheld, debug }: { readonly withheld: readonly string[]; readonly debug: boolean },
  { signal, input = '', happened }: RunWorld,
): Promise<Ran> {
  const isTrace = (line: string) => debug && /^debug: |^\s+at /.test(line);
  let stdout: Buffer = Buffer.alloc(0);
  let stderr: Buffer = Buffer.alloc(0);
  let begun: Buffer = Buffer.alloc(0);
  let told = 0;
  const takeLines = (to: number) => {
    const lines = begun.toString('utf8', 0, to).split(/(?<=\n)/);
    begun = begun.subarray(to);
    const traces = lines.filter(isTrace).join('');
    if (traces !== '') log.write(traces).catch(() => {});
    stderr = end(stderr, Buffer.from(lines.filter((line) => !isTrace(line)).join('')));
  };
  const output = {
    stdout: async (chunk: Uint8Array) => {
      stdout = end(stdout, chunk);
      const lines = happened ? stdout.toString('utf8').split('\n').slice(told, -1) : [];
      told += lines.length;
      for (const event of lines.flatMap(eventIn)) happened?.(event);
    },
    stderr: async (chunk: Uint8Array) => {
      begun = Buffer.concat([begun, chunk]);
      takeLines(begun.length > LONGEST_LINE ? begun.length : begun.lastIndexOf('\n') + 1);
    },
  };
  const status = await startOwn({ argv, env: runEnv(env, withheld), input, output, signal });
  takeLines(begun.length);
  return { status, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') };
}

/** The event of a line; nothing for another one, such as of a secret that went nowhere else. */
function eventIn(line: string): readonly RunEvent[] {
  try {
    return 'event' in JSON.parse(line) ? [JSON.parse(line)] : [];
  } catch {
    return [];
  }
}

const end = (kept: Buffer, more: Uint8Array) =>
  more.length === 0 ? kept : Buffer.concat([kept, more]).subarray(-KEPT_BYTES);

/** What is printed becomes part of a conversation: marked as that of an agent, which refuses to print secrets. */
function runEnv(env: Environment, withheld: readonly string[]): Environment {
  const kept = Object.entries(env).filter(([name]) => !withheld.includes(name));
  const ours = { AI_AGENT: 'pwpush mcp', NO_COLOR: '1', PWPUSH_NO_INPUT: '1' };
  return { ...Object.fromEntries(kept), ...ours };
}
