import type { Invocation, Terminal } from '../../cli/terminal/output';
import { granted } from '../../cli/terminal/wording';
import type { Api } from '../../client/client';
import { differences, differenceText, unconfirmed } from '../../client/compare-limits';
import { findLink, isPushLink, linkIn, withKey } from '../../client/link';
import type { Push } from '../../contract/api';
import type { Profile } from '../../platform/context';
import { CliError, failedError } from '../../platform/errors';
import { codeOrMessage } from '../../platform/files/file-error';
import { saveReceipt } from '../../profile/receipts';
import type { Instance } from '../../profile/session';
import type { CreatedLink } from '../../share/deliver-link';
import type { PushOptions } from './push-options';
import type { ReadyPush } from './ready';

/** A push that was created and accepted. */
export interface CreatedPush extends CreatedLink {
  readonly object: Push;
  /** The label. */
  readonly name: string | undefined;
}

/**
 * Finds the link of a new push and compares its limits with the request.
 * @throws CliError (rejected) if they are looser than asked, or if an encrypted push has a link that is not one of a push;
 * the push is expired again then
 */
export async function acceptPush(
  { api, target }: Instance,
  options: PushOptions,
  ready: Pick<ReadyPush, 'request' | 'mode' | 'linkKey' | 'generated'> & {
    readonly account: number | undefined;
  },
  created: Push,
): Promise<CreatedPush> {
  const { link: found, doubt } = await findLink(api, target.base, created);
  const link = linkIn(options.locale, found);
  const changed = differences(ready.request, created);
  const looser = changed.filter((one) => one.looser);
  if (looser.length > 0 && !options.acceptLimits)
    throw await revoke(api, created, link, {
      what: `the instance granted looser limits than requested: ${looser.map(differenceText).join('; ')}`,
      hint: 'use limits that the instance allows, or keep the push with --accept-limits',
    });
  // Of a request, the recipient could get an answer in clear.
  if (ready.mode && !isPushLink(link))
    throw await revoke(api, created, link, {
      what: 'the instance returned a link that is not one of an encrypted push',
      hint: 'use another instance: this one is broken or malicious',
    });
  const warnings = changed.map((one) => `the instance changed a limit: ${differenceText(one)}`);
  const missing = unconfirmed(ready.request, created);
  if (missing.length > 0)
    warnings.push(`the instance did not confirm the requested ${missing.join(' and ')}`);
  if (doubt !== undefined) warnings.unshift(doubt);
  if (ready.account !== undefined && Number(created.account_id) !== ready.account)
    warnings.push(`the instance did not confirm that the push belongs to account ${ready.account}`);
  if (options.notify && !created.notify_emails_to)
    warnings.push('the instance did not confirm that it sends e-mail: send the link yourself');
  const owned = target.token !== undefined;
  if (!owned && (options.name ?? options.note) !== undefined)
    warnings.push('nobody will see the name or note: a push created without a token is not listed');
  const summary = summaryOf(ready, created, owned);
  // Only JSON has room for a generated secret beside the link.
  const object = createdObject(ready, created);
  const { name } = ready.request;
  return { object, name, link: withKey(link, ready.linkKey), warnings, summary };
}

/** The object of the instance for JSON; the payload of an encrypted push is that at the instance, if it returns it. */
export function createdObject(
  { mode, generated }: Pick<ReadyPush, 'mode' | 'generated'>,
  created: Push,
): Push {
  if (mode) return { ...created, encrypted: true, ...(generated && { generated }) };
  return { ...created, encrypted: false, ...(generated !== undefined && { payload: generated }) };
}

/** What the instance granted and how the push is encrypted, for the sender. */
export function summaryOf(
  { request, mode }: Pick<ReadyPush, 'request' | 'mode'>,
  created: Push,
  owned: boolean,
): string {
  const encrypted = {
    link: 'encrypted, with the key in the link',
    words: 'encrypted, opens with the words only: if asked for a passphrase, do not type these',
    keys: 'encrypted to the public keys',
  };
  const parts = [granted(created, request.passphrase !== undefined, owned)];
  return [...parts, ...(mode ? [encrypted[mode]] : [])].filter((part) => part !== '').join(' · ');
}

/** Returns what warns, once, that a label or note is not encrypted. */
export function clearFieldsWarning({ warn }: Terminal) {
  let warned = false;
  return async ({ name, note }: Pick<PushOptions, 'name' | 'note'>): Promise<void> => {
    if (warned || (name ?? note) === undefined) return;
    warned = true;
    await warn('name and note are not encrypted: the instance can read them');
  };
}

/** Saves a receipt of a push; a failure is only said, as the push exists. */
export async function keepReceipt(
  { context, say }: Invocation,
  { object, link, name }: CreatedPush,
): Promise<void> {
  try {
    saveReceipt(context, { push: object, link, name }, context.now());
  } catch (error) {
    await say.remark(`the receipt was not saved (${codeOrMessage(error)})`);
  }
}

/** Whether pushes leave receipts. */
export function keepsReceipts({ receipt }: PushOptions, profile: Profile | undefined): boolean {
  return receipt && profile?.receipts !== false;
}

/** Expires a push that is not as it was asked for, and returns the error that says so. */
async function revoke(
  api: Api,
  created: Push,
  link: string,
  { what, hint }: { readonly what: string; readonly hint: string },
): Promise<CliError> {
  try {
    if (created.url_token === '') throw failedError('the instance returned no token');
    await api.expire(created.url_token);
  } catch (error) {
    return new CliError(
      'rejected',
      `${what}; expiring the push FAILED, so the secret can still be read at ${link}`,
      {
        hint: 'expire it yourself: open the link and delete it, or run pwpush expire with a token',
        cause: error,
        remains: { link, expired: false },
      },
    );
  }
  return new CliError('rejected', `${what}; the push was expired`, {
    hint,
    remains: { link, expired: true },
  });
}
