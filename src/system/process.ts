import { openSync } from 'node:fs';
import type { Context } from '../context';
import { once } from '../lazy';
import { version } from '../package-version';
import type { TerminalPrompter } from '../terminal/prompt';
import { input, output } from './stdio';

/**
 * The real world as a `Context`. The only file in src that says `process`.
 * @param tune is called before the first request; `many` tells that others will follow
 */
export function systemContext(tune: (many: boolean) => void = () => {}): Context {
  const signal = once(interruption);
  const now = () => new Date();
  const sleep = (milliseconds: number) => sleepUntil(milliseconds, signal());
  let asking: TerminalPrompter | undefined;
  const context: Context = {
    version,
    env: process.env,
    platform: process.platform,
    pid: process.pid,
    get home() {
      return home();
    },
    stdin: input(process),
    stdout: output(process, 1, () => heard),
    stderr: output(process, 2, () => heard),
    get signal() {
      return signal();
    },
    takeSignals: () => {
      patience = 0;
      return signal();
    },
    get signalsTaken() {
      return patience === 0;
    },
    onHangup: (listener) => {
      hangup = listener;
    },
    now,
    usage,
    sleep,
    transport: async (options) => {
      const { undiciTransport } = await import('../client/transport/undici');
      tune((options.connections ?? 1) > 1);
      return undiciTransport(options);
    },
    canPrompt: () => process.stdin.isTTY === true || controllingTerminal() !== undefined,
    prompter: async () => {
      asking ??= await prompterFor(signal());
      return asking;
    },
    asked: () => asking?.release(),
    profiles: async () => {
      const { confStore } = await keepingSignals(() => import('../profile/store'));
      const { configFolder } = await import('../profile/folders');
      return confStore(configFolder(context), { now, sleep, pid: process.pid, runs });
    },
    runChild: async (child) =>
      (await import('../child/child')).runChild(child, handOverSignals, unheard),
    service: () => import('../server/service'),
    probe: () => import('../client/transport/probe'),
    quietly,
  };
  return context;
}

/** Whether a process of this machine runs, somebody else's too. */
export function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** `os.homedir` throws where there is neither HOME nor an entry for the user. */
function home(): string {
  try {
    return process.getBuiltinModule('node:os').homedir();
  } catch {
    return '/nonexistent';
  }
}

/** Ends the process after an error nobody caught: a bug of ours. Its message may quote a secret and is not told. */
export function crash(error: unknown): never {
  const name = error instanceof Error ? error.name : typeof error;
  process.stderr.write(`pwpush: internal error (${name}); this is a bug of pwpush\n`);
  process.exit(1);
}

/** Signals that interrupt a run, and what it ends with. */
const endings = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Ends the process. Node waits for system calls that other threads are in, such as a look-up of a name that takes
 * its 10 s: an interrupted run then ends by the signal itself, for which shells have the same status.
 */
export function leave(status: number): void {
  const name = Object.entries(endings).find(([, one]) => one === status)?.[0];
  const held = process
    .getActiveResourcesInfo()
    .some((one) => one === 'FSReqCallback' || one === 'GetAddrInfoReqWrap');
  if (name === undefined || !held) process.exit(status);
  process.removeAllListeners(name);
  process.kill(process.pid, name);
  // Still here: the first process of a container is not ended by signals.
  process.exit(status);
}

/** What hears signals in our place, while a child runs. */
let heir: ((signal: NodeJS.Signals) => void) | undefined;

/** Hands every signal to `deliver` from now on, also those that would end or not reach us; returns how to end that. */
function handOverSignals(deliver: (signal: NodeJS.Signals) => void): () => void {
  const unix = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;
  const names = process.platform === 'win32' ? (['SIGBREAK'] as const) : unix;
  heir = deliver;
  for (const name of names) process.on(name, deliver);
  return () => {
    heir = undefined;
    for (const name of names) process.off(name, deliver);
  };
}

