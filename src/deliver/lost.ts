import { resolve } from 'node:path';
import { isArmored } from '../age/sealed-with';
import { type LostPush, type LostRest, type Safe, whyGone } from '../keep/safekeeping';
import type { Taking } from '../take/taking';
import type { PartialFiles } from './partial-files';
import type { Folder } from './safe-name';

/**
 * What another run needs to get the rest.
 * @param missing addresses of files
 * @param folder where the others are; left out for a file that went to standard output
 */
export function lostRest(
  { signal, taken }: Taking,
  missing: readonly string[],
  folder?: Folder,
  partial?: PartialFiles,
): LostRest {
  const { answer, link, push, sealed } = taken;
  const isAnswer = answer !== undefined;
  return {
    what: 'rest',
    push,
    gone: whyGone(push, isAnswer),
    missing: missing.length,
    interrupted: signal.aborted,
    download: {
      link,
      // The text was printed or saved before, and armor is needed to open the files.
      push: isArmored(sealed.payload ?? '') ? sealed : { ...sealed, payload: '' },
      saved: (sealed.files ?? []).map(({ url }) => url).filter((url) => !missing.includes(url)),
      answer: isAnswer,
      folder: folder && { ...folder, path: resolve(folder.path), taken: [...folder.taken] },
      partial: partial?.list() ?? [],
    },
  };
}

/** @param subject which of several it is: `link 2` */
export function lostPush(taking: Taking, subject?: string): LostPush {
  const { push, sealed } = taking.taken;
  const saveFiles = async (path: string, safe: Safe) => {
    const { fetchFiles } = await import('./download');
    const folder = { path, force: false, taken: new Set<string>() };
    const { saved, failure } = await fetchFiles({ ...taking, safe }, folder);
    return { paths: saved.flatMap((file) => file?.path ?? []), failure };
  };
  return { what: 'push', subject, push, sealed, saveFiles };
}

/** Has pushes kept, one after the other. */
export async function keepPushes(
  { keep }: Safe,
  takings: readonly Taking[],
  links = takings.length,
): Promise<void> {
  for (const [at, taking] of takings.entries())
    await keep(lostPush(taking, links > 1 ? `link ${at + 1}` : undefined));
}
