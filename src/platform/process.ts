import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { lazy } from '../contract/lazy';
import type {
  Context,
  HttpClient,
  HttpSettings,
  PromptStreams,
  TerminalPrompter,
  TerminalSignals,
} from './context';
import { type EndingSignal, endings, exitStatus } from './errors';
import { homeFolder } from './files/user-folder';
import { GRACE, processInterrupts } from './interrupts';
import { version } from './package-version';
import { input, output } from './stdio';

/** Parts of a context that modules outside `platform` implement; each is loaded at its first use. */
export interface Parts {
  http(options: HttpSettings): Promise<HttpClient>;
  prompter(streams: PromptStreams, signals: TerminalSignals): Promise<TerminalPrompter>;
}

/**
 * @param tune is called once the first connection is ready; `many` if several requests may run at once
 * @param launcher the script that Node.js runs; empty for an executable
 */
export function systemContext(
  parts: Parts,
  tune: (many: boolean) => void,
  launcher: readonly string[],
): Context {
  if (process.argv.some((word) => SECRETS.test(word))) hideArguments();
  // At SIGUSR1, Node.js would open its debugger, through which any user could read the memory and run code.
  if (process.platform !== 'win32') process.on('SIGUSR1', () => {});
  const interrupts = processInterrupts(process, leave);
  const { listening } = interrupts;
  const signal = lazy(() => {
    usualCore();
    return interrupts.signal();
  });
  const terminalFd = lazy(controllingTerminal);
  const stdin = input(process);
  const now = () => new Date();
  const sleep = (milliseconds: number) => sleepUntil(milliseconds, signal());
  let asking: TerminalPrompter | undefined;
  const context: Context = {
    version,
    env: process.env,
    platform: process.platform,
    pid: process.pid,
    uid: process.geteuid?.(),
    get home() {
      // node:os takes time to load.
      return homeFolder(process, () => process.getBuiltinModule('node:os').userInfo().homedir);
    },
    stdin,
    stdout: output(process, 1, listening),
    stderr: output(process, 2, listening),
    get signal() {
      return signal();
    },
    interrupts,
    now,
    usage,
    sleep,
    transport: (options) => {
      limitLookups(options.timeout);
      const connected = lazy(() => tune((options.connections ?? 1) > 1));
      return parts.http({ connected, ...options });
    },
    canPrompt: () => stdin.isTTY || terminalFd() !== undefined,
    prompter: async () => {
      asking ??= await prompterFor(parts, signal(), terminalFd);
      return asking;
    },
    hasAsked: () => asking !== undefined,
    releaseTerminal: () => asking?.release(),
    keepingSignals,
    runChild: async (child) => (await children()).runProgram(child, context),
    signalGroup,
    startOwn: async (run) =>
      (await children()).startOwn([process.execPath, ...launcher], run, starting),
    starting,
    quietly,
  };
  return context;
}

const children = () => import('./child');

/** Matches a link, or the `#` before its key, also as mail gateways escape it. */
const SECRETS = /#|%(?:25)*23|:\/\/[^/?]+[/?]./;

/** Overwrites the arguments, which other users can read while a process runs: they may contain the key of a link. */
function hideArguments(): void {
  process.title = 'pwpush';
  if (process.platform !== 'linux') return;
  try {
    // Node.js writes its title over the arguments; other runtimes do not.
    if (!SECRETS.test(readFileSync('/proc/self/cmdline', 'latin1'))) return;
    // Fields 48 and 49 of proc_pid_stat(5), counted from behind the name of the program, which is the second.
    const fields = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [start, end] = [Number(fields[45]), Number(fields[46])];
    const memory = openSync('/proc/self/mem', 'r+');
    const title = Buffer.alloc(end - start);
    title.write('pwpush');
    writeSync(memory, title, 0, title.length, start);
    closeSync(memory);
  } catch {
    // Without /proc the arguments cannot be found.
  }
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {}
}

/** Ends the process after an uncaught error. Its message may contain a secret and is not printed. */
export function crash(error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error;
  process.stderr.write(`pwpush: internal error (${name}); this is a bug in pwpush\n`);
  leave(1);
}

/**
 * Ends the process. `process.exit` waits for system calls of other threads, such as a DNS lookup of 10 s: during one,
 * an interrupted run ends by the signal itself, for which shells report the same status, and any other by becoming a
 * program that ends with it (from Node.js 22.15 on).
 * @param left milliseconds that these may still take
 */
export function leave(status: number, left: number = GRACE.write): void {
  const names = Object.keys(endings) as EndingSignal[];
  const name = names.find((signal) => exitStatus[endings[signal]] === status);
  const calls = name === undefined ? /^GetAddrInfo/ : /^(GetAddrInfo|FSReq)/;
  if (!process.getActiveResourcesInfo().some((resource) => calls.test(resource)))
    process.exit(status);
  if (left > 0) return void setTimeout(leave, 5, status, left - 5);
  if (name !== undefined) {
    process.removeAllListeners(name);
    // It does not end the first process of a container.
    process.kill(process.pid, name);
  }
  quietly(() => become?.(process.execPath, ['node', '-e', `process.exit(${status})`], {}));
  process.exit(status);
}

