import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { program } from './program';

// What a process does with the files of a folder, and what it says meanwhile, read from what strace writes; and what a
// disk may hold after a loss of power, built from that. What was synced is there. Of what came after the last sync of a
// file or folder, all is there, nothing, names alone, all but one change, or one change alone; of a write that was under
// way, some sectors. A name is only there once its folder was synced, which is stricter than most file systems.

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
interface Node {
  readonly name: string;
  readonly content?: Buffer;
  /** Undefined are those that were removed. */
  readonly entries?: ReadonlyMap<string, Node | undefined>;
}

type Event =
  | { readonly kind: 'write'; readonly node: Node; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly node: Node; readonly size: number }
  | { readonly kind: 'names'; readonly node: Node; readonly set: readonly Named[] }
  | { readonly kind: 'sync'; readonly node: Node }
  /** What the world has seen: a write to a socket, or to standard output or error. */
  | { readonly kind: 'said'; readonly to: 'socket' | 'stdout' | 'stderr'; readonly text: string };

type Said = Extract<Event, { readonly kind: 'said' }>;
/** What a loss of power may undo. */
export type Change = Extract<Event, { readonly kind: 'write' | 'truncate' | 'names' }>;
type Named = readonly [name: string, node: Node | undefined];

export interface Trace {
  readonly root: Node;
  readonly events: readonly Event[];
}

/** SQLite makes it anew, whatever is in it. */
const isLeftOut = (name: string) => name.endsWith('-shm');

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
  return (log) => ({ root, events: readLog(folder, root, log) });
}

const CALL = /^(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?: \(.*\))?$/;
const STRING = /"((?:\\x[\da-f]{2})*)"/g;
const decoded = (hex: string) => Buffer.from(hex.replaceAll('\\x', ''), 'hex');

function readLog(folder: string, root: Node, log: string): Event[] {
  const events: Event[] = [];
  const nodes = new Map<string, Node>();
  const sizes = new Map<Node, number>();
  /** Where each descriptor writes next: `NaN` at the end of its file. */
  const places = new Map<string, number>();

  const know = (path: string, node: Node) => {
    nodes.set(path, node);
    sizes.set(node, node.content?.length ?? 0);
    for (const [name, child] of node.entries ?? []) if (child) know(join(path, name), child);
  };
  const set = (parent: string, changes: readonly Named[]) => {
    for (const [path, node] of changes) {
      if (node) nodes.set(path, node);
      else nodes.delete(path);
    }
    const named = changes.map(([path, node]): Named => [basename(path), node]);
    events.push({ kind: 'names', node: nodes.get(parent) as Node, set: named });
  };
  const make = (path: string, node: Omit<Node, 'name'>) =>
    set(dirname(path), [[path, { name: basename(path), ...node }]]);
  const truncate = (node: Node, size: number) => {
    sizes.set(node, size);
    events.push({ kind: 'truncate', node, size });
  };
  const isBelow = (path: string) => path.startsWith(`${folder}/`);

  const opening = (path: string, number: string, args: string) => {
    places.delete(number);
    if (!isBelow(path) || isLeftOut(basename(path))) return;
    if (!nodes.has(path)) {
      if (!args.includes('O_CREAT')) throw new Error(`${path} is not known here`);
      make(path, { content: Buffer.alloc(0) });
    }
    const node = nodes.get(path) as Node;
    if (args.includes('O_TRUNC') && sizes.get(node)) truncate(node, 0);
    places.set(number, args.includes('O_APPEND') ? Number.NaN : 0);
  };
  const name = (call: string, from: string, to = from) => {
    const node = nodes.get(from);
    if (!node) return;
    if (dirname(from) !== dirname(to)) throw new Error(`${from} was moved`);
    const added: Named[] = to === from ? [] : [[to, node]];
    const removed: Named[] = call.startsWith('link') ? [] : [[from, undefined]];
    set(dirname(to), [...added, ...removed]);
  };
  const write = (node: Node, number: string, offset: number | undefined, bytes: Buffer) => {
    const size = sizes.get(node) ?? 0;
    const own = places.get(number) ?? Number.NaN;
    const at = offset ?? (Number.isNaN(own) ? size : own);
    if (offset === undefined) places.set(number, own + bytes.length);
    sizes.set(node, Math.max(size, at + bytes.length));
    events.push({ kind: 'write', node, at, bytes });
  };
  const say = (number: string, path: string, bytes: Buffer) => {
    const standard = { 1: 'stdout', 2: 'stderr' } as const;
    const to = standard[Number(number) as 1 | 2] ?? (path.startsWith('socket:') && 'socket');
    if (to) events.push({ kind: 'said', to, text: bytes.toString() });
  };

  const take = (call: string, args: string, result: number, opened: string) => {
    const strings = [...args.matchAll(STRING)].map(([, text = '']) => decoded(text));
    const [, number = '', named = ''] = /^(\d+)<([^>]*)>/.exec(args) ?? [];
    const path = decoded(named).toString();
    const node = nodes.get(path);
    const [from, to] = strings.map((text) => `${text}`.replace(/\/$/, '')).filter(isBelow);
    const last = Number(args.split(', ').at(-1));
    if (call === 'openat') opening(opened, `${result}`, args);
    else if (from && /^mkdir/.test(call)) make(from, { entries: new Map() });
    else if (from && /^rename|^link|^unlink|^rmdir/.test(call)) name(call, from, to);
    else if (!node) say(number, path, Buffer.concat(strings));
    else if (/sync$/.test(call)) events.push({ kind: 'sync', node });
    else if (call === 'ftruncate') truncate(node, last);
    else if (/^p?writev?(64)?$/.test(call)) {
      // With zeros in place of what strace has cut off, which is of no consequence.
      const bytes = Buffer.concat(strings, result);
      write(node, number, call.startsWith('p') ? last : undefined, bytes);
    } else throw new Error(`${call} is not known here`);
  };

  know(folder, root);
  const begun = new Map<string, string>();
  for (const line of log.split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, first] = /^(.*) <unfinished \.\.\.>$/.exec(text) ?? [];
    if (first !== undefined) begun.set(thread, first);
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
    const whole = rest === undefined ? text : `${begun.get(thread)}${rest}`;
    const [, call = '', args = '', result = '', path = ''] = CALL.exec(whole) ?? [];
    if (Number(result) >= 0) take(call, args, Number(result), decoded(path).toString());
  }
  return events;
}

