// Loads the chunks of the build, and caches their compiled code: docs/performance.md has what that saves. Node's cache
// (module.enableCompileCache, 22.1) saves less than half of it, as it has only what is compiled while a file is loaded.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { absolute, userFolder } from './files/user-folder';

export { printVersion } from './print-version';

/** The build sets the version, so that package.json is not read. */
declare const __VERSION__: string;

/** A longer run caches no code, as the time saved does not matter to it. */
const BRIEF_SECONDS = 5;

/** In bytes: the young generation, both halves, in runs with many requests; a smaller one is collected too often. */
const GROWN = 4 * 1024 * 1024;

/** As buffers, since V8 would make a string of three parts flat again, in its young generation. */
const [HEAD, END] = [
  Buffer.from('(function (exports, require, module, __filename, __dirname) {'),
  Buffer.from('\n})'),
];

interface Module {
  exports: unknown;
}

interface Compiled {
  readonly file: string;
  readonly source: Buffer;
  readonly script: Script;
  readonly known: boolean;
}

export function loaderFor(node: NodeJS.Process) {
  // `load.js` is the chunk of this file, from which other chunks import what they share with it.
  const modules = new Map<string, Module>([['load.js', module]]);
  const compiled: Compiled[] = [];
  const flags = flagsOf(node);
  let cache: { readonly folder: CacheFolder | undefined } | undefined;

  function load(file: string): unknown {
    const loaded = modules.get(file);
    if (loaded) return loaded.exports;
    const path = join(__dirname, file);
    const source = readFileSync(path);
    const module: Module = { exports: {} };
    modules.set(file, module);
    const from = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : require(id));
    try {
      const run = compileCached(file, path, source).runInThisContext();
      run(module.exports, from, module, path, __dirname);
    } catch (error) {
      // A long run may find the file that was missing when it asks again.
      modules.delete(file);
      throw error;
    }
    return module.exports;
  }

  function compileCached(file: string, path: string, source: Buffer): Script {
    cache ??= { folder: cacheFolder(node) };
    const { folder } = cache;
    if (folder === undefined || flags.changed()) return compile(path, source);
    // V8 stores this name, and not the path, in the code, which another installation may use.
    const script = compile(file, source, readCode(folder, file, source));
    compiled.push({ file, source, script, known: script.cachedDataRejected === false });
    return script;
  }

  /** Caches the compiled code unless all of it was known, and returns the number of files written. Never throws. */
  function keep(): number {
    const folder = cache?.folder;
    if (folder === undefined || node.uptime() > BRIEF_SECONDS) return 0;
    if (compiled.every(({ known }) => known)) return 0;
    flags.restore();
    try {
      return keepIn(folder, compiled);
    } catch {
      // The next run compiles what is missing.
      return 0;
    }
  }

  return { load, tune: flags.tune, keep };
}

function keepIn(folder: CacheFolder, compiled: readonly Compiled[]): number {
  if (!folder.created.every((path) => makePrivate(path, folder.owner))) return 0;
  for (const { file, source, script } of compiled) {
    // Known chunks are written again, as V8 adds the functions that this run compiled.
    const code = script.createCachedData();
    replaceFile(join(folder.path, file), Buffer.concat([code, source]));
  }
  return compiled.length;
}

/**
 * V8 accepts cached code only with the flags it was compiled with, so no cache is used after a change of flags: neither
 * ours, nor that of Node for its own modules. node:tls takes 5 ms longer then.
 */
