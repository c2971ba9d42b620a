import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The rows of a table below `test/`, with ` | ` between their cells; lines that begin with # are none. */
export const tableOf = (path: string): string[][] =>
  readFileSync(join(import.meta.dirname, '..', path), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
