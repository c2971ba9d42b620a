import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encryptedName } from '../age/manifest';
import { isArmored } from '../age/sealed-with';
import { bytesFrom, bytesOf, placeOf } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import type { Push, PushFile } from '../contract/decode';
import type { Safe } from '../keep/safekeeping';
import { phrase, usageError } from '../platform/errors';
import type { Taking } from './taking';

/**
 * A file that an earlier run saved, as a push that was taken: a text, encrypted or not. Files of an encrypted push are
 * taken from the same folder.
 * @throws CliError (usage) if it cannot be read, or is not a text
 */
export async function takeSaved(run: Entry, path: string): Promise<Taking> {
  const payload = (await bytesOf(path, run.context, 'encrypted text')).toString('utf8');
  if (/^\{"link":/.test(payload))
    throw usageError(`"${path}" is a download to finish`, phrase('resume', path));
  if (/^age-encryption\.org\//.test(payload))
    throw usageError(
      `${placeOf(path)} is a single encrypted file`,
      'open the text that it came with, secret.txt in the same folder, or use age -d',
    );
  const files = isArmored(payload) && path !== '-' ? filesIn(dirname(path)) : [];
  // A file has no more fields of it.
  const push = { payload, files } as Partial<Push> as Push;
  const { context } = run;
  return {
    ...run,
    safe: notNeeded,
    signal: context.signal,
    file: async (file) => ({ length: statSync(file).size, body: bytesFrom(file, context) }),
    taken: { link: '', push, sealed: push, answer: undefined, partial: [], fromFile: true },
  };
}

/** Nothing is lost: the file stays where it is. */
const notNeeded: Safe = {
  resumes: false,
  keep: async () => {},
  hold: async () => {},
  release: async () => {},
  folder: async () => '.',
  explain: (failure) => failure,
};

/** The encrypted files in a folder, whose names `get --no-decrypt` and rescues keep. */
function filesIn(folder: string): PushFile[] {
  const files: PushFile[] = [];
  for (let at = 0; ; at++) {
    const filename = encryptedName(at);
    const url = join(folder, filename);
    if (!statSync(url, { throwIfNoEntry: false })?.isFile()) return files;
    files.push({ filename, url });
  }
}
