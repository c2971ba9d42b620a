import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Kind, kinds } from '../../contract/api';
import { raceWithLimit } from '../../platform/files/abort';
import { commonHeaders } from '../common-headers';
import { hostProblems } from '../hosts';
import type { ServiceSettings, Usage } from '../service-settings';
import type { ActiveCounts } from '../store/push-rows';
import { listen } from './listen';
import type { Log } from './log';

/** Receives what happens to pushes: metrics count it, and `push --here` reports it. */
export interface PushEvents {
  created(kind: Kind): void;
  /** A page asked for the passphrase, or to press a button, before a view is used; `ip` is null when it is unknown. */
  opened(ip: string | null): void;
  viewed(by: 'viewer' | 'owner', ip: string | null): void;
  /** A retrieval of a push that had expired. */
  missed(): void;
  /** `ip` is null when nobody asked for it. */
  expired(reason: 'views' | 'time' | 'deleted', pushes: number, ip: string | null): void;
  wrongPassphrase(ip: string | null): void;
  requestChanged(event: RequestEvent, requests?: number): void;
  /** Bytes of files, as the client has them. */
  fileBytes(direction: 'in' | 'out', bytes: number): void;
}

/** `read` is the owner's taking of the answer; `closed` is by the owner, `expired` by time. */
const requestEvents = ['created', 'answered', 'read', 'closed', 'expired'] as const;
type RequestEvent = (typeof requestEvents)[number];

/** Counts what the service does, from 0 at each start. All label values come from the program, never from a request. */
interface Metrics extends PushEvents, Pick<Log, 'request' | 'failure'> {
  /** Returns the metrics, with `state` as it is now, in the text exposition format 0.0.4. */
  render(state: ServiceState): Promise<string>;
}

/** Read at each scrape instead of being counted. */
interface ServiceState {
  readonly version: string;
  readonly databaseUp: boolean;
  /** Undefined while they are unknown. */
  readonly active: ActiveCounts | undefined;
  readonly usage: Usage | undefined;
}

/** Any other method is counted as `other`, so that clients cannot create time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createMetrics(): Metrics {
  const counted = new Registry();
  const registers = [counted];
  /** With one label, a counter starts at 0 for each of the values that it can have. */
  const counter = (name: string, help: string, label?: string, values: readonly string[] = []) => {
    const one = new Counter({ name, help, labelNames: label ? [label] : [], registers });
    for (const value of values) one.inc({ [`${label}`]: value }, 0);
    return one;
  };
  const requests = new Counter({
    name: 'pwpush_http_requests_total',
    help: 'HTTP requests by method, route and status; 429 and 503 were refused temporarily.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'pwpush_http_request_duration_seconds',
    help: 'Time from a request to the start of its response, by route.',
    labelNames: ['route'],
    registers,
  });
  const errors = counter('pwpush_errors_total', 'Internal errors, as logged.');
  const created = counter('pwpush_pushes_created_total', 'Pushes created, by kind.', 'kind', kinds);
  const reasons = ['views', 'time', 'deleted'];
  const expired = counter(
    'pwpush_pushes_expired_total',
    'Pushes expired, by reason.',
    'reason',
    reasons,
  );
  const views = counter(
    'pwpush_views_total',
    'Secrets retrieved, by viewer or owner; a retrieval by the owner does not count as a view.',
    'by',
    ['viewer', 'owner'],
  );
  const failed = 'Views of expired pushes, or without their key.';
  const failedViews = counter('pwpush_failed_views_total', failed);
  const passphrases = counter('pwpush_wrong_passphrases_total', 'Wrong passphrases.');
  const changes = counter(
    'pwpush_requests_total',
    'Requests created, answered, read by their owner, closed by their owner, and expired.',
    'event',
    requestEvents,
  );
  const bytes = 'Bytes of files stored (in) and downloaded (out).';
  const fileBytes = counter('pwpush_file_bytes_total', bytes, 'direction', ['in', 'out']);
  return {
    request({ method, route, status, tookMs }) {
      requests.inc({ method: METHODS.has(method) ? method : 'other', route, status });
      // `tookMs` is negative when the clock was set back.
      durations.observe({ route }, Math.max(0, tookMs) / 1000);
    },
    failure: () => errors.inc(),
    opened: () => {},
    created: (kind) => created.inc({ kind }),
    viewed: (by) => views.inc({ by }),
    missed: () => failedViews.inc(),
    expired: (reason, pushes) => expired.inc({ reason }, pushes),
    wrongPassphrase: () => passphrases.inc(),
    requestChanged: (event, requests) => changes.inc({ event }, requests),
    fileBytes: (direction, bytes) => fileBytes.inc({ direction }, bytes),
    render: async (state) => (await counted.metrics()) + (await stateOf(state).metrics()),
  };
}

