import type { Options, pageRows } from '../../cli/options';
import { requestList } from '../../cli/terminal/listings';
import { printRows, tellEnd } from '../../cli/terminal/table';
import type { RequestState } from '../../client/client';
import { AT_ONCE, listing } from '../../client/pages';
import { limits } from '../../contract/api';
import type { SecretRequest } from '../../contract/decode';
import { usageError } from '../../platform/errors';
import { accountOf } from '../../profile/connect';
import type { Session } from '../../profile/session';

/**
 * Prints each page as it comes.
 * @param state answered and open ones if left out
 */
export async function listRequests(
  { context, options, say, connect }: Session<Options<typeof pageRows>>,
  state?: RequestState,
): Promise<void> {
  const { page = 1, limit } = options;
  if (options.page !== undefined && state === undefined)
    throw usageError('--page requires a state', 'use one of open, ready, closed');
  const many = options.all || limit !== undefined;
  const instance = await connect(many ? AT_ONCE : 1);
  const account = accountOf(instance.target);
  const states: RequestState[] = state === undefined ? ['ready', 'open'] : [state];
  const range = many ? {} : { first: page, last: page };
  const list: Listing = (of, at) => instance.api.requests.list(of, at, account);
  const rows = listed(list, states, range, limit);
  const printed = await printRows(rows, requestList, context, options);
  const more = !many && printed >= limits.rowsPerPage;
  await tellEnd(say, `${state ?? 'ready or open'} requests`, { printed, page, more });
  if (printed === 0 && state === undefined)
    await say.remark('hint: pwpush list requests closed lists the closed ones');
}

type Listing = (state: RequestState, page: number) => Promise<SecretRequest[]>;

/** The listings one after the other. */
async function* listed(
  list: Listing,
  states: readonly RequestState[],
  range: { readonly first?: number; readonly last?: number },
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<SecretRequest[]> {
  let left = limit;
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
