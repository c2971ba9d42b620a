import { operand } from '../cli/declare';
import { type PushState, pushStateText, requestText } from '../cli/terminal/listings';
import type { Api } from '../client/client';
import { onItem } from '../client/item';
import { findListed } from '../client/pages';
import { findOwnRequest } from '../client/progress';
import type { Push } from '../contract/decode';
import { CliError } from '../platform/errors';
import { accountOf } from '../profile/connect';
import { accountOfPush, type Named, type NamedItem, type Session } from '../profile/session';
import help from './help/show.txt?raw';
import { command } from './planned';

export default command({
  description: 'Show views and days left of a push, and its settings. Uses no view.',
  help,
  rows: { link: operand('<link>', 'link or ID of the push, or last') },
  plan: ({ link }, { reference }) => reference(link),
  run: show,
});

async function show(session: Session, link: Named): Promise<void> {
  const named = await session.connectTo(link);
  await onItem(named, ({ kind }) =>
    kind === 'push' ? showPush(session, named) : showRequest(session, named),
  );
}

/** The owner's listings have all of a request; its question alone is public. */
async function showRequest(session: Session, named: NamedItem) {
  const { say } = session;
  const asUser = named.target.token !== undefined;
  const own = asUser
    ? await findOwnRequest(named.api.requests, named.token, accountOf(named.target))
    : undefined;
  const shown = own?.request ?? (await publicRequest(session, named));
  await say.print(shown, (look) => requestText(shown, look));
  if (asUser && !own) await say.remark('this request belongs to another user');
}

/** Without the token: an owner's read takes the answer, and a listing may leave out what is the owner's. */
async function publicRequest(session: Session, { api, target, token }: NamedItem) {
  const anyone =
    target.token === undefined ? api : await session.clientAt({ ...target, token: undefined });
  return anyone.requests.read(token);
}

async function showPush(session: Session, named: NamedItem) {
  const { say } = session;
  const { api, target, token } = named;
  const receipts = session.receipts();
  const own = target.token === undefined ? undefined : await ownPush(session, named);
  const kept = receipts.find(named);
  const push = {
    ...(own ?? { ...(await publicState(api, token)), ...kept }),
    // Who encrypted it knows better than the instance.
    encrypted: kept?.encrypted ?? own?.encrypted ?? null,
  };
  if (push.expired) await receipts.end([named]);
  await say.print(push, (look) => pushStateText(push, look));
  if (own) return;
  await say.remark(
    target.token === undefined
      ? 'views and days left are unknown: only the sender can see them, with a token'
      : 'views and days left are unknown: this push belongs to another user',
  );
}

/** The push as its owner's lists have it; undefined if it belongs to someone else. */
async function ownPush(session: Session, named: NamedItem): Promise<Push | undefined> {
  const { api, token } = named;
  try {
    // Tells whether the push is the user's own, so that their lists are not read in vain.
    await api.audit(token, 1);
  } catch (error) {
    if (error instanceof CliError && error.code === 'forbidden') return undefined;
    throw error;
  }
  const account = accountOfPush(session, named);
  for (const state of ['active', 'expired'] as const) {
    const push = await findListed((page) => api.list(state, page, account), token);
    if (push) return push;
  }
  return undefined;
}

/** The state that everybody can see: the address of the page, which ends in /r if a click opens the push. */
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
