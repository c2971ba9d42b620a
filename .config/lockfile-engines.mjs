// The bundler asks for Node.js 20.19 and runs on 20.18.1 all the same, which we promise; npm would leave its binary out
// there without a word.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(path, 'utf8'));
for (const [at, one] of Object.entries(lock.packages))
  if (at.startsWith('node_modules/@rolldown/binding-')) one.engines = undefined;
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
