import type { FactName } from '../words/facts';
import type { HintName } from '../words/hints';
import type { Fact, Hint, Named, Phrase } from '../words/phrase';
import { isSystemError, whyUnwritable } from './files/file-error';

export type { Fact, Hint };

export type ErrorCode = keyof typeof exitStatus;

/** The exit status of each error code. pwpush(1) promises both to scripts. */
export const exitStatus = {
  failed: 1,
  usage: 2,
  unauthorized: 3,
  forbidden: 4,
  not_found: 5,
  expired: 6,
  passphrase: 7,
  rejected: 8,
  unreachable: 9,
  rate_limited: 10,
  unknown: 11,
  timeout: 12,
  hung_up: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** What a failed run leaves behind, as fields of the JSON error (pwpush(1), "Output"). */
interface Remains {
  /** The link of a push that was created. It is saved if it cannot be printed, unless the push was expired again. */
  readonly link?: string;
  readonly expired?: boolean;
  readonly saved_to?: string | readonly string[];
}

export interface ErrorDetails {
  /** Names what failed, such as `line 3`, if a run can have several failures. */
  readonly subject?: string | undefined;
  readonly hints?: Hint | readonly Hint[] | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
  /** The unusable body of a retrieval's response may contain the secret, so that it is rescued and never shown. */
  readonly unread?: Uint8Array | undefined;
  /** A later attempt may succeed, though code and status do not say so. */
  readonly passes?: boolean | undefined;
  /** The instance gives the push only to those who prove its key (docs/encryption.md, "Proof of the key"). */
  readonly wantsProof?: WantedProof | undefined;
  /** Set if a push exists or a view was used, and reported even if the run was interrupted. */
  readonly remains?: Remains | undefined;
  /** Counts lines of the input from 1. */
  readonly line?: number | undefined;
}

interface WantedProof {
  /** A proof was sent, and refused. */
  readonly sent: boolean;
  /** The salt with which a key of words is stretched to prove it; undefined where the key of the link is required. */
  readonly salt: string | undefined;
  /** The proof was right for another address than the one at which the link opens. */
  readonly elsewhere: boolean;
}

/** Every error that a user sees is a CliError, as data: `cli/report-error.ts` makes sentences of it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly facts: readonly Fact[];
  readonly hints: readonly Hint[];
  declare readonly subject: ErrorDetails['subject'];
  declare readonly status: ErrorDetails['status'];
  declare readonly unread: ErrorDetails['unread'];
  declare readonly passes: ErrorDetails['passes'];
  declare readonly wantsProof: ErrorDetails['wantsProof'];
  declare readonly remains: ErrorDetails['remains'];
  declare readonly line: ErrorDetails['line'];

  constructor(
    readonly code: ErrorCode,
    facts: Fact | readonly Fact[],
    { cause, hints = [], ...details }: ErrorDetails = {},
  ) {
    const all = [facts].flat() as readonly Fact[];
    super(all.map((fact) => (typeof fact === 'string' ? fact : fact.name)).join('; '), { cause });
    this.facts = all;
    this.hints = [hints].flat() as readonly Hint[];
    Object.assign(this, details);
  }

  /** An interrupted run still reports it: a push exists, or a view was used or may have been. */
  get outlastsInterrupt(): boolean {
    return this.remains !== undefined || this.code === 'unknown';
  }

  with({
    code = this.code,
    facts = this.facts,
    ...changes
  }: ErrorDetails & {
    readonly code?: ErrorCode;
    readonly facts?: Fact | readonly Fact[];
  }): CliError {
    const { name: _, code: __, facts: ___, ...kept }: CliError = this;
    return new CliError(code, facts, { ...kept, cause: this, ...changes });
  }

  and(...facts: readonly Fact[]): CliError {
    return this.with({ facts: [...this.facts, ...facts] });
  }

  advising(...hints: readonly Hint[]): CliError {
    return this.with({ hints: [...this.hints, ...hints] });
  }

  get exitStatus(): number {
    return exitStatus[this.code];
  }
}

export const phrase = <const Name extends FactName | HintName>(
  name: Name,
  ...of: Named<Name>
): Phrase<Name> => ({ name, of });

/** Returns an error about options or input, before anything was sent. */
export function usageError(facts: Fact | readonly Fact[], hints?: Hint): CliError {
  return new CliError('usage', facts, { hints });
}

export function failedError(facts: Fact | readonly Fact[], details?: ErrorDetails): CliError {
  return new CliError('failed', facts, details);
}

/** Turns any error into a CliError: an error of another class becomes `failed`, without its message. */
export function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string') {
    // Only a write to standard output has no path.
    const output = syscall === 'write' && path === undefined;
    const what = typeof path === 'string' ? `${syscall} ${path}` : syscall;
    const fact = output
      ? phrase('stdout-unwritable', whyUnwritable(code))
      : phrase('detailed', what, code);
    return failedError(fact, { cause: error });
  }
  // A message of the engine can quote what was being read ("hunter2" is not valid JSON).
  const name = error instanceof Error ? error.name : typeof error;
  return failedError(phrase('internal-error', name), {
    hints: phrase('report-bug'),
    cause: error,
  });
}

export function reasonOf(error: unknown): Fact {
  return isSystemError(error)
    ? whyUnwritable(error)
    : phrase('together', ...asCliError(error).facts);
}

/** Ends the run with a status after everything has been reported. */
export class ExitWith extends Error {
  override readonly name = 'ExitWith';

  constructor(readonly status: number) {
    super('exit');
  }
}

export function statusOf(error: unknown): number {
  return error instanceof ExitWith ? error.status : asCliError(error).exitStatus;
}

/**
 * Each signal that ends a run has an error code, which is also the name of its fact: all signals that would end the
 * process by default and that a program may handle, but those of a fault of the program itself, such as SIGSEGV.
 */
export const endings = {
  SIGTERM: 'terminated',
  SIGINT: 'interrupted',
  SIGHUP: 'hung_up',
  SIGABRT: 'terminated',
  SIGALRM: 'terminated',
  SIGBREAK: 'terminated',
  SIGIO: 'terminated',
  SIGPROF: 'terminated',
  SIGPWR: 'terminated',
  SIGQUIT: 'terminated',
  SIGSTKFLT: 'terminated',
  SIGUSR2: 'terminated',
  SIGVTALRM: 'terminated',
  SIGXCPU: 'terminated',
} as const;
export type EndingSignal = keyof typeof endings;

export function endedBy({ reason }: AbortSignal): CliError {
  const code = endings[reason as EndingSignal] ?? endings.SIGINT;
  return new CliError(code, phrase(code));
}

export function savedTo([first, ...others]: readonly string[]): Pick<Remains, 'saved_to'> {
  if (first === undefined) return {};
  return { saved_to: others.length === 0 ? first : [first, ...others] };
}

export function tried<T>(work: () => T): T | CliError {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

/** Even a bug is returned instead of thrown, so that the rest of the push is still saved. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | CliError> {
  try {
    return await work();
  } catch (error) {
    return asCliError(error);
  }
}
