import { linkRows, pushRow } from '../cli/options';
import { type PushState, pushFacts, requestFacts } from '../cli/terminal/listings';
import type { Entry, Look } from '../cli/terminal/output';
import { safe } from '../cli/terminal/safe';
import { pairs } from '../cli/terminal/table';
import { onItem } from '../client/item';
import { elsewhere, withKey } from '../client/link';
import { findOwnPush, findOwnRequest } from '../client/progress';
import type { Preview, Push } from '../contract/decode';
import { drawing, reachNote } from '../deliver/deliver-link';
import { requestKeys } from '../keep/load-request-keys';
import type { Context } from '../platform/context';
import { attempt, CliError, failedError, phrase } from '../platform/errors';
import { accountOf, clientOf, connect } from '../profile/connect';
import { readReceipts } from '../profile/receipts';
import { accountOfPush, type ConnectedItem, itemOf, type LocatedItem } from '../profile/references';
import help from './help/preview.txt?raw';
import { command } from './planned';

const { qr } = linkRows();

export default command({
  description: "Print a push's link, and what is left of it. Uses no view.",
  help,
  rows: { link: pushRow(), qr },
  plan: (options, entry) => ({ item: itemOf(entry, options, options.link), qr: options.qr }),
  run: preview,
});

/** What the instance says of any link; `url` is the link. */
type Seen = Preview & { readonly url: string };

async function preview(
  entry: Entry,
  plan: { readonly item: LocatedItem; readonly qr: boolean },
): Promise<void> {
  const { say } = entry;
  const item = await connect(entry, plan.item);
  const { base } = item.target;
  const { object, link, facts, notes } = await onItem(item, async ({ kind, preview }) => {
    const previewed = await preview();
    const { url } = previewed;
    if (url === undefined) throw failedError(phrase('link-invalid'));
    const doubt = elsewhere(base, url);
    if (doubt) await say.warn(doubt);
    const previewOf = kind === 'push' ? previewPush : previewRequest;
    return previewOf(entry, item, { ...previewed, url });
  });
  const after = plan.qr ? reachNote(link) : [];
  if (plan.qr) await (await drawing()).drawQr(entry, link, [link, ...after]);
  await say.print({ ...object, html_url: link }, () => `${safe(link)}\n`);
  await say.notes((look) => pairs([...facts(look), ['instance', base]], look));
  for (const line of [...notes, ...after]) if (line) await say.note(line);
}

async function previewPush({ context }: Entry, item: ConnectedItem, { url }: Seen) {
  const { target, token, key } = item;
  const receipts = readReceipts(context);
  const own = target.token === undefined ? undefined : await ownPush(context, item);
  const kept = receipts.find(item);
  const push: PushState = {
    ...(own ?? { ...unknown, url_token: token, retrieval_step: /\/r$/.test(url), ...kept }),
    // The sender's receipt is more reliable than the instance.
    encrypted: kept?.encrypted ?? own?.encrypted ?? (key === undefined ? null : true),
  };
  if (push.expired) await receipts.end([item]);
  const who = target.token === undefined ? 'only the sender can see them, with a token' : OTHERS;
  return {
    object: push,
    link: url,
    facts: (look: Look) => pushFacts(push, look),
    notes: [
      !own && `views and days left are unknown: ${who}`,
      push.encrypted === true &&
        !push.expired &&
        push.sealed_with !== 'recipient' &&
        'the link opens nothing without its key or words, which are not kept here',
    ],
  };
}

const OTHERS = 'this push belongs to another user';

/** Only the owner can see these; a receipt has some of the limits. */
const unknown = { expired: null, views_remaining: null, days_remaining: null };

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
  return findOwnPush(api, token, ['active', 'expired'], account);
}

/** Only the owner's listings contain all fields of a request; other users see its question. */
async function previewRequest(entry: Entry, item: ConnectedItem, { url, ...seen }: Seen) {
  const { api, target, token } = item;
  const asUser = target.token !== undefined;
  const own = asUser ? await findOwnRequest(api.requests, token, accountOf(target)) : undefined;
  // A listing may omit the user's own request, and reading it with the token would take the answer.
  const anyone = asUser && !own ? await clientOf(entry, { ...target, token: undefined }) : api;
  const read = own?.request ?? (await attempt(() => anyone.requests.read(token)));
  const { keptKey } = await requestKeys();
  const kept = keptKey(entry.context, item, seen.public_key);
  // A passphrase of the request protects its question, too.
  const known = read instanceof CliError ? { url_token: token, ...seen } : read;
  const request = { ...known, request: known.request ?? kept?.question };
  return {
    object: request,
    link: withKey(url, kept?.recipient),
    facts: (look: Look) => requestFacts(request, look),
    notes: [
      (item.publicKey !== undefined || seen.public_key != null) &&
        !kept &&
        'the link is printed without its key, which is only in the link that you sent',
      asUser && !own && 'this request belongs to another user',
    ],
  };
}
