import { attempt, fetchFiles } from '../delivery/fetch-files';
import type { Retrieved } from '../delivery/reception';
import { rescue, rescueFolder } from '../delivery/rescue';
import { stillLeft } from '../delivery/rescued';
import { CliError, type Remains } from '../errors';

/**
 * Saves what was retrieved and could not be handed on, texts and files, to the state folder, unless the push can be
 * retrieved again.
 * @param links how many links there are, of which these are the first
 * @returns the failure that led here, which then says where everything is; it ends with its own code
 */
export async function rescueAll(
  pushes: readonly Retrieved[],
  failure: CliError,
  links = pushes.length,
): Promise<CliError> {
  const paths: string[] = [];
  const lost: string[] = [];
  const kept: string[] = [];
  for (const [at, push] of pushes.entries()) {
    const again = stillLeft(push.push);
    if (again !== undefined) {
      kept.push(links === 1 ? again : `link ${at + 1}: ${again}`);
      continue;
    }
    for (const saved of [await saveText(push), ...(await saveFiles(push))]) {
      if (saved instanceof CliError) lost.push(saved.message);
      else if (saved !== undefined) paths.push(saved);
    }
  }
  const { code, message, status, hint } = failure;
  const was = pushes.length - kept.length === 1 ? 'the secret was' : 'the secrets were';
  const told = [
    message,
    ...(paths.length === 0 ? [] : [`${was} saved to ${paths.join(' and ')}`]),
    ...kept,
    ...(lost.length === 0 ? [] : [`NOT ALL IS SAVED: ${lost.join('; ')}`]),
  ];
  const remove = `read it, then remove it: rm ${paths.map((path) => `'${path}'`).join(' ')}`;
  const hints = [...(hint === undefined ? [] : [hint]), ...(paths.length === 0 ? [] : [remove])];
  return new CliError(code, told.join('; '), {
    hint: hints.length === 0 ? undefined : hints.join('; '),
    status,
    cause: failure,
    remains: remainsOf([...paths, ...[failure.remains?.saved_to ?? []].flat()]),
  });
}

function remainsOf(paths: readonly string[]): Remains {
  const [first] = paths;
  if (first === undefined) return {};
  return { saved_to: paths.length === 1 ? first : paths };
}

/** A path, or why it could not be saved; undefined where there is nothing. */
async function saveText({ context, push }: Retrieved): Promise<string | CliError | undefined> {
  const text = push.payload ?? '';
  return text === '' ? undefined : attempt(() => rescue(context, 'secret', text));
}

async function saveFiles(retrieved: Retrieved): Promise<(string | CliError)[]> {
  if ((retrieved.push.files ?? []).length === 0) return [];
  const path = await attempt(() => rescueFolder(retrieved.context));
  if (path instanceof CliError) return [path];
  const { saved, trouble } = await fetchFiles(retrieved, { path, force: false, taken: new Set() });
  return [...saved.flatMap((file) => (file ? [file.path] : [])), ...(trouble ? [trouble] : [])];
}
