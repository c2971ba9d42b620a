import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseReference, type Reference } from '../client/link';
import { limits, type Push } from '../contract/api';
import { parseJson } from '../contract/json';
import { grantedLifetime } from '../contract/lifetime';
import { usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { makeFolder } from '../platform/private-folder';
import { checkStateFolder, type System, stateFolder } from './folders';

// One file per push, which is never changed: writers cannot race.

/** What is kept of a push: its link without a key, limits, and times by the clock of this machine. */
export type Receipt = Push & { readonly html_url: string; readonly expires_at: string };

/** A receipt as it is stored. */
type StoredReceipt = Receipt & {
  /** Of a push that was created without a token at `pwpush serve`; never printed. */
  readonly management_token?: string | undefined;
};

export interface SavedPush {
  readonly push: Push;
  readonly link: string;
  /** The label. */
  readonly name: string | undefined;
}

/** Seconds for which a receipt is kept if the instance does not say when the push expires. */
const LIFETIME = limits.days.max * 86_400;
/** Of `pwpush serve`, in seconds. */
const LONGEST = 36_500 * 86_400;

const folderOf = (system: System) => join(stateFolder(system), 'receipts');

/**
 * Saves a receipt (0600) for a new push. Synchronous: after a signal the process may end at any await, and the link comes
 * first.
 * The fragment of the link, which may be a key, is not saved.
 * @throws CliError (failed), or an error of the file system
 */
export function saveReceipt(system: System, { push, link, name }: SavedPush, now: Date): void {
  const [html_url = ''] = link.split('#');
  const lifetime = Math.min(grantedLifetime(push) ?? LIFETIME, LONGEST);
  const ends = now.getTime() + lifetime * 1000;
  // Texts of the instance are not saved: they could repeat the secret.
  const receipt: StoredReceipt = {
    url_token: parseReference(html_url).token,
    html_url,
    name,
    expire_after_days: push.expire_after_days,
    expire_after_views: push.expire_after_views,
    deletable_by_viewer: push.deletable_by_viewer,
    retrieval_step: push.retrieval_step,
    account_id: typeof push.account_id === 'number' ? push.account_id : undefined,
    management_token: managementToken(push),
    created_at: now.toISOString(),
    expires_at: new Date(ends).toISOString(),
  };
  const folder = folderOf(system);
  checkStateFolder(system, folder);
  const file = `${now.getTime()}-${ends}-${randomBytes(4).toString('hex')}.json`;
  // Not synced: that takes longer than the rest, and the link has been printed. A part of a receipt is ignored.
  const write = () =>
    writeFileSync(join(folder, file), `${JSON.stringify(receipt)}\n`, { flag: 'wx', mode: 0o600 });
  try {
    write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(folder);
    write();
  }
}

function managementToken({ management_token: token }: Push): string | undefined {
  return typeof token === 'string' && /^pwm_[\w-]{43}$/.test(token) ? token : undefined;
}

/** A receipt and its file. */
interface Kept {
  readonly path: string;
  readonly receipt: StoredReceipt;
}

/** Removes the receipts of pushes whose time is over. */
export async function pruneReceipts(system: System, now: Date): Promise<void> {
  for (const name of await namesOf(system))
    if (timesOf(name).ends <= now.getTime()) await remove(join(folderOf(system), name));
}

/** The receipts of pushes whose time is not over, oldest first. */
export async function receipts(system: System, now: Date): Promise<Receipt[]> {
  await pruneReceipts(system, now);
  const all = (await kept(system)).map(({ receipt }) => shown(receipt));
  return all.filter(({ expires_at }) => Date.parse(expires_at) > now.getTime());
}

/** The receipt of a push, if there is one. */
export async function receiptOf(
  system: System,
  push: Pick<Reference, 'token'>,
  base: string,
): Promise<Receipt | undefined> {
  const found = await storedReceipts(system)(push, base);
  return found && shown(found);
}

/**
 * Returns what finds the receipt of a push with its management token, which is not to be printed. All receipts are read
 * once, at the first call.
 */
export function storedReceipts(system: System) {
  const all = lazy(() => kept(system));
  return async (push: Pick<Reference, 'token'>, base: string): Promise<StoredReceipt | undefined> =>
    (await all()).find((one) => isOf(one, push, base))?.receipt;
}

function shown({ management_token: _, ...receipt }: StoredReceipt): Receipt {
  return receipt as Receipt;
}

function isOf({ receipt }: Kept, { token }: Pick<Reference, 'token'>, base: string): boolean {
  const of = parseReference(receipt.html_url);
  return of.token === token && of.base === base;
}

/** Removes the receipt of an expired push, if there is one. */
export function removeReceipt(
  system: System,
  push: Pick<Reference, 'token'>,
  base: string,
): Promise<void> {
  return removeReceipts(system, [{ token: push.token, base }]);
}

/** Removes the receipts of expired pushes, which are read once for all of them. */
export async function removeReceipts(
  system: System,
  pushes: readonly { readonly token: string; readonly base: string }[],
): Promise<void> {
  if (pushes.length === 0) return;
  for (const one of await kept(system).catch(() => []))
    if (pushes.some((push) => isOf(one, push, push.base))) await remove(one.path);
}

/** A receipt that stays does no harm: its push has expired. */
async function remove(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}

/**
 * The link of the last push that has a receipt.
 * @throws CliError (usage) if none has
 */
export async function lastLink(system: System, now: Date): Promise<string> {
  const last = (await receipts(system, now)).at(-1);
  if (last) return last.html_url;
  throw usageError('no push has a receipt on this machine', 'name the push by its link');
}

/** A file that cannot be read is not ours, or was removed meanwhile. */
async function kept(system: System): Promise<Kept[]> {
  const found: Kept[] = [];
  const names = await namesOf(system);
  if (names.length > 0) checkStateFolder(system, folderOf(system));
  // Oldest first.
  names.sort((one, other) => timesOf(one).made - timesOf(other).made);
  for (const name of names) {
    const path = join(folderOf(system), name);
    const bytes = await readFile(path).catch(() => undefined);
    const receipt = bytes && decode(bytes);
    if (receipt) found.push({ path, receipt });
  }
  return found;
}

/** The names of the files of receipts: when the push was made and when it ends, in milliseconds, and random digits. */
async function namesOf(system: System): Promise<string[]> {
  const names = await readdir(folderOf(system)).catch(() => []);
  return names.filter((name) => /^\d+-\d+-[0-9a-f]{8}\.json$/.test(name));
}

function timesOf(name: string) {
  const [made, ends] = name.split('-');
  return { made: Number(made), ends: Number(ends) };
}

function decode(bytes: Buffer): Receipt | undefined {
  try {
    const receipt = parseJson(bytes) as Receipt;
    parseReference(receipt.html_url);
    return receipt;
  } catch {
    return undefined;
  }
}
