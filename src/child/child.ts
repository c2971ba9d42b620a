import { type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Environment } from '../context';

/** A program to be run, and what it is given. */
export interface Child {
  /** Path of the program. */
  readonly file: string;
  /** What it was called, and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly env: Environment;
  /** What it reads on standard input; ours when left out. */
  readonly input?: string;
}

/** Has `deliver` hear signals in our place; returns how to end that. */
export type HandOver = (deliver: (signal: NodeJS.Signals) => void) => () => void;

/** What a key or a resized window sends to every process in the terminal's foreground. */
const keyboard: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/**
 * Runs a program with our own standard streams and waits for its end. Signals that reach us go on to it.
 * @param unheard calls it without letting Node print anything: NODE_DEBUG=child_process would print the environment
 * @returns its exit status, or 128 and the number of the signal that ended it, as shells have it
 * @throws an error of the system when it cannot be started
 */
export function runChild(
  { file, words, env, input }: Child,
  handOver: HandOver,
  unheard: <T>(work: () => T) => T,
): Promise<number> {
  const [argv0, ...args] = words;
  return new Promise((resolve, reject) => {
    const stdin = input === undefined ? 'inherit' : 'pipe';
    const stdio = [stdin, 'inherit', 'inherit'] satisfies StdioOptions;
    const child = unheard(() => spawn(file, args, { argv0, env: { ...env }, stdio }));
    const told = inForeground() ? keyboard : [];
    const takeBack = handOver((signal) => told.includes(signal) || child.kill(signal));
    // Once it runs, an error is about a signal that it may not get from us.
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      takeBack();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      takeBack();
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
    });
    // It may end without having read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Whether we belong to the terminal's foreground, so that its keys reach the child too (proc_pid_stat(5)). */
function inForeground(): boolean {
  try {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const [, , group, , , foreground] = fields;
    return group === foreground;
  } catch {
    return [0, 1, 2].some((fd) => isatty(fd));
  }
}
