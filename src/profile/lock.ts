import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { CliError } from '../errors';

/** A lock older than this was left by a program that died, in milliseconds. */
const STALE = 10_000;
const PATIENCE = 30_000;

interface Clock {
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** Runs `work` while no other pwpush does the same at `path`: making a folder is atomic everywhere. */
export async function withLock<T>(path: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  await acquire(path, clock);
  try {
    return await work();
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function acquire(path: string, clock: Clock): Promise<void> {
  const start = clock.now().getTime();
  for (;;) {
    try {
      await mkdir(path, { mode: 0o700 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const now = clock.now().getTime();
    if (now - start > PATIENCE) {
      throw new CliError('failed', `another pwpush holds ${path}`, {
        hint: 'remove it if none is running',
      });
    }
    const made = await stat(path).then(
      (found) => found.mtimeMs,
      () => now,
    );
    if (now - made > STALE) await breakLock(path);
    else await clock.sleep(5 + Math.random() * 20);
  }
}

/** Moves it away first: of several that find it stale, one does, and none takes away a new one. */
async function breakLock(path: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  const moved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (moved) await rm(aside, { recursive: true, force: true });
}
