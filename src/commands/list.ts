import { choice, flag } from '../cli/declare';
import { type Options, pageRows } from '../cli/options';
import {
  activePushes,
  expiredPushes,
  receiptsOfPushes,
  requestList,
} from '../cli/terminal/listings';
import { type Listing, printRows, tellEnd } from '../cli/terminal/table';
import type { Api, RequestState } from '../client/client';
import { AT_ONCE, listing, type PageRange } from '../client/pages';
import { limits } from '../contract/api';
import type { Push, SecretRequest } from '../contract/decode';
import { usageError } from '../platform/errors';
import { accountOf } from '../profile/connect';
import type { Session } from '../profile/session';
import help from './help/list.txt?raw';
import { command } from './planned';

const REQUEST_STATES = ['open', 'ready', 'closed'] satisfies RequestState[];

const rows = {
  state: choice('[state]', 'active (default), expired or requests', [
    'active',
    'expired',
    'requests',
  ]),
  requestState: choice('[request-state]', 'state of requests', REQUEST_STATES),
  ...pageRows,
  local: flag('--local', 'list receipts of this machine; needs no token'),
};

/** What to list. */
interface ListPlan {
  /** Requests in these states, one after the other; or pushes in one; or the receipts of this machine. */
  readonly of: readonly RequestState[] | 'active' | 'expired' | 'receipts';
  /** The page, or how many rows at most. */
  readonly part: { readonly page: number } | { readonly limit: number };
}

export default command({
  description: 'List your pushes or requests, newest first. Needs a token.',
  usage: '[options] [active|expired|requests [open|ready|closed]]',
  help,
  rows,
  plan: planOf,
  run: list,
});

function planOf({
  state = 'active',
  requestState,
  page,
  all,
  limit,
  local,
}: Options<typeof rows>): ListPlan {
  if (requestState !== undefined && state !== 'requests')
    throw usageError(`"${requestState}" is a state of requests`, 'pwpush list --help');
  const most = limit ?? Number.POSITIVE_INFINITY;
  if (local && (page !== undefined || all || state !== 'active'))
    throw usageError('--local lists all receipts of active pushes', 'use it alone or with --limit');
  if (local) return { of: 'receipts', part: { limit: most } };
  const part = all || limit !== undefined ? { limit: most } : { page: page ?? 1 };
  if (state !== 'requests') return { of: state, part };
  if (page !== undefined && requestState === undefined)
    throw usageError('--page requires a state', 'use one of open, ready, closed');
  return { of: requestState === undefined ? ['ready', 'open'] : [requestState], part };
}

async function list(session: Session, { of, part }: ListPlan): Promise<void> {
  if (of === 'receipts') return listReceipts(session, part);
  if (typeof of === 'object') return listRequests(session, of, part);
  const listed = of === 'active' ? activePushes : expiredPushes;
  await printPages<Push>(session, listed, `${of} pushes`, part, (api, account, range) =>
    listing((page) => api.list(of, page, account), range),
  );
}

async function listRequests(
  session: Session,
  states: readonly RequestState[],
  part: ListPlan['part'],
): Promise<void> {
  const what = `${states.join(' or ')} requests`;
  const printed = await printPages(
    session,
    requestList,
    what,
    part,
    ({ requests }, account, range) =>
      inStates(states, (of, page) => requests.list(of, page, account), range),
  );
  if (printed === 0 && states.length > 1)
    await session.say.remark('hint: pwpush list requests closed lists the closed ones');
}

/** The listings of several states one after the other. */
async function* inStates(
  states: readonly RequestState[],
  list: (state: RequestState, page: number) => Promise<SecretRequest[]>,
  { limit: left = Number.POSITIVE_INFINITY, ...range }: Range,
): AsyncGenerator<SecretRequest[]> {
  for (const state of states) {
    if (left <= 0) return;
    const fetchPage = async (page: number) =>
      (await list(state, page)).map((one) => ({ ...one, state: one.state ?? state }));
    for await (const rows of listing(fetchPage, { ...range, limit: left })) {
      left -= rows.length;
      yield rows;
    }
  }
}

type Range = Pick<PageRange<unknown>, 'first' | 'last' | 'limit'>;

/** The API ends there, whatever there is. */
const MOST = limits.page.max * limits.rowsPerPage;

/** Prints each page as it comes, so that memory does not grow with their number; returns how many rows there were. */
async function printPages<Row>(
  session: Session,
  listed: Listing<Row>,
  what: string,
  part: ListPlan['part'],
  rowsOf: (api: Api, account: number | undefined, range: Range) => AsyncIterable<Row[]>,
): Promise<number> {
  const paged = 'page' in part;
  const { api, target } = await session.connect(paged ? 1 : AT_ONCE);
  const page = paged ? part.page : 1;
  const rows = rowsOf(api, accountOf(target), paged ? { first: page, last: page } : part);
  const printed = await printRows(rows, listed, session);
  const most = paged ? limits.rowsPerPage : Math.min(part.limit, MOST);
  await tellEnd(session.say, what, { printed, page, more: printed >= most, limited: !paged });
  return printed;
}

/** Prints the receipts, newest first; asks no instance. */
async function listReceipts(session: Session, part: ListPlan['part']): Promise<void> {
  const most = 'limit' in part ? part.limit : Number.POSITIVE_INFINITY;
  const found = session.receipts().active();
  const shown = found.slice(0, most).map(({ receipt }) => receipt);
  const printed = await printRows([shown], receiptsOfPushes, session);
  const total = found.length;
  await tellEnd(session.say, 'receipts', {
    ...{ printed, page: 1, more: total > printed, total, limited: true },
  });
}
