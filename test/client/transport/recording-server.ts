import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { type Listening, listening } from '../../helpers/listen';

export interface Got {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  /** The number of the client's certificate. */
  readonly client: string | undefined;
  readonly body: string;
}

export interface Server extends Listening {
  readonly got: Got[];
}

/** A server of loopback that keeps what it gets, and answers once it has it all. */
export async function recordingServer(answer: RequestListener, tls?: ServerOptions): Promise<Server> {
  const got: Got[] = [];
  const one = await listening((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers, socket } = request;
      const client = tls && (socket as TLSSocket).getPeerCertificate().serialNumber;
      got.push({ line: `${method} ${url}`, headers, client, body: `${Buffer.concat(chunks)}` });
      answer(request, response);
    });
  }, tls);
  return { ...one, got, url: tls ? one.url.replace('http', 'https') : one.url };
}
