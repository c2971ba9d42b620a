import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Context } from './context';
import { findProgram } from './find-program';

export type OutputPipes = NonNullable<Awaited<ReturnType<typeof outputPipes>>>;

/**
 * Creates pipes for a child's output. Node.js makes sockets, which Linux cannot reopen, so that `echo >/dev/stderr`
 * would fail. A cat process reads each pipe, as Node.js would need a thread. Undefined without /proc or cat.
 */
export async function outputPipes(context: Pick<Context, 'env' | 'platform'>) {
  if (!existsSync('/proc/self/fd')) return undefined;
  const [mkfifo, cat] = await Promise.all([
    findProgram('mkfifo', context),
    findProgram('cat', context),
  ]);
  if (!('file' in mkfifo && 'file' in cat)) return undefined;
  try {
    const [out, err] = fifos(mkfifo.file);
    const readers = [reader(cat.file, out.read), reader(cat.file, err.read)] as const;
    const [stdout, stderr] = [readers[0].stdout, readers[1].stdout];
    /** Closes our write ends after the start of the child, which has its own. */
    const close = () => {
      closeSync(out.write);
      closeSync(err.write);
    };
    /** Returns false while a cat process is busy: on a busy machine, its output may still come. */
    const areIdle = () => !readers.some(isBusy);
    return { fds: [out.write, err.write] as const, stdout, stderr, areIdle, close };
  } catch {
    return undefined;
  }
}

interface Ends {
  readonly read: number;
  readonly write: number;
}

function fifos(mkfifo: string): [Ends, Ends] {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-pipes-'));
  const [out, err] = [join(folder, 'out'), join(folder, 'err')];
  try {
    spawnSync(mkfifo, ['-m', '600', out, err], { env: {}, stdio: 'ignore' });
    return [endsOf(out), endsOf(err)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opening one end of a FIFO waits for the other, unless a descriptor for both is open. */
function endsOf(path: string): Ends {
  const both = openSync(path, constants.O_RDWR);
  const ends = {
    read: openSync(path, constants.O_RDONLY),
    write: openSync(path, constants.O_WRONLY),
  };
  closeSync(both);
  return ends;
}

/** Starts cat in its own process group, so that Ctrl-C does not end it before the child. */
function reader(cat: string, fd: number) {
  const { pid, stdout } = spawn(cat, {
    env: {},
    stdio: [fd, 'pipe', 'ignore'],
    detached: true,
  }).on('error', () => {});
  closeSync(fd);
  return { pid, stdout: stdout as Readable };
}

/** Returns whether a process runs, or waits for a disk (proc_pid_stat(5)). */
function isBusy({ pid }: { readonly pid: number | undefined }): boolean {
  try {
    return /\) [RD] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
