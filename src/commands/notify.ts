import { operand, text } from '../cli/declare';
import { pushRow } from '../cli/options';
import type { Entry } from '../cli/terminal/output';
import type { Api } from '../client/client';
import { notification } from '../client/notification';
import type { Notification } from '../contract/api';
import { CliError, phrase } from '../platform/errors';
import { connect } from '../profile/connect';
import { itemOf, type LocatedItem } from '../profile/references';
import help from './help/notify.txt?raw';
import { command } from './planned';

interface NotifyPlan {
  readonly item: LocatedItem;
  readonly notification: Notification;
}

export default command({
  description: "E-mail a push's link from the instance. Requires the owner's token.",
  help,
  rows: {
    link: pushRow,
    emails: operand('<email...>', 'up to 5 addresses'),
    locale: text('--locale <code>', 'language of the e-mail, such as de'),
  },
  plan: (options, entry): NotifyPlan => ({
    notification: notification(options.emails, options.locale, true),
    item: itemOf(entry, options, options.link),
  }),
  run: notify,
});

async function notify(entry: Entry, plan: NotifyPlan): Promise<void> {
  const { say } = entry;
  const { api, token, key } = await connect(entry, plan.item);
  if (key !== undefined)
    await say.warn('the instance e-mails the link without its key: send the key yourself');
  const sent = await api.notify(token, plan.notification).catch(async (error) => {
    throw await explained(error, api);
  });
  if (say.manner.json) return say.print(sent, () => '');
  const to = plan.notification.notify_emails_to.replaceAll(',', ', ');
  await say.remark(sent.message ?? `the instance e-mails the link to ${to}`);
}

/**
 * An instance without e-mail responds as if the push did not exist (docs/wire.md, "Endpoints"); its features show
 * whether that is the reason.
 */
async function explained(error: unknown, api: Api): Promise<unknown> {
  if (!(error instanceof CliError) || error.code !== 'not_found') return error;
  const version = await api.version().catch(() => undefined);
  const pushes = version?.features?.pushes as { email_auto_dispatch?: unknown } | undefined;
  if (version === undefined || pushes?.email_auto_dispatch === true) return error;
  if (pushes?.email_auto_dispatch !== false && version.api_version !== '2.0') return error;
  return error.with({
    code: 'rejected',
    facts: phrase('sends-no-email'),
    hints: phrase('send-link-yourself'),
  });
}
