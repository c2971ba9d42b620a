import { rmSync } from 'node:fs';
import type { Entry } from '../cli/terminal/output';
import { lazy } from '../contract/lazy';
import { describe } from '../keep/kept';
import { removeRescued, rescue, writeForSender } from '../keep/rescue';
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
import type { Instance } from '../profile/connect';
import { childOf, startFailure } from './child-inputs';
import { commandProgram } from './command-program';
import { maskedOutput } from './mask-output';

export interface SettingPlan {
  readonly words: readonly [string, ...string[]];
  /** The variable that the command gets the secret in; undefined for standard input. */
  readonly variable: string | undefined;
  /** Files that are written for the sender when the command has ended. */
  readonly files: readonly string[];
}

export interface Setter extends SettingPlan {
  readonly file: string;
}

/** @throws ExitWith as `commandProgram` does */
export async function findSetter(entry: Entry, plan: SettingPlan): Promise<Setter> {
  return { ...plan, file: await commandProgram(entry, plan.words[0], 'nothing was sent') };
}

/** A push would fail with these codes too. Other failures may be those of a token that can only push. */
const SHARED: readonly ErrorCode[] = [
  'usage',
  'unauthorized',
  'unreachable',
  'rate_limited',
  'unknown',
  'failed',
];

/** Sends an HTTP request before the command runs: no secret may be set that the instance would not take. */
async function checkInstance({ api, target }: Instance): Promise<void> {
  const response = await attempt<unknown>(() =>
    target.token === undefined ? api.version() : api.list('active', 1),
  );
  if (response instanceof CliError && SHARED.includes(response.code))
    throw response.and(phrase('command-not-started'));
}

/** Checks before the command runs that the secret could be saved if the push failed. */
async function checkSafe({ context }: Entry): Promise<void> {
  const checked = await attempt(async () => removeRescued(await rescue(context, 'check', '')));
  if (checked instanceof CliError)
    throw failedError([phrase('secret-unsavable'), phrase('nothing-started')], {
      hints: phrase('set-state-dir'),
      cause: checked,
    });
}

/** @throws CliError that says where the value was saved, unless the command was not started */
export async function setFirst(entry: Entry, setter: Setter, instance: Instance, value: string) {
  for (const file of setter.files) {
    writeForSender(file, '');
    rmSync(file);
  }
  await checkInstance(instance);
  await checkSafe(entry);
  const { context } = entry;
  const store = new RescueStore(context);
  const keep = lazy(() => store.keep({ part: 'new value', bytes: value }));
  // Until the command has ended, it is not known whether the value was set and must be saved.
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
 * Returns how the command ended, and the first signal that this program got before. That signal saves the value at
 * once, since another one may end the program.
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
  // The command's standard output goes to stderr, since stdout is for the link.
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

/** Writes to standard error; `end` completes a line that the command left without its line end. */
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
