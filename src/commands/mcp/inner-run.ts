import type { Context, HttpClient, Output } from '../../platform/context';
import { failedError, usageError } from '../../platform/errors';
import { aborted, raceWithLimit } from '../../platform/files/abort';
import type { Interrupts, Mode } from '../../platform/interrupts';

/** What a command finds in place of the world of the server: no terminal, no prompts, and the signals of one call. */
export interface InnerWorld {
  /** Ends the command as SIGTERM would. */
  readonly signal: AbortSignal;
  /** Its standard input; empty if left out. */
  readonly input?: string;
  /** Variables that it does not have. */
  readonly without?: readonly string[];
  /** Where lines of `--debug` go. */
  readonly debug?: Output | undefined;
  /** Called with each line of standard error. */
  readonly heard?: (line: string) => void;
}

/** How a command ended. Its output is in memory alone. */
export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it started a program. */
  readonly started: boolean;
}

/** Bytes of each stream that are kept; of more, the end. */
const KEPT_BYTES = 1024 * 1024;

/** Runs one of our commands in this process. */
export async function runInside(
  host: Context,
  argv: readonly string[],
  { signal, input = '', without = [], debug, heard = () => {} }: InnerWorld,
): Promise<Ran> {
  const open: HttpClient[] = [];
  const signals = callSignals(signal);
  const stdout = captured();
  const stderr = captured((text) => {
    const lines = text.split(/(?<=\n)/);
    const traced = lines.filter((line) => debug && /^debug: |^\s+at /.test(line));
    if (traced.length > 0) debug?.write(traced.join('')).catch(() => {});
    for (const line of lines) heard(line.trimEnd());
    return lines.filter((line) => !traced.includes(line)).join('');
  });
  let started = false;
  const context: Context = {
    ...host,
    env: innerEnv(host, without),
    stdin: {
      isTTY: false,
      bytes: async function* () {
        if (input !== '') yield Buffer.from(input);
      },
    },
    stdout: stdout.output,
    stderr: stderr.output,
    ...signals,
    sleep: (milliseconds) =>
      raceWithLimit(host.sleep(milliseconds), { signal: signals.signal }, () => {
        throw signals.signal.reason;
      }),
    transport: async (options) => {
      const client = await host.transport(options);
      open.push(client);
      return client;
    },
    canPrompt: () => false,
    prompter: async () => {
      throw usageError('no terminal to ask on');
    },
    asked: () => {},
    runChild: async (child) => {
      // Our own streams are the protocol.
      if (!child.output) throw failedError('the output of the program would not be masked');
      started = true;
      const own = { ...child, input: child.input ?? '', interrupts: signals.interrupts };
      return host.runChild(own);
    },
  };
  try {
    const status = await host.command(argv, context);
    return { status, stdout: stdout.text(), stderr: stderr.text(), started };
  } finally {
    for (const client of open) await client.close();
  }
}

/** What is printed becomes part of a conversation: marked as that of an agent, which refuses to print secrets. */
function innerEnv({ env }: Context, without: readonly string[]): Context['env'] {
  const kept = Object.entries(env).filter(([name]) => !without.includes(name));
  const ours = { AI_AGENT: 'pwpush mcp', NO_COLOR: '1', PWPUSH_NO_INPUT: '1' };
  return { ...Object.fromEntries(kept), ...ours };
}

/** Signals of a call, which programs that it runs get too. */
function callSignals(ends: AbortSignal): { signal: AbortSignal; interrupts: Interrupts } {
  const controller = new AbortController();
  const modes: Mode[] = [];
  const deliver = (mode: Mode) => mode.mode === 'forward' && mode.deliver('SIGTERM');
  void aborted(ends).then(() => {
    controller.abort('SIGTERM');
    modes.forEach(deliver);
  });
  return {
    signal: controller.signal,
    interrupts: {
      get owned() {
        return modes.some(({ mode }) => mode === 'own');
      },
      enter: (mode) => {
        modes.push(mode);
        if (controller.signal.aborted) deliver(mode);
        return () => {
          const at = modes.indexOf(mode);
          if (at >= 0) modes.splice(at, 1);
        };
      },
    },
  };
}

/**
 * A stream in memory.
 * @param filter returns what is kept of a text
 */
function captured(filter: (text: string) => string = (text) => text) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const output: Output = {
    isTTY: false,
    columns: 80,
    closed: false,
    write: async (data) => {
      const chunk = Buffer.from(typeof data === 'string' ? filter(data) : data);
      chunks.push(chunk);
      bytes += chunk.length;
      for (let first = chunks[0]; first && bytes - first.length >= KEPT_BYTES; first = chunks[0]) {
        chunks.shift();
        bytes -= first.length;
      }
    },
  };
  return { output, text: () => Buffer.concat(chunks).toString('utf8') };
}
