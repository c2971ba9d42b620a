import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Kind, kinds } from '../../contract/api';
import { HOST } from '../../contract/serve-settings';
import { raceWithLimit } from '../../platform/files/abort';
import { commonHeaders } from '../common-headers';
import { hostProblems } from '../hosts';
import type { ServiceSettings, Usage } from '../service-settings';
import type { Counts } from '../store/push-rows';
import { listen } from './listen';
import type { Log } from './log';

/** Receives what happens to pushes: metrics count it, and `push --here` reports it. */
export interface PushEvents {
  created(kind: Kind): void;
  /** A page asked for the passphrase, or to press a button, before a view is used; `ip` is null when it is unknown. */
  opened(ip: string | null): void;
  viewed(by: 'viewer' | 'owner', ip: string | null): void;
  /** Somebody tried to view an expired push, or a push without its key. */
  missed(): void;
  /** `ip` is null when no client caused it. */
  expired(reason: (typeof reasons)[number], pushes: number, ip: string | null): void;
  wrongPassphrase(ip: string | null): void;
  requestChanged(event: RequestEvent, requests?: number): void;
  exchanged(outcome: ExchangeOutcome): void;
  /** Counts bytes of files before the service encrypts them. */
  fileBytes(direction: 'in' | 'out', bytes: number): void;
}

const reasons = ['views', 'time', 'deleted'] as const;

/** `read`: the owner retrieved the answer. The owner causes `closed`, and time causes `expired`. */
const requestEvents = ['created', 'answered', 'read', 'closed', 'expired'] as const;
type RequestEvent = (typeof requestEvents)[number];

/** What comes of an identity token: a token of ours, or what is wrong with it first. */
const exchangeOutcomes = [
  'granted',
  'unsupported',
  'malformed',
  'issuer',
  'audience',
  'time',
  'signature',
  'claims',
  'unavailable',
] as const;
export type ExchangeOutcome = (typeof exchangeOutcomes)[number];

/** Counts what the service does, from 0 at each start. All label values come from the program, never from a request. */
interface Metrics extends PushEvents, Pick<Log, 'request' | 'failure'> {
  /** Returns the metrics, with `state` as it is now, in the text exposition format 0.0.4. */
  render(state: ServiceState): Promise<string>;
}

/** The state is read at each scrape instead of being counted. */
interface ServiceState {
  readonly version: string;
  readonly databaseUp: boolean;
  /** Undefined while the database is down, and before the first count. */
  readonly active: Counts | undefined;
  readonly usage: Usage | undefined;
}

/** Other methods are counted as `other`, so that clients cannot create time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Returns functions that increase counters. Each counter starts at 0 for the values that its label can have. */
function countersIn(registers: Registry[]) {
  const row = (name: string, help: string, label = '', values: readonly string[] = []) => {
    const counter = new Counter({ name, help, labelNames: label ? [label] : [], registers });
    const count = (value = '', amount = 1) => counter.inc(label ? { [label]: value } : {}, amount);
    for (const value of values) count(value, 0);
    return count;
  };
  const views =
    'Secrets retrieved, by viewer or owner; a retrieval by the owner does not count as a view.';
  const requests =
    'Requests created, answered, read by their owner, closed by their owner, and expired.';
  const exchanges = 'Exchanges of identity tokens, by outcome.';
  const bytes = 'Bytes of files stored (in) and downloaded (out).';
  return {
    failure: row('pwpush_errors_total', 'Internal errors, as logged.'),
    created: row('pwpush_pushes_created_total', 'Pushes created, by kind.', 'kind', kinds),
    expired: row('pwpush_pushes_expired_total', 'Pushes expired, by reason.', 'reason', reasons),
    viewed: row('pwpush_views_total', views, 'by', ['viewer', 'owner']),
    missed: row('pwpush_failed_views_total', 'Views of expired pushes, or without their key.'),
    wrongPassphrase: row('pwpush_wrong_passphrases_total', 'Wrong passphrases.'),
    requestChanged: row('pwpush_requests_total', requests, 'event', requestEvents),
    exchanged: row('pwpush_token_exchanges_total', exchanges, 'outcome', exchangeOutcomes),
    fileBytes: row('pwpush_file_bytes_total', bytes, 'direction', ['in', 'out']),
  };
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'pwpush_http_requests_total',
    help: 'HTTP requests by method, route and status; 429, 503 and 507 were refused temporarily.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'pwpush_http_request_duration_seconds',
    help: 'Time from a request to the start of its response, by route.',
    labelNames: ['route'],
    registers,
  });
  const counters = countersIn(registers);
  return {
    ...counters,
    request({ method, route, status, tookMs }) {
      requests.inc({ method: METHODS.has(method) ? method : 'other', route, status });
      // `tookMs` is negative when the clock was set back.
      durations.observe({ route }, Math.max(0, tookMs) / 1000);
    },
    failure: () => counters.failure(),
    opened: () => {},
    viewed: (by) => counters.viewed(by),
    wrongPassphrase: () => counters.wrongPassphrase(),
    render: async (state) => (await registry.metrics()) + (await stateOf(state).metrics()),
  };
}

/** Makes the metrics of the known state. All libraries of Prometheus use the same names that start with `process_`. */
function stateOf({ version, databaseUp, active, usage }: ServiceState): Registry {
  const registry = new Registry();
  const registers = [registry];
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
  return registry;
}

/** Active pushes and requests are counted no more often: with a million, a count takes a while. */
const COUNT_EVERY_MS = 60_000;

/** Milliseconds that a scrape waits for the count of active pushes and requests. */
const COUNT_WAIT_MS = 2000;

interface Probes {
  readonly version: string;
  /** Resolves soon, even when the database hangs. */
  readonly isUp: () => Promise<boolean>;
  readonly countActive: () => Promise<Counts>;
  readonly usage?: (() => Usage) | undefined;
}

/** Returns a function that renders the current metrics; it never waits long for the database. */
export function scraper(
  metrics: Metrics,
  { version, isUp, countActive, usage }: Probes,
): () => Promise<string> {
  let active: Counts | undefined;
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
 * Serves the text of `scrape` at `/metrics`, and nothing else. Port 0 takes a free one; undefined without a port.
 * @param anyHost whether requests may name any host, even if the server listens on loopback
 * @throws ServiceError when the server cannot listen
 */
export async function serveMetrics(
  { metricsHost: host = HOST, metricsPort: port }: ServiceSettings,
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

/** Returns a function that tells whether `ping` resolves within `limit` milliseconds. Calls share a running ping. */
export function health(ping: () => Promise<unknown>, limit = 2000): () => Promise<boolean> {
  let pending: Promise<boolean> | undefined;
  return () => {
    pending ??= ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        pending = undefined;
      });
    return raceWithLimit(pending, { milliseconds: limit }, () => false);
  };
}
