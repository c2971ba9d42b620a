import { type StdioOptions, spawn } from 'node:child_process';
import type { Context } from '../context';
import { findProgram } from './find-program';

/** A program and its arguments. */
export type Words = readonly [string, ...string[]];
type World = Pick<Context, 'env' | 'platform'>;

/** Milliseconds that a program may take. */
const LIMIT = 5000;

/**
 * Has a program read a text, and answers whether it took it. One that stays in the background, as those do that
 * own a selection, is not waited for.
 */
export async function feed(
  world: World,
  words: Words,
  input: string | Uint8Array,
): Promise<boolean> {
  const child = await start(world, words, ['pipe', 'ignore', 'ignore']);
  // It may end without having read everything.
  child?.stdin?.on('error', () => {}).end(input);
  return new Promise((resolve) => {
    if (!child) return resolve(false);
    child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
  });
}

/** What a program writes; undefined when there is none, or it fails. */
export async function ask(world: World, words: Words): Promise<string | undefined> {
  const child = await start(world, words, ['ignore', 'pipe', 'ignore']);
  const chunks: Buffer[] = [];
  child?.stdout?.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    if (!child) return resolve(undefined);
    const told = (code: number | null) =>
      resolve(code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined);
    child.once('error', () => resolve(undefined)).once('close', told);
  });
}

async function start({ env, platform }: World, [name, ...words]: Words, stdio: StdioOptions) {
  const found = await findProgram(name, { env, platform });
  if (!('file' in found)) return undefined;
  return spawn(found.file, words, {
    stdio,
    // Such a program needs no key of ours.
    env: Object.fromEntries(Object.entries(env).filter(([one]) => !/^PWPUSH_/.test(one))),
    timeout: LIMIT,
    windowsHide: true,
    // Out of the terminal's reach: Control-C is for us, and what was copied outlives the window.
    detached: platform !== 'win32',
  });
}
