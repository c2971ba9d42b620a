/** Compiled code from one run to the next. It is run as it is read, so that it must come from nobody but the user. */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** The version of package.json, put in by the build; a file of its own for it would be one more to read. */
declare const __VERSION__: string;

export interface Folder {
  /** From below the one that must be there already to that of the code. */
  readonly trail: readonly string[];
  readonly path: string;
  /** Whose it all must be; undefined where users have no numbers, on Windows. */
  readonly owner: number | undefined;
  /** All of it is there, and nobody else can have put something into it. */
  readonly trusted: boolean;
}

/** Where code of this very Node is kept; undefined where it is not. */
export function folderFor(node: NodeJS.Process): Folder | undefined {
  const [base = '', ...names] = cachesOf(node);
  const owner = node.geteuid?.();
  // With sudo it may be somebody else's, whose code root must not run.
  if (!isAbsolute(base) || !isPrivate(base, owner)) return undefined;
  const trail = [...names, buildOf(node)].map((_, at, all) => join(base, ...all.slice(0, at + 1)));
  const trusted = trail.every((path) => isPrivate(path, owner));
  return { trail, path: trail.at(-1) as string, owner, trusted };
}

/**
 * The user's folder for what can be made again (XDG Base Directory Specification): one that must be there, and the way
 * from it; nothing without one of their own.
 */
function cachesOf({ env, execArgv, platform }: NodeJS.Process): readonly string[] {
  const flags = env.NODE_OPTIONS || env.NODE_V8_COVERAGE || execArgv.length > 0;
  if (flags || env.NODE_DISABLE_COMPILE_CACHE) return [];
  // The folder itself holds the data.
  if (platform === 'win32') return [env.LOCALAPPDATA ?? '', 'pwpush', 'Cache'];
  const own = env.XDG_CACHE_HOME ?? '';
  if (isAbsolute(own)) return [own, 'pwpush'];
  const caches = platform === 'darwin' ? ['Library', 'Caches'] : ['.cache'];
  return [env.HOME ?? '', ...caches, 'pwpush'];
}

/** A name for what may take each other's code; a distribution may build the same version of Node anew. */
function buildOf({ arch, execPath, platform, versions }: NodeJS.Process): string {
  const { size, mtimeMs } = statSync(execPath, { throwIfNoEntry: false }) ?? {};
  const place = hash([execPath, size, mtimeMs].join());
  return [__VERSION__, versions.node, versions.v8, platform, arch, place].join('-');
}

/** Names that `buildOf` makes. */
const BUILD = /^\d+\.\d+\.\d+\S*-\d+\.\d+\.\d+\S*-\w+-\w+-[\da-f]{8}$/;

/** Whether nobody else can have put something into a folder. */
function isPrivate(path: string, owner: number | undefined): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && isOwn(found, owner);
}

function isOwn({ uid, mode }: Stats, owner: number | undefined): boolean {
  return owner === undefined || (uid === owner && (mode & 0o022) === 0);
}

/** What an earlier run kept of a chunk, unless the chunk is another by now, or something happened to the file. */
export function keptIn(folder: Folder, file: string, source: Buffer): Buffer | undefined {
  try {
    if (!folder.trusted) return undefined;
    const bytes = readOwn(join(folder.path, file), folder.owner);
    const half = (bytes.length - source.length) / 2;
    if (half <= 0) return undefined;
    const code = bytes.subarray(0, half);
    // V8 believes what it reads, and crashes where that is damaged: hence twice, which is compared sooner than summed up.
    const whole = code.equals(bytes.subarray(half, half * 2));
    return whole && source.equals(bytes.subarray(half * 2)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Of the file that was opened it is known whose it is, whatever becomes of its folders; a pipe would wait for ever. */
function readOwn(path: string, owner: number | undefined): Buffer {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    return found.isFile() && isOwn(found, owner) ? readFileSync(fd) : Buffer.alloc(0);
  } finally {
    closeSync(fd);
  }
}

export interface Code {
  /** Of the chunk. */
  readonly file: string;
  readonly source: Buffer;
  readonly code: Buffer;
}

/** Keeps code, as far as that is possible; returns of how many chunks. What cannot be kept is not asked for. */
export function keepIn(folder: Folder, codes: Iterable<Code>): number {
  let kept = 0;
  try {
    if (!folder.trail.every((path) => provide(path, folder))) return 0;
    for (const { file, source, code } of codes) {
      replace(join(folder.path, file), Buffer.concat([code, code, source]));
      kept += 1;
    }
  } catch {
    // The next run compiles what is missing, as this one did.
  }
  return kept;
}

/** Makes a folder, unless it is there; whether it can be trusted. */
function provide(path: string, { path: last, owner }: Folder): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(path, 0o700);
    // A umask can take from ourselves what we need.
    chmodSync(path, 0o700);
    if (path === last) forgetOthers(dirname(path));
  }
  return isPrivate(path, owner);
}

function replace(path: string, bytes: Buffer): void {
  const temporary = `${path}.new`;
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      fchmodSync(fd, 0o600);
      writeFileSync(fd, bytes);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    // Another run may be at it, or was ended there.
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Milliseconds. */
const MONTH = 30 * 86_400_000;

/** Removes the code of versions that were not new for a month; there may be other things beside it. */
function forgetOthers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const other = join(parent, name);
    if (BUILD.test(name) && lstatSync(other).mtimeMs < Date.now() - MONTH)
      rmSync(other, { recursive: true });
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): string {
  let sum = 0x811c9dc5;
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum.toString(16).padStart(8, '0');
}
