import type { Child } from './child/child';
import type { ClosableTransport } from './client/transport/transport';
import type { TransportOptions } from './client/transport/undici';
import type { ProfileStore } from './profile/store';
import type { Prompter } from './terminal/prompt';

/** Bytes coming in: standard input. */
export interface Input {
  readonly isTTY: boolean;
  bytes(): AsyncIterable<Uint8Array>;
  /** The file it is redirected from, and how far that was read; undefined for a pipe, or when not known. */
  file?(): { readonly fd: number; readonly start: number } | undefined;
}

/** Text or bytes going out: standard output or standard error. */
export interface Output {
  readonly isTTY: boolean;
  /** Columns of the terminal; 80 when there is none. */
  readonly columns: number;
  /** The stream was closed before we started, so that what is written would vanish without an error. */
  readonly closed: boolean;
  /** Resolves once handed to the system; rejects when that fails (EPIPE, ENOSPC). */
  write(data: string | Uint8Array): Promise<void>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * All that a command may touch. `system.ts` makes the real one, tests make theirs; nothing else in src
 * knows the process it runs in. Whatever is heavy stands behind a function and is loaded when called.
 */
export interface Context {
  readonly version: string;
  readonly env: Environment;
  readonly platform: string;
  /** Of this process. */
  readonly pid: number;
  readonly home: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by SIGINT, SIGTERM and SIGHUP; `reason` is the signal's name. */
  readonly signal: AbortSignal;
  /** The same, and from now on the command itself ends properly when it aborts; one more signal ends it at once. */
  takeSignals(): AbortSignal;
  /** Whether a command did. */
  readonly signalsTaken: boolean;
  /** Has `listener` called at each SIGHUP, which ends the process no more. */
  onHangup(listener: () => void): void;
  now(): Date;
  /** What this process uses: bytes of memory, seconds of the processor. */
  usage(): { resident: number; cpu: number };
  /** Resolves after so many milliseconds; rejects when `signal` aborts. */
  sleep(milliseconds: number): Promise<void>;
  transport(options: TransportOptions): Promise<ClosableTransport>;
  /** Whether somebody could answer: a terminal is reachable, even when stdin and stdout are pipes. */
  canPrompt(): boolean;
  prompter(): Promise<Prompter>;
  /** Nothing more is asked for now: the terminal is given back, as it was before the first question. */
  asked(): void;
  profiles(): Promise<ProfileStore>;
  /** Runs a program to its end and returns its status; signals go to it meanwhile. Rejects when it cannot be started. */
  runChild(child: Child): Promise<number>;
  service(): Promise<typeof import('./server/service')>;
  /** What looks at the parts of the way to an instance. */
  probe(): Promise<typeof import('./client/transport/probe')>;
  /** Runs `work` without letting Node print its warnings about experimental parts. */
  quietly<T>(work: () => T): T;
}
