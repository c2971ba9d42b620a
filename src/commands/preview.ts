import { linkRows, pushRow } from '../cli/options';
import type { Entry } from '../cli/terminal/output';
import { safe } from '../cli/terminal/safe';
import { onItem } from '../client/item';
import { elsewhere, withKey } from '../client/link';
import { drawing, reachNote } from '../deliver/deliver-link';
import type { KeptKey } from '../keep/request-keys';
import { failedError, phrase } from '../platform/errors';
import { connect } from '../profile/connect';
import { readReceipts } from '../profile/receipts';
import { itemOf, type LocatedItem } from '../profile/references';
import help from './help/preview.txt?raw';
import { command } from './planned';

const { qr } = linkRows();

export default command({
  description: "Print a push's full link. Uses no view.",
  help,
  rows: { link: pushRow, qr },
  plan: (options, entry) => ({ item: itemOf(entry, options, options.link), qr: options.qr }),
  run: preview,
});

async function preview(
  entry: Entry,
  plan: { readonly item: LocatedItem; readonly qr: boolean },
): Promise<void> {
  const { context, say } = entry;
  const item = await connect(entry, plan.item);
  let kept: KeptKey | undefined;
  const previewed = await onItem(item, async ({ kind, preview }) => {
    if (kind === 'request') {
      const { keptKey } = await import('../keep/request-keys');
      kept = keptKey(context, item);
    }
    return preview();
  });
  if (previewed.url === undefined) throw failedError(phrase('link-invalid'));
  const doubt = elsewhere(item.target.base, previewed.url);
  if (doubt) await say.warn(doubt);
  if (item.publicKey !== undefined && !kept)
    await say.remark('hint: the link is printed without its key, which is only where you sent it');
  // The hint says "key or words", because the preview does not say which of them the push is encrypted with.
  else if (item.key !== undefined || readReceipts(context).find(item)?.encrypted)
    await say.remark(
      'hint: the link alone does not open this push: it is encrypted, and its key or words are not kept here',
    );
  const url = withKey(previewed.url, kept?.recipient);
  const after = plan.qr ? reachNote(url) : [];
  if (plan.qr) await (await drawing()).drawQr(entry, url, [url, ...after]);
  await say.print({ ...previewed, html_url: url, url }, () => `${safe(url)}\n`);
  for (const line of after) await say.remark(line);
}
