import type { InstanceVersion, SecretRequest } from '../contract/api';
import { CliError } from '../platform/errors';
import { readAuditLog } from './audit-log';
import type { Api, RequestApi, RequestState } from './client';
import { noRequests } from './failure';
import type { Reference } from './link';
import { findListed } from './pages';

/** Whether an instance has requests; undefined if its version does not say so. */
export function hasRequests({ edition, features }: InstanceVersion): boolean | undefined {
  const requests = features?.requests;
  if (typeof requests === 'boolean') return requests;
  const enabled = (requests as { readonly enabled?: unknown } | null | undefined)?.enabled;
  if (typeof enabled === 'boolean') return enabled;
  return edition === 'oss' ? false : undefined;
}

/** Whether an instance has such a request; undefined if it has none at all. Its answer is not taken. */
async function isRequest(api: Api, token: string): Promise<boolean | undefined> {
  if (hasRequests(await api.version()) === false) return undefined;
  try {
    await api.requests.preview(token);
    return true;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.code === 'not_found') return false;
    if (error.code === 'unauthorized' || error.code === 'forbidden') return true;
    throw error;
  }
}

/**
 * Does what fits a link or token. A key in the link says what it is. `/r/TOKEN` is the link of a request, and of a URL push
 * of the open-source edition, so that the instance is asked; a bare token is tried as that of a push first.
 * @throws what the work throws; CliError (rejected) for a request where the instance has none
 */
export async function pushOrRequest<T>(
  api: Api,
  { token, base, kind }: Reference,
  work: { readonly push: () => Promise<T>; readonly request: () => Promise<T> },
): Promise<T> {
  if (kind === 'push') return work.push();
  if (kind === 'request') return onRequest(api, work.request);
  if (kind === 'unknown') {
    const found = await isRequest(api, token);
    return found ? work.request() : work.push().catch(found === false ? notOne : undefined);
  }
  try {
    return await work.push();
  } catch (error) {
    if (base !== undefined || !isNotFound(error)) throw error;
    if (!(await isRequest(api, token).catch(() => false))) throw error;
    return work.request();
  }
}

/**
 * Works on a request by its link.
 * @throws what the work throws; CliError (rejected) if the instance has no requests
 */
export async function onRequest<T>(api: Pick<Api, 'version'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const version = await api.version().catch(() => undefined);
    throw version && hasRequests(version) === false ? noRequests(error.status) : error;
  }
}

export interface RequestProgress {
  readonly state: 'open' | 'answered' | 'closed';
  readonly request: SecretRequest;
}

/**
 * Returns a function that looks once how the owner's request is doing. Reading it would take its answer: a preview says
 * its state, at our service, and the listings do, which are read in the order in which a request moves through them.
 * @param account the id of the account that the request belongs to
 * @throws CliError (the returned function) as `RequestApi.list` does; (not_found) if it is in no listing
 */
export function requestPoller(
  api: RequestApi,
  token: string,
  account?: number,
): () => Promise<RequestProgress> {
  return async () => {
    const { url, state } = await api.preview(token);
    if (isState(state)) {
      const request = { url_token: token, html_url: url, state };
      if (state !== 'closed') return { state: state === 'open' ? 'open' : 'answered', request };
      return { state: (await wasAnswered(api, token)) ? 'answered' : 'closed', request };
    }
    const found = await findOwnRequest(api, token, account);
    if (!found) throw new CliError('not_found', 'no such request among yours');
    const { listed, request } = found;
    if (listed === 'open') return { state: 'open', request };
    const answered = listed === 'ready' || (await wasAnswered(api, token));
    return { state: answered ? 'answered' : 'closed', request };
  };
}

const isState = (state: unknown): state is RequestState =>
  state === 'open' || state === 'ready' || state === 'closed';

/** A request and the listing of its owner that has it, looked for in the order in which it moves through them. */
export async function findOwnRequest(
  api: Pick<RequestApi, 'list'>,
  token: string,
  account: number | undefined,
): Promise<{ readonly listed: RequestState; readonly request: SecretRequest } | undefined> {
  for (const listed of ['open', 'ready', 'closed'] as const) {
    const request = await findListed((page) => api.list(listed, page, account), token);
    if (request) return { listed, request };
  }
  return undefined;
}

/** A closed request was answered if its log has an event of that kind, whose name differs by edition. */
async function wasAnswered(api: Pick<RequestApi, 'audit'>, token: string): Promise<boolean> {
  const log = await readAuditLog(api, token, 'newest');
  return log.some(({ kind }) => /respon|answer/i.test(kind) && !/fail/i.test(kind));
}

/** A link to nothing has the form of a request's. */
function notOne(error: unknown): never {
  if (!isNotFound(error)) throw error;
  throw error.with({ message: error.message.replace('no such push', 'no such request') });
}

function isNotFound(error: unknown): error is CliError {
  return error instanceof CliError && error.code === 'not_found';
}
