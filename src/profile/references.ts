import type { Entry } from '../cli/terminal/output';
import { parseReference, type Reference } from '../client/link';
import type { Context } from '../platform/context';
import { CliError, tried } from '../platform/errors';
import { accountOf, type Instance } from './connect';
import { type KeptReceipt, readReceipts } from './receipts';
import { type InstanceOptions, sourcesOf } from './sources';
import { type Sources, type Target, targetOf } from './target';

export interface ItemReference extends Reference {
  readonly last?: KeptReceipt;
}

export interface LocatedItem extends ItemReference {
  readonly target: Target;
}

export interface ConnectedItem extends ItemReference, Instance {}

/** @throws CliError (usage) for an invalid link, or if there is no last push */
export function referenceOf(link: string, context: Context): ItemReference {
  if (link !== 'last') return parseReference(link);
  const last = readReceipts(context).last();
  return { token: last.token, base: last.base, last };
}

/**
 * Finds the instance of a link. Reads no secret and sends nothing.
 * @throws CliError (usage) as `referenceOf` and `targetOf` do
 */
export function itemOf(entry: Entry, options: InstanceOptions, link: string): LocatedItem {
  return itemAt(sourcesOf(entry, options), referenceOf(link, entry.context));
}

export function itemAt(sources: Sources, reference: ItemReference): LocatedItem {
  return { ...reference, target: targetOf(sources, reference.base) };
}

export function itemsOf(
  entry: Entry,
  options: InstanceOptions,
  links: readonly string[],
): LocatedItem[] {
  const sources = sourcesOf(entry, options);
  // Items at the same instance share a target, and with it its token and connections.
  const targets = new Map<string | undefined, Target>();
  return links.map((link, index) => {
    const reference = tried(() => referenceOf(link, entry.context));
    if (reference instanceof CliError)
      throw links.length > 1 ? reference.with({ subject: `link ${index + 1}` }) : reference;
    const target = targets.get(reference.base) ?? targetOf(sources, reference.base);
    targets.set(reference.base, target);
    return { ...reference, target };
  });
}

/**
 * Returns the account in the receipt of a push, or else the one that the user chose.
 * @throws CliError (usage) for an instance that is known to have no accounts
 */
export function accountOfPush(context: Context, push: ConnectedItem): number | undefined {
  const account = readReceipts(context).find(push)?.account_id;
  return typeof account === 'number' ? account : accountOf(push.target);
}
