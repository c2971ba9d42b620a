import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseReference } from '../client/link';
import { limits, type Push, pushFlags } from '../contract/api';
import { DAY_SECONDS, grantedLifetime } from '../contract/lifetime';
import { failedError } from '../platform/errors';
import { codeOf } from '../platform/files/file-error';
import { makeFolder } from '../platform/private-folder';
import { checkStateFolder, type System, stateFolder } from './folders';

// Apart from `receipts.ts`, which reads them, and without `node:crypto`: every push loads this.

/** What is kept of a push: its link without a key, limits, and times by the clock of this machine. */
export type Receipt = Push & { readonly html_url: string; readonly expires_at: string };

export interface SavedPush {
  readonly push: Push;
  readonly link: string;
  /** The label. */
  readonly name: string | undefined;
}

/** How long a receipt is kept if the instance does not say when the push expires. */
const LIFETIME_SECONDS = limits.days.max * DAY_SECONDS;
/** Of `pwpush serve`. */
const LONGEST_SECONDS = 36_500 * DAY_SECONDS;

/** Bytes by which the file may grow at least until it is compacted. */
const STEP = 64 * 1024;
/** How often a line is written again because the file was replaced; on some file systems, inodes tell nothing. */
const TRIES = 8;

/** The file of receipts: a line of JSON for each push, and one for each that was expired. */
export function receiptsFile(system: System): string {
  return join(stateFolder(system), 'receipts.jsonl');
}

/**
 * Saves receipts (0600) for new pushes. Synchronous: after a signal the process may end at any await, and the links come
 * first.
 * @returns whether to compact the file
 * @throws CliError (failed), or an error of the file system
 */
export function saveReceipts(system: System, pushes: readonly SavedPush[], now: Date): boolean {
  return appendReceipts(system, pushes.map((push) => lineOf(receiptOf(push, now))).join(''));
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
export function lineOf(value: object): string {
  return `\n${JSON.stringify(value)}`;
}

/**
 * Appends lines to the file of receipts, in one write, so that those of other programs stay whole.
 * @returns whether the file has grown so much that it is to be compacted
 * @throws CliError (usage, failed), or an error of the file system
 */
export function appendReceipts(system: System, lines: string | Uint8Array): boolean {
  const path = receiptsFile(system);
  checkStateFolder(system, dirname(path));
  const bytes = Buffer.from(lines);
  try {
    return append(path, bytes);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    return append(path, bytes);
  }
}

/**
 * Without a lock: if the path names another file after the write, the write may have come too late for the program that
 * replaced the file (`compactReceipts`), and is repeated. Some receipts are in the file twice then.
 */
function append(path: string, bytes: Buffer): boolean {
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants;
  for (let tries = 1; ; tries++) {
    const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      // Not synced: that takes longer than the rest, and the link has been printed. A part of a line is ignored.
      if (writeSync(file, bytes) < bytes.length) throw failedError('the disk is full');
      const { ino, size } = fstatSync(file, { bigint: true });
      if (inodeAt(path) === ino || tries === TRIES)
        return isGrown(file, Number(size) - bytes.length, Number(size));
    } finally {
      closeSync(file);
    }
  }
}

/** Exact: on Windows it has 64 bits. */
export function inodeAt(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

export function inodeOf(file: number): bigint {
  return fstatSync(file, { bigint: true }).ino;
}

/**
 * Whether the size passed a multiple of twice what was kept last, so that a compaction that fails is not tried at each
 * push. All of them are multiples of `STEP`: seldom does the file have to be read.
 */
function isGrown(file: number, before: number, after: number): boolean {
  const passes = (step: number) => Math.floor(after / step) > Math.floor(before / step);
  if (!passes(STEP)) return false;
  const start = Buffer.alloc(32);
  readSync(file, start, 0, start.length, 0);
  const kept = Number(/^\{"kept":(\d+)\}/.exec(start.toString('latin1'))?.[1] ?? 0);
  return passes(STEP * (1 + Math.ceil((2 * kept) / STEP)));
}
