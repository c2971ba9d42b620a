import type { AsyncLocalStorage } from 'node:async_hooks';
import { getPath } from 'hono/utils/url';
import { API_PATH, routes } from '../../contract';
import type { App } from '../http/app';
import { isPrefetch, originOf } from '../http/caller';
import { noticeEnd } from './notice-end';
import type { Visit, Watch } from './push-watch';

/** The service, of which nothing is to be had but that push. */
export function onlyThat(
  urlToken: string,
  app: App,
  visits: AsyncLocalStorage<Visit>,
  watch: Watch,
): App {
  const page = `/p/${urlToken}`;
  const api = (route: keyof typeof routes) =>
    API_PATH + routes[route].path.replace(':token', urlToken);
  const pages = [page, `${page}/r`];
  const served = [...pages, `${page}.json`, api('retrieve'), api('preview'), api('version')];
  return async (request, connection = {}) => {
    const path = getPath(request);
    const isFile = path.startsWith('/files/');
    if (!served.includes(path) && !isFile) {
      const nowhere = path.startsWith('/api/') ? '/api/none' : '/none';
      return app(new Request(new URL(nowhere, request.url), { method: 'GET' }), connection);
    }
    const { ip } = originOf(request, connection, { trustProxy: false });
    const visit = { ip, viewed: false };
    const response = await visits.run(visit, () => app(request, connection));
    const shown = request.method === 'GET' && response.status === 200 && !isPrefetch(request);
    if (shown && pages.includes(path) && !visit.viewed) watch.opened(ip);
    if (!isFile || request.method !== 'GET') return response;
    return noticeEnd(response, watch.download(path, ip));
  };
}
