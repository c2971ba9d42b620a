import type { Socket } from 'node:net';
import type { ProbedConnection } from '../../client/transport/probe';
import type { Context } from '../../context';
import type { InstanceVersion } from '../../contract';
import type { CliError } from '../../errors';
import type { GlobalOptions } from '../../options';
import type { Target } from '../../profile/target';

/** What the checks learn on their way; each may count on what those it needs have found. */
export interface Facts {
  target?: Target;
  way?: ProbedConnection;
  socket?: Socket;
  /** The answers to one question for the version, redirects included. */
  answers?: readonly Answered[];
  /** What came of that question. */
  asked?: InstanceVersion | CliError;
}

/** A fact that a check has by what it needs. */
export function known<T>(fact: T | undefined): T {
  if (fact === undefined) throw new Error('a check was made before what it needs');
  return fact;
}

export interface Answered {
  readonly status: number;
  readonly location: string | undefined;
  /** The `Date` header. */
  readonly date: string | undefined;
  /** When it came, by the clock of this machine. */
  readonly at: Date;
}

/** What a check found, when it did not fail. */
export interface Finding {
  readonly status?: 'warning' | 'skipped';
  readonly message: string;
  readonly hint?: string | undefined;
}

/** One thing that can be right or wrong. It fails by rejecting with a `CliError`. */
export interface Check {
  readonly name: string;
  /** Nothing can be said without these. */
  readonly needs: readonly string[];
  examine(facts: Facts, context: Context, options: GlobalOptions): Finding | Promise<Finding>;
}
