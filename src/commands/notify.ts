import { Command } from 'commander';
import type { Api } from '../client/client';
import { notification } from '../client/notification';
import type { Context } from '../context';
import type { Notified } from '../contract';
import { CliError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { connectTo } from '../session';
import { terminal } from '../terminal/output';

interface NotifyOptions extends GlobalOptions {
  readonly link: string;
  readonly emails: readonly string[];
  readonly locale?: string;
}

const EXAMPLES = `
The instance sends the link, at its own time; pwpush audit shows what became of
it. Needs API 2.1, and an instance that sends e-mail.

Examples:
  $ pwpush notify "$LINK" ann@example.com
  $ pwpush notify "$LINK" ann@example.com bob@example.com --locale fr`;

export function notifyCommand(context: Context): Command {
  const command = new Command('notify')
    .description("Have the instance e-mail a push's link. Needs its owner's token.")
    .argument('<link>', 'link or token of the push')
    .argument('<email...>', 'up to 5 addresses')
    .option('--locale <language>', 'language of the e-mail, such as de')
    .addHelpText('after', EXAMPLES)
    .action((link: string, emails: string[]) =>
      notify(context, { ...optionsOf(command, context.env, {}), link, emails }),
    );
  return addGlobalOptions(command);
}

export async function notify(context: Context, options: NotifyOptions): Promise<void> {
  const wanted = notification(options.emails, options.locale);
  const { api, reference } = await connectTo(context, options, options.link);
  const say = terminal(context, options);
  let answer: Notified;
  try {
    answer = await api.notify(reference.token, wanted);
  } catch (error) {
    throw await explained(error, api);
  }
  if (options.json) return say.print(answer, () => '');
  const to = wanted.notify_emails_to.replaceAll(',', ', ');
  await say.remark(answer.message ?? `the instance e-mails the link to ${to}`);
}

/** An instance without e-mail answers as if there were no such push (docs/wire.md, "Endpoints"): it is asked what it can do. */
async function explained(error: unknown, api: Api): Promise<unknown> {
  if (!(error instanceof CliError) || error.code !== 'not_found') return error;
  const version = await api.version().catch(() => undefined);
  const pushes = version?.features?.pushes as { email_auto_dispatch?: unknown } | undefined;
  if (version === undefined || pushes?.email_auto_dispatch === true) return error;
  if (pushes?.email_auto_dispatch !== false && version.api_version !== '2.0') return error;
  return new CliError('rejected', 'notify: this instance sends no e-mail', {
    hint: 'send the link yourself',
    status: error.status,
    cause: error,
  });
}
