import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Context } from '../platform/context';
import { CliError, endedBy, endings, exitStatus, usageError } from '../platform/errors';
import { findProgram, withoutOurs } from '../platform/find-program';
import { folderInMemory } from '../platform/memory-folder';
import { commandWords } from './command-words';

/** Arguments for an editor of the vi family, so that it keeps no copy in a folder of its own: no swap, undo, backup and history. */
const VIM = ['-n', '-i', 'NONE', '-c', 'set nobackup nowritebackup noundofile'];

/**
 * Lets the user write a text in `$VISUAL` or `$EDITOR`, in a file in memory of which nothing is left.
 * @returns its bytes
 * @throws CliError (usage) without an editor or a file system in memory, and if the editor fails
 */
export async function edited(context: Context): Promise<Buffer> {
  const { file, words } = await editorOf(context);
  // Its questions are over; the editor reads the terminal itself.
  context.asked();
  const leave = context.interrupts.enter({ mode: 'own' });
  const folder = folderInMemory(context.env, 'pwpush-');
  if (folder === undefined) throw noMemory();
  try {
    const path = join(folder, 'secret.txt');
    closeSync(openSync(path, 'wx', 0o600));
    if (!context.signal.aborted) {
      const env = withoutOurs(context.env);
      checkEnd(await context.runChild({ file, words: [...words, path], env, terminal: true }));
    }
    if (context.signal.aborted) throw endedBy(context.signal);
    return readFileSync(path);
  } finally {
    destroy(folder);
    leave();
  }
}

async function editorOf(context: Context) {
  const { env } = context;
  const name = env.VISUAL ? 'VISUAL' : 'EDITOR';
  const words = commandWords(env[name] || 'vi', `the variable ${name}`);
  const found = await findProgram(words[0], context);
  if (!('file' in found))
    throw usageError(`cannot start the editor "${words[0]}"`, 'name another one: EDITOR=nano');
  const vim = /^(n?vim|view)\b/.test(basename(realpathSync(found.file)));
  return { file: found.file, words: [...words, ...(vim ? VIM : [])] as const };
}

function noMemory(): CliError {
  return usageError(
    '--edit needs a file system in memory, and this machine has none that is known: a disk would keep the secret',
    'use pwpush push alone: it takes pasted lines',
  );
}

/** @throws CliError for an editor that failed, or was ended by a signal that was passed on to it */
function checkEnd(status: number): void {
  if (status === 0) return;
  const ending = Object.values(endings).find(({ code }) => exitStatus[code] === status);
  if (ending) throw new CliError(ending.code, ending.word);
  throw usageError(`the editor ended with status ${status}; nothing was sent`);
}

/** Overwrites all files in a folder, and removes it. */
function destroy(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile()) overwrite(path, found.size);
  }
  rmSync(folder, { recursive: true, force: true });
}

function overwrite(path: string, size: number): void {
  try {
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(size), 0, size, 0);
    closeSync(file);
  } catch {
    // It is removed all the same.
  }
}
