// Removes the types that index.d.ts does not reach: tsc writes them for every file that the exported ones import.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../dist/types', import.meta.url));
const reached = new Set();

function reach(file) {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, to] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g))
    reach(join(dirname(file), `${to}.d.ts`));
}

reach(join(root, 'index.d.ts'));
for (const name of readdirSync(root, { recursive: true })) {
  const file = join(root, name);
  if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}
