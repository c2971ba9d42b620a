import { closeSync, constants, openSync, readSync, type Stats, writeSync } from 'node:fs';
import { lazy } from '../contract/lazy';
import type { Input, Output } from './context';
import { isNull, isPiped, openAs, statOf, wasClosed } from './descriptors';

export function input(node: NodeJS.Process): Input {
  return {
    get isTTY() {
      // The stream takes 4 ms to load.
      const kind = statOf(0);
      return !isPiped(kind) && !isNull(node, kind) && node.stdin.isTTY === true;
    },
    bytes: async function* () {
      const kind = statOf(0);
      // Node.js reads a folder as an empty stream, without an error.
      if (kind?.isDirectory())
        throw (await import('./errors')).usageError('standard input is a folder');
      const isWhole = yield* readAtOnce(kind, isNull(node, kind));
      if (!isWhole) yield* node.stdin;
    },
    look: async () => {
      const kind = statOf(0);
      if (!isPiped(kind)) return 'nothing';
      const pieces = readAtOnce(kind, false);
      let piece = pieces.next();
      const found = !piece.done;
      while (!piece.done) piece = pieces.next();
      if (!piece.value) return look(node.stdin, found);
      return found ? 'something' : 'nothing';
    },
    file: () => {
      const start = statOf(0)?.isFile() ? openAs(0, 'pos', 10) : undefined;
      return start === undefined ? undefined : { fd: 0, start };
    },
  };
}

/** In milliseconds. */
const LONGEST_LOOK = 200;

/** Drops all that comes: of a rest that is cut, a loop around this run would take the next line. */
function look(stdin: NodeJS.ReadStream, before: boolean): ReturnType<NonNullable<Input['look']>> {
  return new Promise((resolve) => {
    let found = before;
    const take = () => {
      found = true;
    };
    const end = (rest: 'nothing' | 'silent') => {
      clearTimeout(timer);
      stdin.off('data', take).pause();
      resolve(found ? 'something' : rest);
    };
    const timer = setTimeout(end, LONGEST_LOOK, 'silent');
    const over = () => end('nothing');
    stdin.on('data', take).once('end', over).once('error', over);
  });
}

/** Yields a file, or up to 64 KiB of what is in a pipe, and returns whether that is all; the stream has the rest. */
function* readAtOnce(kind: Stats | undefined, isNull: boolean): Generator<Buffer, boolean> {
  // The position in a file is that of the descriptor, which the stream of Bun does not know.
  const isFile = kind?.isFile() || isNull;
  const fd = kind?.isFIFO() ? reopened(0, constants.O_RDONLY) : isFile ? 0 : undefined;
  let left = SHORT;
  try {
    while (fd !== undefined && left > 0) {
      const room = Buffer.alloc(left);
      const count = readSync(fd, room, 0, left, null);
      if (count === 0) return true;
      if (!isFile) left -= count;
      yield room.subarray(0, count);
    }
  } catch (error) {
    if (!isAgain(error)) throw error;
  } finally {
    if (fd) closeSync(fd);
  }
  return false;
}

/** Opens a pipe again, so that what is done to it does not block, which only Linux can (proc_pid_fd(5)). */
function reopened(fd: number, access: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, access | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

const isAgain = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/** @param handled whether the process handles signals, so that they do not end it by themselves */
export function output(node: NodeJS.Process, fd: 1 | 2, handled: () => boolean): Output {
  const stream = lazy(() => {
    const real = fd === 1 ? node.stdout : node.stderr;
    // The callback of each write reports errors; an event without a listener would end the process.
    real.on('error', () => {});
    return real;
  });
  const direct = lazy(() => openDirectly(node, fd));
  const atOnce = () => {
    const way = direct();
    return way === undefined || streaming || (way.mayWait && handled()) ? undefined : way.fd;
  };
  let streaming = false;
  const closed = lazy(() => wasClosed(node, fd));
  return {
    get isTTY() {
      return direct() === undefined && stream().isTTY === true;
    },
    get columns() {
      return direct() !== undefined ? 80 : stream().columns || 80;
    },
    get rows() {
      return direct() !== undefined ? Infinity : stream().rows || Infinity;
    },
    get closed() {
      return closed();
    },
    write: async (data) => {
      // A lost warning on stderr is no reason to fail.
      if (fd === 1 && data.length > 0 && closed())
        throw Object.assign(new Error('write closed'), { code: 'closed', syscall: 'write' });
      const now = atOnce();
      const rest = now === undefined ? data : writeAtOnce(now, data);
      if (rest.length === 0) return;
      streaming = true;
      await new Promise<void>((resolve, reject) => {
        stream().write(rest, (error) => (error ? reject(error) : resolve()));
      });
    },
  };
}

interface Direct {
  readonly fd: number;
  /** A write may block the process, including its signal handlers, until a slow reader reads. */
  readonly mayWait: boolean;
}

/** Returns a descriptor to write to directly. A socket cannot be opened again. */
function openDirectly(node: NodeJS.Process, fd: 1 | 2): Direct | undefined {
  const kind = statOf(fd);
  if (kind?.isFile() || isNull(node, kind)) return { fd, mayWait: false };
  if (kind?.isSocket()) return { fd, mayWait: true };
  const own = kind?.isFIFO() ? reopened(fd, constants.O_WRONLY) : undefined;
  return own === undefined ? undefined : { fd: own, mayWait: false };
}

/** In bytes: what is read and written without a stream. */
const SHORT = 65_536;

/** Writes without a stream, which takes 2 ms to load. Returns the rest, such as what does not fit in a full pipe. */
function writeAtOnce(fd: number, data: string | Uint8Array): string | Uint8Array {
  if (data.length > SHORT) return data;
  let rest = Buffer.from(data as Uint8Array);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (error) {
    if (!isAgain(error)) throw error;
  }
  return rest;
}
