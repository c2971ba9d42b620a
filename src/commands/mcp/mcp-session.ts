import { type GlobalOptions, globalWords } from '../../cli/options';
import type { Entry } from '../../cli/terminal/output';
import { parseReference } from '../../client/link';
import { jsonIn } from '../../contract/json';
import type { Context, Environment, RunEvent } from '../../platform/context';
import { CliError, tried, usageError } from '../../platform/errors';
import { sourcesOf } from '../../profile/sources';
import { type NoInstance, type Target, targetOrNone } from '../../profile/target';
import type { Ran, ToolResult } from './tool-result';

interface AllowedProgram {
  readonly name: string;
  readonly file: string | undefined;
}

/** What the operator of the server allows; callers cannot change it. */
export interface Allowed {
  readonly root: string;
  /** Names of the variables that callers may push. */
  readonly env: readonly string[];
  /** Programs that callers may start, with their absolute paths as they were found at the start. */
  readonly run: readonly AllowedProgram[];
}

export interface Question {
  readonly link: string;
  /** Later calls name the question by this: it has the address that was asked, whatever link the instance returned. */
  readonly reference: string;
  /** This machine serves the page. */
  readonly isEphemeral: boolean;
  readonly warnings: string;
  readonly answer: Promise<ToolResult>;
  over: boolean;
  close(): Promise<void>;
}

export class McpSession {
  /** The key is the token of the request. */
  readonly questions = new Map<string, Question>();
  /** The paths to which the answers of current questions will be saved; two questions must not use the same path. */
  readonly places = new Set<string>();
  private readonly running = new Set<Promise<Ran>>();

  /** @param options about the instance; `command` passes them to each run */
  constructor(
    private readonly entry: Entry,
    private readonly options: GlobalOptions,
    readonly allowed: Allowed,
    readonly signal: AbortSignal,
  ) {}

  get context(): Context {
    return this.entry.context;
  }

  /** Reads the profiles again, because one may have been saved since the last call. */
  target(): Target | NoInstance {
    return targetOrNone(sourcesOf(this.entry, this.options));
  }

  /** Runs a command with the options about the instance. */
  command(name: string, words: readonly string[], world: RunWorld): Promise<Ran> {
    return this.local(name, [...globalWords(this.options), ...words], world);
  }

  /** Runs a command without the options about the instance. */
  local(name: string, words: readonly string[], world: RunWorld): Promise<Ran> {
    const { context, say } = this.entry;
    const { debug } = say.manner;
    const argv = [name, ...(debug ? ['--debug'] : []), ...words];
    const signal = AbortSignal.any([this.signal, world.signal]);
    const withheld = this.withheld(name);
    const ran = startedRun(context, argv, { ...world, signal, debug, withheld });
    this.running.add(ran);
    return ran.finally(() => this.running.delete(ran));
  }

  idle(): Promise<unknown> {
    return Promise.allSettled(this.running);
  }

  /**
   * Returns the variables that the command does not get. PWPUSH_PASSPHRASE is for the operator's instance, not for one
   * that a caller names; and not for a request, because the person who is asked does not know it.
   */
  private withheld(command: string): readonly string[] {
    const toPush = this.allowed.env.filter((name) => !/^PWPUSH_/.test(name));
    const hasInstance = !(tried(() => this.target()) instanceof CliError);
    return hasInstance && command !== 'request' ? toPush : [...toPush, 'PWPUSH_PASSPHRASE'];
  }
}

/**
 * `--` keeps the link from being taken for an option.
 * @throws CliError (usage) if `link` is neither a link nor an ID nor `last`
 */
export function linkWords(link: string): readonly ['--', string] {
  checkLink(link);
  return ['--', link];
}

export function checkLink(link: string): void {
  if (link !== 'last') parseReference(link);
  if (link.startsWith('-')) throw usageError('the ID begins with a dash', 'use the whole link');
}

interface RunRules {
  readonly signal: AbortSignal;
  readonly input?: string;
  /** Receives the events that the run prints on standard output. */
  readonly happened?: (event: RunEvent) => void;
  readonly withheld: readonly string[];
  /** The run has `--debug`; its lines go to the standard error of this process. */
  readonly debug: boolean;
}

type RunWorld = Omit<RunRules, 'withheld' | 'debug'>;

/** In bytes: only this much of the end of each output stream is returned. */
const KEPT_BYTES = 1024 * 1024;
/** In bytes: a longer line is passed on in parts. */
const LONGEST_LINE = 64 * 1024;

export async function startedRun(
  { env, startOwn, stderr: log }: Pick<Context, 'env' | 'startOwn' | 'stderr'>,
  argv: readonly string[],
  { withheld, debug, signal, input = '', happened }: RunRules,
): Promise<Ran> {
  const isTrace = (line: string) => debug && /^debug: |^\s+at /.test(line);
  let stdout: Buffer = Buffer.alloc(0);
  let stderr: Buffer = Buffer.alloc(0);
  let begun: Buffer = Buffer.alloc(0);
  let reported = 0;
  const takeLines = (to: number) => {
    const lines = begun.toString('utf8', 0, to).split(/(?<=\n)/);
    begun = begun.subarray(to);
    const traces = lines.filter(isTrace).join('');
    if (traces !== '') log.write(traces).catch(() => {});
    stderr = lastOf(stderr, Buffer.from(lines.filter((line) => !isTrace(line)).join('')));
  };
  const output = {
    stdout: async (chunk: Uint8Array) => {
      stdout = lastOf(stdout, chunk);
      const lines = happened ? stdout.toString('utf8').split('\n').slice(reported, -1) : [];
      reported += lines.length;
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

/** Returns nothing for a line without an event, such as a secret that could not be saved. */
function eventIn(line: string): readonly RunEvent[] {
  const event = Object(jsonIn(line));
  return 'event' in event ? [event] : [];
}

const lastOf = (kept: Buffer, more: Uint8Array) =>
  more.length === 0 ? kept : Buffer.concat([kept, more]).subarray(-KEPT_BYTES);

/**
 * Marks the run as that of an agent, so that it refuses to print secrets, because its output becomes part of a
 * conversation.
 */
function runEnv(env: Environment, withheld: readonly string[]): Environment {
  const kept = Object.entries(env).filter(([name]) => !withheld.includes(name));
  const ours = { AI_AGENT: 'pwpush mcp', NO_COLOR: '1', PWPUSH_NO_INPUT: '1' };
  return { ...Object.fromEntries(kept), ...ours };
}
