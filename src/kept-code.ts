/** Compiled code from one run to the next. It is run as it is read, so that it must come from nobody but the user. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** The version of package.json, put in by the build; a file of its own for it would be one more to read. */
declare const __VERSION__: string;

export interface Folder {
  readonly path: string;
  /** Whose it must be; undefined where users have no numbers, on Windows. */
  readonly owner: number | undefined;
}

/** Where code of this very Node is kept; undefined where it is not. */
export function folderFor(node: NodeJS.Process): Folder | undefined {
  const { arch, execPath, platform, versions } = node;
  const base = cachesOf(node);
  if (base === undefined) return undefined;
  const build = [__VERSION__, versions.node, versions.v8, platform, arch, hash(execPath)];
  return { path: join(base, 'pwpush', build.join('-')), owner: node.geteuid?.() };
}

/** The user's folder for what can be made again (XDG Base Directory Specification); undefined without one of their own. */
function cachesOf({ env, execArgv, platform, geteuid }: NodeJS.Process): string | undefined {
  const flags = env.NODE_OPTIONS || env.NODE_V8_COVERAGE || execArgv.length > 0;
  if (flags || env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  if (platform === 'win32') return env.LOCALAPPDATA;
  const home = env.HOME ?? '';
  const own = env.XDG_CACHE_HOME ?? '';
  const base = isAbsolute(own) ? own : home;
  // With sudo it may be somebody else's, whose code root must not run.
  if (!isAbsolute(base) || ownerOf(base) !== geteuid?.()) return undefined;
  if (base === own) return own;
  return join(home, platform === 'darwin' ? 'Library/Caches' : '.cache');
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** What an earlier run kept of a chunk, unless the chunk is another by now, or something happened to the file. */
export function keptIn(folder: Folder, file: string, source: Buffer): Buffer | undefined {
  try {
    if (!isPrivate(folder)) return undefined;
    const bytes = readFileSync(join(folder.path, file));
    const half = (bytes.length - source.length) / 2;
    const code = bytes.subarray(0, half);
    // V8 believes what it reads, and crashes where that is damaged: hence twice, which is compared sooner than summed up.
    const whole = code.equals(bytes.subarray(half, half * 2));
    return whole && source.equals(bytes.subarray(half * 2)) ? code : undefined;
  } catch {
    return undefined;
  }
}

export interface Code {
  /** Of the chunk. */
  readonly file: string;
  readonly source: Buffer;
  readonly code: Buffer;
}

/** Keeps code, as far as that is possible; returns of how many chunks. */
export function keepIn(folder: Folder, list: readonly Code[]): number {
  const { path } = folder;
  try {
    if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) forgetOthers(path);
    if (!isPrivate(folder)) return 0;
    for (const { file, source, code } of list)
      replace(join(path, file), Buffer.concat([code, code, source]));
    return list.length;
  } catch {
    return 0;
  }
}

/** Nobody else can have put something into it. */
function isPrivate({ path, owner }: Folder): boolean {
  const found = lstatSync(path);
  if (!found.isDirectory()) return false;
  return owner === undefined || (found.uid === owner && (found.mode & 0o022) === 0);
}

function replace(path: string, bytes: Buffer): void {
  const temporary = `${path}.new`;
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    // Another run may be at it, or was ended there.
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Milliseconds. */
const MONTH = 30 * 86_400_000;

/** Removes the code of versions that were not new for a month. */
function forgetOthers(path: string): void {
  const parent = dirname(path);
  for (const name of readdirSync(parent)) {
    const other = join(parent, name);
    if (lstatSync(other).mtimeMs < Date.now() - MONTH) rmSync(other, { recursive: true });
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): string {
  let sum = 0x811c9dc5;
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum.toString(16);
}