/** A file as large as this holds nothing that matters. */
const LARGE = 4 * 1024 * 1024;

export interface Left {
  readonly where: string;
  readonly said: readonly Said[];
  readonly over: boolean;
  /** Lower for those that more often lack something. */
  readonly rank: number;
  restore(folder: string): void;
}

const SECTOR = 512;

type Choice = (change: Change) => Change | undefined;

/**
 * All that may be left when the power fails after each event.
 * @param without syncs of a file that were not done: only what differs then
 */
export function* leftBy({ root, events }: Trace, without: readonly Event[] = []): Generator<Left> {
  const seen = new Set<string>();
  const disk = new Disk();
  const said: Said[] = [];
  let begun = without.length === 0;
  for (const [index, event] of [undefined, ...events].entries()) {
    const isMissed = event !== undefined && without.includes(event);
    begun ||= isMissed;
    if (event?.kind === 'said') said.push(event);
    else if (event && !isMissed) disk.take(event);
    if (!begun) continue;
    // It makes up for those.
    if (event?.kind === 'sync' && !isMissed && without.some((one) => isOf(one, event.node))) return;
    const after = `after ${index} of ${events.length}: ${told(event)}`;
    for (const [what, choice, one] of choices(disk.pending, event, events[index])) {
      const left = disk.left(root, choice);
      const digest = digestOf(left, said.length);
      if (seen.has(digest)) continue;
      seen.add(digest);
      const over = index === events.length;
      const isTold = over || event?.kind === 'said' || event?.kind === 'names';
      const rank = one ? (without.some((sync) => isOf(sync, one.node)) ? 2 : 1) : isTold ? 0 : 3;
      const restore = (folder: string) => write(left, folder);
      yield { where: `${what}, ${after}`, said: [...said], over, rank, restore };
    }
  }
}

function* choices(
  pending: readonly Change[],
  last: Event | undefined,
  next: Event | undefined,
): Generator<[what: string, choice: Choice, one?: Change]> {
  yield ['all of it', (one) => one];
  yield ['nothing unsynced', () => undefined];
  yield ['names only', (one) => (one.kind === 'names' ? one : undefined)];
  yield ['no new names', (one) => (one.kind === 'names' ? undefined : one)];
  // Until then, each event only adds to what may be missing.
  if (!next || next.kind === 'sync' || next.kind === 'said')
    for (const left of pending) {
      yield [`without ${told(left)}`, (one) => (one === left ? undefined : one), left];
      yield [`only ${told(left)}`, (one) => (one === left ? one : undefined), left];
    }
  if (last?.kind !== 'write') return;
  const sectors = Math.ceil(last.bytes.length / SECTOR);
  // Each write in a place of its own.
  for (const count of new Set([1 + (pending.length % sectors), sectors - 1])) {
    const part = { ...last, bytes: last.bytes.subarray(0, count * SECTOR) };
    yield [`${count} sectors`, (one) => (one === last ? part : one)];
  }
}

/** A sync with its repetitions, and what it syncs. */
export interface Sync {
  readonly events: readonly Event[];
  readonly name: string;
  readonly changes: readonly Change[];
  readonly last: Change;
  readonly isSilent: boolean;
  readonly where: string;
}

/**
 * The syncs that make a difference. The next one of the file would do as well if until then nothing is said, no other
 * file is synced, and the file gets no name.
 */
