import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve, sep } from 'node:path';

// biome-ignore lint/suspicious/noExplicitAny: functions of every shape
type Any = any;

/** One operation fails, or all from it on, as on a disk that stays full; or a write only writes half, without an error. */
const modes = ['once', 'from then on', 'short'] as const;

interface Fault {
  readonly mode: (typeof modes)[number];
  readonly nth: number;
  readonly folder: string;
  count: number;
  failed?: string;
}

let current: Fault | undefined;

type Failing = <T>(folder: string, part: () => Promise<T>) => Promise<T>;

/**
 * Runs `work` with the first operation on a file failing, then with the second, until none fails, in each of the modes.
 * Nothing is to be below the folder from another run. Returns what failed. Linux only.
 */
export async function eachFault(work: (failing: Failing) => Promise<void>): Promise<string[]> {
  const failed: string[] = [];
  const restore = patch();
  try {
    for (const mode of modes)
      for (let nth = 1; ; nth++) {
        const fault: Fault = { mode, nth, folder: '', count: 0 };
        await work((folder, part) => during({ ...fault, folder: resolve(folder) + sep }, part, fault)).catch(
          (error: Error) => {
            error.message = `${fault.failed ?? 'nothing'} failed, ${mode}: ${error.message}`;
            throw error;
          },
        );
        if (!fault.failed) break;
        failed.push(fault.failed);
      }
  } finally {
    restore();
  }
  return failed;
}

async function during<T>(fault: Fault, part: () => Promise<T>, told: Fault): Promise<T> {
  current = fault;
  try {
    return await part();
  } finally {
    current = undefined;
    if (fault.failed) told.failed = fault.failed;
  }
}

function isDue(operation: string, file: unknown): boolean {
  if (!current || (current.mode === 'short' && operation !== 'write')) return false;
  const path = typeof file === 'number' ? fs.readlinkSync(`/proc/self/fd/${file}`) : String(file);
  if (!(resolve(path) + sep).startsWith(current.folder)) return false;
  current.count++;
  if (current.mode === 'from then on' ? current.count < current.nth : current.count !== current.nth) return false;
  current.failed ??= `${operation} ${path.slice(current.folder.length)}`;
  return true;
}

const CODES: Record<string, string> = { fsync: 'EIO', rename: 'EIO', link: 'EIO', truncate: 'EIO' };

function failure(syscall: string): Error {
  const code = CODES[syscall] ?? 'ENOSPC';
  return Object.assign(new Error(`${code}: planted by a test, ${syscall}`), { code, syscall });
}

const isReading = (flags: unknown) =>
  typeof flags === 'number' ? (flags & 3) === fs.constants.O_RDONLY : !/[wa+]/.test(`${flags ?? 'r'}`);

const half = (data: Any) => Buffer.from(data).subarray(0, data.length / 2);

/** Functions of a path or a descriptor, those of writing apart. */
const operations = {
  mkdir: 'mkdir',
  mkdtemp: 'mkdir',
  open: 'open',
  fsync: 'fsync',
  rename: 'rename',
  link: 'link',
};

/** Puts functions in place of those of `fs` that fail when they are due; what it returns puts those back. */
function patch(): () => void {
  const undo: (() => void)[] = [];
  const put = (object: Any, name: string, made: (own: Any) => Any) => {
    const own = object[name];
    object[name] = made(own);
    undo.push(() => {
      object[name] = own;
    });
  };
  for (const [name, operation] of Object.entries(operations)) {
    const made = (own: Any) => (file: Any, other?: Any, mode?: Any) => {
      if (!(name === 'open' && isReading(other)) && isDue(operation, file)) throw failure(operation);
      return own(file, other, mode);
    };
    put(fs, `${name}Sync`, made);
    if (name === 'fsync') continue;
    put(fs.promises, name, (own) => async (file: Any, ...more: Any[]) => {
      const done = await made(own)(file, ...more);
      return name === 'open' ? faulty(done) : done;
    });
  }
  put(fs, 'writeSync', (own) => (file: number, data: Any, ...more: Any[]) => {
    if (!isDue('write', file)) return own(file, data, ...more);
    const written = own(file, half(data));
    if (current?.mode === 'short') return written;
    throw failure('write');
  });
  put(fs, 'writeFileSync', (own) => (file: Any, data: Any, ...more: Any[]) => {
    // It writes until all is written, however short a write is.
    if (current?.mode === 'short' || !isDue('write', file)) return own(file, data, ...more);
    own(file, half(data), ...more);
    throw failure('write');
  });
  syncBuiltinESMExports();
  return () => {
    for (const one of undo) one();
    syncBuiltinESMExports();
  };
}

/** The handle, whose own methods fail when they are due. */
function faulty(handle: fs.promises.FileHandle): fs.promises.FileHandle {
  const changed = handle as Any;
  for (const name of ['write', 'writeFile', 'sync', 'truncate']) {
    const operation = name === 'sync' ? 'fsync' : name === 'truncate' ? name : 'write';
    const own = changed[name].bind(handle);
    changed[name] = async (...args: Any[]) => {
      if (name === 'writeFile' && current?.mode === 'short') return own(...args);
      if (!isDue(operation, handle.fd)) return own(...args);
      if (operation !== 'write') throw failure(operation);
      const done = await own(half(args[0]));
      if (current?.mode === 'short') return done;
      throw failure(operation);
    };
  }
  return handle;
}
