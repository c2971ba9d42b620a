import type { Interrupts } from './interrupts';

export interface Input {
  readonly isTTY: boolean;
  bytes(): AsyncIterable<Uint8Array>;
  /**
   * Waits a fifth of a second at most for a pipe or file, and drops what it has; `silent` if it is open and has nothing.
   * A terminal and a device have nothing. Without this method, there is nothing either.
   */
  look?(): Promise<'something' | 'nothing' | 'silent'>;
  /** Returns the file that standard input is redirected from, and the position reached; undefined for a pipe. */
  file?(): { readonly fd: number; readonly start: number } | undefined;
}

export interface Output {
  readonly isTTY: boolean;
  /** 80 if the stream is not a terminal. */
  readonly columns: number;
  /** Infinite if the stream is not a terminal. */
  readonly rows: number;
  /** The stream was closed before this process started, so that writes vanish without an error. */
  readonly closed: boolean;
  /** Resolves once the system has the data; rejects on an error (EPIPE, ENOSPC), or if standard output is `closed`. */
  write(data: string | Uint8Array): Promise<void>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A typed text ends with Enter (`lines` and `link`: unless several lines were pasted), or with Ctrl-D (`all`). Of a
 * link, only what follows `#` is hidden.
 */
export type Extent = 'line' | 'lines' | 'all' | 'link';

/** Questions go to the terminal, never to stdout. */
export interface Prompter {
  /** The secret is not shown while typed; it is one line unless `extent` says otherwise. */
  secret(message: string, extent?: Extent): Promise<string>;
  text(message: string, preset?: string): Promise<string>;
  confirm(message: string, preset: boolean): Promise<boolean>;
  choose<T extends string>(message: string, choices: readonly Choice<T>[]): Promise<T>;
}

export interface TerminalPrompter extends Prompter {
  release(): void;
}

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  readonly signal: AbortSignal;
}

/** Keys that a terminal in raw mode no longer handles itself. */
export interface TerminalSignals {
  interrupt(): void;
  /** Stops the process as Ctrl-Z does, and returns when it continues; undefined without job control. */
  readonly suspend?: (() => void) | undefined;
}

export interface Choice<T> {
  readonly name: string;
  /** After the choice, this replaces the list in the line of the question. */
  readonly short: string;
  readonly value: T;
}

export interface Child {
  readonly file: string;
  /** The first word is `argv[0]`. */
  readonly words: readonly [string, ...string[]];
  readonly env: Environment;
  readonly input?: string;
  /** Standard input stays open; closing it, instead of a signal, ends the child. */
  readonly endsWithInput?: boolean;
  /** Receives the child's output, which otherwise goes to our own streams. If a function rejects, its pipe closes. */
  readonly output?: ChildOutput | undefined;
  readonly signalled?: (signal: NodeJS.Signals) => void;
}

export interface OwnRun {
  /** The command line goes through a pipe, as other users can read arguments. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly input: string;
  readonly output: ChildOutput;
  readonly signal: AbortSignal;
}

export interface SavedSecret {
  readonly path: string;
  readonly bytes: number;
  /** The intended file name, if another file has it. */
  readonly wanted?: string | undefined;
}

/** What a run reports to the run of this program that started it. */
export type RunEvent =
  | { readonly event: 'link'; readonly link: string }
  | ({ readonly event: 'saved' } & SavedSecret)
  | { readonly event: 'lost' };

/** The next chunk is read once the promise resolves. */
export type ChildOutput = Readonly<
  Record<'stdout' | 'stderr', (chunk: Uint8Array) => Promise<void>>
>;

/** The names are in lower case. */
export type HeaderFields = Readonly<Record<string, string>>;

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** What belongs to one origin. Another origin, such as that of files, and a proxy are verified, and get nothing of it. */
export interface OriginCredentials {
  readonly origin: string;
  readonly certificate?: ClientCertificate | undefined;
  /** Any certificate of this origin is accepted. */
  readonly insecure?: boolean;
}

/** A request in the shape of undici's `request`: plain objects, as the globals of fetch take 30 ms to load on Node 20. */
export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE';
  /** The address is absolute. Its query may contain a passphrase: never print it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | StreamedBody | undefined;
  /** The HTTP request changes something at the instance, or uses a view, so that its response must not be lost. */
  readonly effect?: boolean;
}