type Execve = (file: string, words: readonly string[], env: Record<string, string>) => void;
const { execve: become } = process as { readonly execve?: Execve };

/** Without `execve`, the process waits for a lookup: no name server has more time than a response (resolv.conf(5)). */
function limitLookups(seconds: number): void {
  if (!become && seconds < 10) process.env.RES_OPTIONS ??= `timeout:${Math.ceil(seconds / 2)}`;
}

/** Emits SIGTERM, also on Windows, where sending that signal would end the process at once. */
export function terminate(): void {
  if (!process.emit('SIGTERM', 'SIGTERM')) leave(exitStatus.terminated);
}

/** Removes the signal handlers that `load` installs: those of conf would end the process before anything is finished. */
async function keepingSignals<T>(load: () => Promise<T>): Promise<T> {
  const names = Object.keys(endings) as EndingSignal[];
  const before = names.map((name) => process.rawListeners(name));
  const loaded = await load();
  for (const [index, name] of names.entries()) {
    for (const listener of process.rawListeners(name)) {
      if (!before[index]?.includes(listener)) process.removeListener(name, listener as () => void);
    }
  }
  return loaded;
}

async function sleepUntil(milliseconds: number, signal: AbortSignal): Promise<void> {
  const timers = process.getBuiltinModule('node:timers/promises');
  await timers.setTimeout(milliseconds, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}

/** Opens the terminal of this process, which it may have even if stdin is a pipe; undefined without a terminal. */
function controllingTerminal(): number | undefined {
  try {
    return process.platform === 'win32' ? undefined : openSync('/dev/tty', 'r+');
  } catch {
    return undefined;
  }
}

function prompterFor(
  parts: Parts,
  signal: AbortSignal,
  terminalFd: () => number | undefined,
): Promise<TerminalPrompter> {
  const streams = { ...promptStreams(terminalFd), signal };
  const signals = {
    interrupt: () => {
      streams.output.write('^C');
      process.emit('SIGINT', 'SIGINT');
    },
    suspend: process.platform === 'win32' ? undefined : suspend,
  };
  return parts.prompter(streams, signals);
}

/** Stops the whole process group, as a terminal does; the system ignores SIGTSTP if no shell can continue the group. */
const suspend = () => void process.kill(0, 'SIGTSTP');

function promptStreams(terminalFd: () => number | undefined) {
  const { stdin, stderr } = process;
  const fd = stdin.isTTY && stderr.isTTY ? undefined : terminalFd();
  if (fd === undefined) return { input: stdin, output: stderr };
  const { ReadStream, WriteStream } = process.getBuiltinModule('node:tty');
  return {
    input: stdin.isTTY ? stdin : new ReadStream(fd),
    output: stderr.isTTY ? stderr : new WriteStream(fd),
  };
}

function usage() {
  const { user, system } = process.cpuUsage();
  // `constrainedMemory` returns 0 if the system has no limit.
  const most = process.constrainedMemory() || undefined;
  return { resident: process.memoryUsage.rss(), cpu: (user + system) / 1e6, most };
}

/** Drops warnings, such as that node:sqlite is experimental before Node 24. */
function quietly<T>(work: () => T): T {
  return silencing(process, 'emitWarning', () => {}, work);
}

/** Drops what `work` writes to stderr: NODE_DEBUG makes Node print the environment of a child. */
function starting<T>(work: () => T): T {
  const core = usualCore();
  setCore(core);
  try {
    return process.env.NODE_DEBUG ? silencing(process.stderr, 'write', () => true, work) : work();
  } finally {
    setCore(core && '0');
  }
}

/** Says which memory Linux writes to a core file of this process, and of those that it starts (core(5)). */
const CORE_FILTER = '/proc/self/coredump_filter';

function setCore(bits: string | undefined): void {
  if (bits !== undefined) writeFileSync(CORE_FILTER, bits);
}

/** From its first call on, core files have no memory. Returns what was set before; undefined on other systems. */
const usualCore = lazy(() => {
  try {
    const before = `0x${readFileSync(CORE_FILTER, 'latin1').trim()}`;
    setCore('0');
    return before;
  } catch {
    return undefined;
  }
});

function silencing<Owner, Name extends keyof Owner, T>(
  owner: Owner,
  name: Name,
  silent: Owner[Name],
  work: () => T,
): T {
  const method = owner[name];
  owner[name] = silent;
  try {
    return work();
  } finally {
    owner[name] = method;
  }
}
