import { getPath } from 'hono/utils/url';
import { API_PATH, routes } from '../../contract/api';
import type { HereEvent } from '../../contract/here-event';
import type { App } from '../http/parts';
import { originOf } from '../http/request-origin';
import { pushBody } from '../http/responses';
import type { OpenService } from '../open-service';
import type { PushEvents } from '../ops/metrics';
import { LINK_TIME } from '../rules/access';
import type { PushWithNote } from '../rules/records';
import type { ServiceIo } from '../service-settings';
import { type HereSettings, serveAlone } from './serve-alone';

export interface HerePush {
  readonly push: object;
  readonly files: readonly {
    readonly name: string;
    readonly type: string;
    bytes(): AsyncIterable<Uint8Array>;
  }[];
}

/** A push that is served from the memory of this process. */
export interface ServedPush {
  readonly push: ReturnType<typeof pushBody>;
  /** Whether the secret travels unencrypted over a network. */
  readonly exposed: boolean;
  /** Resolves to the number of views when nothing is left to retrieve. */
  readonly ended: Promise<number>;
  /** Waits up to 30 s for running requests, then discards the push. */
  close(): Promise<void>;
}

/**
 * Serves a single push: no other can be created or listed. It expires after one view by default.
 * @throws ServiceError when the push is invalid, or the service cannot start
 */
export async function serveHere(
  settings: HereSettings,
  io: ServiceIo,
  wanted: HerePush,
  report: (event: HereEvent) => void,
): Promise<ServedPush> {
  const watch = new PushWatch(wanted.files.length, report);
  const { begun, base, exposed, close } = await serveAlone(
    settings,
    io,
    watch.events,
    async (service) => {
      const { push } = await createPush(service, wanted);
      watch.allowViews(push.expire_after_views);
      return {
        begun: push,
        app: watched(service.app, watch),
        serves: (path) => isServed(path, push.url_token),
      };
    },
  );
  return {
    push: pushBody(begun, base, io.now()),
    exposed,
    ended: watch.ended,
    close: async () => {
      await close(() => watch.stop());
    },
  };
}

async function createPush(
  { pushes }: OpenService,
  { push, files }: HerePush,
): Promise<PushWithNote> {
  const nobody = { ip: null, userAgent: null, referrer: null, owner: undefined };
  if (files.length === 0) return pushes.create(push, nobody);
  const upload = pushes.upload();
  try {
    for (const file of files) await upload.add(file, file.bytes());
    return await pushes.create(push, nobody, upload);
  } finally {
    await upload.discard();
  }
}

/**
 * Reports what happens to the one push, and notices its end: all views have been taken, and with each all of its
 * files have been downloaded or their links have expired.
 */
class PushWatch {
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

function isServed(path: string, urlToken: string): boolean {
  const page = `/p/${urlToken}`;
  const api = (route: 'retrieve' | 'preview' | 'version') =>
    API_PATH + routes[route].path.replace(':token', urlToken);
  const served = [page, `${page}/r`, `${page}.json`];
  served.push(api('retrieve'), api('preview'), api('version'));
  return served.includes(path) || isFile(path);
}

const isFile = (path: string) => path.startsWith('/files/');

/** The app, whose downloads are noticed. */
function watched(app: App, watch: PushWatch): App {
  return async (request, connection = {}) => {
    const path = getPath(request);
    const response = await app(request, connection);
    if (!isFile(path) || request.method !== 'GET') return response;
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
