import { flag, operand, parsed } from '../cli/declare';
import { auditLog } from '../cli/terminal/listings';
import { printRows, tellEnd } from '../cli/terminal/table';
import { pageNumber } from '../cli/values';
import { readAuditLog } from '../client/audit-log';
import { onItem } from '../client/item';
import { AT_ONCE } from '../client/pages';
import { limits } from '../contract/api';
import type { Named, Session } from '../profile/session';
import help from './help/audit.txt?raw';
import { command } from './planned';

const rows = {
  link: operand('<link>', 'link or ID of the push, or last'),
  page: parsed(
    '--page <n>',
    'show page N of 50 events each; 1 is the newest',
    pageNumber,
  ).conflicts(['all']),
  all: flag('--all', 'show all events'),
};

/** Which part of a log to show. */
interface AuditPlan {
  readonly named: Named;
  /** From 1; undefined for all. */
  readonly page: number | undefined;
}

export default command({
  description: "Show who opened a push, newest first. Requires the owner's token.",
  help,
  rows,
  plan: ({ link, all, page = 1 }, { reference }): AuditPlan => ({
    named: reference(link),
    page: all ? undefined : page,
  }),
  run: audit,
});

async function audit(session: Session, { named, page }: AuditPlan): Promise<void> {
  const item = await session.connectTo(named, page === undefined ? AT_ONCE : 1);
  const log = await onItem(item, (one) => readAuditLog(one, 'newest'));
  const start = ((page ?? 1) - 1) * limits.rowsPerPage;
  const shown = page === undefined ? log : log.slice(start, start + limits.rowsPerPage);
  const printed = await printRows([shown], auditLog, session);
  const total = log.length;
  await tellEnd(session.say, 'events', { printed, page: page ?? 1, more: total > printed, total });
}
