import type { Entry } from '../cli/terminal/output';
import { describe } from '../keep/kept';
import { tryRescue } from '../keep/rescue';
import { RescueStore } from '../keep/rescue-store';
import type { Output } from '../platform/context';
import {
  asCliError,
  attempt,
  CliError,
  type EndingSignal,
  type ErrorCode,
  endedBy,
  endings,
  failedError,
  phrase,
} from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import type { Instance } from '../profile/connect';
import { childOf, startFailure } from './child-inputs';
import { commandProgram } from './command-program';
import { maskedOutput } from './mask-output';

export interface SettingPlan {
  readonly words: readonly [string, ...string[]];
  /** The secret is in this variable; undefined for standard input. */
  readonly variable: string | undefined;
}

export interface Setter extends SettingPlan {
  readonly file: string;
}

/** @throws ExitWith as `commandProgram` does */
export async function findSetter(entry: Entry, plan: SettingPlan): Promise<Setter> {
  return { ...plan, file: await commandProgram(entry, plan.words[0], 'nothing was sent') };
}

/** A push would share these failures. Others may be those of a token that can do nothing but push. */
const SHARED: readonly ErrorCode[] = [
  'unauthorized',
  'unreachable',
  'rate_limited',
  'unknown',
  'failed',
];

/** A request with the token shows whether the instance takes pushes: no secret is set that cannot be pushed. */
async function checkInstance({ api, target }: Instance): Promise<void> {
  const response = await attempt<unknown>(() =>
    target.token === undefined ? api.version() : api.list('active', 1),
  );
  if (response instanceof CliError && SHARED.includes(response.code))
    throw response.and(phrase('command-not-started'));
}

/** No secret is set that would be lost if the push failed. */
async function checkSafe({ context }: Entry): Promise<void> {
  const checked = await attempt(() => tryRescue(context));
  if (checked instanceof CliError)
    throw failedError([phrase('secret-unsavable'), phrase('nothing-started')], {
      hints: phrase('set-state-dir'),
      cause: checked,
    });
}

/** @throws CliError that says where the value was saved, unless the command was not started */
export async function setFirst(entry: Entry, setter: Setter, instance: Instance, value: string) {
  await checkInstance(instance);
  await checkSafe(entry);
  const { context } = entry;
  const store = new RescueStore(context);
  const keep = lazy(() => store.keep({ part: 'new value', bytes: value }));
  // Until the command has ended, it is not known whether there is something to keep.
  const leave = context.interrupts.enter({ mode: 'own' });
  const { status, signal } = await commandEnd(entry, setter, value, keep);
  if (signal !== undefined || status !== 0) throw describe(notSet(status, signal), await keep());
  leave();
  return {
    lost: async (error: unknown): Promise<CliError> => {
      const failure = asCliError(error);
      const succeeded = failure.with({ facts: phrase('command-succeeded') });
      return describe(succeeded, await keep()).and(...failure.facts);
    },
  };
}

/**
 * Returns how the command ended, and the first signal to this program until then, at which the value is saved: another
 * one may end the program.
 */
async function commandEnd(
  entry: Entry,
  { file, words, variable }: Setter,
  value: string,
  keep: () => unknown,
): Promise<{ readonly status: number; readonly signal: EndingSignal | undefined }> {
  const { context } = entry;
  const [name] = words;
  let signal: EndingSignal | undefined;
  const signalled = (received: string) => {
    if (!(received in endings)) return;
    signal ??= received as EndingSignal;
    keep();
  };
  const inputs =
    variable === undefined
      ? { variables: new Map<string, string>(), input: value }
      : { variables: new Map([[variable, value]]), input: undefined };
  const stderr = lines(context.stderr);
  // Standard output is for the link.
  const masked = await maskedOutput(entry, [{ name, text: value }], { stdout: stderr, stderr });
  if (context.signal.aborted) throw endedBy(context.signal);
  const program = { file, words, allow: [] };
  const child = { ...childOf(program, inputs, context), output: masked.output, signalled };
  const status = await context.runChild(child).catch((error) => {
    throw startFailure(error, name).and(phrase('nothing-pushed'));
  });
  await masked.end();
  await stderr.end();
  if (context.signal.aborted) signal ??= context.signal.reason as EndingSignal;
  return { status, signal };
}

/** A line that the command leaves open on standard error is ended before anything else is printed there. */
function lines(stderr: Output) {
  let open = false;
  return {
    isTTY: stderr.isTTY,
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
  const facts = [phrase('command-ended', status), phrase('nothing-pushed')];
  const hints = phrase('value-may-be-set');
  if (signal === undefined) return failedError(facts, { hints });
  const code = endings[signal];
  return new CliError(code, [phrase(code), ...facts], { hints });
}
