import { header, type Transport } from '../http/transport';
import { type ApiSettings, apiClient } from './client';
import type { NewPush, Push } from './contract';
import { differences } from './limits';

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
 * Looks through the newest page of a user's pushes for one that was created since `started`, by our clock. Only
 * spans are compared: the instance's clock may show another time.
 * @throws CliError when the page cannot be had
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
  const newest = await apiClient({ ...settings, send }).list('active', 1);
  const now = settings.now().getTime();
  const span = now - started.getTime();
  const since = Number.isNaN(told) ? now - span - SKEW : told - span - TOLERANCE;
  const recent = newest.filter((push) => Date.parse(push.created_at ?? '') >= since);
  const like = recent.filter((push) => isLike(asked, push));
  return { like, others: recent.length - like.length };
}

/** What a listing leaves out is not compared. */
function isLike(asked: NewPush, push: Push): boolean {
  const sameName = typeof push.name !== 'string' || push.name === (asked.name ?? '');
  return sameName && differences(asked, push).length === 0;
}
