import type { Context, Environment } from '../platform/context';
import { usageError } from '../platform/errors';
import { type GlobalOptions, isOn } from './options';

/** Variables that coding agents set for the programs that they run. What these print becomes part of a transcript. */
export const MARKERS = [
  'AI_AGENT',
  'AGENT',
  'CLAUDECODE',
  'CODEX_THREAD_ID',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'COPILOT_CLI',
  'OPENCODE',
  'QWEN_CODE',
  'CLINE_ACTIVE',
  'AUGMENT_AGENT',
] as const;

/** The variable by which an agent is known to run us; undefined without one. */
export function agentMarker(env: Environment): string | undefined {
  return MARKERS.find((name) => isOn(env[name]));
}

type Guarded = Pick<Context, 'guard'>;

/** Whether no secret must be printed. */
export async function isGuarded({ guard }: Guarded): Promise<boolean> {
  return (await guard?.()) !== undefined;
}

/**
 * Refuses to print a secret that an agent would read. Call it before anything is made, asked or used up.
 * @param what would be printed
 * @param instead what to do that does not print it
 * @throws CliError (usage)
 */
export async function refuseToPrint(
  { guard }: Guarded,
  what: string,
  instead: string,
): Promise<void> {
  const why = await guard?.();
  if (why === undefined) return;
  throw usageError(`${why}: ${what} is not printed`, `${instead}; --reveal prints it all the same`);
}

interface GeneratingOptions extends Pick<GlobalOptions, 'json' | 'quiet'> {
  readonly generate?: string | true;
  /** It goes to a command, and is never printed. */
  readonly into?: boolean;
  readonly generatePassphrase?: boolean;
  readonly passphraseOut?: string;
  readonly keyOut?: string;
  readonly dryRun?: boolean;
}

/**
 * Refuses to generate a secret that would be printed where an agent reads it.
 * @param words whether the words of a key are generated
 * @throws CliError (usage)
 */
export async function refuseGenerated(
  context: Pick<Context, 'guard'>,
  { json, quiet, dryRun = false, ...options }: GeneratingOptions,
  words = false,
): Promise<void> {
  // In a pipe the value is not printed, but the same line must not depend on where it prints.
  const printed = !options.into && (json ? !dryRun : !quiet);
  if (options.generate !== undefined && printed)
    await refuseToPrint(
      context,
      'the generated secret',
      json ? 'use --quiet in place of --json' : 'add --quiet',
    );
  if (dryRun) return;
  if (options.generatePassphrase && options.passphraseOut === undefined)
    await refuseToPrint(context, 'the passphrase', 'write it to a file: --passphrase-out FILE');
  if (words && options.keyOut === undefined)
    await refuseToPrint(context, 'the key', 'write its words to a file: --key-out FILE');
}
