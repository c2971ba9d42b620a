import { Command } from 'commander';
import { flag, parsed } from '../cli/declare';
import type { Options } from '../cli/options';
import { auditLog } from '../cli/terminal/listings';
import { printRows, tellEnd } from '../cli/terminal/table';
import { pageNumber } from '../cli/values';
import { readAuditLog } from '../client/audit-log';
import { onItem } from '../client/item';
import { AT_ONCE } from '../client/pages';
import { limits } from '../contract/api';
import type { Context } from '../platform/context';
import { type Session, withSession } from '../profile/session';

export { default as help } from './help/audit.txt?raw';

const rows = {
  page: parsed(
    '--page <n>',
    'show page N of 50 events each; 1 is the newest',
    pageNumber,
  ).conflicts(['all']),
  all: flag('--all', 'show all events'),
};

export function define(context: Context): Command {
  const command = new Command('audit')
    .description("Show who opened a push, newest first. Requires the owner's token.")
    .argument('<link>', 'link or ID of the push, or last');
  return withSession(command, context, rows, audit);
}

async function audit(session: Session<Options<typeof rows>>, link: string) {
  const { all, page = 1 } = session.options;
  const named = await session.connectTo(link, all ? AT_ONCE : 1);
  const log = await onItem(named, (item) => readAuditLog(item, 'newest'));
  const start = (page - 1) * limits.rowsPerPage;
  const shown = all ? log : log.slice(start, start + limits.rowsPerPage);
  const printed = await printRows([shown], auditLog, session.context, session.options);
  await tellEnd(session.say, 'events', { printed, page, more: log.length > printed });
}
