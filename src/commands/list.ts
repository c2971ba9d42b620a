import { Argument, Command } from 'commander';
import { flag } from '../cli/declare';
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
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { accountOf } from '../profile/connect';
import { type Session, withSession } from '../profile/session';

export { default as help } from './help/list.txt?raw';

type State = 'active' | 'expired';

const REQUEST_STATES = ['open', 'ready', 'closed'] satisfies RequestState[];

const rows = {
  ...pageRows,
  local: flag('--local', 'list receipts of this machine; needs no token'),
};

type ListSession = Session<Options<typeof rows>>;

export function define(context: Context): Command {
  const command = new Command('list')
    .description('List your pushes or requests, newest first. Needs a token.')
    .usage('[options] [active|expired|requests [open|ready|closed]]')
    .addArgument(new Argument('[state]', 'state').choices(['active', 'expired', 'requests']))
    .addArgument(new Argument('[request-state]', 'state of requests').choices(REQUEST_STATES));
  return withSession(command, context, rows, list);
}

async function list(
  session: ListSession,
  state: State | 'requests' = 'active',
  requestState?: RequestState,
): Promise<void> {
  if (requestState !== undefined && state !== 'requests')
    throw usageError(`"${requestState}" is a state of requests`, 'pwpush list --help');
  if (session.options.local) return listLocal(session, state);
  if (state === 'requests') return listRequests(session, requestState);
  const listed = state === 'active' ? activePushes : expiredPushes;
  await printPages<Push>(session, listed, `${state} pushes`, (api, account, range) =>
    listing((page) => api.list(state, page, account), range),
  );
}

/** @param state answered and open ones if left out */
async function listRequests(session: ListSession, state?: RequestState): Promise<void> {
  if (session.options.page !== undefined && state === undefined)
    throw usageError('--page requires a state', 'use one of open, ready, closed');
  const states: RequestState[] = state === undefined ? ['ready', 'open'] : [state];
  const what = `${state ?? 'ready or open'} requests`;
  const printed = await printPages(session, requestList, what, ({ requests }, account, range) =>
    inStates(states, (of, page) => requests.list(of, page, account), range),
  );
  if (printed === 0 && state === undefined)
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

/** Prints each page as it comes, so that memory does not grow with their number; returns how many rows there were. */
async function printPages<Row>(
  { context, options, say, connect }: ListSession,
  listed: Listing<Row>,
  what: string,
  rowsOf: (api: Api, account: number | undefined, range: Range) => AsyncIterable<Row[]>,
): Promise<number> {
  const { page = 1, limit = Number.POSITIVE_INFINITY } = options;
  const many = options.all || options.limit !== undefined;
  const { api, target } = await connect(many ? AT_ONCE : 1);
  const range = many ? { limit } : { first: page, last: page };
  const rows = rowsOf(api, accountOf(target), range);
  const printed = await printRows(rows, listed, context, options);
  const more = !many && printed >= limits.rowsPerPage;
  await tellEnd(say, what, { printed, page, more });
  return printed;
}

/** Prints the receipts, newest first; asks no instance. */
async function listLocal(session: ListSession, state: State | 'requests') {
  const { context, options, say } = session;
  const { page, all, limit = Number.POSITIVE_INFINITY } = options;
  if (page !== undefined || all || state !== 'active')
    throw usageError('--local lists all receipts of active pushes', 'use it alone or with --limit');
  const found = session.receipts().active().slice(0, limit);
  await printRows([found], receiptsOfPushes, context, options);
  if (found.length === 0) await say.note('no receipts');
}
