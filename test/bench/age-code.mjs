// src/age as one module, for the benches that call it.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Returns the address of the module, which is written into a folder. */
export async function buildAge(folder) {
  const input = fileURLToPath(new URL('../../src/age/age.ts', import.meta.url));
  const bundle = await rolldown({ input: { age: input }, platform: 'node' });
  await bundle.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
  return pathToFileURL(join(folder, 'age.mjs')).href;
}
