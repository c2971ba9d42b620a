import { flag, parsed } from '../cli/declare';
import { type Options, pushRow } from '../cli/options';
import { auditLog } from '../cli/terminal/listings';
import type { Entry } from '../cli/terminal/output';
import { printRows, reportEnd } from '../cli/terminal/table';
import { pageNumber } from '../cli/values';
import { onItem } from '../client/item';
import { AT_ONCE } from '../client/pages';
import { readAuditLog } from '../client/progress';
import { limits } from '../contract/api';
import { connect } from '../profile/connect';
import { itemOf } from '../profile/references';
import help from './help/audit.txt?raw';
import { command } from './planned';

const rows = {
  link: pushRow(),
  page: parsed(
    '--page <n>',
    'show page N of 50 events each; 1 is the newest',
    pageNumber,
  ).conflicts(['all']),
  all: flag('--all', 'show all events'),
};

export default command({
  description: "Show who opened a push, newest first. Requires the owner's token.",
  help,
  rows,
  plan: planOf,
  run: audit,
});

/** `page` counts from 1; `--all` leaves it undefined, and then all events are shown. */
function planOf({ link, all, page = 1, ...options }: Options<typeof rows>, entry: Entry) {
  return { item: itemOf(entry, options, link), page: all ? undefined : page };
}

async function audit(entry: Entry, plan: ReturnType<typeof planOf>): Promise<void> {
  const { page } = plan;
  const located = await connect(entry, plan.item, page === undefined ? AT_ONCE : 1);
  const log = await onItem(located, (item) => readAuditLog(item, 'newest'));
  const start = ((page ?? 1) - 1) * limits.rowsPerPage;
  const shown = page === undefined ? log : log.slice(start, start + limits.rowsPerPage);
  const printed = await printRows([shown], auditLog, entry);
  const total = log.length;
  await reportEnd(entry.say, 'events', { printed, page: page ?? 1, more: total > printed, total });
}
