import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { program } from './program';

// What a process does with the files of a folder, and what it says meanwhile, read from what strace writes.

/** What starts the program so that `remember` can tell what it did. */
export const traced = (log: string): readonly string[] => [
  ...['strace', '-D', '-f', '-y', '-xx', '-s', '100000', '--seccomp-bpf', '-o', log],
  ...['-e', 'quiet=attach,personality', '-e', `trace=${TRACED}`],
  ...program,
];

const TRACED =
  'openat,write,writev,pwrite64,pwritev,pwritev2,ftruncate,fallocate,copy_file_range,sendfile,' +
  '/^f(data)?sync$,/^rename(at2?)?$,/^link(at)?$,/^unlink(at)?$,/^mkdir(at)?$,/^rmdir';

/** A file or folder, whatever its names. */
export interface Node {
  /** Its first name. */
  readonly name: string;
  /** What it held at the beginning. */
  readonly content?: Buffer;
  readonly entries?: ReadonlyMap<string, Node>;
}

/** What was done. */
export type Event =
  | { readonly kind: 'write'; readonly node: Node; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly node: Node; readonly size: number }
  | { readonly kind: 'names'; readonly node: Node; readonly set: readonly Named[] }
  | { readonly kind: 'sync'; readonly node: Node }
  /** What the world has seen: a write to a socket, or to standard output or error. */
  | { readonly kind: 'said'; readonly to: 'socket' | 'stdout' | 'stderr'; readonly text: string };

export type Said = Extract<Event, { readonly kind: 'said' }>;
/** What a loss of power may undo. */
export type Change = Extract<Event, { readonly kind: 'write' | 'truncate' | 'names' }>;
export type Named = readonly [name: string, node: Node | undefined];

export interface Trace {
  readonly root: Node;
  readonly events: readonly Event[];
}

/** SQLite makes it anew, whatever is in it. */
const isLeftOut = (name: string) => name.endsWith('-shm');

/** What is in a folder. */
function nodeAt(path: string, name = ''): Node {
  const entries = readdirSync(path, { withFileTypes: true })
    .filter((one) => (one.isFile() || one.isDirectory()) && !isLeftOut(one.name))
    .map((one): [string, Node] => {
      const at = join(path, one.name);
      if (one.isDirectory()) return [one.name, nodeAt(at, one.name)];
      return [one.name, { name: one.name, content: readFileSync(at) }];
    });
  return { name, entries: new Map(entries) };
}

/** Remembers what is in a folder; the function returned reads what a process has done with it since. */
export function remember(folder: string): (log: string) => Trace {
  const root = nodeAt(folder);
  return (log) => ({ root, events: new Reading(folder, root).read(log) });
}

const CALL = /^(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?: \(.*\))?$/;
const STRING = /"((?:\\x[\da-f]{2})*)"/g;
const decoded = (hex: string) => Buffer.from(hex.replaceAll('\\x', ''), 'hex');

/** Follows the names and descriptors of a process. */
class Reading {
  private readonly events: Event[] = [];
  private readonly nodes = new Map<string, Node>();
  private readonly sizes = new Map<Node, number>();
  private readonly open = new Map<string, { readonly path: string; at: number }>();

  constructor(
    private readonly folder: string,
    root: Node,
  ) {
    this.know(folder, root);
  }

  read(log: string): Event[] {
    const begun = new Map<string, string>();
    for (const line of log.split('\n')) {
      const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
      const [, first] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? [];
      if (first !== undefined) begun.set(thread, first);
      const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
      const whole = rest === undefined ? text : `${begun.get(thread)}${rest}`;
      const [, call = '', args = '', result = '', path = ''] = CALL.exec(whole) ?? [];
      if (Number(result) >= 0) this.take(call, args, Number(result), decoded(path).toString());
    }
    return this.events;
  }

  private know(path: string, node: Node): void {
    this.nodes.set(path, node);
    this.sizes.set(node, node.content?.length ?? 0);
    for (const [name, child] of node.entries ?? []) this.know(join(path, name), child);
  }

