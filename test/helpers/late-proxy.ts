import { once } from 'node:events';
import { request as sendOn } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Listening, listening } from './listen';

/** What becomes of responses; it may be changed at any time. */
export interface Late {
  /** How much of one is sent on at once, from 0 to 1. */
  share: number;
  /** Called with `GET /path` once the response to it is there; the rest is sent when this resolves. */
  holding(call: string): unknown;
}

export const lateProxy = (service: { readonly url: string }, late: Late): Promise<Listening> =>
  listening(async (request, response) => {
    const { method, url = '', headers } = request;
    const onward = sendOn(service.url + url, { method, headers });
    // The client may be gone by now.
    for (const one of [onward, response]) one.on('error', () => {});
    onward.end(await buffer(request));
    const [answer] = await once(onward, 'response');
    const body = await buffer(answer);
    const first = Math.floor(body.length * late.share);
    response.writeHead(answer.statusCode, answer.headers);
    if (first > 0) await new Promise((resolve) => response.write(body.subarray(0, first), resolve));
    await late.holding(`${method} ${url}`);
    response.end(body.subarray(first));
  });
