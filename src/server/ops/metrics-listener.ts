import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../listen';
import { CONTENT_TYPE } from './metrics';

/** Milliseconds to receive a request. */
const REQUEST_TIMEOUT = 10_000;

/**
 * Serves the text that `scrape` returns at `/metrics`, and nothing else. Port 0 takes a free one.
 * @throws ServiceError when it cannot listen
 */
export async function serveMetrics(
  host: string,
  port: number,
  scrape: () => Promise<string>,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT }, (request, response) => {
    respond(request, response, scrape).catch(() => response.destroy());
  });
  const { url } = await listen(server, { host, port }, false, '--metrics-port');
  return {
    url: `${url}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function respond(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  scrape: () => Promise<string>,
): Promise<void> {
  if (url?.split('?')[0] !== '/metrics') return end(response, 404, 'metrics are at /metrics\n');
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return end(response, 405, 'method not allowed\n');
  }
  const body = await scrape();
  response.setHeader('content-type', CONTENT_TYPE);
  end(response, 200, body);
}

function end(response: ServerResponse, status: number, body: string): void {
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
}
