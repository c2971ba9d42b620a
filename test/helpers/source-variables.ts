import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../../src/', import.meta.url));

/** The variables of the environment that the source names, but for the list of our own, and other words in capitals. */
export function variablesInSource(): string[] {
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path !== 'cli/variables.ts')
    .map((path) => readFileSync(src + path, 'utf8'))
    .flatMap((text) => [...text.matchAll(/\benv\.([A-Z][A-Z_]+)\b|'([A-Z][A-Z_]+)'|^ +(PWPUSH_[A-Z_]+):/gm)]);
  return [...new Set(found.map(([, read, handed, key]) => read ?? handed ?? key ?? ''))].sort();
}
