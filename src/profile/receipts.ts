import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { limits, pushFlags } from '../contract/api';
import type { Push } from '../contract/decode';
import { jsonIn } from '../contract/json';
import { lazy } from '../contract/lazy';
import { DAY_SECONDS, grantedLifetime } from '../contract/lifetime';
import { CliError, failedError, phrase, tried, usageError } from '../platform/errors';
import { checkOwn, makeFolder, readOwn } from '../platform/private-folder';
import { checkStateFolder, folderOf, type System, stateRule } from './folders';

/** A receipt has the link of a push without a key, its limits, and times by the clock of this machine. */
export interface Receipt extends Push {
  readonly html_url: string;
  readonly expires_at: string;
  /** Opening the push needs a key, from the link or sent with it. */
  readonly encrypted?: boolean | undefined;
}

/** Later HTTP requests for a push go to this address; the link, which the instance chose, may lead elsewhere. */
export interface PushPlace {
  readonly base: string;
  readonly token: string;
}

/** `ended` is true if the push is known to have expired before its time. */
export interface KeptReceipt extends PushPlace {
  readonly receipt: Receipt;
  readonly ended: boolean;
}

interface SavedPush {
  readonly push: Push;
  readonly link: string;
  readonly name: string | undefined;
  /** Undefined if the link is at another instance or has no ID; the push has no receipt, but is still the last one. */
  readonly place: PushPlace | undefined;
}

export interface ReceiptItem {
  readonly token: string;
  readonly target: { readonly base: string };
}

export type Receipts = ReturnType<typeof readReceipts>;

type Machine = System & { now(): Date };

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = constants;

/** The number of newest receipts that are kept. The file is replaced when it has twice as many lines. */
const KEPT = 1000;
/** The lines are counted when the file has grown by this many bytes. A receipt has about 350. */
const STEP = 64 * 1024;
/** A receipt is shown for this time if the instance does not say when the push expires. */
const LIFETIME_SECONDS = limits.days.max * DAY_SECONDS;
/** The longest lifetime of `pwpush serve`; a longer one could lead beyond the last valid date. */
const LONGEST_SECONDS = 36_500 * DAY_SECONDS;

/**
 * Reads the receipts of this machine once, and parses them from the end as far as needed. All methods but `end` throw
 * CliError (usage) if another user made the folder or can write to it.
 */
export function readReceipts(machine: Machine) {
  const known = new Map<string, KeyedReceipt>();
  const text = lazy(() => ownContent(machine));
  const unread = lazy(() => entriesIn(text()));
  const next = () => {
    const { value } = unread().next();
    if (value) known.set(value.key, value);
    return value;
  };
  const keptOf = ({ token, target }: ReceiptItem) => {
    // Most links that are opened were pushed elsewhere: no line is parsed for them.
    if (!text().includes(token)) return undefined;
    const key = keyOf(token, target.base);
    let entry = known.get(key) ?? next();
    while (entry && entry.key !== key) entry = next();
    return entry?.kept;
  };
  const find = (item: ReceiptItem) => {
    const kept = keptOf(item);
    return kept?.ended ? undefined : kept;
  };
  return {
    /**
     * Returns the push that was created last, even if it has expired.
     * @throws CliError (usage) if it has no receipt
     */
    last: (): KeptReceipt => {
      const last = known.values().next().value ?? next();
      if (last?.kept) return last.kept;
      const which = last ? 'the last push has no receipt' : 'no push has a receipt on this machine';
      throw usageError(which, 'name the push by its link');
    },
    find: (item: ReceiptItem) => find(item)?.receipt,
    ended: (item: ReceiptItem) => keptOf(item)?.ended === true,
    active: (): KeptReceipt[] => {
      while (next());
      return [...known.values()].flatMap(({ kept }) => (isActive(kept, machine.now()) ? kept : []));
    },
    /** Notes that pushes have expired. Never throws: a receipt that stays does no harm. */
    end: async (pushes: readonly ReceiptItem[]) => {
      try {
        const receipts = pushes.map(find).filter((entry) => entry !== undefined);
        if (receipts.length > 0) await append(machine, receipts.map(endOf));
      } catch {}
    },
  };
}

/**
 * Saves receipts for new pushes. All are written before the first await, at which a signal may end the process.
 * @throws CliError (usage, failed), or an error of the file system
 */
export function saveReceipts(machine: Machine, pushes: readonly SavedPush[]): Promise<void> {
  return append(
    machine,
    pushes.map((push) => lineOfPush(push, machine.now())),
  );
}

