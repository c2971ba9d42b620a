import { pushRow } from '../cli/options';
import { type PushState, pushStateText, requestText } from '../cli/terminal/listings';
import type { Entry } from '../cli/terminal/output';
import type { Api } from '../client/client';
import { onItem } from '../client/item';
import { findListed } from '../client/pages';
import { findOwnRequest } from '../client/progress';
import type { Push } from '../contract/decode';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import { accountOf, clientOf, connect } from '../profile/connect';
import { readReceipts } from '../profile/receipts';
import { accountOfPush, type ConnectedItem, itemOf, type LocatedItem } from '../profile/references';
import help from './help/show.txt?raw';
import { command } from './planned';

export default command({
  description: 'Show views and days left of a push, and its settings. Uses no view.',
  help,
  rows: { link: pushRow },
  plan: (options, entry) => itemOf(entry, options, options.link),
  run: show,
});

async function show(entry: Entry, located: LocatedItem): Promise<void> {
  const item = await connect(entry, located);
  await onItem(item, ({ kind }) =>
    kind === 'push' ? showPush(entry, item) : showRequest(entry, item),
  );
}

/** Only the owner's listings contain all fields of a request; other users see its question. */
async function showRequest(entry: Entry, { api, target, token }: ConnectedItem) {
  const { say } = entry;
  const asUser = target.token !== undefined;
  const own = asUser ? await findOwnRequest(api.requests, token, accountOf(target)) : undefined;
  // A listing may omit the user's own request, and reading it with the token would take the answer.
  const anyone = asUser && !own ? await clientOf(entry, { ...target, token: undefined }) : api;
  const shown = own?.request ?? (await anyone.requests.read(token));
  await say.print(shown, (look) => requestText(shown, look));
  if (asUser && !own) await say.remark('this request belongs to another user');
}

async function showPush({ context, say }: Entry, item: ConnectedItem) {
  const { api, target, token } = item;
  const receipts = readReceipts(context);
  const own = target.token === undefined ? undefined : await ownPush(context, item);
  const kept = receipts.find(item);
  const push = {
    ...(own ?? { ...(await publicState(api, token)), ...kept }),
    // The sender's receipt is more reliable than the instance.
    encrypted: kept?.encrypted ?? own?.encrypted ?? null,
  };
  if (push.expired) await receipts.end([item]);
  await say.print(push, (look) => pushStateText(push, look));
  if (own) return;
  await say.remark(
    target.token === undefined
      ? 'views and days left are unknown: only the sender can see them, with a token'
      : 'views and days left are unknown: this push belongs to another user',
  );
}

/** Returns undefined if the push belongs to someone else. */
async function ownPush(context: Context, item: ConnectedItem): Promise<Push | undefined> {
  const { api, token } = item;
  try {
    // Only the owner can read the audit log; if the instance refuses it, the lists need not be searched.
    await api.audit(token, 1);
  } catch (error) {
    if (error instanceof CliError && error.code === 'forbidden') return undefined;
    throw error;
  }
  const account = accountOfPush(context, item);
  for (const state of ['active', 'expired'] as const) {
    const push = await findListed((page) => api.list(state, page, account), token);
    if (push) return push;
  }
  return undefined;
}

/** Returns what anyone can see: the address of the page, which ends in /r if the push requires a click. */
async function publicState(api: Api, token: string): Promise<PushState> {
  const { url } = await api.preview(token);
  return {
    url_token: token,
    html_url: url,
    retrieval_step: /\/r$/.test(url ?? ''),
    expired: null,
    views_remaining: null,
    days_remaining: null,
  };
}
