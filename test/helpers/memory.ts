import { existsSync, readdirSync, readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onTestFinished } from 'vitest';

const SHARED = '/dev/shm';

/** In memory where there is such a place: waiting for a disk takes ten times as long. In a run, its own folder there. */
export const memory =
  process.env.PWPUSH_TEST_MEMORY ?? (existsSync(SHARED) && free(SHARED) > 2 * 1024 ** 3 ? SHARED : tmpdir());

/** The same where programs may be started in it, which containers forbid. */
export const scratch = memory.startsWith(SHARED) && /noexec/.test(mounted()) ? tmpdir() : memory;

function mounted(): string {
  const lines = readFileSync('/proc/mounts', 'utf8').split('\n');
  return lines.find((line) => line.split(' ')[1] === SHARED) ?? '';
}

/** In bytes; a container may give 64 MiB, which the databases of the tests would fill. */
function free(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Makes folders there for the test that runs, after which they are gone. */
export function folders(place = memory): () => Promise<string> {
  return async () => {
    const folder = await mkdtemp(join(place, 'pwpush-'));
    // After what the test starts later, and ends in the same way, as services that write to it.
    onTestFinished(() => rm(folder, { recursive: true }));
    return folder;
  };
}

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/**
 * Collects garbage until no file in the folder is open, or a service has them open: libsql keeps the file of a closed
 * database open until its statements are collected, and what still runs may hold one of them.
 */
export async function released(folder: string): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    collectGarbage();
    if (!openFiles().some((path) => path.startsWith(`${folder}/`))) return;
    await nextTurn();
  }
}

/** What this process has open, where the system says so. */
export function openFiles(): string[] {
  const open = '/proc/self/fd';
  if (!existsSync(open)) return [];
  return readdirSync(open).flatMap((fd) => {
    try {
      return [readlinkSync(`${open}/${fd}`)];
    } catch {
      // The one that the folder itself was read by.
      return [];
    }
  });
}
