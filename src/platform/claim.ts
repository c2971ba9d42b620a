import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import { getPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { failedError, phrase } from './errors';
import { means, whyUnreadable } from './files/file-error';

/** A claimed file is named `NAME.MACHINE-PID-START.claim`: a claim ends with its process. */
const CLAIM = /\.([0-9a-f]*)-(\d+)-(\d+)\.claim$/;

export const CLAIM_EXTRA = 60;

export const unclaimed = (path: string) => path.replace(CLAIM, '');

export function claimOf(path: string): string | undefined {
  const [folder, name] = [dirname(path), basename(path)];
  if (!existsSync(folder)) return undefined;
  const claim = readdirSync(folder).find((entry) => entry !== name && unclaimed(entry) === name);
  return claim && join(folder, claim);
}

/** Returns what the name of a file ends with while this process has it. */
export const claimBy = (pid: number) => `.${machineId()}-${pid}-${startOf(pid) ?? 0}.claim`;

/**
 * Claims a file for this process by a rename, which succeeds in one process only, and returns the new path. A claim
 * whose process has ended is taken over.
 * @throws CliError (failed) if the process that claimed the file may still run, or the rename fails
 */
export function claimFile(path: string, pid: number): string {
  const own = path + claimBy(pid);
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

/** Returns whether the process of a claim may run, which is unknown on another machine or in another container. */
function mayRun(claim: string): boolean {
  const [, machine, pid, start] = CLAIM.exec(claim) ?? [];
  return machine !== machineId() || start === startOf(Number(pid));
}

/** Identifies the boot and the PID namespace, in which a process ID means one process; empty without /proc. */
function machineId(): string {
  try {
    const [boot] = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').split('-');
    return boot + readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '';
  }
}

/**
 * Returns the start of a process in clock ticks since the boot (proc_pid_stat(5)), as a later process may have the same
 * ID; `0` without /proc. Undefined if the process has ended.
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
