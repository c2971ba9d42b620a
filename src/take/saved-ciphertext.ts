import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encryptedName } from '../age/manifest';
import { isArmored } from '../age/sealed-with';
import { bytesFrom, bytesOf, placeOf } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import type { Push, PushFile } from '../contract/decode';
import { RescueStore } from '../keep/rescue-store';
import { phrase, usageError } from '../platform/errors';
import type { Retrieval } from './retrieval';

/**
 * A file that an earlier run saved, as a push that was taken: a text, encrypted or not. Files of an encrypted push are
 * taken from the same folder.
 * @throws CliError (usage) if it cannot be read, or is not a text
 */
export async function takeSaved({ context, say }: Entry, path: string): Promise<Retrieval> {
  const payload = (await bytesOf(path, context, 'encrypted text')).toString('utf8');
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
  return {
    context,
    say,
    link: '',
    push,
    sealed: push,
    fromFile: true,
    openFile: async (file) => ({ length: statSync(file).size, body: bytesFrom(file, context) }),
    signal: context.signal,
    // The file stays where it is.
    store: new RescueStore(context, 'nothing'),
  };
}

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
