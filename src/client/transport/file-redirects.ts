import { CliError } from '../../errors';
import { header, type Transport, type WireResponse } from './transport';

const MAX_HOPS = 10;
/** A body nobody wants is read so far, so that its connection can be used again; then it is closed. */
const MAX_DISCARDED = 64 * 1024;

type Headers = Readonly<Record<string, string>>;

/**
 * GET along up to 10 redirects, to any host, but never from https down to http.
 * @param first headers of the first request, which alone may carry a token; `headers` those of the others
 * @throws CliError (failed) for a redirect that is not followed
 */
export async function follow(
  send: Transport,
  url: URL,
  headers: Headers,
  first: Headers,
): Promise<WireResponse> {
  let current = url;
  for (let hop = 0; ; hop++) {
    const sent = hop === 0 ? first : headers;
    const response = await send({ method: 'GET', url: withoutFragment(current), headers: sent });
    const next = target(response, current);
    if (next === undefined) return response;
    await discard(response.body);
    if (hop === MAX_HOPS) throw new CliError('failed', `its link redirects over ${MAX_HOPS} times`);
    current = next;
  }
}

function target(response: WireResponse, from: URL): URL | undefined {
  const location = header(response, 'location');
  if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined)
    return undefined;
  let to: URL;
  try {
    to = new URL(location, from);
  } catch {
    throw new CliError('failed', 'its link redirects to what is no address');
  }
  if (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:')) return to;
  throw new CliError(
    'failed',
    `its link redirects from https to ${to.protocol}//${to.host}; that was not followed`,
  );
}

function withoutFragment(url: URL): string {
  return url.href.slice(0, url.href.length - url.hash.length);
}

/** Gives up a body: left unread, it would keep the next request to that host waiting for ever. */
export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  let read = 0;
  for await (const chunk of body) {
    read += chunk.byteLength;
    if (read > MAX_DISCARDED) return;
  }
}
