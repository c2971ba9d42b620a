import { operand } from '../cli/declare';
import { linkRows } from '../cli/options';
import { safe } from '../cli/terminal/safe';
import { onItem } from '../client/item';
import { elsewhere, withKey } from '../client/link';
import { drawing, reachedHere } from '../deliver/deliver-link';
import type { KeptKey } from '../keep/request-keys';
import { failedError, phrase } from '../platform/errors';
import type { Named, Session } from '../profile/session';
import help from './help/preview.txt?raw';
import { command } from './planned';

const { qr } = linkRows();

interface PreviewPlan {
  readonly named: Named;
  readonly qr: boolean;
}

export default command({
  description: "Print a push's full link. Uses no view.",
  help,
  rows: { link: operand('<link>', 'link or ID of the push, or last'), qr },
  plan: ({ link, qr }, { reference }): PreviewPlan => ({ named: reference(link), qr }),
  run: preview,
});

async function preview(session: Session, plan: PreviewPlan): Promise<void> {
  const { context, say } = session;
  const named = await session.connectTo(plan.named);
  let kept: KeptKey | undefined;
  const previewed = await onItem(named, async (item) => {
    if (item.kind === 'request') {
      const { keptKey } = await import('../keep/request-keys');
      kept = keptKey(context, named);
    }
    return item.preview();
  });
  if (previewed.url === undefined) throw failedError(phrase('link-invalid'));
  const doubt = elsewhere(named.target.base, previewed.url);
  if (doubt) await say.warn(doubt);
  if (named.publicKey !== undefined && !kept)
    await say.remark('hint: the link is printed without its key, which is only where you sent it');
  // Nothing says which of them it is.
  else if (named.key !== undefined || session.receipts().find(named)?.encrypted)
    await say.remark(
      'hint: the link alone does not open this push: it is encrypted, and its key or words are not kept here',
    );
  const url = withKey(previewed.url, kept?.recipient);
  const after = plan.qr ? reachedHere(url) : [];
  if (plan.qr) await (await drawing()).drawQr(session, url, [url, ...after]);
  await say.print({ ...previewed, html_url: url, url }, () => `${safe(url)}\n`);
  for (const line of after) await say.remark(line);
}
