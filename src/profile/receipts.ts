import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseReference } from '../client/link';
import { limits, pushFlags } from '../contract/api';
import type { Push } from '../contract/decode';
import { DAY_SECONDS, grantedLifetime } from '../contract/lifetime';
import { failedError, usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { makeFolder } from '../platform/private-folder';
import { checkStateFolder, type System, stateFolder } from './folders';

/** What is kept of a push: its link without a key, limits, and times by the clock of this machine. */
type Receipt = Push & { readonly html_url: string; readonly expires_at: string };

/** A receipt, and whether its push is known to have expired before its time. */
export interface KeptReceipt {
  readonly receipt: Receipt;
  readonly ended: boolean;
}

interface SavedPush {
  readonly push: Push;
  readonly link: string;
  /** The label. */
  readonly name: string | undefined;
}

/** A push at its instance. */
export interface ReceiptItem {
  readonly token: string;
  readonly target: { readonly base: string };
}

type Machine = System & { now(): Date };

/** How many receipts are kept: the newest. The file is replaced when it has twice as many lines. */
const KEPT = 1000;
/** Its lines are counted each time that it has grown by this, in bytes. A receipt has about 350. */
const STEP = 64 * 1024;
/** How long a receipt is shown if the instance does not say when the push expires. */
const LIFETIME_SECONDS = limits.days.max * DAY_SECONDS;
/** Of `pwpush serve`. */
const LONGEST_SECONDS = 36_500 * DAY_SECONDS;

/**
 * The receipts of this machine. The file is read once, and parsed from its end as far as needed.
 * All but `end` throw CliError (usage) if another user prepared the folder, or can.
 */
export function readReceipts(machine: Machine) {
  const known = new Map<string, Entry>();
  const unread = lazy(() => entriesIn(ownContent(machine)));
  const next = () => {
    const { value } = unread().next();
    if (value) known.set(value.key, value);
    return value;
  };
  /** The receipt of a push that was not expired. */
  const find = ({ token, target }: ReceiptItem) => {
    const key = keyOf(token, target.base);
    let entry = known.get(key) ?? next();
    while (entry && entry.key !== key) entry = next();
    return entry?.ended ? undefined : entry?.receipt;
  };
  return {
    /**
     * The push that was created last, even if it has expired.
     * @throws CliError (usage) if none has a receipt
     */
    last: (): KeptReceipt => {
      const last = known.values().next().value ?? next();
      if (last) return last;
      throw usageError('no push has a receipt on this machine', 'name the push by its link');
    },
    find,
    /** The receipts of pushes that have not expired, newest first. */
    active: () => {
      while (next());
      return [...known.values()]
        .filter((entry) => isActive(entry, machine.now()))
        .map(({ receipt }) => receipt);
    },
    /** Notes that pushes have expired. Never throws: a receipt that stays does no harm. */
    end: async (pushes: readonly ReceiptItem[]) => {
      try {
        const found = pushes.map(find).filter((receipt) => receipt !== undefined);
        if (found.length > 0) await append(machine, found.map(endOf));
      } catch {}
    },
  };
}

/**
 * Saves receipts for new pushes. All is written before the first await: after a signal the process may end at any, and the
 * links come first.
 * @throws CliError (usage, failed), or an error of the file system
 */
export function saveReceipts(machine: Machine, pushes: readonly SavedPush[]): Promise<void> {
  return append(
    machine,
    pushes.map((push) => lineOf(receiptOf(push, machine.now()))),
  );
}

/** A link that needs no repair, which takes as long as the rest of a receipt. */
const PLAIN = /^https?:\/\/[\w.:-]+\/p\/([\w-]{1,128})$/;

/** Without the fragment of the link, which may be a key. */
function receiptOf({ push, link, name }: SavedPush, now: Date): Receipt {
  const [html_url = ''] = link.split('#');
  const lifetime = Math.min(grantedLifetime(push) ?? LIFETIME_SECONDS, LONGEST_SECONDS);
  // Texts of the instance are not saved: they could repeat the secret.
  return {
    url_token: PLAIN.exec(html_url)?.[1] ?? parseReference(html_url).token,
    html_url,
    name,
    expire_after_days: push.expire_after_days,
    expire_after_views: push.expire_after_views,
    ...Object.fromEntries(pushFlags.map((flag) => [flag, push[flag]])),
    account_id: typeof push.account_id === 'number' ? push.account_id : undefined,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifetime * 1000).toISOString(),
  };
}

