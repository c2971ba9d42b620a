import { Argument, Command } from 'commander';
import { flag } from '../cli/declare';
import { type Options, pageRows } from '../cli/options';
import { activePushes, expiredPushes, receiptsOfPushes } from '../cli/terminal/listings';
import { printRows, tellEnd } from '../cli/terminal/table';
import type { RequestState } from '../client/client';
import { AT_ONCE, listing } from '../client/pages';
import { limits } from '../contract/api';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { accountOf } from '../profile/connect';
import { type Session, withSession } from '../profile/session';

type State = 'active' | 'expired';

const REQUEST_STATES = ['open', 'ready', 'closed'] satisfies RequestState[];

const rows = {
  ...pageRows,
  local: flag('--local', 'list receipts of this machine; needs no token'),
};

type ListSession = Session<Options<typeof rows>>;

const EXAMPLES = `
In a pipe each push is a line of tab-separated fields. active: ID, name,
created, views left, views, days left, days, flags, expiry time. expired: ID,
name, created, expired, how. requests: ID, name, state, created, closes.

A request is ready when it has an answer that pwpush get has not yet taken.
Without a state, ready requests are listed, then open ones.

Examples:
  $ pwpush list
  $ pwpush list expired --all --json | jq -r '.[].name'
  $ pwpush list requests ready | while read id _; do pwpush get "$id"; done`;

export function define(context: Context): Command {
  const command = new Command('list')
    .description('List your pushes or requests, newest first. Needs a token.')
    .usage('[options] [active|expired|requests [open|ready|closed]]')
    .addArgument(new Argument('[state]', 'state').choices(['active', 'expired', 'requests']))
    .addArgument(new Argument('[request-state]', 'state of requests').choices(REQUEST_STATES))
    .addHelpText('after', EXAMPLES);
  return withSession(command, context, rows, list);
}

/** Prints each page as it comes, so that memory does not grow with their number. */
async function list(
  session: ListSession,
  state: State | 'requests' = 'active',
  requestState?: RequestState,
): Promise<void> {
  const { context, options, say } = session;
  if (requestState !== undefined && state !== 'requests')
    throw usageError(`"${requestState}" is a state of requests`, 'pwpush list --help');
  if (options.local) return listLocal(session, state);
  if (state === 'requests') {
    const { listRequests } = await import('./list/list-requests');
    return listRequests(session, requestState);
  }
  const { page = 1, limit = Number.POSITIVE_INFINITY } = options;
  const many = options.all || options.limit !== undefined;
  const instance = await session.connect(many ? AT_ONCE : 1);
  const account = accountOf(instance.target);
  const rows = listing(
    (at) => instance.api.list(state, at, account),
    many ? { limit } : { first: page, last: page },
  );
  const listed = state === 'active' ? activePushes : expiredPushes;
  const printed = await printRows(rows, listed, context, options);
  const more = !many && printed >= limits.rowsPerPage;
  await tellEnd(say, `${state} pushes`, { printed, page, more });
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
