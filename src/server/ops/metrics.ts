import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Kind, kinds } from '../../contract/api';
import { raceWithLimit } from '../../platform/files/abort';
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
export type RequestEvent = (typeof requestEvents)[number];

/** Content type of the text exposition format that Prometheus and OpenMetrics scrapers read. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Counts what the service does, from 0 at each start. All label values come from the program, never from a request. */
export interface Metrics extends PushEvents, Pick<Log, 'request' | 'failure'> {
  /** Returns the metrics, with `state` as it is now, in the text exposition format 0.0.4. */
  render(state: ServiceState): string;
}

/** Read at each scrape instead of being counted. */
export interface ServiceState {
  readonly version: string;
  readonly databaseUp: boolean;
  /** Undefined while they are unknown. */
  readonly active: ActiveCounts | undefined;
  readonly usage: Usage | undefined;
}

/** Upper bounds of the buckets for request durations, in seconds. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Any other method is counted as `other`, so that clients cannot create time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createMetrics(): Metrics {
  const families = {
    requests: counter(
      'pwpush_http_requests_total',
      'HTTP requests by method, route and status; 429 and 503 were refused temporarily.',
    ),
    durations: histogram(
      'pwpush_http_request_duration_seconds',
      'Time from a request to the start of its response, by route.',
      DURATIONS,
    ),
    errors: counter('pwpush_errors_total', 'Internal errors, as logged.', [{}]),
    created: counter(
      'pwpush_pushes_created_total',
      'Pushes created, by kind.',
      kinds.map((kind) => ({ kind })),
    ),
    expired: counter(
      'pwpush_pushes_expired_total',
      'Pushes expired, by reason.',
      ['views', 'time', 'deleted'].map((reason) => ({ reason })),
    ),
    views: counter(
      'pwpush_views_total',
      'Secrets retrieved, by viewer or owner; a retrieval by the owner does not count as a view.',
      ['viewer', 'owner'].map((by) => ({ by })),
    ),
    failedViews: counter(
      'pwpush_failed_views_total',
      'Views of expired pushes, or without their key.',
      [{}],
    ),
    passphrases: counter('pwpush_wrong_passphrases_total', 'Wrong passphrases.', [{}]),
    requestEvents: counter(
      'pwpush_requests_total',
      'Requests created, answered, read by their owner, closed by their owner, and expired.',
      requestEvents.map((event) => ({ event })),
    ),
    fileBytes: counter(
      'pwpush_file_bytes_total',
      'Bytes of files stored (in) and downloaded (out).',
      ['in', 'out'].map((direction) => ({ direction })),
    ),
  };
  return {
    request({ method, route, status, tookMs }) {
      const label = METHODS.has(method) ? method : 'other';
      families.requests.add({ method: label, route, status: `${status}` });
      // `tookMs` is negative when the clock was set back.
      families.durations.observe({ route }, Math.max(0, tookMs) / 1000);
    },
    failure: () => families.errors.add(),
    opened: () => {},
    created: (kind) => families.created.add({ kind }),
    viewed: (by) => families.views.add({ by }),
    missed: () => families.failedViews.add(),
    expired: (reason, pushes) => families.expired.add({ reason }, pushes),
    wrongPassphrase: () => families.passphrases.add(),
    requestChanged: (event, requests) => families.requestEvents.add({ event }, requests),
    fileBytes: (direction, bytes) => families.fileBytes.add({ direction }, bytes),
    render: (state) => [...Object.values(families), ...gauges(state)].map(text).join(''),
  };
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

/** Names that start with `process_` are those of Prometheus's own client libraries. */
function gauges({ version, databaseUp, active, usage }: ServiceState): Family[] {
  const startedAt = Math.round(performance.timeOrigin) / 1000;
  return [
    gauge('pwpush_build_info', 'Always 1; the label is the version.', 1, { version }),
    gauge('pwpush_database_up', 'Whether the database responds.', Number(databaseUp)),
    gauge(
      'pwpush_pushes_active',
      'Pushes that are not expired, counted every minute.',
      active?.pushes,
    ),
    gauge(
      'pwpush_requests_active',
      'Requests that are not closed, counted every minute.',
      active?.requests,
    ),
    {
      ...gauge('process_cpu_seconds_total', 'User and system CPU time in seconds.', usage?.cpu),
      type: 'counter',
    },
    gauge('process_resident_memory_bytes', 'Resident memory in bytes.', usage?.resident),
    gauge('process_start_time_seconds', 'Start time as a Unix timestamp in seconds.', startedAt),
  ];
}

type Labels = Readonly<Record<string, string>>;

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Yields the suffix of the name, the labels as text, and the value. */
  samples(): Iterable<readonly [suffix: string, labels: string, value: number]>;
}

/** A counter for each label combination that occurred; those in `known` start at 0 instead of being absent. */
function counter(name: string, help: string, known: readonly Labels[] = []) {
  const sums = new Map<string, number>(known.map((labels) => [labelText(labels), 0]));
  return {
    name,
    help,
    type: 'counter' as const,
    add(labels: Labels = {}, by = 1) {
      const key = labelText(labels);
      sums.set(key, (sums.get(key) ?? 0) + by);
    },
    *samples() {
      for (const [labels, sum] of sums) yield ['', labels, sum] as const;
    },
  };
}

function histogram(name: string, help: string, bounds: readonly number[]) {
  const series = new Map<string, { counts: number[]; sum: number }>();
  return {
    name,
    help,
    type: 'histogram' as const,
    observe(labels: Labels, value: number) {
      const key = labelText(labels);
      const one = series.get(key) ?? { counts: Array<number>(bounds.length + 1).fill(0), sum: 0 };
      series.set(key, one);
      const found = bounds.findIndex((bound) => value <= bound);
      const bucket = found === -1 ? bounds.length : found;
      one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
      one.sum += value;
    },
    *samples() {
      for (const [labels, { counts, sum }] of series) {
        let total = 0;
        for (const [at, count] of counts.entries()) {
          total += count;
          yield ['_bucket', `${labels},le="${bounds[at] ?? '+Inf'}"`, total] as const;
        }
        yield ['_sum', labels, sum] as const;
        yield ['_count', labels, total] as const;
      }
    },
  };
}

/** A gauge without a sample when its value is unknown. */
function gauge(name: string, help: string, value: number | undefined, labels: Labels = {}): Family {
  const samples = () => (value === undefined ? [] : [['', labelText(labels), value] as const]);
  return { name, help, type: 'gauge', samples };
}

function text({ name, help, type, samples }: Family): string {
  const lines = [...samples()].map(
    ([suffix, labels, value]) => `${name}${suffix}${labels && `{${labels}}`} ${value}\n`,
  );
  if (lines.length === 0) return '';
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join(',');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
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
  response.setHeader('content-type', CONTENT_TYPE);
  end(response, 200, body);
}

function end(response: ServerResponse, status: number, body: string): void {
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
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
