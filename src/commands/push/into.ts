import { existsSync } from 'node:fs';
import { generate, parseGenerate } from '../../cli/random-secret';
import { tryRescue } from '../../keep/rescue';
import { newSafe } from '../../keep/safekeeping';
import type { Output } from '../../platform/context';
import {
  asCliError,
  attempt,
  CliError,
  type EndingSignal,
  type ErrorCode,
  endedBy,
  endings,
  failedError,
  usageError,
} from '../../platform/errors';
import { lazy } from '../../platform/files/lazy';
import type { Instance } from '../../profile/connect';
import type { Session } from '../../profile/session';
import { childOf, startFailure } from '../../run/child-inputs';
import { commandProgram } from '../../run/command-program';
import { isVariableName } from '../../run/dotenv';
import { maskedOutput } from '../../run/mask-output';
import { isUnsafe } from '../../run/unsafe-variables';
import type { CreatedPush } from '../../send/create-push';
import type { PushOptions } from './push-flags';

/** A secret that a command sets before it is pushed. */
export interface Change {
  value(): Promise<string>;
  /**
   * Has the command set it, and pushes it then. Does nothing if the instance would not take it.
   * @throws CliError which says where the secret was saved, unless the command was not started
   */
  before(instance: Instance, push: () => Promise<CreatedPush>): Promise<CreatedPush>;
}

/**
 * Checks what can be checked before there is a secret, and finds the program.
 * @throws CliError (usage) for no command, a name that is invalid or unsafe, and a file that exists; ExitWith as `commandProgram` does
 */
export async function checkedChange(session: Session, options: PushOptions): Promise<Change> {
  const { as, command: [name, ...args] = [] } = options;
  if (name === undefined)
    throw usageError(
      'no command to run',
      'put it after --, for example: pwpush push --generate --into -- ./set-password.sh',
    );
  if (as !== undefined && !isVariableName(as))
    throw usageError(`"${as}" is not a valid variable name`);
  if (as !== undefined && isUnsafe(as))
    throw usageError(`${as} would change what is loaded and run`);
  const exists = [options.passphraseOut, options.keyOut].find((path) => path && existsSync(path));
  if (exists !== undefined)
    throw usageError(`"${exists}" already exists; nothing was sent`, 'choose a new file');
  const file = await commandProgram(session, name, 'nothing was sent');
  const value = lazy(() => generate(parseGenerate(options.generate ?? true)));
  const program = { file, words: [name, ...args], allow: [] } as const;
  return {
    value,
    before: async (instance, push) => {
      await checkInstance(instance);
      await checkSafe(session);
      const setter = { program, as, value: await value() };
      return setAndPush(session, setter, push);
    },
  };
}

/** Failures that a push would share. Others may be those of a token that can do nothing but push. */
const SHARED: readonly ErrorCode[] = [
  'unauthorized',
  'unreachable',
  'rate_limited',
  'unknown',
  'failed',
];

/** Asks the instance something, with the token, so that nothing is set that cannot be pushed. */
async function checkInstance({ api, target }: Instance): Promise<void> {
  const response = await attempt<unknown>(() =>
    target.token === undefined ? api.version() : api.list('active', 1),
  );
  if (response instanceof CliError && SHARED.includes(response.code))
    throw response.and('the command was not started');
}

/** Nothing is set that would be lost if the push failed. */
async function checkSafe({ context }: Session): Promise<void> {
  const checked = await attempt(() => tryRescue(context));
  if (checked instanceof CliError)
    throw failedError('the secret could not be saved if that failed; nothing was started', {
      steps: 'make the state folder writable, or set PWPUSH_STATE_DIR',
      cause: checked,
    });
}

interface Setter {
  readonly program: Parameters<typeof childOf>[0];
  /** The variable for the value; undefined for standard input. */
  readonly as: string | undefined;
  readonly value: string;
}

async function setAndPush(
  session: Session,
  setter: Setter,
  push: () => Promise<CreatedPush>,
): Promise<CreatedPush> {
  const { context } = session;
  const safe = newSafe(context);
  const keep = lazy(() => safe.keep({ what: 'secret', called: 'new value', bytes: setter.value }));
  // Until the command has ended, it is not known whether there is something to keep.
  const leave = context.interrupts.enter({ mode: 'own' });
  const { status, signal } = await commandEnd(session, setter, keep);
  if (signal !== undefined || status !== 0) {
    await keep();
    throw safe.explain(notSet(status, signal));
  }
  leave();
  try {
    const created = await push();
    // The instance, too, may return it.
    const { payload: _value, ...object } = created.object;
    return { ...created, object };
  } catch (error) {
    await keep();
    const failure = asCliError(error);
    const { facts } = failure;
    throw safe.explain(failure.with({ facts: 'the command succeeded' })).and(...facts);
  }
}

/** How the command ended, and the first signal to us until then, at which the value is kept: another one may end us. */
async function commandEnd(
  session: Session,
  { program, as, value }: Setter,
  keep: () => Promise<void>,
): Promise<{ readonly status: number; readonly signal: EndingSignal | undefined }> {
  const { context } = session;
  const [name] = program.words;
  let signal: EndingSignal | undefined;
  const signalled = (received: string) => {
    if (!(received in endings)) return;
    signal ??= received as EndingSignal;
    void keep();
  };
  const inputs =
    as === undefined
      ? { variables: new Map<string, string>(), input: value }
      : { variables: new Map([[as, value]]), input: undefined };
  const shown = lines(context.stderr);
  const masked = await maskedOutput(session, [{ name, text: value }], {
    stdout: shown,
    stderr: shown,
  });
  if (context.signal.aborted) throw endedBy(context.signal);
  const child = { ...childOf(program, inputs, context), output: masked.output, signalled };
  const status = await context.runChild(child).catch((error) => {
    const failure = startFailure(error, name);
    throw failure.and('nothing was pushed');
  });
  await masked.end();
  await shown.end();
  if (context.signal.aborted) signal ??= context.signal.reason as EndingSignal;
  return { status, signal };
}

/** Standard output is for the link. A line that is left open is ended, for what follows. */
function lines(stderr: Output) {
  let open = false;
  return {
    write: (bytes: string | Uint8Array) => {
      open = Buffer.from(bytes.slice(-1) as Uint8Array)[0] !== 0x0a;
      return stderr.write(bytes);
    },
    end: async () => {
      if (open) await stderr.write('\n').catch(() => {});
    },
  };
}

function notSet(status: number, signal: EndingSignal | undefined): CliError {
  const ended = `the command ended with status ${status}; nothing was pushed`;
  const hint = 'the command may have set the new value already';
  if (signal === undefined) return failedError(ended, { steps: hint });
  const { code, word } = endings[signal];
  return new CliError(code, `${word}; ${ended}`, { steps: hint });
}
