import { inWords } from '../cli/in-words';
import { boundedByInterrupt, breakLine } from '../cli/terminal/bounded-write';
import { meterFor } from '../cli/terminal/transfer-meter';
import type { PushFile } from '../contract/decode';
import type { Context } from '../platform/context';
import { asCliError, attempt, endedBy, failedError, phrase } from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import type { Retrieval } from '../take/retrieval';
import { reserveText } from './destination';
import { askBeforeLoss, type FetchedFiles, fetchFiles, leaveRest, toolsFor } from './download';
import { type Folder, safeName } from './safe-name';
import { copyBody, type DownloadTools, withRetries } from './save-file';

/**
 * Writes the one file of a push to standard output; if that fails, it is saved.
 * @param folder for that, and for the text
 */
export async function fileToStdout(retrieval: Retrieval, folder: Folder): Promise<FetchedFiles> {
  const { context, push, say, signal } = retrieval;
  const [file] = push.files ?? [];
  if (file === undefined) return fetchFiles(retrieval, folder);
  if (push.payload) await say.warn(await textBeside(retrieval, push.payload, folder));
  const meter = meterFor(retrieval, 1);
  const tools = toolsFor(retrieval, meter, 0, safeName(file.filename));
  const asked = askBeforeLoss(retrieval, meter);
  const problem = await attempt(() => writeToStdout(context, file, tools));
  asked();
  await meter.ends();
  if (signal.aborted) {
    const missing = problem ? [file.url] : [];
    return { saved: [], failure: await leaveRest(retrieval, endedBy(signal), { missing }) };
  }
  if (problem === undefined) return { saved: [], failure: undefined };
  const { saved, failure } = await fetchFiles(retrieval, folder);
  const where = failure ? [] : [phrase('whole-file-saved', saved[0]?.path ?? '')];
  const { steps, remains } = failure ?? {};
  const facts = [...problem.facts, ...where];
  return { saved, failure: failedError(facts, { steps, remains, cause: problem }) };
}

async function textBeside(retrieval: Retrieval, bytes: string, folder: Folder): Promise<string> {
  const { push, store } = retrieval;
  const why = phrase('output-is-for-file');
  try {
    const path = await (await reserveText(folder)).commit(bytes);
    return inWords(phrase('text-saved-beside', why, path ?? ''));
  } catch {
    return inWords(await store.rescue(failedError(why), { part: 'text', bytes, push }));
  }
}

/**
 * What was written cannot be taken back, so only a link that has sent nothing yet is tried again.
 * @throws CliError
 */
async function writeToStdout(
  { stdout, stderr, signal }: Pick<Context, 'stdout' | 'stderr' | 'signal'>,
  file: PushFile,
  tools: DownloadTools,
): Promise<undefined> {
  let written = 0;
  let last: number | undefined = 0x0a;
  const write = async (chunk: Uint8Array) => {
    await boundedByInterrupt(stdout.write(chunk), signal).catch((cause) => {
      throw failedError(phrase('stdout-unwritable', whyUnwritable(cause)), { cause });
    });
    written += chunk.byteLength;
    last = chunk.at(-1) ?? last;
  };
  await withRetries(tools, async (resume) => {
    const response = await tools.openFile(file.url, resume);
    tools.progress.begins(response.length);
    await copyBody(response, tools, write).catch((cause) => {
      if (written === 0) throw cause;
      throw failedError(phrase('output-in-part', ...asCliError(cause).facts), { cause });
    });
  }).finally(() => last === 0x0a || breakLine(stderr));
  return undefined;
}
