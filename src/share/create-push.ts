import type { Invocation, Terminal } from '../cli/terminal/output';
import { granted } from '../cli/terminal/wording';
import { linkIn, withKey } from '../client/link';
import type { Push } from '../contract/api';
import { codeOrMessage } from '../platform/files/file-error';
import type { Instance } from '../profile/connect';
import { saveReceipt } from '../profile/receipts';
import type { Session } from '../profile/session';
import { create } from './create';
import type { CreatedLink } from './deliver-link';
import { judgePush } from './judge';
import { type Draft, preparePush, type ReadyPush } from './prepare-push';

/** A push that was created and accepted. */
export interface CreatedPush extends CreatedLink {
  readonly object: Push;
  /** The label. */
  readonly name: string | undefined;
}

interface PushPlan {
  readonly draft: Draft;
  /** The id of the account to create it in. */
  readonly account: number | undefined;
  /** Keep it with looser limits than asked for. */
  readonly acceptLimits: boolean;
  /** Language of the recipient's page. */
  readonly locale: string | undefined;
  /** Without a response, search the user's pushes for it. */
  readonly search: boolean;
}

/**
 * Encrypts a push if it is to be, and creates it.
 * @throws CliError (rejected) if its limits are looser than asked, or if an encrypted push has a link that is not one of a
 * push; the push is expired again then
 */
export async function createPush(
  session: Session,
  instance: Instance,
  { draft, account, acceptLimits, locale, search }: PushPlan,
): Promise<CreatedPush> {
  const owned = instance.target.token !== undefined;
  const { ready, made, link, warnings } = await create(session, instance, {
    kind: 'push',
    prepare: (undo) => preparePush(draft, session, undo),
    send: ({ request }, files) => instance.api.create(request, files, account),
    lookUp: async (failure, { request, linkKey: key }, started) => {
      if (!search) return failure;
      const { unanswered } = await import('./unanswered');
      return unanswered(session, request, started, failure, { account, key });
    },
    judge: ({ request, mode }, push, found) =>
      judgePush(
        { request, encrypted: mode !== undefined, acceptLimits, account, owned },
        push,
        found,
      ),
  });
  return {
    object: createdObject(ready, made),
    name: ready.request.name,
    link: withKey(linkIn(locale, link), ready.linkKey),
    warnings,
    summary: summaryOf(ready, made, owned),
  };
}

/** The object of the instance for JSON; the payload of an encrypted push is that at the instance, if it returns it. */
export function createdObject(
  { mode, generated }: Pick<ReadyPush, 'mode' | 'generated'>,
  created: Push,
): Push {
  if (mode) return { ...created, encrypted: true, ...(generated && { generated }) };
  return { ...created, encrypted: false, ...(generated !== undefined && { payload: generated }) };
}

const ENCRYPTED = {
  link: 'encrypted, with the key in the link',
  words: 'encrypted, opens with the words only: if asked for a passphrase, do not type these',
  keys: 'encrypted to the public keys',
};

/** What the instance granted and how the push is encrypted, for the sender. */
export function summaryOf(
  { request, mode }: Pick<ReadyPush, 'request' | 'mode'>,
  created: Push,
  owned: boolean,
): string {
  const parts = [granted(created, request.passphrase !== undefined, owned)];
  return [...parts, ...(mode ? [ENCRYPTED[mode]] : [])].filter((part) => part !== '').join(' · ');
}

/** Returns what warns, once, that a label or note is not encrypted. */
export function clearFieldsWarning({ warn }: Terminal) {
  let warned = false;
  return async (name: string | undefined, note: string | undefined): Promise<void> => {
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
