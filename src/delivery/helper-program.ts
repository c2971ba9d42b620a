import { type StdioOptions, spawn } from 'node:child_process';
import type { Context } from '../context';
import { findProgram } from './find-program';

/** A program and its arguments. */
export type ProgramWords = readonly [string, ...string[]];
type ProgramContext = Pick<Context, 'env' | 'platform'>;

/** Milliseconds after which a program is ended. */
const LIMIT = 5000;

/**
 * Runs a program with a text as its standard input, and returns whether it succeeded. A child of it that stays in the
 * background, as those do that own an X selection, is not waited for.
 */
export async function feedProgram(
  context: ProgramContext,
  words: ProgramWords,
  input: string | Uint8Array,
): Promise<boolean> {
  const child = await start(context, words, ['pipe', 'ignore', 'ignore']);
  // It may end before it has read everything: EPIPE.
  child?.stdin?.on('error', () => {}).end(input);
  return new Promise((resolve) => {
    if (!child) return resolve(false);
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
  });
}

/** The output of a program; undefined if it is not installed or fails. */
export async function readProgram(
  context: ProgramContext,
  words: ProgramWords,
): Promise<string | undefined> {
  const child = await start(context, words, ['ignore', 'pipe', 'ignore']);
  const chunks: Buffer[] = [];
  child?.stdout?.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    if (!child) return resolve(undefined);
    const closed = (code: number | null) =>
      resolve(code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined);
    child.once('error', () => resolve(undefined)).once('close', closed);
  });
}

async function start(
  { env, platform }: ProgramContext,
  [name, ...words]: ProgramWords,
  stdio: StdioOptions,
) {
  const found = await findProgram(name, { env, platform });
  if (!('file' in found)) return undefined;
  return spawn(found.file, words, {
    stdio,
    // Without our tokens and passphrases.
    env: Object.fromEntries(Object.entries(env).filter(([one]) => !/^PWPUSH_/.test(one))),
    timeout: LIMIT,
    windowsHide: true,
    // In a process group of its own: Control-C is for us, and the clipboard outlives the terminal's window.
    detached: platform !== 'win32',
  });
}