  private take(call: string, args: string, result: number, opened: string): void {
    const strings = [...args.matchAll(STRING)].map(([, text = '']) => decoded(text));
    const [, number = '', named = ''] = /^(\d+)<([^>]*)>/.exec(args) ?? [];
    const path = decoded(named).toString();
    const texts = strings.map((text) => String(text).replace(/\/$/, ''));
    const node = this.nodes.get(path);
    const [from, to] = texts.filter((text) => this.isBelow(text));
    const last = Number(args.split(', ').at(-1));
    const bytes = Buffer.concat(strings);
    if (call === 'openat') this.opening(opened, `${result}`, args);
    else if (from && /^mkdir/.test(call)) this.make(from, { entries: new Map() });
    else if (from && /^rename|^link|^unlink|^rmdir/.test(call)) this.name(call, from, to);
    else if (!node) this.say(number, path, bytes);
    else if (/sync$/.test(call)) this.events.push({ kind: 'sync', node });
    else if (call === 'ftruncate') this.truncate(node, last);
    else if (/^p?writev?(64)?$/.test(call))
      this.write(node, number, call.startsWith('p') ? last : undefined, sized(strings, result));
    else throw new Error(`${call} is not known here`);
  }

  private isBelow(path: string): boolean {
    return path.startsWith(`${this.folder}/`);
  }

  private opening(path: string, number: string, args: string): void {
    this.open.delete(number);
    if (!this.isBelow(path) || isLeftOut(basename(path))) return;
    if (!this.nodes.has(path)) {
      if (!args.includes('O_CREAT')) throw new Error(`${path} is not known here`);
      this.make(path, { content: Buffer.alloc(0) });
    }
    const node = this.nodes.get(path) as Node;
    if (args.includes('O_TRUNC') && this.sizes.get(node)) this.truncate(node, 0);
    const at = args.includes('O_APPEND') ? Number.NaN : 0;
    this.open.set(number, { path, at });
  }

  private make(path: string, node: Omit<Node, 'name'>): void {
    this.set(dirname(path), [[path, { name: basename(path), ...node }]]);
  }

  private name(call: string, from: string, to = from): void {
    const node = this.nodes.get(from);
    if (!node) return;
    if (dirname(from) !== dirname(to)) throw new Error(`${from} was moved`);
    const added: Named[] = to === from ? [] : [[to, node]];
    this.set(dirname(to), [
      ...added,
      ...(call.startsWith('link') ? [] : [[from, undefined] as const]),
    ]);
  }

  private set(folder: string, changes: readonly Named[]): void {
    for (const [path, node] of changes) {
      if (node) this.nodes.set(path, node);
      else this.nodes.delete(path);
    }
    const node = this.nodes.get(folder) as Node;
    const set = changes.map(([path, node]): Named => [basename(path), node]);
    this.events.push({ kind: 'names', node, set });
  }

  private write(node: Node, number: string, offset: number | undefined, bytes: Buffer): void {
    const descriptor = this.open.get(number);
    const size = this.sizes.get(node) ?? 0;
    const own = descriptor?.at ?? Number.NaN;
    const at = offset ?? (Number.isNaN(own) ? size : own);
    if (offset === undefined && descriptor) descriptor.at += bytes.length;
    this.sizes.set(node, Math.max(size, at + bytes.length));
    this.events.push({ kind: 'write', node, at, bytes });
  }

  private truncate(node: Node, size: number): void {
    this.sizes.set(node, size);
    this.events.push({ kind: 'truncate', node, size });
  }

  private say(number: string, path: string, bytes: Buffer): void {
    const standard = { 1: 'stdout', 2: 'stderr' } as const;
    const to = standard[Number(number) as 1 | 2] ?? (path.startsWith('socket:') && 'socket');
    if (to) this.events.push({ kind: 'said', to, text: bytes.toString() });
  }
}

/** With zeros in place of what strace has cut off, which is of no consequence. */
const sized = (pieces: Buffer[], length: number): Buffer => Buffer.concat(pieces, length);