/**
 * A body that is produced while it is sent. It can be iterated again, for a retry after a 429. A chunk is valid until
 * the next one is requested; copy it to keep it.
 */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  readonly length: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Iterating throws a `TransportError` when the response is truncated or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends one request and follows no redirect. Throws a `TransportError` or the error of its body, and nothing else. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

export interface HttpClient {
  readonly send: Transport;
  /** Connects early for the next HTTP request to that address, which connects itself if this fails. */
  open?(url: string): void;
  /** Closes all connections at once: an idle one would keep the process alive. */
  close(): Promise<void>;
}

export interface HttpSettings {
  /** Seconds to connect, to wait for the response, and to wait for each further chunk of it. */
  readonly timeout: number;
  /** PEM certificates trusted in addition to Node's, for the instance and what its links name; not for a proxy. */
  readonly ca?: string | undefined;
  readonly instance?: OriginCredentials | undefined;
  /** The environment names the proxy and `NODE_EXTRA_CA_CERTS`. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that a request with an `effect` may take after an interrupt, if all of it was sent; 0 by default. */
  readonly grace?: number;
  /** Concurrent HTTP requests to one origin; 1 by default. */
  readonly connections?: number | undefined;
  /** Called whenever a connection is ready, before it is used. */
  readonly connected?: () => void;
  /** Whether a connection to an IP address is given up before it is used. A proxy connects where its own rules allow. */
  readonly refuses?: (address: string) => boolean;
}

/**
 * Returns a context that inherits all but the changes: getters, which listen for signals and load modules, are not
 * called. `...` would copy the changes alone.
 */
export function contextWith(context: Context, changes: Partial<Context>): Context {
  return Object.create(context, Object.getOwnPropertyDescriptors(changes));
}

/**
 * All access of a command to the system. `platform/process.ts` makes the real one, tests make theirs; no other file in
 * src uses `process`. Slow modules are loaded by the first call of a function.
 */
export interface Context {
  readonly version: string;
  readonly env: Environment;
  readonly platform: string;
  readonly pid: number;
  /** Undefined on Windows, which has no user IDs. */
  readonly uid: number | undefined;
  /** An absolute path; undefined if the user has none. */
  readonly home: string | undefined;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by each signal of `endings`; `reason` is the signal's name. */
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
  now(): Date;
  /** Memory in bytes and processor seconds that this process uses; `most` is the memory limit of its container. */
  usage(): { resident: number; cpu: number; most?: number | undefined };
  /** Rejects when `signal` aborts. */
  sleep(milliseconds: number): Promise<void>;
  transport(options: HttpSettings): Promise<HttpClient>;
  /** Returns whether there is a terminal to ask the user, even if stdin and stdout are pipes. */
  canPrompt(): boolean;
  /**
   * Returns why no secret may be printed, such as `a coding agent reads this output (CLAUDECODE)`; undefined if one may
   * be, as also without this method.
   */
  guard?(): Promise<string | undefined>;
  prompter(): Promise<Prompter>;
  hasAsked(): boolean;
  /** Restores the terminal as it was before the first question; called after the last question. */
  releaseTerminal(): void;
  /** Loads a module and removes the signal handlers that it installs. */
  keepingSignals<T>(load: () => Promise<T>): Promise<T>;
  /**
   * Runs a program, passes signals on to it, and returns its exit status after the end of the program and of the output
   * that `child` receives. Rejects if it cannot be started.
   */
  runChild(child: Child): Promise<number>;
  /** Sends a signal to a process group, on Windows to its first process; does nothing if that is gone. */
  signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Starts a run of our own program, and returns its exit status. Rejects if it cannot be started. */
  startOwn(run: OwnRun): Promise<number>;
  /** Reports an event to the run that started this one; undefined if a person started it. */
  happened?(event: RunEvent): void;
  /**
   * Calls `work`, which starts a program: NODE_DEBUG does not print its environment, and its core files are as usual.
   */
  starting<T>(work: () => T): T;
  /** Runs `work` without Node's warnings about experimental features. */
  quietly<T>(work: () => T): T;
}
