import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encryptedName } from '../age/manifest';
import { isArmored } from '../age/sealed-with';
import { bytesFrom, bytesOf, placeOf } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import type { Push, PushFile } from '../contract/decode';
import { RescueStore } from '../keep/rescue-store';
import { phrase, usageError } from '../platform/errors';
import { type Retrieval, retrievalOf } from './retrieval';

/**
 * Makes a push of a text that an earlier run saved; if it is encrypted, with the files in its folder.
 * @throws CliError (usage) if it cannot be read, or is not a text
 */
export async function takeSaved(
  { context, say }: Entry,
  path: string,
  linkKey: string | undefined,
): Promise<Retrieval> {
  const payload = (await bytesOf(path, context, 'encrypted text')).toString('utf8');
  if (/^\{"link":/.test(payload))
    throw usageError(`"${path}" is a download to finish`, phrase('resume', path));
  if (/^age-encryption\.org\//.test(payload))
    throw usageError(
      `${placeOf(path)} is a single encrypted file`,
      'open the text that it came with, secret.txt in the same folder, or use age -d',
    );
  const files = isArmored(payload) && path !== '-' ? filesIn(dirname(path)) : [];
  const push = { payload, files } as Partial<Push> as Push;
  const store = new RescueStore(context, 'nothing');
  const openFile = async (file: string) => ({
    length: statSync(file).size,
    body: bytesFrom(file, context),
  });
  return retrievalOf(
    { context, say, store },
    { openFile },
    { link: '', push, linkKey, fromFile: true },
  );
}

/** `get --no-decrypt` and rescues keep the names of encrypted files. */
function filesIn(folder: string): PushFile[] {
  const files: PushFile[] = [];
  for (let index = 0; ; index++) {
    const filename = encryptedName(index);
    const url = join(folder, filename);
    if (!statSync(url, { throwIfNoEntry: false })?.isFile()) return files;
    files.push({ filename, url });
  }
}
