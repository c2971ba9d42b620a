import { getPath } from 'hono/utils/url';
import { API_PATH, routes } from '../../contract';
import type { HereEvent } from '../../here-event';
import { originOf } from '../http/caller';
import type { App } from '../http/parts';
import type { PushEvents } from '../push-events';
import { LINK_TIME } from '../rules/claim';

/**
 * Reports what happens to the one push, and notices its end: all views have been taken, and with each all of its
 * files have been downloaded or their links have expired.
 */
export class PushWatch {
  /** Resolves to the number of views. */
  readonly ended: Promise<number>;
  private end = (_views: number): void => {};
  private views = 0;
  private allowed = Number.POSITIVE_INFINITY;
  private downloads = 0;
  private readonly downloaded = new Set<string>();
  private linksExpired = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly files: number,
    private readonly report: (event: HereEvent) => void,
  ) {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  readonly events: Partial<PushEvents> = {
    opened: (ip) => this.report({ event: 'opened', ip }),
    viewed: (_by, ip) => this.viewed(ip),
    wrongPassphrase: (ip) => this.report({ event: 'passphrase', ip }),
    expired: (reason, pushes, ip) => {
      if (reason === 'views' || pushes === 0) return;
      this.report({ event: reason === 'deleted' ? 'deleted' : 'expired', ip });
      this.end(this.views);
    },
  };

  /** Sets the number of views that the push was created with. */
  allowViews(count: number): void {
    this.allowed = count;
  }

  /** Notes the start of a download; the caller reports its end, and whether the file was sent to its last byte. */
  download(path: string, ip: string | null): (complete: boolean) => void {
    this.downloads += 1;
    return (complete) => {
      this.downloads -= 1;
      if (complete) {
        this.report({ event: 'fetched', ip });
        this.downloaded.add(path);
      }
      this.endIfOver();
    };
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private viewed(ip: string | null): void {
    this.views += 1;
    this.report({ event: 'viewed', ip, count: this.views });
    this.endIfOver();
    if (this.views < this.allowed) return;
    this.timer = setTimeout(() => {
      this.linksExpired = true;
      this.endIfOver();
    }, LINK_TIME);
  }

  private endIfOver(): void {
    const fetched = this.linksExpired || this.downloaded.size >= this.views * this.files;
    if (this.views >= this.allowed && this.downloads === 0 && fetched) this.end(this.views);
  }
}

/** The app restricted to one push: any other path is 404. */
export function singlePushApp(urlToken: string, app: App, watch: PushWatch): App {
  const page = `/p/${urlToken}`;
  const api = (route: keyof typeof routes) =>
    API_PATH + routes[route].path.replace(':token', urlToken);
  const served = [page, `${page}/r`, `${page}.json`];
  served.push(api('retrieve'), api('preview'), api('version'));
  return async (request, connection = {}) => {
    const path = getPath(request);
    const isFile = path.startsWith('/files/');
    if (!served.includes(path) && !isFile) {
      const nowhere = path.startsWith('/api/') ? '/api/none' : '/none';
      return app(new Request(new URL(nowhere, request.url), { method: 'GET' }), connection);
    }
    const response = await app(request, connection);
    if (!isFile || request.method !== 'GET') return response;
    const { ip } = originOf(request, connection, { trustProxy: false });
    return noticeEnd(response, watch.download(path, ip));
  };
}

/**
 * The same response; calls `ended` when its body has been read or dropped, with whether the last byte of the file was
 * sent by then, whatever range was requested.
 */
function noticeEnd(response: Response, ended: (complete: boolean) => void): Response {
  const { body, headers, status } = response;
  if (!body || (status !== 200 && status !== 206)) {
    ended(false);
    return response;
  }
  const reader = body.getReader();
  let left = Number(headers.get('content-length'));
  const counting = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read();
        if (value) {
          left -= value.length;
          return controller.enqueue(value);
        }
        if (done) controller.close();
        ended(left === 0 && includesLastByte(headers));
      },
      async cancel(reason) {
        ended(false);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(counting, { status, headers });
}

function includesLastByte(headers: Headers): boolean {
  const range = headers.get('content-range');
  if (range === null) return true;
  const [, last, size] = /-(\d+)\/(\d+)$/.exec(range) ?? [];
  return Number(last) + 1 === Number(size);
}