/** What is known of the state, as metrics. Names that start with `process_` are those of all libraries of Prometheus. */
function stateOf({ version, databaseUp, active, usage }: ServiceState): Registry {
  const now = new Registry();
  const registers = [now];
  const gauge = (name: string, help: string, value: number | undefined) => {
    if (value !== undefined) new Gauge({ name, help, registers }).set(value);
  };
  const info = 'Always 1; the label is the version.';
  const build = { name: 'pwpush_build_info', help: info, labelNames: ['version'], registers };
  new Gauge(build).set({ version }, 1);
  gauge('pwpush_database_up', 'Whether the database responds.', Number(databaseUp));
  const pushes = 'Pushes that are not expired, counted every minute.';
  gauge('pwpush_pushes_active', pushes, active?.pushes);
  const requests = 'Requests that are not closed, counted every minute.';
  gauge('pwpush_requests_active', requests, active?.requests);
  const cpu = 'User and system CPU time in seconds.';
  if (usage)
    new Counter({ name: 'process_cpu_seconds_total', help: cpu, registers }).inc(usage.cpu);
  gauge('process_resident_memory_bytes', 'Resident memory in bytes.', usage?.resident);
  const started = Math.round(performance.timeOrigin) / 1000;
  gauge('process_start_time_seconds', 'Start time as a Unix timestamp in seconds.', started);
  return now;
}

/** Between counts of active pushes and requests: with a million, one takes a while. */
const COUNT_EVERY_MS = 60_000;

/** For which a scrape waits for that count. */
const COUNT_WAIT_MS = 2000;

interface Probes {
  readonly version: string;
  /** Resolves soon, even when the database hangs. */
  readonly isUp: () => Promise<boolean>;
  readonly countActive: () => Promise<ActiveCounts>;
  readonly usage?: (() => Usage) | undefined;
}

/** Returns a function that renders the current metrics; it never waits long for the database. */
export function scraper(
  metrics: Metrics,
  { version, isUp, countActive, usage }: Probes,
): () => Promise<string> {
  let active: ActiveCounts | undefined;
  let countedAt = Number.NEGATIVE_INFINITY;
  const count = health(async () => {
    countedAt = performance.now();
    active = await countActive();
  }, COUNT_WAIT_MS);
  return async () => {
    const databaseUp = await isUp();
    if (databaseUp && performance.now() - countedAt >= COUNT_EVERY_MS) await count();
    const counts = databaseUp ? active : undefined;
    return metrics.render({ version, databaseUp, active: counts, usage: usage?.() });
  };
}

const RECEIVING_MS = 10_000;

/**
 * Serves the text that `scrape` returns at `/metrics`, and nothing else; undefined without a port. Port 0 takes a free one.
 * @param anyHost whether requests may name any host, though it listens on loopback
 * @throws ServiceError when it cannot listen
 */
export async function serveMetrics(
  { metricsHost: host = '127.0.0.1', metricsPort: port }: ServiceSettings,
  anyHost: boolean,
  scrape: () => Promise<string>,
): Promise<{ readonly url: string; close(): void } | undefined> {
  if (port === undefined) return undefined;
  const server = createServer({ requestTimeout: RECEIVING_MS }, (request, response) => {
    const named = request.headers.host;
    const problem = named === undefined ? undefined : hostProblem(`http://${named}/`);
    if (problem) return end(response, problem, 'metrics are not served for that host\n');
    respond(request, response, scrape).catch(() => response.destroy());
  });
  const hostProblem = hostProblems(server, anyHost ? undefined : host);
  const { url } = await listen(server, { host, port }, undefined, '--metrics-port');
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
  response.setHeader('content-type', Registry.PROMETHEUS_CONTENT_TYPE);
  end(response, 200, body);
}

function end(response: ServerResponse, status: number, body: string): void {
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status, commonHeaders).end(body);
}

/** Returns a function that resolves with whether `ping` resolves within `limit` milliseconds. Calls share a hung ping. */
export function health(ping: () => Promise<void>, limit = 2000): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asked = undefined;
      });
    return raceWithLimit(asked, { milliseconds: limit }, () => false);
  };
}
