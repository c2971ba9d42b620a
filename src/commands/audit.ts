import { Command } from 'commander';
import { readAuditLog } from '../client/audit-log';
import { AT_ONCE } from '../client/pages';
import type { Context } from '../context';
import { limits } from '../contract';
import { usageError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf, pageNumber } from '../options';
import { connectTo } from '../session';
import { auditColumns } from '../terminal/listings';
import { terminal } from '../terminal/output';
import { printRows, tellEnd } from '../terminal/table';

interface AuditOptions extends GlobalOptions {
  readonly link: string;
  readonly page?: number;
  readonly all: boolean;
}

const EXAMPLES = `
In a pipe, one event a line, tab-separated: time, kind, address, user agent,
referrer.

Examples:
  $ pwpush audit abc123def456
  $ pwpush audit abc123def456 --all --json | jq -r '.[] | select(.kind == "view") | .ip'`;

export function auditCommand(context: Context): Command {
  const command = new Command('audit')
    .description("Show who looked at a push, and when, newest first. Needs its owner's token.")
    .argument('<link>', 'link or token of the push')
    .option('--page <n>', 'show this page of 50 events; 1 has the newest', pageNumber)
    .option('--all', 'show all events')
    .addHelpText('after', EXAMPLES)
    .action((link: string) =>
      audit(context, { ...optionsOf(command, context.env, { all: false }), link }),
    );
  return addGlobalOptions(command);
}

export async function audit(context: Context, options: AuditOptions): Promise<void> {
  if (options.page !== undefined && options.all)
    throw usageError('--page does not go with --all', 'leave one out');
  const { all, page = 1 } = options;
  const { api, reference } = await connectTo(context, options, options.link, all ? AT_ONCE : 1);
  const log = await readAuditLog(api, reference.token, 'newest');
  const start = (page - 1) * limits.rowsPerPage;
  const shown = all ? log : log.slice(start, start + limits.rowsPerPage);
  const printed = await printRows([shown], auditColumns, context, options);
  await tellEnd(terminal(context, options), printed, 'events', page, log.length > printed);
}
