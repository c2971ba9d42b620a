import { API_PATH } from '../../contract/api';
import type { HttpRequest, Transport } from '../../platform/context';

/** Logs method, host, shortened path, status and time of each request; never query, headers or body. */
export function logged(
  send: Transport,
  now: () => Date,
  debug: (text: string) => Promise<void>,
): Transport {
  return async (request) => {
    const start = now().getTime();
    const log = (outcome: string | number) =>
      debug(`${request.method} ${shortened(request)} ${outcome} ${now().getTime() - start} ms`);
    try {
      const response = await send(request);
      await log(response.status);
      return response;
    } catch (error) {
      await log('failed');
      throw error;
    }
  };
}

function shortened({ url }: HttpRequest): string {
  const { host, pathname } = new URL(url);
  // The path of a file's link is signed: it gives access to the file.
  if (!pathname.includes(API_PATH)) return `${host}/…`;
  const path = pathname.replace(
    /(\/(?:pushes|requests)\/)(?!(?:active|expired|open|ready|closed)$)([^/]{1,3})[^/]*/,
    '$1$2…',
  );
  return `${host}${path}`;
}
