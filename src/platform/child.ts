import { type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Child } from './context';
import type { Interrupts } from './interrupts';

/** Signals that a key or a resized window sends to every process in the terminal's foreground. */
const keyboard: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/**
 * Runs a program with our own standard streams and waits for its end. Signals that reach us are passed on to it.
 * @param muted calls its argument with stderr muted: NODE_DEBUG=child_process would print the environment
 * @param terminalFd opens the terminal, if there is one
 * @returns its exit status, or 128 plus the number of the signal that ended it, as shells do
 * @throws an error of the system if it cannot be started
 */
export function runChild(
  { file, words, env, input, terminal }: Child,
  interrupts: Interrupts,
  muted: <T>(work: () => T) => T,
  terminalFd: () => number | undefined,
): Promise<number> {
  const [argv0, ...args] = words;
  return new Promise((resolve, reject) => {
    const ours = (fd: number) => (terminal && !isatty(fd) ? (terminalFd() ?? fd) : fd);
    const stdin = input === undefined ? ours(0) : 'pipe';
    const stdio = [stdin, ours(1), ours(2)] satisfies StdioOptions;
    const child = muted(() => spawn(file, args, { argv0, env: { ...env }, stdio }));
    const fromKeyboard = inForeground() ? keyboard : [];
    const takeBack = interrupts.enter({
      mode: 'forward',
      deliver: (signal) => fromKeyboard.includes(signal) || child.kill(signal),
    });
    // Once it runs, an error is about a signal that we may not send to it.
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      takeBack();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      takeBack();
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
    });
    // It may end before it has read everything: EPIPE.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Whether we are in the terminal's foreground group, so that its keys reach the child too (proc_pid_stat(5)). */
function inForeground(): boolean {
  try {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const [, , group, , , foreground] = fields;
    return group === foreground;
  } catch {
    return [0, 1, 2].some((fd) => isatty(fd));
  }
}
