import type { NewPush, Push } from '../contract';
import { type ApiSettings, apiClient } from './client';
import { differences } from './compare-limits';
import { pages } from './pages';
import { header, type Transport } from './transport/transport';

/** What a creation that was never answered may have left. */
export interface Traces {
  /** Pushes created since, of the same name and limits. */
  readonly like: readonly Push[];
  /** How many others were created since. */
  readonly others: number;
}

/** How far the time of an answer may be from that of the pushes in it, in milliseconds. */
const TOLERANCE = 10_000;
/** How far an instance's clock may be from ours, where it does not tell its time. */
const SKEW = 5 * 60_000;

/**
 * Looks through a user's active pushes for one that was created since `started`, by our clock. Only spans are compared:
 * the instance's clock may show another time. In which order they are listed is up to the instance, so all pages are
 * read; where one cannot be had, what the others told counts.
 * @throws CliError when a page cannot be had, and no push like it was found by then
 */
export async function traces(
  settings: ApiSettings,
  asked: NewPush,
  started: Date,
): Promise<Traces> {
  let told = Number.NaN;
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    told = Date.parse(header(response, 'date') ?? '');
    return response;
  };
  const api = apiClient({ ...settings, send });
  const since = () => {
    const now = settings.now().getTime();
    const span = now - started.getTime();
    return Number.isNaN(told) ? now - span - SKEW : told - span - TOLERANCE;
  };
  const listing = pages((page) => api.list('active', page), {
    key: ({ url_token }) => url_token,
    once: true,
  });
  const like: Push[] = [];
  let others = 0;
  try {
    for await (const page of listing) {
      const recent = page.filter((push) => Date.parse(push.created_at ?? '') >= since());
      for (const push of recent) {
        if (isLike(asked, push)) like.push(push);
        else others += 1;
      }
    }
  } catch (error) {
    if (like.length === 0) throw error;
  }
  return { like, others };
}

/** What a listing leaves out is not compared. */
function isLike(asked: NewPush, push: Push): boolean {
  const sameName = typeof push.name !== 'string' || push.name === (asked.name ?? '');
  return sameName && differences(asked, push).length === 0;
}
