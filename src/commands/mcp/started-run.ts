import type { Context, Environment, RunEvent } from '../../platform/context';

/** What one of our own runs gets, besides its command line. */
export interface RunWorld {
  /** Ends it as SIGTERM does. */
  readonly signal: AbortSignal;
  /** Its standard input; empty if left out. */
  readonly input?: string;
  /** Called with what it tells in lines on its standard output, which has nothing else then. */
  readonly happened?: (event: RunEvent) => void;
}

/** How a run ended. Its output is in memory alone. */
export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
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
  /** Lines of standard output. */
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
