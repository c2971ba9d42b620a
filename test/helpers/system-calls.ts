import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { program } from './program';

/** Calls of the system that change something, as strace selects them: each architecture has its own names. */
export const CALLS = {
  open: 'openat',
  write: 'write',
  writev: 'writev',
  pwrite: 'pwrite64',
  sync: '/^f(data)?sync$',
  truncate: 'ftruncate',
  mode: 'fchmod',
  rename: '/^rename(at2?)?$',
  link: '/^link(at)?$',
  unlink: '/^unlink(at)?$',
  folder: '/^mkdir(at)?$',
} as const;

export type CallName = keyof typeof CALLS;

export interface Tampering {
  readonly log: string;
  readonly call: CallName;
  /** `KILL`, or the error that the call returns. */
  readonly effect: 'KILL' | 'ENOSPC' | 'EIO';
  /** `3` is the third such call of a thread, `3+` all from it on. */
  readonly when: string;
  /** Only calls on these files. */
  readonly paths?: readonly string[];
}

export function tampered({ log, call, effect, when, paths = [] }: Tampering): readonly string[] {
  const how = effect === 'KILL' ? 'signal=KILL' : `error=${effect}`;
  return [
    ...tracing(log, paths),
    // With it strace sends no signals.
    ...(effect === 'KILL' ? [] : ['--seccomp-bpf']),
    ...['-e', `inject=${CALLS[call]}:${how}:when=${when}`],
    ...program,
  ];
}

/** What starts the program so that `countsIn` can tell how many calls there are to tamper with. */
export const counted = (log: string, paths: readonly string[] = []): readonly string[] => [
  ...tracing(log, paths),
  '--seccomp-bpf',
  ...program,
];

const tracing = (log: string, paths: readonly string[]): readonly string[] => [
  ...['strace', '-D', '-f', '-y', '-s', '200', '-o', log],
  ...paths.flatMap((path) => ['-P', path]),
  ...['-e', 'quiet=attach,personality', '-e', `trace=${Object.values(CALLS)}`],
];

/** How often a thread makes each call, the thread that makes it most: so far `when` counts. */
export function countsIn(log: string): Record<CallName, number> {
  const made = [...log.matchAll(/^(\d+) +(\w+)\(/gm)];
  const counts = Object.entries(CALLS).map(([name, call]) => {
    const is = new RegExp(call.startsWith('/') ? call.slice(1) : `^${call}$`);
    const threads = new Map<string, number>();
    for (const [, thread = '', called = ''] of made)
      if (is.test(called)) threads.set(thread, 1 + (threads.get(thread) ?? 0));
    return [name, Math.max(0, ...threads.values())];
  });
  return Object.fromEntries(counts) as Record<CallName, number>;
}

/** The log of a process that has ended, once strace has written it. */
export async function logOf(path: string, pid: number | undefined): Promise<string> {
  const text = () => readFileSync(path, 'utf8');
  await expect
    .poll(text, { message: 'strace has written the end of the process' })
    .toMatch(new RegExp(`^${pid} +[+]{3} (exited|killed)`, 'm'));
  return text();
}
