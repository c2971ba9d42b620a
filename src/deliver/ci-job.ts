import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open as openFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Entry } from '../cli/terminal/output';
import { variablesSet } from '../cli/terminal/wording';
import { failedError, phrase } from '../platform/errors';
import { isPlanted, type User } from '../platform/files/owner';
import { githubMask } from '../platform/surroundings';
import { type Destination, linkTarget, noFollow, planted, unwritable } from './destination';

export interface JobEntry {
  readonly name: string;
  readonly isVariable: boolean;
  readonly file: string;
}

/** @throws CliError (usage) for a file that another user prepared */
export async function ciDestination(
  { context, say }: Entry,
  entries: readonly JobEntry[],
): Promise<Destination> {
  const files: { readonly file: FileHandle; readonly name: string }[] = [];
  const close = async () => {
    for (const { file } of files) await file.close().catch(() => {});
  };
  try {
    for (const { name, file } of entries)
      files.push({ file: await appending(file, context.uid), name });
  } catch (error) {
    await close();
    throw error;
  }
  const variables = entries.flatMap(({ name, isVariable }) => (isVariable ? [name] : []));
  return {
    commit: async (bytes) => {
      const text = bytes.toString();
      try {
        if (text.includes('\0')) throw failedError(phrase('text-with-nul'));
        // The runner must mask the text before anything can print it.
        await context.stdout.write(maskCommands(text));
        for (const { file, name } of files) await append(file, heredoc(name, text));
        if (variables.length > 0) await say.note(variablesSet(variables));
        return undefined;
      } finally {
        await close();
      }
    },
    discard: close,
  };
}

/**
 * Everybody can write to a folder with this mode bit. The runner's folder belongs to another user in the container of a
 * job, where root may run it.
 */
const EVERYBODY = 0o002;

async function appending(wanted: string, user: User): Promise<FileHandle> {
  const path = linkTarget(wanted, user);
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants;
  let file: FileHandle | undefined;
  try {
    file = await openFile(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | noFollow(path), 0o600);
    if (!isPlanted(await file.stat(), await stat(dirname(path)), user, EVERYBODY)) return file;
  } catch (error) {
    await file?.close();
    throw unwritable(path, error);
  }
  await file.close();
  throw planted(path, 'file');
}

async function append(file: FileHandle, text: string): Promise<void> {
  const { size } = await file.stat();
  const last = Buffer.alloc(1);
  if (size > 0) await file.read(last, 0, 1, size - 1);
  await file.appendFile(size > 0 && last[0] !== 0x0a ? `\n${text}` : text);
}

/** A shorter text, such as a brace, would be masked in every log. */
const SHORTEST_TRIMMED = 4;

/**
 * Returns commands that make the runner of GitHub Actions mask every line of a text in its log, also without the white
 * space around it, as a shell prints `$NAME` without quotes (GitHub, "Workflow commands").
 */
export function maskCommands(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  const trimmed = lines
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_TRIMMED);
  return [...new Set([...lines, ...trimmed])].map(githubMask).join('');
}

/** The delimiter is random, so that no text contains it. */
export function heredoc(name: string, value: string): string {
  const delimiter = `pwpush_${randomBytes(16).toString('hex')}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
