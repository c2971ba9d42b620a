import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What is in the files below a folder, by their paths. */
export const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