function flagsOf(node: NodeJS.Process) {
  /** These flags undo those that were set, and what V8 derives from them. */
  const undo: string[] = [];
  const setFlags = (flags: readonly string[]) => {
    for (const flag of flags) node.getBuiltinModule('node:v8').setFlagsFromString(flag);
  };
  const set = (flag: string, back: readonly string[]) => {
    undo.push(...back);
    setFlags([flag]);
  };
  const tune = (many: boolean) => {
    const major = Number.parseInt(node.versions.node, 10);
    // Optimizing undici's parser takes 100 ms on Node 20, which one request never earns back.
    if (major < 22)
      set('--liftoff-only', ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering']);
    // Node 24 could wait at its end for a thread that compiles and waits for the garbage collector (nodejs/node#54918).
    if (major > 22) {
      set('--no-maglev', ['--maglev']);
      set('--no-concurrent-sparkplug', ['--concurrent-sparkplug']);
    }
    if (many) growOnce();
  };
  /** Limits the young generation: V8 would grow it to 128 MiB on a big machine, even if little of it is in use. */
  const growOnce = () => {
    const { getHeapSpaceStatistics } = node.getBuiltinModule('node:v8');
    set('--semi-space-growth-factor=3', ['--semi-space-growth-factor=2']);
    const watch = setInterval(() => {
      const space = getHeapSpaceStatistics().find((heap) => heap.space_name === 'new_space');
      if (space && space.space_size < GROWN) return;
      clearInterval(watch);
      setFlags(['--semi-space-growth-factor=1']);
    }, 20).unref();
  };
  return { tune, changed: () => undo.length > 0, restore: () => setFlags(undo) };
}

function compile(filename: string, source: Buffer, cachedData?: Buffer): Script {
  const text = Buffer.concat([HEAD, source, END]).toString();
  return new Script(text, { filename, ...(cachedData && { cachedData }) });
}

// Cached code is executed without a check, so only the user may be able to write it.

interface CacheFolder {
  readonly path: string;
  readonly created: readonly string[];
  /** The required user ID; undefined on Windows, which has none. */
  readonly owner: number | undefined;
  readonly trusted: boolean;
}

function cacheFolder(node: NodeJS.Process): CacheFolder | undefined {
  const [base, ...names] = cachePath(node);
  const owner = node.geteuid?.();
  // sudo may leave another user's HOME, whose code root must not execute.
  if (base === undefined || !isPrivate(base, owner)) return undefined;
  // V8 itself refuses code of another version or with other flags.
  const { arch, platform, versions } = node;
  const build = [__VERSION__, versions.node, versions.v8, platform, arch].join('-');
  const created = [...names, build].map((_, at, all) => join(base, ...all.slice(0, at + 1)));
  const trusted = created.every((path) => isPrivate(path, owner));
  return { path: created.at(-1) as string, created, owner, trusted };
}

/** Returns a folder that must exist, then names below it (XDG Base Directory Specification); empty for no cache. */
function cachePath({ env, execArgv, platform }: NodeJS.Process): readonly string[] {
  const flags = env.NODE_OPTIONS || env.NODE_V8_COVERAGE || execArgv.length > 0;
  if (flags || env.NODE_DISABLE_COMPILE_CACHE) return [];
  // An unset HOME is not looked up: `userInfo` takes longer than the cache saves.
  return userFolder('cache', { env, platform, home: absolute(env.HOME) });
}

function isPrivate(path: string, owner: number | undefined): boolean {
  try {
    const stats = statSync(path);
    return stats.isDirectory() && isOwn(stats, owner);
  } catch {
    return false;
  }
}

/**
 * This rule is stricter than `platform/files/owner.ts`, as the code is executed; importing that file would load another
 * chunk.
 */
function isOwn({ uid, mode }: Stats, owner: number | undefined): boolean {
  return owner === undefined || (uid === owner && (mode & 0o022) === 0);
}

/** Creates a missing folder, and returns whether only the user can write to it. */
function makePrivate(path: string, owner: number | undefined): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(path, 0o700);
    // The umask may have taken bits away.
    chmodSync(path, 0o700);
  }
  return isPrivate(path, owner);
}

/** Returns undefined if the code is missing or damaged, or the chunk has changed. */
function readCode(folder: CacheFolder, file: string, source: Buffer): Buffer | undefined {
  try {
    if (!folder.trusted) return undefined;
    const bytes = readOwn(join(folder.path, file), folder.owner);
    // V8 compares only the length of a source. At the end, it also tells that the file is whole.
    const length = bytes.length - source.length;
    const isOfSource = length > 0 && source.equals(bytes.subarray(length));
    return isOfSource ? bytes.subarray(0, length) : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the owner of the opened file, as the path may change. O_NONBLOCK keeps a FIFO from blocking. */
function readOwn(path: string, owner: number | undefined): Buffer {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    return stats.isFile() && isOwn(stats, owner) ? readFileSync(fd) : Buffer.alloc(0);
  } finally {
    closeSync(fd);
  }
}

/** Renamed into place, since V8 does not verify code and crashes if a part of it is missing. */
function replaceFile(path: string, bytes: Buffer): void {
  const draft = `${path}.part`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx', 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeFileSync(fd, bytes);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}
