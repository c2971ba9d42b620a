import { choice } from '../cli/declare';
import { type Options, pageRows } from '../cli/options';
import {
  activePushes,
  expiredPushes,
  receiptsOfPushes,
  requestList,
} from '../cli/terminal/listings';
import type { Entry } from '../cli/terminal/output';
import { printRows, reportEnd } from '../cli/terminal/table';
import { AT_ONCE, listing, type PageRange } from '../client/pages';
import { limits, REQUEST_STATES, type RequestState } from '../contract/api';
import type { SecretRequest } from '../contract/decode';
import { requestKeys } from '../keep/load-request-keys';
import { usageError } from '../platform/errors';
import { accountOf, connect, type Instance } from '../profile/connect';
import { readReceipts } from '../profile/receipts';
import { sourcesOf } from '../profile/sources';
import { type Target, targetOf } from '../profile/target';
import help from './help/list.txt?raw';
import { command } from './planned';

const rows = {
  state: choice('[state]', 'active (default), expired, requests or receipts', [
    'active',
    'expired',
    'requests',
    'receipts',
  ]),
  requestState: choice('[request-state]', 'state of requests', REQUEST_STATES),
  ...pageRows(),
};

type ListPlan = InstanceList | { readonly of: 'receipts'; readonly limit: number };

interface InstanceList {
  /** An array has the states of requests, which are listed one after the other; a string is the state of pushes. */
  readonly of: readonly RequestState[] | 'active' | 'expired';
  readonly target: Target;
  readonly part: { readonly page: number } | { readonly limit: number };
}

export default command({
  description: 'List your pushes or requests, newest first. Needs a token.',
  usage: '[options] [active|expired|requests [open|ready|closed]|receipts]',
  help,
  rows,
  plan: planOf,
  run: list,
});

function planOf(
  { state = 'active', requestState, page, all, limit, ...options }: Options<typeof rows>,
  entry: Entry,
): ListPlan {
  if (requestState !== undefined && state !== 'requests')
    throw usageError(`"${requestState}" is a state of requests`, 'pwpush list --help');
  const most = limit ?? Number.POSITIVE_INFINITY;
  if (state === 'receipts' && page !== undefined)
    throw usageError('receipts have no pages', 'use --limit N, or neither');
  if (state === 'receipts') return { of: 'receipts', limit: most };
  const target = targetOf(sourcesOf(entry, options));
  const part = all || limit !== undefined ? { limit: most } : { page: page ?? 1 };
  if (state !== 'requests') return { of: state, part, target };
  if (page !== undefined && requestState === undefined)
    throw usageError('--page requires a state', 'use one of open, ready, closed');
  return { of: requestState === undefined ? ['ready', 'open'] : [requestState], part, target };
}

/** Prints each page when it arrives, so that memory does not grow with the number of pages. */
async function list(entry: Entry, plan: ListPlan): Promise<void> {
  if (plan.of === 'receipts') return listReceipts(entry, plan.limit);
  const { of, part, target } = plan;
  const isPaged = 'page' in part;
  const { api } = await connect(entry, { target }, isPaged ? 1 : AT_ONCE);
  const account = accountOf(target);
  const page = isPaged ? part.page : 1;
  const range = isPaged ? { first: page, last: page } : part;
  let what: string;
  let printed: number;
  if (typeof of === 'string') {
    what = `${of} pushes`;
    const rows = listing((page) => api.list(of, page, account), range);
    printed = await printRows(rows, of === 'active' ? activePushes : expiredPushes, entry);
  } else {
    what = `${of.join(' or ')} requests`;
    const fetchPage = await completed(entry, { api, target }, account);
    const rows = inStates(of, fetchPage, range);
    printed = await printRows(rows, requestList, entry);
  }
  const most = isPaged ? limits.rowsPerPage : Math.min(part.limit, MOST);
  await reportEnd(entry.say, what, { printed, page, more: printed >= most, limited: !isPaged });
  if (printed === 0 && typeof of === 'object' && of.length > 1)
    await entry.say.remark('hint: pwpush list requests closed lists the closed ones');
}

type FetchPage = (state: RequestState, page: number) => Promise<SecretRequest[]>;

/** Adds what listings of an instance may not have: the state, and the question, if this machine knows it. */
async function completed(
  { context }: Entry,
  { api, target }: Instance,
  account: number | undefined,
): Promise<FetchPage> {
  const { keyForAnswer } = await requestKeys();
  return async (state, page) =>
    (await api.requests.list(state, page, account)).map((request) => {
      const item = { token: request.url_token, target, base: target.base };
      const question = keyForAnswer(context, item, request.public_key)?.question;
      return {
        ...request,
        state: request.state ?? state,
        request: request.request ?? question,
      };
    });
}

async function* inStates(
  states: readonly RequestState[],
  list: FetchPage,
  {
    limit: left = Number.POSITIVE_INFINITY,
    ...range
  }: Pick<PageRange<unknown>, 'first' | 'last' | 'limit'>,
): AsyncGenerator<SecretRequest[]> {
  for (const state of states) {
    if (left <= 0) return;
    const fetchPage = (page: number) => list(state, page);
    for await (const rows of listing(fetchPage, { ...range, limit: left })) {
      left -= rows.length;
      yield rows;
    }
  }
}

/** The API has no pages after this number of rows. */
const MOST = limits.page.max * limits.rowsPerPage;

async function listReceipts({ context, say }: Entry, limit: number): Promise<void> {
  const active = readReceipts(context).active();
  const shown = active.slice(0, limit).map(({ receipt }) => receipt);
  const printed = await printRows([shown], receiptsOfPushes, { context, say });
  const total = active.length;
  const more = total > printed;
  await reportEnd(say, 'receipts', { printed, page: 1, more, total, limited: true });
}