/** How long after the first signal a second one ends the process: what must not be lost is saved by then. */
let patience = 1000;
/** Whether signals come to us, and no more end the process by themselves. */
let heard = false;
/** What hears SIGHUP in our place. */
let hangup: (() => void) | undefined;

/** Aborts at the first SIGINT, SIGTERM or SIGHUP; a later one ends the process at once. */
function interruption(): AbortSignal {
  heard = true;
  const controller = new AbortController();
  let since = 0;
  // Handlers that stay: without ours, those of prompts would end the process by the signal itself.
  for (const [name, status] of Object.entries(endings) as [NodeJS.Signals, number][]) {
    process.on(name, () => {
      if (heir) return heir(name);
      if (name === 'SIGHUP' && hangup) return hangup();
      if (!controller.signal.aborted) {
        since = performance.now();
        // The terminal has shown ^C, wherever the cursor was.
        if (name === 'SIGINT' && process.stderr.isTTY) process.stderr.write('\n');
        controller.abort(name);
      } else if (performance.now() - since >= patience) process.exit(status);
    });
  }
  return controller.signal;
}

/**
 * Loads something without the signal handlers it installs: conf's writer would end the process by the
 * signal, and `serve` with it, before anything could be finished.
 */
async function keepingSignals<T>(load: () => Promise<T>): Promise<T> {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGXCPU'] as const;
  const before = names.map((name) => process.rawListeners(name));
  const loaded = await load();
  for (const [at, name] of names.entries()) {
    for (const listener of process.rawListeners(name)) {
      if (!before[at]?.includes(listener)) process.removeListener(name, listener as () => void);
    }
  }
  return loaded;
}

function sleepUntil(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

let terminalFd: number | undefined | null = null;

/** The terminal this process belongs to, even when stdin is a pipe; undefined when there is none. */
function controllingTerminal(): number | undefined {
  if (terminalFd !== null) return terminalFd;
  try {
    terminalFd = process.platform === 'win32' ? undefined : openSync('/dev/tty', 'r+');
  } catch {
    terminalFd = undefined;
  }
  return terminalFd;
}

async function prompterFor(signal: AbortSignal): Promise<TerminalPrompter> {
  const streams = { ...(await promptStreams()), signal };
  const signals = {
    interrupt: () => {
      streams.output.write('^C');
      process.emit('SIGINT', 'SIGINT');
    },
    suspend: process.platform === 'win32' ? undefined : suspend,
  };
  if (process.env.TERM === 'dumb')
    return (await import('../terminal/plain-prompt')).plainPrompter(streams, signals);
  return (await import('../terminal/prompt')).inquirerPrompter(streams, signals);
}

/** Stops the whole job, as a terminal does; where no shell would go on with it, nothing is stopped. */
const suspend = () => void process.kill(0, 'SIGTSTP');

async function promptStreams() {
  if (process.stdin.isTTY && process.stderr.isTTY)
    return { input: process.stdin, output: process.stderr };
  const fd = controllingTerminal();
  if (fd === undefined) return { input: process.stdin, output: process.stderr };
  const { ReadStream, WriteStream } = await import('node:tty');
  return {
    input: process.stdin.isTTY ? process.stdin : new ReadStream(fd),
    output: process.stderr.isTTY ? process.stderr : new WriteStream(fd),
  };
}

function usage() {
  const { user, system } = process.cpuUsage();
  return { resident: process.memoryUsage.rss(), cpu: (user + system) / 1e6 };
}

/** Node warns on stderr about what is experimental (node:sqlite before 24), which is no news for a user. */
function quietly<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Runs `work` while nothing gets to stderr, where NODE_DEBUG has Node write at once. */
function unheard<T>(work: () => T): T {
  if (!process.env.NODE_DEBUG) return work();
  const { stderr } = process;
  const { write } = stderr;
  stderr.write = () => true;
  try {
    return work();
  } finally {
    stderr.write = write;
  }
}
