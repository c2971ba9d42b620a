import type { Context } from '../context';
import type { Push, PushFile } from '../contract';
import { CliError } from '../errors';
import { breakLine } from '../terminal/bounded-write';
import { meterFor } from '../terminal/transfer-meter';
import { TEXT_FILE } from './destination';
import { type Tools, trying, writeThrough } from './download';
import { attempt, fetchFiles, toolsFor } from './fetch-files';
import { type Folder, type NewFile, newFile } from './new-file';
import { handText, type Reception } from './reception';
import { rescued } from './rescued';
import { safeName } from './safe-name';

/** `--output -`: one file goes to standard output; everything else is saved. */
export async function toStdout(
  reception: Reception,
  folder: Folder,
): Promise<CliError | undefined> {
  const { context, push, say } = reception;
  const files = push.files ?? [];
  const [file] = files;
  if (!file || files.length > 1 || context.stdout.isTTY) {
    const trouble = await handText(reception, undefined);
    const fetched = await fetchFiles(reception, folder);
    return trouble ?? fetched.trouble ?? notOne(files.length, folder);
  }
  if (push.payload) await say.warn(await saveText(context, push, folder));
  const meter = meterFor(context, reception.options, { files: 1, total: undefined });
  const tools = toolsFor(reception, meter, 0, safeName(file.filename));
  const problem = await attempt(() => toOutput(file, context, tools));
  const summary = await meter.ends();
  if (context.signal.aborted) return new CliError('interrupted', 'interrupted');
  if (problem === undefined) {
    if (summary !== undefined) await say.note(summary);
    return undefined;
  }
  const fetched = await fetchFiles(reception, folder);
  return new CliError(
    'failed',
    `${problem.message}${fetched.trouble ? '' : `; the whole file was saved to ${fetched.saved[0]?.path}`}`,
    { hint: fetched.trouble?.hint, cause: problem },
  );
}

function notOne(files: number, folder: Folder): CliError {
  const where = folder.path === '.' ? 'the current folder' : folder.path;
  return files === 1
    ? new CliError('failed', `standard output is a terminal; the file was saved to ${where}`)
    : new CliError('failed', `--output - takes one file; the ${files} were saved to ${where}`);
}

async function saveText(context: Context, push: Push, folder: Folder): Promise<string> {
  const taken = 'standard output is for the file';
  const text = push.payload ?? '';
  let file: NewFile | undefined;
  try {
    file = await newFile(folder, TEXT_FILE);
    await file.handle.writeFile(text);
    return `${taken}: the text was saved to ${await file.keep()}`;
  } catch {
    await file?.discard();
    return (await rescued(context, text, 'text', taken, push)).message;
  }
}

/**
 * Writes a file to standard output. What was written cannot be taken back, so that only a link that gave
 * nothing yet is tried again.
 * @throws CliError
 */
async function toOutput(
  file: PushFile,
  { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>,
  tools: Tools,
): Promise<undefined> {
  let written = 0;
  let last: number | undefined = 0x0a;
  const write = async (chunk: Uint8Array) => {
    await stdout.write(chunk).catch(gone);
    written += chunk.byteLength;
    last = chunk.at(-1) ?? last;
  };
  if (stdout.closed) throw new CliError('failed', 'standard output is closed');
  await trying(tools, async () => {
    const answer = await tools.api.openFile(file.url);
    tools.progress.begins(answer.length);
    await writeThrough(answer, tools, write).catch((error: Error) => {
      if (written === 0) throw error;
      throw new CliError('failed', `standard output got part of the file only: ${error.message}`, {
        cause: error,
      });
    });
  }).finally(() => last === 0x0a || breakLine(stderr));
  return undefined;
}

function gone(error: NodeJS.ErrnoException): never {
  throw new CliError('failed', `standard output cannot be written (${error.code})`, {
    cause: error,
  });
}
