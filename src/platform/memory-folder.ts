import { mkdtempSync, statfsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './context';

/** Types of file systems in memory: tmpfs and ramfs (statfs(2)). */
const IN_MEMORY = [0x01021994, 0x858458f6];

/** Makes a folder, 0700, that is only in memory; undefined if there is no place for it, as on other systems than Linux. */
export function folderInMemory(env: Environment, prefix: string): string | undefined {
  for (const place of [env.XDG_RUNTIME_DIR ?? '', '/dev/shm']) {
    try {
      if (isAbsolute(place) && IN_MEMORY.includes(statfsSync(place).type))
        return mkdtempSync(join(place, prefix));
    } catch {
      // Missing, or not ours to write to.
    }
  }
  return undefined;
}