/** The fragment of the link is left out, as it may be a key. */
function lineOfPush({ push, link, name, place }: SavedPush, now: Date): string {
  if (place === undefined) return UNKEPT;
  const lifetime = Math.min(grantedLifetime(push) ?? LIFETIME_SECONDS, LONGEST_SECONDS);
  // Texts of the instance are not saved: they could repeat the secret.
  const receipt: Receipt = {
    url_token: place.token,
    html_url: link.split('#')[0] ?? '',
    name,
    expire_after_days: push.expire_after_days,
    expire_after_views: push.expire_after_views,
    ...Object.fromEntries(pushFlags.map((flag) => [flag, push[flag]])),
    encrypted: push.encrypted === true,
    account_id: typeof push.account_id === 'number' ? push.account_id : undefined,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifetime * 1000).toISOString(),
  };
  return lineOfReceipt({ base: place.base, receipt });
}

const lineOfReceipt = ({ base, receipt }: Pick<KeptReceipt, 'base' | 'receipt'>) =>
  lineOf({ base, ...receipt });

/** The line end comes first, so that an incomplete line does not spoil the next one. */
function lineOf(value: object): string {
  return `\n${JSON.stringify(value)}`;
}

const UNKEPT = lineOf({ unkept: true });
const endOf = ({ base, token }: PushPlace) => lineOf({ base, ended: token });

/** The file has a line of JSON for each new push, and one for each push that has expired. */
function receiptsFile(system: System): string {
  return join(folderOf('state', system), 'receipts.jsonl');
}

/** Appends lines to the file (0600) in one write, so that lines of other programs stay whole. */
async function append(machine: Machine, lines: readonly string[]): Promise<void> {
  const path = receiptsFile(machine);
  makeFolder(dirname(path));
  checkStateFolder(machine);
  const bytes = Buffer.from(lines.join(''));
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  let size: number;
  try {
    const stats = fstatSync(file);
    checkOwn(stats, path, ruleOf(machine));
    // A sync takes longer than the rest, and the link has been printed. Readers ignore a part of a line.
    if (writeSync(file, bytes) < bytes.length) throw failedError(phrase('disk-full'));
    size = stats.size + bytes.length;
  } finally {
    closeSync(file);
  }
  if (Math.floor(size / STEP) > Math.floor((size - bytes.length) / STEP))
    await shorten(path, machine);
}

/**
 * Replaces a file of more than twice KEPT lines by its newest receipts, without those of expired pushes, except the
 * last push. Lines that another program writes during this may be lost. Never throws: the next run tries again.
 */
async function shorten(path: string, machine: Machine): Promise<void> {
  try {
    // Imported only when needed, as `atomic-file` loads node:crypto.
    const { makeWhole } = await import('../platform/files/atomic-file');
    const text = readOwn(path, ruleOf(machine));
    const now = machine.now();
    if (text.split('\n').length <= 2 * KEPT) return;
    const kept = [...entriesIn(text)]
      .filter(({ kept }, index) => index === 0 || isActive(kept, now))
      .slice(0, KEPT)
      .map(({ kept }) => (kept ? lineOfReceipt(kept) + (kept.ended ? endOf(kept) : '') : UNKEPT));
    makeWhole(path, kept.reverse().join(''), true);
  } catch {
    // Windows may refuse to replace a file that is open.
  }
}

interface KeyedReceipt {
  readonly key: string;
  readonly kept: KeptReceipt | undefined;
}

const keyOf = (token: string, base: string) => `${base} ${token}`;

function isActive(kept: KeptReceipt | undefined, now: Date): kept is KeptReceipt {
  return kept?.ended === false && Date.parse(kept.receipt.expires_at) > now.getTime();
}

/** Yields the newest receipt first; invalid lines are ignored. */
function* entriesIn(text: string): Generator<KeyedReceipt, undefined> {
  const gone = new Set<string>();
  for (const line of text.split('\n').reverse()) {
    const { base, ended, unkept, ...receipt } = decode(line);
    const token = ended ?? receipt.url_token;
    if (unkept) yield { key: '', kept: undefined };
    if (typeof base !== 'string' || typeof token !== 'string') continue;
    const key = keyOf(token, base);
    if (ended === undefined) yield { key, kept: { base, token, receipt, ended: gone.has(key) } };
    else gone.add(key);
  }
  return undefined;
}

/** A line has a receipt, the end of a push, or says that a push has no receipt. */
interface Line extends Receipt {
  readonly base?: string;
  readonly ended?: string;
  readonly unkept?: boolean;
}

const decode = (line: string): Line => Object(jsonIn(line));

const ruleOf = (system: System) => stateRule(system, 'the file of receipts');

function ownContent(system: System): string {
  const path = tried(() => receiptsFile(system));
  if (path instanceof CliError) return '';
  try {
    const text = readOwn(path, ruleOf(system), O_NOFOLLOW);
    checkStateFolder(system);
    return text;
  } catch (error) {
    if (error instanceof CliError) throw error;
    return '';
  }
}
