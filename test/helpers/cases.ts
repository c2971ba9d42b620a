import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { playInProcess } from './transcript';

// Transcripts: what a person types, sees and gets, as transcript.ts reads it. The first comment of one may say that it
// is run as processes, too or alone, or is slow. `UPDATE=1` writes what happens now.

export const CASES = join(import.meta.dirname, '../cases');

export const textOf = (name: string) => readFileSync(join(CASES, name), 'utf8');

const all = readdirSync(CASES).filter((name) => name.endsWith('.txt'));
const marked = (mark: string) => all.filter((name) => new RegExp(`^# .*\\(${mark}\\)$`, 'm').test(textOf(name)));
export const alone = marked('as processes');
export const also = marked('also as processes');
export const slow = marked('slow');
export const inProcess = all.filter((name) => ![...alone, ...slow].includes(name));

/** In process, or as `UPDATE=1` says. */
export async function asTold(name: string): Promise<void> {
  const told = await playInProcess(textOf(name));
  if (process.env.UPDATE) writeFileSync(join(CASES, name), told);
  else expect(told).toBe(textOf(name));
}
