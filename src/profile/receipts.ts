import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { grantedLifetime } from '../client/compare-limits';
import { parseReference, type Reference } from '../client/link';
import { limits, type Push } from '../contract';
import { usageError } from '../errors';
import { parseJson } from '../json';
import { makeFile, nameFile } from '../system/atomic-file';
import { makeFolder } from '../system/private-folder';
import { type System, stateFolder } from './folders';

// One file per push, which is never changed: writers cannot race.

const fields = [
  ...['url_token', 'html_url', 'name', 'expire_after_days', 'expire_after_views', 'created_at'],
  ...['expires_at', 'deletable_by_viewer', 'retrieval_step'],
] as const;

/** What is kept of a push: its link without a key, limits and times. */
export interface Receipt extends Push {
  html_url: string;
  /** ISO 8601, by the clock of this machine. */
  expires_at: string;
}

const folderOf = (system: System) => join(stateFolder(system), 'receipts');

/**
 * Saves a receipt (0600) for a new push. Synchronous: after a signal the process may end at any await, and the link comes
 * first.
 * @param link of the push; its fragment, which may be a key, is not saved
 * @throws CliError (failed), or an error of the file system
 */
export function saveReceipt(system: System, push: Push, link: string, now: Date): void {
  const [html_url = ''] = link.split('#');
  const { token: url_token } = parseReference(html_url);
  const longest = limits.days.max * 86_400;
  const ends = now.getTime() + (grantedLifetime(push) ?? longest) * 1000;
  const whole: Push = { ...push, url_token, html_url, expires_at: new Date(ends).toISOString() };
  const receipt = Object.fromEntries(fields.map((name) => [name, whole[name]]));
  const folder = folderOf(system);
  makeFolder(folder);
  const name = `${now.getTime()}-${ends}-${randomBytes(4).toString('hex')}.json`;
  const draft = join(folder, `.${name}.part`);
  makeFile(draft, (file) => writeFileSync(file, `${JSON.stringify(receipt)}\n`));
  nameFile(draft, join(folder, name), true);
}

/** A receipt and its file. */
interface Kept {
  readonly path: string;
  readonly receipt: Receipt;
}

/** Removes the receipts of pushes whose time is over. */
export async function pruneReceipts(system: System, now: Date): Promise<void> {
  for (const { path, ends } of await filesOf(system))
    if (ends <= now.getTime()) await rm(path, { force: true });
}

/** The receipts of pushes whose time is not over, oldest first. */
export async function receipts(system: System, now: Date): Promise<Receipt[]> {
  await pruneReceipts(system, now);
  return (await kept(system)).map(({ receipt }) => receipt);
}

/** The receipt of a push, if there is one. */
export async function receiptOf(
  system: System,
  push: Pick<Reference, 'token'>,
  base: string,
): Promise<Receipt | undefined> {
  return (await kept(system)).find((one) => isOf(one, push, base))?.receipt;
}

function isOf({ receipt }: Kept, { token }: Pick<Reference, 'token'>, base: string): boolean {
  const of = parseReference(receipt.html_url);
  return of.token === token && of.base === base;
}

/** Removes the receipt of an expired push, if there is one. */
export async function removeReceipt(
  system: System,
  push: Pick<Reference, 'token'>,
  base: string,
): Promise<void> {
  for (const one of await kept(system))
    if (isOf(one, push, base)) await rm(one.path, { force: true });
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
  for (const { path } of await filesOf(system)) {
    const bytes = await readFile(path).catch(() => undefined);
    const receipt = bytes && decode(bytes);
    if (receipt) found.push({ path, receipt });
  }
  return found;
}

/** The files of receipts, oldest first, and when their pushes end, in milliseconds: both are in the name. */
async function filesOf(system: System) {
  const folder = folderOf(system);
  const names = await readdir(folder).catch(() => []);
  return names
    .flatMap((name) => {
      const [, made, ends] = /^(\d+)-(\d+)-[0-9a-f]{8}\.json$/.exec(name) ?? [];
      return ends === undefined
        ? []
        : [{ path: join(folder, name), made: Number(made), ends: Number(ends) }];
    })
    .sort((one, other) => one.made - other.made);
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
