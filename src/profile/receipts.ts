import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { parseReference } from '../client/link';
import { usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { checkStateFolder, type System } from './folders';
import {
  appendReceipts,
  inodeAt,
  inodeOf,
  lineOf,
  type Receipt,
  receiptsFile,
} from './save-receipt';

/** A receipt, and whether its push is known to have expired before its time. */
export interface KeptReceipt {
  readonly receipt: Receipt;
  readonly ended: boolean;
}

/** A push at its instance. */
interface Item {
  readonly token: string;
  readonly target: { readonly base: string };
}

/** The receipts of this machine. The file is read once, and parsed from its end as far as needed. */
export interface Receipts {
  /**
   * The push that was created last, even if it has expired.
   * @throws CliError (usage) if none has a receipt
   */
  last(): KeptReceipt;
  /** The receipt of a push that was not expired. */
  find(push: Item): Receipt | undefined;
  /** The receipts of pushes that have not expired, newest first. */
  active(): Receipt[];
  /** Notes that pushes have expired. Never throws: a receipt that stays does no harm. */
  end(pushes: readonly Item[]): void;
}

/** All but `end` throw CliError (usage) if another user prepared the folder, or can. */
export function readReceipts(machine: System & { now(): Date }): Receipts {
  const known = new Map<string, Entry>();
  const unread = lazy(() => entriesIn(contentOf(machine)));
  const next = () => {
    const { value } = unread().next();
    if (value) known.set(value.key, value);
    return value;
  };
  const find = ({ token, target }: Item) => {
    const key = keyOf(token, target.base);
    let entry = known.get(key) ?? next();
    while (entry && entry.key !== key) entry = next();
    return entry?.ended ? undefined : entry?.receipt;
  };
  return {
    last: () => {
      const last = known.values().next().value ?? next();
      if (last) return last;
      throw usageError('no push has a receipt on this machine', 'name the push by its link');
    },
    find,
    active: () => {
      while (next());
      const active = [...known.values()].filter((entry) => isActive(entry, machine.now()));
      return active.map(({ receipt }) => receipt);
    },
    end: (pushes) => {
      try {
        const found = pushes.map(find).filter((receipt) => receipt !== undefined);
        if (found.length > 0 && appendReceipts(machine, found.map(endOf).join('')))
          compactReceipts(machine, machine.now());
      } catch {
        // As the contract says.
      }
    },
  };
}

/** The key is that of the push. */
interface Entry extends KeptReceipt {
  readonly key: string;
}

const keyOf = (token: string, base: string | undefined) => `${base} ${token}`;

const endOf = ({ html_url }: Receipt) => lineOf({ ended: html_url });

function isActive({ receipt, ended }: KeptReceipt, now: Date): boolean {
  return !ended && Date.parse(receipt.expires_at) > now.getTime();
}

/** The receipts in a file, newest first. Some are in it twice (`append`); what is no receipt is ignored. */
function* entriesIn(bytes: Buffer): Generator<Entry, undefined> {
  const seen = new Set<string>();
  const ended = new Set<string>();
  for (let at = bytes.length, end = at; end > 0; end = at) {
    at = bytes.lastIndexOf('\n', end - 1);
    const { link, receipt } = decode(bytes.toString('utf8', at + 1, end)) ?? {};
    if (link === undefined || seen.has(link)) continue;
    (receipt ? seen : ended).add(link);
    if (receipt) yield { receipt, ended: ended.has(link), key: link };
  }
  return undefined;
}

/** A line: a receipt, or the end of a push. */
function decode(line: string) {
  try {
    const value = JSON.parse(line) as Partial<Receipt> & { readonly ended?: string };
    const { token, base } = parseReference(value.ended ?? value.html_url ?? '');
    const receipt = value.ended === undefined ? (value as Receipt) : undefined;
    return { link: keyOf(token, base), receipt };
  } catch {
    return undefined;
  }
}

/** Nothing, if the file is missing or cannot be read. */
function contentOf(system: System): Buffer {
  const path = receiptsFile(system);
  let bytes: Buffer;
  try {
    bytes = reading(path, (file) => readFileSync(file));
  } catch {
    return Buffer.alloc(0);
  }
  checkStateFolder(system, dirname(path));
  return bytes;
}

function reading<T>(path: string, read: (file: number) => T): T {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

/** Milliseconds after which a compaction has been given up by the program that began it. */
const STALE = 60_000;

/**
 * Replaces the file of receipts by one without those of pushes that have expired, except the last one. Never throws: the
 * next time will do.
 *
 * No line that another program appends meanwhile is lost. Those that were written before the rename are copied, as the old
 * file is read again after it. A program that writes to the old file later notices, by its inode, and writes again
 * (`append`). The draft, which only one program can create, is the lock: of two that replace a file at once, one would lose
 * the lines of the other. An old draft is removed; if its maker goes on after all, it finds a draft that is not its own. A
 * receipt that was copied late may come after the line that ends its push, which does no harm.
 */
export function compactReceipts(system: System, now: Date): void {
  const path = receiptsFile(system);
  const draft = `${path}.new`;
  try {
    const begun = statSync(draft, { throwIfNoEntry: false });
    if (begun && begun.mtimeMs < Date.now() - STALE) rmSync(draft);
    const made = openSync(draft, 'wx', 0o600);
    const isOwn = () => inodeAt(draft) === inodeOf(made);
    try {
      const late = reading(path, (old) => {
        const [lines, unread] = wholeLines(readFileSync(old));
        const kept = keptOf(lines, now);
        writeFileSync(made, `{"kept":${Buffer.byteLength(kept)}}${kept}`);
        // What came meanwhile: little is left to do after the rename, where the program may be killed.
        const [more, rest] = wholeLines(Buffer.concat([unread, readFileSync(old)]));
        writeFileSync(made, more);
        fsyncSync(made);
        if (!isOwn()) return rest.subarray(0, 0);
        renameSync(draft, path);
        return Buffer.concat([rest, readFileSync(old)]);
      });
      if (late.length > 0) appendReceipts(system, late);
    } finally {
      if (isOwn()) rmSync(draft);
      closeSync(made);
    }
  } catch {
    // Windows may refuse to replace a file that is open.
  }
}

/** The lines of a file that was read to its end, of which the last may still be written, and the beginning of that one. */
function wholeLines(bytes: Buffer): [whole: Buffer, begun: Buffer] {
  const last = Math.max(bytes.lastIndexOf('\n'), 0);
  const end = isJson(bytes.toString('utf8', last)) ? bytes.length : last;
  return [bytes.subarray(0, end), bytes.subarray(end)];
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

function keptOf(lines: Buffer, now: Date): string {
  const entries = [...entriesIn(lines)];
  const kept = entries.filter((entry, at) => at === 0 || isActive(entry, now)).reverse();
  const last = kept.at(-1);
  return [
    ...kept.map(({ receipt }) => lineOf(receipt)),
    ...(last?.ended ? [endOf(last.receipt)] : []),
  ].join('');
}
