import { spawn } from 'node:child_process';
import type { Context } from './context';
import { endedBy } from './errors';
import { findProgram } from './find-program';
import { GRACE } from './interrupts';

/** Milliseconds that a program may take. */
export const LIMIT = 10_000;
/** Milliseconds after its end in which its output is read: what it started may keep that open, as agents do. */
const DRAIN = 200;
/** Bytes of standard output, and of standard error, that are read. */
const MAX_OUTPUT = 64 * 1024;

export interface HelperProgram {
  readonly words: readonly [string, ...string[]];
  /** Its standard input; empty if left out. */
  readonly input?: string;
  /** Milliseconds that it may take. */
  readonly limit?: number;
  /** Receives its standard error while it runs. */
  readonly onError?: (text: string) => void;
}

export type HelperEnd =
  | { readonly status: number; readonly output: string }
  | { readonly failure: 'missing' | 'timeout' };

/**
 * Runs a program that is not ours and returns its output. It has no terminal and none of our variables, and is ended with
 * its process group after 10 s, or when the run is interrupted; what leaves the group, as agents do, keeps running.
 * @throws CliError when the run is interrupted
 */
export async function runHelper(context: Context, program: HelperProgram): Promise<HelperEnd> {
  const { env, platform, signal } = context;
  const [name, ...args] = program.words;
  const found = await findProgram(name, context);
  if (signal.aborted) throw endedBy(signal);
  if (!('file' in found)) return { failure: 'missing' };
  return new Promise((resolve, reject) => {
    const child = spawn(found.file, args, {
      // A process group of its own (setsid), so that it can be ended as a whole.
      detached: platform !== 'win32',
      env: Object.fromEntries(Object.entries(env).filter(([one]) => !/^PWPUSH_/i.test(one))),
      stdio: 'pipe',
      windowsHide: true,
    });
    let output = '';
    let errors = 0;
    let status: number | undefined;
    let timer: NodeJS.Timeout;
    let stopped: (() => void) | undefined;
    const stop = (then: () => void) => {
      if (stopped) return;
      stopped = then;
      clearTimeout(timer);
      const { pid } = child;
      if (pid === undefined) return done(then);
      context.signalGroup(pid, 'SIGTERM');
      timer = setTimeout(() => {
        context.signalGroup(pid, 'SIGKILL');
        done(then);
      }, GRACE.program);
    };
    const onAbort = () => stop(() => reject(endedBy(signal)));
    const done = (then: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      child.unref();
      then();
    };
    const check = () => {
      const code = status;
      if (!stopped && code !== undefined) done(() => resolve({ status: code, output }));
    };
    timer = setTimeout(() => stop(() => resolve({ failure: 'timeout' })), program.limit ?? LIMIT);
    signal.addEventListener('abort', onAbort, { once: true });
    child.once('error', () => done(() => resolve({ failure: 'missing' })));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < MAX_OUTPUT) output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text.length;
      if (errors <= MAX_OUTPUT) program.onError?.(text);
    });
    child.once('exit', (code) => {
      status = code ?? 1;
      if (stopped) return;
      clearTimeout(timer);
      timer = setTimeout(check, DRAIN);
    });
    child.once('close', check);
    // It may end before it has read everything: EPIPE.
    child.stdin.on('error', () => {}).end(program.input);
  });
}
