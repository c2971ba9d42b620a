import { getPath } from 'hono/utils/url';
import { API_PATH, requestRoutes } from '../../contract/api';
import type { App } from '../http/parts';
import { type ClientSocket, originOf } from '../http/request-origin';
import type { OpenService } from '../open-service';
import type { ServiceIo } from '../service-settings';
import { type HereSettings, serveAlone } from './serve-alone';

/** A request that is served from the memory of this process. */
export interface ServedRequest {
  readonly token: string;
  readonly base: string;
  /** Whether the page travels unencrypted over a network. */
  readonly exposed: boolean;
  /** Resolves to true once there is an answer, and to false when the request has expired. */
  readonly ended: Promise<boolean>;
  /** Sends a request of its owner to the service, without a socket. */
  ask(request: OwnerRequest): Promise<OwnerResponse>;
  /** Waits up to 5 s for those who read a response, then discards the request. */
  close(): Promise<void>;
}

/** As the transport of a client has it. */
interface OwnerRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface OwnerResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: AsyncIterable<Uint8Array>;
}

const GRACE_MS = 5000;

/**
 * Serves a single request: no other can be created or listed.
 * @param opened is called with the address of each visitor who opens its page
 * @throws ServiceError when the request is invalid, or the service cannot start
 */
export async function serveRequest(
  settings: HereSettings,
  io: ServiceIo,
  request: object,
  opened: (ip: string | null) => void,
): Promise<ServedRequest> {
  let end = (_answered: boolean): void => {};
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  const sending = new Set<ClientSocket>();
  const { begun, base, exposed, stop, close } = await serveAlone(
    settings,
    { grace: GRACE_MS, ...io },
    {
      requestChanged: (event, count = 1) => {
        if (event === 'answered') end(true);
        if (event === 'expired' && count > 0) end(false);
      },
    },
    async (service) => {
      const { token, ownerToken } = await createOne(service, request);
      const methods = servedMethods(token);
      return {
        begun: { token, ownerToken, whole: service.app },
        app: watched(service.app, pageOf(token), opened, sending),
        serves: (path, method) => methods.get(path)?.includes(method) ?? false,
      };
    },
  );
  const { token, ownerToken, whole } = begun;
  // What others send now is stored for nobody.
  const cut = () => {
    for (const connection of sending) connection.cut?.();
  };
  void ended.then(() => {
    cut();
    return stop();
  });
  return {
    token,
    base,
    exposed,
    ended,
    close: () => {
      cut();
      return close();
    },
    ask: async ({ method, url, headers }) => {
      const own = { ...headers, authorization: `Bearer ${ownerToken}` };
      const response = await whole(new Request(url, { method, headers: own }), { ip: '127.0.0.1' });
      const { status, body } = response;
      return { status, headers: Object.fromEntries(response.headers), body: body ?? nothing() };
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function createOne({ owners, requests }: OpenService, request: object) {
  const ownerToken = await owners.add('request');
  const owner = await owners.authenticate(ownerToken);
  const visitor = { ip: null, userAgent: null, referrer: null, owner };
  const { push } = await requests.create(request, visitor);
  return { token: push.url_token, ownerToken };
}

function servedMethods(token: string): ReadonlyMap<string, readonly string[]> {
  const api = (route: keyof typeof requestRoutes) =>
    API_PATH + requestRoutes[route].path.replace(':token', token);
  return new Map([
    [pageOf(token), ['GET', 'HEAD', 'POST']],
    [api('read'), ['GET']],
    [api('preview'), ['GET']],
    [api('respond'), ['PATCH']],
    [`${API_PATH}/version`, ['GET']],
  ]);
}

const pageOf = (token: string) => `/r/${token}`;

/**
 * The app, whose visitors are noticed.
 * @param sending receives the connections whose bodies are being read
 */
function watched(
  app: App,
  page: string,
  opened: (ip: string | null) => void,
  sending: Set<ClientSocket>,
): App {
  return async (request, connection = {}) => {
    const { ip } = originOf(request, connection, { trustProxy: false });
    if (getPath(request) === page && request.method === 'GET') opened(ip);
    return app(request, noticed(connection, sending));
  };
}

/** The same connection, which is in `sending` while its body is read. */
function noticed(connection: ClientSocket, sending: Set<ClientSocket>): ClientSocket {
  const { body } = connection;
  if (!body) return connection;
  return {
    ...connection,
    body: async function* () {
      sending.add(connection);
      try {
        yield* body();
      } finally {
        sending.delete(connection);
      }
    },
  };
}
