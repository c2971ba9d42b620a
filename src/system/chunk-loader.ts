import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction, Script } from 'node:vm';
import { type Code, type Folder, folderFor, keepIn, keptIn } from './compile-cache';

interface Module {
  exports: unknown;
}

interface Compiled {
  readonly file: string;
  readonly source: Buffer;
  readonly script: Script;
  /** V8 took what an earlier run had kept. */
  readonly known: boolean;
}

/** Bytes; what is shorter is compiled sooner than looked up. `--version` gets along with such. */
const SHORT = 2_500;

/** How long a run may take that keeps its code, in milliseconds: who waits for a while does not care. */
const BRIEF = 5_000;

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

/**
 * Loads the chunks of the build, and keeps what V8 made of them, so that the next run need not compile them again:
 * that is a fifth of a whole `pwpush push`. Node has such a cache from 22.1 on, for what was compiled at load only;
 * this one serves 20 too. Everything is asked of `node`, the process.
 */
export function loaderFor(node: NodeJS.Process) {
  const modules = new Map<string, Module>();
  const compiled: Compiled[] = [];
  let place: { readonly folder: Folder | undefined } | undefined;
  /** The flags that undo those that were set, and what they imply. */
  const undo: string[] = [];

  /** The exports of a chunk, by its file's name. */
  function load(file: string): unknown {
    const found = modules.get(file);
    if (found) return found.exports;
    const module: Module = { exports: {} };
    modules.set(file, module);
    const path = join(__dirname, file);
    const source = readFileSync(path);
    const from = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : require(id));
    const run =
      source.length < SHORT
        ? compileFunction(source.toString(), PARAMETERS, { filename: path })
        : recall(file, path, source).runInThisContext();
    run(module.exports, from, module, path, __dirname);
    return module.exports;
  }

  /** A chunk as an earlier run compiled it, or compiled anew. */
  function recall(file: string, path: string, source: Buffer): Script {
    place ??= { folder: folderFor(node) };
    const { folder } = place;
    if (folder === undefined || undo.length > 0) return compile(path, source);
    // V8 puts the name into the code, which another installation may come to use.
    const script = compile(file, source, keptIn(folder, file, source));
    compiled.push({ file, source, script, known: script.cachedDataRejected === false });
    return script;
  }

  /**
   * Sets V8 up for one request, or for many; what is loaded later is not kept, as V8 takes code only with the flags
   * that it was made with.
   */
  function tune(many: boolean): void {
    // Compiling undici's parser with the optimising compiler too takes 100 ms, which one request never earns back.
    if (Number.parseInt(node.versions.node, 10) < 22)
      set('--liftoff-only', ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering']);
    // What is new would get up to 128 MiB on a big machine, however little of it is in use.
    if (many) set('--semi-space-growth-factor=1', ['--semi-space-growth-factor=2']);
  }

  function set(flag: string, back: readonly string[]): void {
    undo.push(...back);
    setFlags([flag]);
  }

  function setFlags(flags: readonly string[]): void {
    for (const flag of flags) node.getBuiltinModule('node:v8').setFlagsFromString(flag);
  }

  /** Keeps the code of a run that is over, if some of it is new and as far as that is possible; returns of how many chunks. */
  function keep(): number {
    const folder = place?.folder;
    if (folder === undefined || performance.now() > BRIEF) return 0;
    if (compiled.every(({ known }) => known)) return 0;
    setFlags(undo);
    return keepIn(folder, codes());
  }

  /** What was known gets the functions that this run compiled besides. */
  function* codes(): Generator<Code> {
    for (const { file, source, script } of compiled)
      yield { file, source, code: script.createCachedData() };
  }

  return { load, tune, keep };
}

function compile(filename: string, source: Buffer, cachedData?: Buffer): Script {
  const text = `(function (${PARAMETERS.join()}) {${source}\n})`;
  return new Script(text, { filename, ...(cachedData && { cachedData }) });
}
