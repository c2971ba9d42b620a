import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import { getPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { failedError, phrase } from './errors';
import { means, whyUnreadable } from './files/file-error';

/** A file that a process has claimed is named `NAME.MACHINE-PID-START.claim`: a claim ends with its process, however that ends. */
const CLAIM = /\.([0-9a-f]*)-(\d+)-(\d+)\.claim$/;

export const CLAIM_EXTRA = 60;

export const unclaimed = (path: string) => path.replace(CLAIM, '');

export function claimOf(path: string): string | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  if (!existsSync(folder)) return undefined;
  const claim = readdirSync(folder).find((entry) => entry !== name && unclaimed(entry) === name);
  return claim && join(folder, claim);
}

/**
 * Claims a file for this process, by a rename that one process alone can make, and returns its path from then on. The claim
 * of a process that has ended is taken over.
 * @throws CliError (failed) if a process that may still run has the file, or it cannot be renamed
 */
export function claimFile(path: string, pid: number): string {
  const own = `${path}.${machineId()}-${pid}-${startOf(pid) ?? 0}.claim`;
  for (let from = path; ; ) {
    try {
      renameSync(from, own);
      return own;
    } catch (error) {
      const claim = means(error, 'missing') ? claimOf(path) : undefined;
      if (claim === undefined) throw failedError(phrase('not-renamed', from, whyUnreadable(error)));
      if (mayRun(claim))
        throw failedError(phrase('resumed-elsewhere', path), {
          hints: phrase('wait-for-run', claim, path),
        });
      from = claim;
    }
  }
}

/** Whether the process of a claim may run: of one on another machine or in another container, nothing says that it has ended. */
function mayRun(claim: string): boolean {
  const [, machine, pid, start] = CLAIM.exec(claim) ?? [];
  return machine !== machineId() || start === startOf(Number(pid));
}

/** Identifies where a process ID means one process: the boot of a machine, and the PID namespace. */
function machineId(): string {
  try {
    const [boot] = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').split('-');
    return boot + readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '';
  }
}

/**
 * When a process was started, which tells it from a later one of the same ID: in clock ticks since the boot
 * (proc_pid_stat(5)), `0` where the system does not say. Undefined if it has ended.
 */
function startOf(pid: number): string | undefined {
  try {
    if (!existsSync('/proc/self/stat')) return getPriority(pid) === undefined ? undefined : '0';
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(state) ? undefined : fields[18];
  } catch {
    return undefined;
  }
}
