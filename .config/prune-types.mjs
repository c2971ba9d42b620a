// Removes the types that index.d.ts does not reach: tsc writes them for every file that the exported ones import. Comments
// stay where users of the library see them in their editor.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../dist/types', import.meta.url));
/** What the library exports is declared in these. */
const SHOWN = /^(index|client\/(client|file-link|form|link)|contract\/.*|platform\/errors)\.d\.ts$/;
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
  if (!name.endsWith('.d.ts')) continue;
  if (!reached.has(file)) rmSync(file);
  else if (!SHOWN.test(name))
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^ *\/\*\*.*?\*\/\n/gms, ''));
}
