import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memory } from './memory';
import { failRun } from './reporter';

/** What ends by itself, such as a service that was told to stop, may take so long. */
const GRACE_SECONDS = 10;

/**
 * Runs in vitest's main process, around all else: tests have folders for temporary files of this run alone, and a run
 * that leaves a process, a file or a mount fails. A port that is left has a process. Processes are recognized, on Linux,
 * by their environment, command line or folder: all of these name a folder of the run for what tests start.
 */
export default function setup(): () => Promise<void> {
  const rooms = [...new Set([tmpdir(), memory])].map((place) => {
    const folder = mkdtempSync(join(place, 'pw-'));
    // As the system's is: some tests make other users of it.
    chmodSync(folder, 0o1777);
    return folder;
  });
  const [temporary, inMemory = temporary] = rooms;
  Object.assign(process.env, { TMPDIR: temporary, TEMP: temporary, TMP: temporary });
  process.env.PWPUSH_TEST_MEMORY = inMemory;
  return async () => {
    let left: string[] = [];
    for (let waited = 0; waited < GRACE_SECONDS; waited += 0.2) {
      left = [...processesOf(rooms), ...mountsIn(rooms)];
      if (left.length === 0) break;
      await pause(200);
    }
    for (const room of rooms) {
      left.push(...readdirSync(room).map((name) => `file ${join(room, name)}`));
      rmSync(room, { recursive: true, force: true });
    }
    if (left.length > 0) failRun(`tests left these behind:\n  ${left.join('\n  ')}`);
  };
}

function processesOf(rooms: readonly string[]): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // Zombies have none; workers of this run end after this.
      if (words === '' || /vitest\/dist\/workers|esbuild/.test(words)) return [];
      const told = [words, readFileSync(`/proc/${pid}/environ`, 'utf8'), readlinkSync(`/proc/${pid}/cwd`)];
      return told.some((text) => rooms.some((room) => text.includes(room)))
        ? [`process ${pid} ${words.slice(0, 200)}`]
        : [];
    } catch {
      return [];
    }
  });
}

function mountsIn(rooms: readonly string[]): string[] {
  if (process.platform !== 'linux') return [];
  const lines = readFileSync('/proc/mounts', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, at = ''] = line.split(' ');
    return rooms.some((room) => at.startsWith(`${room}/`)) ? [`mount ${at}`] : [];
  });
}
