import type { InstanceVersion } from '../contract/decode';
import { attempt, CliError, type Fact, phrase } from '../platform/errors';
import { noRequests } from './calls';
import type { Api } from './client';
import type { Reference } from './link';

export type Item = ReturnType<typeof pushItem | typeof requestItem>;

export function pushItem(api: Api, token: string) {
  return {
    kind: 'push' as const,
    preview: () => api.preview(token),
    audit: (page: number) => api.audit(token, page),
    end: (passphrase?: string, keyProof?: string) => api.expire(token, passphrase, keyProof),
  };
}

export function requestItem({ requests }: Pick<Api, 'requests'>, token: string) {
  return {
    kind: 'request' as const,
    preview: () => requests.preview(token),
    audit: (page: number) => requests.audit(token, page),
    end: () => requests.close(token),
  };
}

function hasRequests({ edition, features }: InstanceVersion): boolean | undefined {
  const requests = features?.requests as { readonly enabled?: unknown } | null | undefined;
  const enabled: unknown = requests?.enabled ?? requests;
  if (typeof enabled === 'boolean') return enabled;
  return edition === 'oss' ? false : undefined;
}

/** Returns whether a token names a request, without taking its answer; undefined if the instance has no requests. */
async function isRequest(api: Api, token: string): Promise<boolean | undefined> {
  if (hasRequests(await api.version()) === false) return undefined;
  const preview = await attempt(() => api.requests.preview(token));
  if (!(preview instanceof CliError)) return true;
  if (preview.code === 'not_found') return false;
  if (preview.code === 'unauthorized' || preview.code === 'forbidden') return true;
  throw preview;
}

/**
 * Does the work with what a link or token names. A key in a link tells what the link names. `/r/TOKEN` is the link of a
 * request or of a URL push of the open-source edition, so that the instance is asked. A bare token is tried as a push
 * first.
 * @throws what the work throws; CliError (rejected) for a request at an instance without requests
 */
export async function onItem<T>(
  { api, token, base, kind }: Reference & { readonly api: Api },
  work: (item: Item) => Promise<T>,
): Promise<T> {
  const push = () => work(pushItem(api, token));
  const request = () => work(requestItem(api, token));
  if (kind === 'push') return push();
  if (kind === 'request') return onRequest(api, request);
  if (kind === 'unknown') {
    const known = await isRequest(api, token);
    return known ? request() : push().catch(known === false ? noSuchRequest : undefined);
  }
  try {
    return await push();
  } catch (error) {
    if (base !== undefined || !isNotFound(error)) throw error;
    if (!(await isRequest(api, token).catch(() => false))) throw error;
    return request();
  }
}

/** @throws what the work throws; CliError (rejected) if the instance has no requests */
export async function onRequest<T>(api: Pick<Api, 'version'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const version = await api.version().catch(() => undefined);
    throw version && hasRequests(version) === false ? noRequests(error.status) : error;
  }
}

/** Names a request in the error, since a link with `/r/` that leads to nothing was probably that of a request. */
function noSuchRequest(error: unknown): never {
  if (!isNotFound(error)) throw error;
  const isNoPush = (fact: Fact) => typeof fact === 'object' && fact.name === 'no-such';
  throw error.with({
    facts: error.facts.map((fact) => (isNoPush(fact) ? phrase('no-such', 'request') : fact)),
  });
}

function isNotFound(error: unknown): error is CliError {
  return error instanceof CliError && error.code === 'not_found';
}