export function syncsIn({ events }: Trace): Sync[] {
  const syncs: Sync[] = [];
  const pending = new Map<Node, Change[]>();
  for (const [index, event] of events.entries()) {
    if (event.kind === 'said') continue;
    const { node } = event;
    const changes = pending.get(node) ?? [];
    if (event.kind !== 'sync') pending.set(node, [...changes, event]);
    else if (changes.length > 0) {
      pending.delete(node);
      const [again, until] = untilNext(events.slice(index + 1), node);
      const last = changes.at(-1) as Change;
      const isSilent = !events.slice(0, index).some(({ kind }) => kind === 'said');
      const where = `${told(event)} at ${index} of ${events.length}`;
      const sync = { events: [event, ...again], name: node.name, changes, last, isSilent, where };
      if (until.some((one) => matters(one, node))) syncs.push(sync);
    }
  }
  return syncs;
}

/** The repetitions of a sync, and what is done until the next one of the file. */
function untilNext(later: readonly Event[], node: Node): [again: Event[], until: Event[]] {
  const change = later.findIndex((one) => one.kind !== 'sync' && isOf(one, node));
  const still = change < 0 ? later : later.slice(0, change);
  const isNext = (one: Event) => one.kind === 'sync' && isOf(one, node);
  const next = change < 0 ? -1 : later.findIndex((one, at) => at > change && isNext(one));
  return [still.filter(isNext), next < 0 ? [...later, END] : later.slice(0, next)];
}

const END: Said = { kind: 'said', to: 'stdout', text: '' };
const isOf = (event: Event, node: Node) => event.kind !== 'said' && event.node === node;
const matters = (event: Event, node: Node) =>
  event.kind === 'said' ||
  (event.kind === 'sync' && event.node !== node) ||
  (event.kind === 'names' && event.set.some(([, named]) => named === node));

type Held = Omit<Node, 'name'>;

/** Files by their paths; folders have no content. */
type Whole = ReadonlyMap<string, Buffer | undefined>;

class Disk {
  private readonly certain = new Map<Node, Held>();
  pending: readonly Change[] = [];

  take(event: Exclude<Event, Said>): void {
    if (event.kind !== 'sync') {
      this.pending = [...this.pending, event];
      return;
    }
    const { node } = event;
    this.certain.set(node, this.held(node, this.pending));
    this.pending = this.pending.filter((change) => change.node !== node);
  }

  left(root: Node, choice: Choice): Whole {
    const done = this.pending.map(choice).filter((change) => change !== undefined);
    const whole = new Map<string, Buffer | undefined>();
    const add = (path: string, node: Node) => {
      const { content, entries } = this.held(node, done);
      whole.set(path, content);
      for (const [name, child] of entries ?? []) if (child) add(join(path, name), child);
    };
    add('.', root);
    return whole;
  }

  private held(node: Node, changes: readonly Change[]): Held {
    const before = this.certain.get(node) ?? node;
    const own = changes.filter((change) => change.node === node);
    if (own.length === 0) return before;
    if (before.content) return { content: changed(before.content, own) };
    const set = own.flatMap((change) => (change.kind === 'names' ? change.set : []));
    return { entries: new Map([...(before.entries ?? []), ...set]) };
  }
}

function changed(before: Buffer, changes: readonly Change[]): Buffer {
  const ends = changes.map((one) => (one.kind === 'write' ? one.at + one.bytes.length : 0));
  const whole = Buffer.alloc(Math.max(before.length, ...ends));
  let size = before.copy(whole);
  for (const change of changes) {
    if (change.kind === 'write') {
      change.bytes.copy(whole, change.at);
      size = Math.max(size, change.at + change.bytes.length);
    }
    if (change.kind !== 'truncate') continue;
    if (change.size < size) whole.fill(0, change.size, size);
    size = change.size;
  }
  return size > whole.length ? Buffer.concat([whole], size) : whole.subarray(0, size);
}

const hashes = new WeakMap<Buffer, string>();

function hashOf(content: Buffer): string {
  const known = content.length < LARGE ? hashes.get(content) : `${content.length}`;
  if (known !== undefined) return known;
  const hash = createHash('sha1').update(content).digest('hex');
  hashes.set(content, hash);
  return hash;
}

function digestOf(whole: Whole, said: number): string {
  const files = [...whole].map(([path, content]) => `${path} ${content && hashOf(content)}`);
  return [said, ...files].join('\0');
}

function write(whole: Whole, folder: string): void {
  for (const [path, content] of whole) {
    const at = join(folder, path);
    if (content) writeFileSync(at, content, { mode: 0o600 });
    else mkdirSync(at, { recursive: true, mode: 0o700 });
  }
}

function told(event: Event | undefined): string {
  if (event === undefined) return 'nothing';
  if (event.kind === 'said') return `${event.to} ${JSON.stringify(event.text.slice(0, 20))}`;
  const { name } = event.node;
  const names = (set: readonly Named[]) => set.map(([one, node]) => (node ? '+' : '-') + one);
  if (event.kind === 'names') return `${names(event.set)}`;
  if (event.kind === 'write') return `write of ${event.bytes.length} at ${event.at} of ${name}`;
  return `${event.kind} of ${name || 'the folder'}`;
}
