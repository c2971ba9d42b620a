import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import type { Child, ChildOutput, Context, OwnRun } from './context';
import { endedBy, endings } from './errors';
import { aborted } from './files/abort';
import type { Interrupts } from './interrupts';
import { HANDED_OVER } from './own-run';
import { type OutputPipes, outputPipes } from './pipes';

/** Signals that a key or a resized window sends to every process in the terminal's foreground. */
const keyboard: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/**
 * `runChild` reads output of processes that an ended child left behind until its pipes were idle at CHECKS checks, each
 * CHECK_MS milliseconds after the last.
 */
const CHECK_MS = 100;
const CHECKS = 10;

/** Implements `Context.runChild`. */
export async function runProgram(child: Child, context: Context): Promise<number> {
  const pipes = child.output && (await outputPipes(context));
  // A signal before this line ends our run; `runChild` passes later ones on to the child.
  if (context.signal.aborted) {
    pipes?.close();
    throw endedBy(context.signal);
  }
  return runChild(child, context.interrupts, context.starting, pipes);
}

/** Implements `Context.startOwn`; the first parameter has the words that start this program. */
export function startOwn(
  [file, ...first]: readonly [string, ...string[]],
  { argv, env, input, output, signal }: OwnRun,
  starting: Context['starting'],
): Promise<number> {
  const words = [file, ...first, HANDED_OVER] as const;
  const line = `${JSON.stringify([...argv, input])}\n`;
  const child = { file, words, env, input: line, endsWithInput: true, output };
  const interrupts: Interrupts = {
    owned: false,
    enter: (mode) => {
      if (mode.mode === 'forward') void aborted(signal).then(() => mode.deliver('SIGTERM'));
      return () => {};
    },
  };
  return runChild(child, interrupts, starting, undefined);
}

/**
 * Runs a program with our own standard streams, or with pipes for its output, and waits for its end. Signals that reach
 * us are passed on to it.
 * @param pipes replace the sockets that Node.js makes for output
 * @returns its exit status, or 128 plus the number of the signal that ended it, as shells do
 * @throws an error of the system if it cannot be started
 */
function runChild(
  { file, words, env, input, endsWithInput, output, signalled }: Child,
  interrupts: Interrupts,
  starting: Context['starting'],
  pipes: OutputPipes | undefined,
): Promise<number> {
  const [argv0, ...args] = words;
  return new Promise((resolve, reject) => {
    const stdin = input === undefined ? 0 : 'pipe';
    const [out, err] = output ? (pipes?.fds ?? (['pipe', 'pipe'] as const)) : [1, 2];
    const stdio = [stdin, out, err] satisfies StdioOptions;
    const child = startWith(pipes, () =>
      starting(() => spawn(file, args, { argv0, env: { ...env }, stdio })),
    );
    const { stdout, stderr } = pipes ?? child;
    const fromKeyboard = inForeground() ? keyboard : [];
    const takeBack = interrupts.enter({
      mode: 'forward',
      deliver: (signal) => {
        signalled?.(signal);
        // A process that the ended child left behind may keep the pipes open for ever.
        if (hasEnded(child) && signal in endings) return stop(stdout, stderr);
        if (endsWithInput) child.stdin?.end();
        else if (!fromKeyboard.includes(signal)) child.kill(signal);
      },
    });
    let writes = 0;
    const counted = (write: ChildOutput['stdout']) => async (chunk: Uint8Array) => {
      writes += 1;
      await write(chunk).finally(() => {
        writes -= 1;
      });
    };
    const taken =
      output &&
      Promise.all([take(stdout, counted(output.stdout)), take(stderr, counted(output.stderr))]);
    // After the child has started, an error only says that a signal could not be sent to it.
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      takeBack();
      reject(error);
    });
    child.once('exit', async (code, signal) => {
      const rest = afterChecks(
        () => writes === 0 && (pipes?.areIdle() ?? true),
        () => stop(stdout, stderr),
      );
      await taken;
      clearInterval(rest);
      takeBack();
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
    });
    // The child may end before it has read its input (EPIPE).
    child.stdin?.on('error', () => {});
    if (endsWithInput) child.stdin?.write(input ?? '');
    else child.stdin?.end(input);
  });
}

function afterChecks(isIdle: () => boolean, work: () => void): NodeJS.Timeout {
  let left = CHECKS;
  const timer = setInterval(() => {
    if (isIdle()) left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    work();
  }, CHECK_MS);
  return timer;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null;

function startWith<T>(pipes: OutputPipes | undefined, start: () => T): T {
  try {
    return start();
  } finally {
    pipes?.close();
  }
}

function stop(...streams: readonly (Readable | null)[]): void {
  for (const stream of streams) stream?.destroy();
}

/** Passes output on to `to`. If `to` fails, the pipe is closed, so that the child gets EPIPE at its next write. */
async function take(from: Readable | null, to: ChildOutput['stdout']): Promise<void> {
  try {
    for await (const chunk of from ?? []) await to(chunk);
  } catch {
    stop(from);
  }
}

/** Returns whether this process is in the terminal's foreground group, which its keys signal (proc_pid_stat(5)). */
function inForeground(): boolean {
  try {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    const [, , group, , , foreground] = fields;
    return group === foreground;
  } catch {
    return [0, 1, 2].some((fd) => isatty(fd));
  }
}
