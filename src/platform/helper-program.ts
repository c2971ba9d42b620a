import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from './context';
import { endedBy } from './errors';
import { raceWithLimit } from './files/abort';
import { apart, findProgram } from './find-program';
import { GRACE } from './interrupts';

export const LIMIT_MS = 10_000;
/** Output is read for this time after the program's end, as an agent that it started may keep the output open. */
const DRAIN_MS = 200;
/** Bounds the memory for standard output and for standard error. */
const MAX_OUTPUT_BYTES = 64 * 1024;

export interface HelperProgram {
  readonly words: readonly [string, ...string[]];
  /** The user chose the program. */
  readonly typed?: boolean;
  readonly input?: string;
  readonly limitMs?: number;
  readonly onError?: (text: string) => void;
}

export type HelperEnd =
  | { readonly status: number; readonly output: string }
  | { readonly failure: 'missing' | 'timeout' };

/**
 * Runs an external program, without a terminal and PWPUSH_* variables, and returns its output. Its process group is
 * ended after `limitMs`, or when the run is interrupted; agents, which leave the group, keep running.
 * @throws CliError when the run is interrupted
 */
export async function runHelper(context: Context, program: HelperProgram): Promise<HelperEnd> {
  const { signal } = context;
  const [name, ...args] = program.words;
  const executable = await findProgram(name, context, program.typed);
  if (signal.aborted) throw endedBy(signal);
  if (!('file' in executable)) return { failure: 'missing' };
  const { file } = executable;
  const child = context.starting(() => spawn(file, args, { ...apart(context), stdio: 'pipe' }));
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), program.limitMs ?? LIMIT_MS);
  child.once('exit', () => clearTimeout(timer));
  const stopped = AbortSignal.any([signal, late.signal]);
  try {
    return await raceWithLimit(ended(child, program, stopped), { signal: stopped }, async () => {
      const interrupted = signal.aborted;
      await endGroup(context, child);
      if (interrupted) throw endedBy(signal);
      return { failure: 'timeout' };
    });
  } finally {
    clearTimeout(timer);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}

/** Never resolves once `stopped` is aborted. */
function ended(
  child: ChildProcessWithoutNullStreams,
  { input, onError }: HelperProgram,
  stopped: AbortSignal,
): Promise<HelperEnd> {
  let output = '';
  let errors = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < MAX_OUTPUT_BYTES) output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text.length;
    if (errors <= MAX_OUTPUT_BYTES) onError?.(text);
  });
  // The program may end before it has read everything (EPIPE).
  child.stdin.on('error', () => {}).end(input);
  return new Promise((resolve) => {
    const end = (how: HelperEnd) => stopped.aborted || resolve(how);
    child.once('error', () => end({ failure: 'missing' }));
    child.once('exit', (code) => {
      const exited = () => end({ status: code ?? 1, output });
      const timer = setTimeout(exited, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(timer);
        exited();
      });
    });
  });
}

async function endGroup({ signalGroup }: Context, { pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  await pause(GRACE.program);
  signalGroup(pid, 'SIGKILL');
}
