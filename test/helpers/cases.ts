import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Transcripts: what a person types, sees and gets, as transcript.ts reads it. The first comment of one may say that it
// is run as processes, too or alone. `UPDATE=1` writes what happens now.

export const CASES = join(import.meta.dirname, '../cases');

export const textOf = (name: string) => readFileSync(join(CASES, name), 'utf8');

const all = readdirSync(CASES).filter((name) => name.endsWith('.txt'));
export const alone = all.filter((name) => /^# .*\(as processes\)$/m.test(textOf(name)));
export const also = all.filter((name) => /^# .*\(also as processes\)$/m.test(textOf(name)));
export const inProcess = all.filter((name) => !alone.includes(name));
