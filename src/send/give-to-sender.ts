import { unlink } from 'node:fs/promises';
import { generateWords } from '../cli/random-secret';
import type { Entry } from '../cli/terminal/output';
import { writeForSender } from '../keep/rescue';
import { usageError } from '../platform/errors';
import type { Undo } from '../platform/scope';

interface Generated {
  readonly what: 'passphrase' | 'key';
  readonly text: string;
  /** A new file for it; else it is shown on stderr. */
  readonly path: string | undefined;
}

/** 64 bits: instances allow a few tries a minute. */
const WORDS = 5;

export function newPassphrase(): Promise<string> {
  return generateWords(WORDS);
}

/** What was generated, for the JSON with the link. */
export type GivenToSender = { readonly [What in Generated['what']]?: string };

/**
 * Gives a passphrase or key to the sender before anything is sent, so that there is no push that nobody can open; with
 * `--json` it is returned, as the object with the link has it. `undo` removes its file.
 * @throws CliError (usage) if it can be neither shown nor written
 */
export async function giveToSender(
  generated: Generated,
  run: Entry,
  undo: Undo,
): Promise<GivenToSender> {
  const { what, path, text } = generated;
  if (path === undefined) {
    if (run.say.manner.json) return { [what]: text };
    await show(generated, run);
    return {};
  }
  writeForSender(path, `${text}\n`);
  undo(() => unlink(path).catch(() => {}));
  return {};
}

async function show({ what, text }: Generated, { context: { stderr } }: Entry): Promise<void> {
  try {
    if (stderr.closed) throw new Error('closed');
    await stderr.write(`${what}: ${text}\n`);
  } catch {
    throw usageError(
      `cannot show the ${what}: cannot write to standard error; nothing was sent`,
      `write it to a file with --${what}-out FILE`,
    );
  }
}
