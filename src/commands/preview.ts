import { Command } from 'commander';
import { otherOrigin, webAddress } from '../client/link';
import type { Context } from '../context';
import { failedError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { createSession, type Session } from '../session';
import { safe } from '../terminal/safe';

interface PreviewOptions extends GlobalOptions {
  readonly link: string;
  readonly qr: boolean;
}

export function define(context: Context): Command {
  const command = new Command('preview')
    .description("Print a push's full link. Uses no view.")
    .argument('<link>', 'link or token of the push')
    .option('--qr', 'also draw the link as a QR code, on stderr')
    .addHelpText('after', EXAMPLES)
    .action((link: string) => {
      const options = { ...optionsOf(command, context.env, { qr: false }), link };
      return preview(createSession(context, options), options);
    });
  return addGlobalOptions(command);
}

const EXAMPLES = `
Examples:
  $ pwpush preview abc123def456
  $ pwpush preview --qr https://pwpush.example/p/abc123def456`;

async function preview(session: Session, options: PreviewOptions): Promise<void> {
  const { say } = session;
  const { api, reference, target } = await session.connectTo(options.link);
  const answer = await api.preview(reference.token);
  if (webAddress(answer.url) === undefined)
    throw failedError('the instance returned an invalid link');
  const elsewhere = otherOrigin(target.base, answer.url);
  if (elsewhere !== undefined) await say.warn(elsewhere);
  if (reference.key !== undefined)
    await say.remark('hint: the link is printed without its key, which the instance does not know');
  await say.print({ html_url: answer.url, ...answer }, () => `${safe(answer.url)}\n`);
  if (options.qr) {
    const { drawQr } = await import('../terminal/qr');
    await drawQr(say, answer.url);
  }
}
