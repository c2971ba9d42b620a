import type { NewPush, Push } from '../contract';
import { type ApiSettings, apiClient } from './client';
import { differences } from './compare-limits';
import { pages } from './pages';
import { header, type Transport } from './transport/transport';

export interface RecentPushes {
  /** With the same name and limits. */
  readonly similar: readonly Push[];
  /** How many others there are. */
  readonly others: number;
}

/** Milliseconds between the `Date` of a response and the times of the pushes in it. */
const TOLERANCE = 10_000;
/** Milliseconds between the instance's clock and ours, for responses without a `Date`. */
const SKEW = 5 * 60_000;

/**
 * Searches a user's active pushes for one that was created since `started`, after a creation that was not answered.
 * Compares spans of time, as the instance's clock may differ from ours. Reads all pages, as instances differ in the
 * order of their listings.
 * @throws CliError when a page cannot be read and none of those before has a similar push
 */
export async function findUnansweredPush(
  settings: ApiSettings,
  asked: NewPush,
  started: Date,
): Promise<RecentPushes> {
  let serverTime = Number.NaN;
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    serverTime = Date.parse(header(response, 'date') ?? '');
    return response;
  };
  const api = apiClient({ ...settings, send });
  const since = () => {
    const now = settings.now().getTime();
    const span = now - started.getTime();
    return Number.isNaN(serverTime) ? now - span - SKEW : serverTime - span - TOLERANCE;
  };
  const listing = pages((page) => api.list('active', page), {
    key: ({ url_token }) => url_token,
    skipRepeated: true,
  });
  const similar: Push[] = [];
  let others = 0;
  try {
    for await (const page of listing) {
      const recent = page.filter((push) => Date.parse(push.created_at ?? '') >= since());
      for (const push of recent) {
        if (isSimilar(asked, push)) similar.push(push);
        else others += 1;
      }
    }
  } catch (error) {
    if (similar.length === 0) throw error;
  }
  return { similar, others };
}

/** Fields that the listing leaves out are not compared. */
function isSimilar(asked: NewPush, push: Push): boolean {
  const sameName = typeof push.name !== 'string' || push.name === (asked.name ?? '');
  return sameName && differences(asked, push).length === 0;
}
