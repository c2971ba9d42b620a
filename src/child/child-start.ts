import type { Context } from '../context';
import { CliError } from '../errors';
import { asCliError } from '../terminal/error-message';
import type { Child } from './child';
import type { Outfit } from './child-inputs';

/** What a program that gets secrets is started with. */
export interface Start {
  readonly file: string;
  readonly words: readonly [string, ...string[]];
  /** Variables of ours that it keeps. */
  readonly allow: readonly string[];
}

/** A program gets no key to the sender's instance that it was not given on purpose. */
export function childOf({ file, words, allow }: Start, given: Outfit, { env }: Context): Child {
  const kept = Object.entries(env).filter(
    ([name]) => !ownSecrets.includes(name) || allow.includes(name),
  );
  const { variables, input } = given;
  return {
    file,
    words,
    env: { ...Object.fromEntries(kept), ...Object.fromEntries(variables) },
    ...(input === undefined ? {} : { input }),
  };
}

const ownSecrets = ['PWPUSH_TOKEN', 'PWPUSH_PASSPHRASE'];

/** Why nothing runs. An error of the system is told by its code: its own words could hold arguments. */
export function startFailure(error: unknown, name: string): CliError {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === undefined || !syscall?.startsWith('spawn')) {
    const failure = asCliError(error);
    const { hint, cause } = failure;
    return new CliError(failure.code, `${failure.message}; nothing was started`, { hint, cause });
  }
  const why = code === 'E2BIG' ? 'the secret is too long for a variable' : code;
  return new CliError('failed', `${name} could not be started (${why})`, {
    hint: code === 'E2BIG' ? 'another time use --stdin or --file' : undefined,
    cause: error,
  });
}
