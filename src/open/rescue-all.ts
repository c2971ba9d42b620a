import { isArmored } from '../age/armored';
import { attempt, CliError, joinHints, savedTo } from '../platform/errors';
import { fetchFiles } from './download';
import { rescue, rescueFolder } from './rescue';
import { retrievableAgain } from './retrievable';
import type { RetrievedPush } from './retrieve';

/**
 * Saves texts and files that were retrieved and could not be handed over to the state folder, except for pushes that can
 * be retrieved again; of these, a text that is saved already is named.
 * @param links how many links there are, of which these are the first
 * @returns the failure that led here, extended by where everything is
 */
export async function rescueAll(
  pushes: readonly RetrievedPush[],
  failure: CliError,
  links = pushes.length,
): Promise<CliError> {
  const paths: string[] = [];
  const lost: CliError[] = [];
  const available: string[] = [];
  let secrets = 0;
  for (const [at, push] of pushes.entries()) {
    const again = retrievableAgain(push.push, push.context.now());
    if (again !== undefined) available.push(links === 1 ? again : `link ${at + 1}: ${again}`);
    if (again !== undefined && push.rescued === undefined) continue;
    secrets++;
    const text = await saveText(push);
    const files = again === undefined ? await saveFiles(push) : [];
    for (const saved of [text, ...files]) {
      if (saved instanceof CliError) lost.push(saved);
      else if (saved !== undefined) paths.push(saved);
    }
  }
  const { message, hint, remains } = failure;
  const sentences = [message];
  let cleanUp: string | undefined;
  if (paths.length > 0) {
    sentences.push(
      `${secrets === 1 ? 'the secret was' : 'the secrets were'} saved to ${paths.join(' and ')}`,
    );
    const files = paths.length === 1 ? 'the file' : 'the files';
    const named = paths.map((path) => `'${path}'`).join(' ');
    // What is damaged or was exchanged does not open.
    const sealed =
      failure.code !== 'failed' && pushes.some(({ push }) => isArmored(push.payload ?? ''));
    cleanUp = sealed ? 'with the key, age -d opens it' : `delete ${files} when done: rm ${named}`;
  }
  sentences.push(...available);
  if (lost.length > 0)
    sentences.push(`NOT ALL IS SAVED: ${lost.map((one) => one.message).join('; ')}`);
  const hints = [hint, cleanUp, ...lost.map((one) => one.hint)];
  const all = [...paths, ...[failure, ...lost].flatMap((one) => one.remains?.saved_to ?? [])];
  const command = [failure, ...lost].find((one) => one.command !== undefined)?.command;
  return failure.with({
    command,
    message: sentences.join('; '),
    hint: hints.reduce(joinHints, undefined),
    remains: { ...remains, ...savedTo(all) },
  });
}

/** A path, or why it could not be saved; undefined without a text. */
async function saveText({
  context,
  push,
  rescued,
}: RetrievedPush): Promise<string | CliError | undefined> {
  if (rescued !== undefined) return rescued;
  const text = push.payload ?? '';
  return text === '' ? undefined : attempt(() => rescue(context, 'secret', text));
}

async function saveFiles(retrieved: RetrievedPush): Promise<(string | CliError)[]> {
  if ((retrieved.push.files ?? []).length === 0) return [];
  const path = await attempt(() => rescueFolder(retrieved.context));
  if (path instanceof CliError) return [path];
  const folder = { path, force: false, taken: new Set<string>() };
  const { saved, failure } = await fetchFiles(retrieved, folder);
  return [...saved.flatMap((file) => (file ? [file.path] : [])), ...(failure ? [failure] : [])];
}