/** The line end comes first: a line of which only a part was written does not spoil the next. */
function lineOf(value: object): string {
  return `\n${JSON.stringify(value)}`;
}

const endOf = ({ html_url }: Receipt) => lineOf({ ended: html_url });

/** The file of receipts: a line of JSON for each push, and one for each that was expired. */
function receiptsFile(system: System): string {
  return join(stateFolder(system), 'receipts.jsonl');
}

/**
 * Appends lines to the file (0600), in one write, so that those of other programs stay whole.
 * @throws as `saveReceipts`
 */
async function append(machine: Machine, lines: readonly string[]): Promise<void> {
  const path = receiptsFile(machine);
  makeFolder(dirname(path));
  checkStateFolder(machine, dirname(path));
  const bytes = Buffer.from(lines.join(''));
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = constants;
  const size = using(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, (file) => {
    // Not synced: that takes longer than the rest, and the link has been printed. A part of a line is ignored.
    if (writeSync(file, bytes) < bytes.length) throw failedError('the disk is full');
    return fstatSync(file).size;
  });
  if (Math.floor(size / STEP) > Math.floor((size - bytes.length) / STEP))
    await shorten(path, machine.now());
}

/**
 * Replaces the file by one with the newest receipts, if it has twice as many lines. Without those of pushes that have
 * expired, except the last. What another program writes meanwhile may be lost. Never throws: the next time will do.
 */
async function shorten(path: string, now: Date): Promise<void> {
  try {
    // It loads node:crypto, which other pushes do without.
    const { makeWhole } = await import('../platform/files/atomic-file');
    const text = contentOf(path);
    if (text.split('\n').length <= 2 * KEPT) return;
    const kept = [...entriesIn(text)]
      .filter((entry, at) => at === 0 || isActive(entry, now))
      .slice(0, KEPT)
      .map(({ receipt, ended }) => `${lineOf(receipt)}${ended ? endOf(receipt) : ''}`);
    makeWhole(path, kept.reverse().join(''), true);
  } catch {
    // Windows may refuse to replace a file that is open.
  }
}

/** The key is that of the push. */
interface Entry extends KeptReceipt {
  readonly key: string;
}

const keyOf = (token: string, base: string | undefined) => `${base} ${token}`;

function isActive({ receipt, ended }: KeptReceipt, now: Date): boolean {
  return !ended && Date.parse(receipt.expires_at) > now.getTime();
}

/** The receipts in a file, newest first; what is no receipt is ignored. */
function* entriesIn(text: string): Generator<Entry, undefined> {
  const ended = new Set<string>();
  for (const line of text.split('\n').reverse()) {
    const { key, receipt } = decode(line) ?? {};
    if (key === undefined) continue;
    if (receipt) yield { receipt, key, ended: ended.has(key) };
    else ended.add(key);
  }
  return undefined;
}

/** A line: a receipt, or the end of a push. */
function decode(line: string) {
  try {
    const value = JSON.parse(line) as Partial<Receipt> & { readonly ended?: string };
    const { token, base } = parseReference(value.ended ?? value.html_url ?? '');
    const receipt = value.ended === undefined ? (value as Receipt) : undefined;
    return { key: keyOf(token, base), receipt };
  } catch {
    return undefined;
  }
}

/** Nothing, if the file is missing or cannot be read. */
function ownContent(system: System): string {
  const path = receiptsFile(system);
  let text: string;
  try {
    text = contentOf(path);
  } catch {
    return '';
  }
  checkStateFolder(system, dirname(path));
  return text;
}

/** @throws an error of the file system */
function contentOf(path: string): string {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
  return using(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, (file) => readFileSync(file, 'utf8'));
}

function using<T>(path: string, flags: number, work: (file: number) => T): T {
  const file = openSync(path, flags, 0o600);
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}
