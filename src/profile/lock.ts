import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { failedError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';

// One file per contender. A single lock file has to be taken from a holder that died, and a new holder can lose it then:
// between the check and the removal (proper-lockfile), or until a wrongly renamed one is put back (owner check).

/**
 * A claim of another machine or container is stale if it was not renewed for this long, in milliseconds; their clocks must
 * agree within it.
 */
const STALE = 20_000;
/** Milliseconds after which `withLock` gives up. */
const TIMEOUT = 30_000;
/** Milliseconds between two checks of the claims. */
const SHORTEST_PAUSE = 10;
const LONGEST_PAUSE = 160;

export interface LockTools {
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly pid: number;
  /** Whether a process of this machine runs. */
  readonly runs: (pid: number) => boolean;
}

/**
 * Runs `work` while no other process does so with the same `path`.
 *
 * Each contender creates a claim, a file beside `path` whose unique name contains its process ID, and then lists the
 * claims of others. If there are no others, it holds the lock: of two contenders, the later one sees the earlier one.
 * Claims of processes that died are removed. No name is used twice, so that this never removes a new claim.
 * @throws CliError (failed) when the lock is not free within 30 s; what `work` throws; errors of the file system
 */
export async function withLock<T>(
  path: string,
  tools: LockTools,
  work: () => Promise<T>,
): Promise<T> {
  const claim = claimant(path, tools);
  try {
    await acquire(path, claim, tools);
    return await work();
  } finally {
    await claim.withdraw();
  }
}

async function acquire(path: string, claim: Claimant, tools: LockTools): Promise<void> {
  const start = tools.now().getTime();
  // Many frequent checks would take the processor from the holder of the lock.
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const own = claim.name();
    const claims = await claimsAt(path, tools);
    const rivals = claims.filter((name) => name !== own);
    const [rival] = rivals;
    if (rival === undefined) {
      if (claims.length > 0) return;
      await claim.make();
      pause = SHORTEST_PAUSE;
      continue;
    }
    if (tools.now().getTime() - start > TIMEOUT) {
      throw failedError(`locked by another pwpush: "${join(dirname(path), rival)}"`, {
        hint: 'remove that file if no other pwpush is running',
      });
    }
    // Of several concurrent claims, one remains and is next.
    if (own !== undefined && rivals.some((name) => name < own)) await claim.withdraw();
    await tools.sleep(pause * (0.5 + Math.random()));
  }
}

interface Claimant {
  /** The name of the claim's file, if there is one. */
  name(): string | undefined;
  make(): Promise<void>;
  withdraw(): Promise<void>;
}

function claimant(path: string, tools: LockTools): Claimant {
  let claimed: string | undefined;
  let renewal: NodeJS.Timeout | undefined;
  const withdraw = async () => {
    clearInterval(renewal);
    if (claimed !== undefined) await rm(claimed, { force: true });
    claimed = undefined;
  };
  return {
    name: () => claimed && basename(claimed),
    make: async () => {
      // Another machine may have removed the previous one as stale.
      await withdraw();
      const { pid } = tools;
      const id = randomBytes(6).toString('hex');
      const file = `${path}.${id}.${reach()}.${pid}.${startOf(pid)}`;
      await (await open(file, 'wx', 0o600)).close();
      claimed = file;
      renewal = setInterval(() => {
        utimes(file, tools.now(), tools.now()).catch(() => {});
      }, STALE / 4).unref();
    },
    withdraw,
  };
}

/** The names of all claims of running processes; removes the others. */
async function claimsAt(path: string, tools: LockTools): Promise<string[]> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  const live: string[] = [];
  for (const name of names) {
    const file = join(folder, name);
    if (await isLive(file, name.slice(prefix.length), tools)) live.push(name);
    else await rm(file, { force: true });
  }
  return live;
}

async function isLive(file: string, claim: string, tools: LockTools): Promise<boolean> {
  const [, from, pid, start = ''] = claim.split('.');
  if (from !== reach()) {
    const renewed = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.NEGATIVE_INFINITY,
    );
    return tools.now().getTime() - renewed <= STALE;
  }
  // A later process may have the same ID, but not the same start time.
  const started = startOf(Number(pid));
  return tools.runs(Number(pid)) && (started === '' || start === '' || started === start);
}

/** Stands for the processes that can be looked up from here: those of this container, since the machine started. */
const reach = lazy(() => {
  const from =
    tried(
      () =>
        `${readFileSync('/proc/sys/kernel/random/boot_id')}${readlinkSync('/proc/self/ns/pid')}`,
    ) || hostname();
  return createHash('sha256').update(from).digest('hex').slice(0, 12);
});

/** When a process started, in clock ticks after boot (proc_pid_stat(5), fields 3 and 22); empty if unknown. */
function startOf(pid: number): string {
  return tried(() => {
    // The name in the second field may contain spaces and parentheses.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ');
    const ended = fields?.[0] === 'Z' || fields?.[0] === 'X';
    return ended ? 'ended' : fields?.[19];
  });
}

function tried(read: () => string | undefined): string {
  try {
    return read() ?? '';
  } catch {
    return '';
  }
}
