import { Command } from 'commander';
import { text } from '../cli/declare';
import type { Options } from '../cli/options';
import type { Api } from '../client/client';
import { notification } from '../client/notification';
import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';
import { type Session, withSession } from '../profile/session';

export { default as help } from './help/notify.txt?raw';

const rows = { locale: text('--locale <code>', 'language of the e-mail, such as de') };

export function define(context: Context): Command {
  const command = new Command('notify')
    .description("E-mail a push's link from the instance. Requires the owner's token.")
    .argument('<link>', 'link or ID of the push, or last')
    .argument('<email...>', 'up to 5 addresses');
  return withSession(command, context, rows, notify);
}

async function notify(
  { options, say, connectTo }: Session<Options<typeof rows>>,
  link: string,
  emails: readonly string[],
): Promise<void> {
  const wanted = notification(emails, options.locale, true);
  const { api, token, key } = await connectTo(link);
  if (key !== undefined)
    await say.warn('the instance e-mails the link without its key: send the key yourself');
  const sent = await api.notify(token, wanted).catch(async (error) => {
    throw await explained(error, api);
  });
  if (options.json) return say.print(sent, () => '');
  const to = wanted.notify_emails_to.replaceAll(',', ', ');
  await say.remark(sent.message ?? `the instance e-mails the link to ${to}`);
}

/** An instance without e-mail responds as if the push did not exist (docs/wire.md, "Endpoints"), so ask it for its features. */
async function explained(error: unknown, api: Api): Promise<unknown> {
  if (!(error instanceof CliError) || error.code !== 'not_found') return error;
  const version = await api.version().catch(() => undefined);
  const pushes = version?.features?.pushes as { email_auto_dispatch?: unknown } | undefined;
  if (version === undefined || pushes?.email_auto_dispatch === true) return error;
  if (pushes?.email_auto_dispatch !== false && version.api_version !== '2.0') return error;
  return error.with({
    code: 'rejected',
    facts: 'this instance sends no e-mail',
    steps: 'send the link yourself',
  });
}
