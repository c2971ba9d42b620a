import { fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Context, Input, Output } from './context';
import { version } from './version';

/** The real world as a `Context`. The only file in src that says `process`. */
export function systemContext(): Context {
  const signal = interruption();
  const now = () => new Date();
  const sleep = (milliseconds: number) => sleepUntil(milliseconds, signal);
  const context: Context = {
    version,
    env: process.env,
    platform: process.platform,
    home: home(),
    stdin: input(),
    stdout: output(1),
    stderr: output(2),
    signal,
    takeSignals: () => signal,
    now,
    sleep,
    transport: async (options) => {
      await compileFaster();
      const { undiciTransport } = await import('./http/undici');
      return undiciTransport(options);
    },
    canPrompt: () => process.stdin.isTTY === true || controllingTerminal() !== undefined,
    prompter: async () => {
      const { inquirerPrompter } = await import('./terminal/prompt');
      return inquirerPrompter({ ...(await promptStreams()), signal });
    },
    profiles: async () => {
      const { confStore } = await keepingSignals(() => import('./profile/conf'));
      const { configFolder } = await import('./profile/place');
      return confStore(configFolder(context), { now, sleep });
    },
    service: () => import('./server/listen'),
    quietly,
  };
  return context;
}

/** `os.homedir` throws where there is neither HOME nor an entry for the user. */
function home(): string {
  try {
    return homedir();
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

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  // Handlers that stay: without ours, those of prompts would end the process by the signal itself.
  for (const [name, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(status);
      controller.abort(name);
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

/**
 * On Node below 22 compiling undici's parser with the optimising compiler as well costs 100 ms that one
 * request never earns back.
 */
async function compileFaster(): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) >= 22) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
}

function input(): Input {
  return {
    get isTTY() {
      return process.stdin.isTTY === true;
    },
    bytes: () => process.stdin,
    file: () => {
      const start = fstatSync(0).isFile() ? openAs(0, 'pos', 10) : undefined;
      return start === undefined ? undefined : { fd: 0, start };
    },
  };
}

function output(fd: 1 | 2): Output {
  const stream = () => {
    const real = fd === 1 ? process.stdout : process.stderr;
    // Failures come back through the callback of each write; unheard events would crash the process.
    if (real.listenerCount('error') === 0) real.on('error', () => {});
    return real;
  };
  return {
    get isTTY() {
      return stream().isTTY === true;
    },
    get columns() {
      return stream().columns || 80;
    },
    get closed() {
      return wasClosed(fd);
    },
    write: (data) =>
      new Promise((resolve, reject) => {
        stream().write(data, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/**
 * Whether a standard stream was closed when we started: Node then opens /dev/null in its place, for reading
 * and writing, and what is written would vanish without an error. A shell's `>/dev/null` is write-only.
 */
function wasClosed(fd: 1 | 2): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const isNull = fstatSync(fd).rdev === 0x103;
    return isNull && ((openAs(fd, 'flags', 8) ?? 0) & 0o3) === 2;
  } catch {
    return false;
  }
}

/** What Linux tells of an open descriptor (proc_pid_fdinfo(5)); undefined where nobody tells. */
function openAs(fd: number, field: 'pos' | 'flags', radix: number): number | undefined {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
    const value = new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1];
    return value === undefined ? undefined : Number.parseInt(value, radix);
  } catch {
    return undefined;
  }
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
