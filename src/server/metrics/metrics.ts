import { kinds } from '../../api/contract';
import type { Log } from '../log';
import type { Database, Sql } from '../store/sql';
import type { Tally } from '../tally';
import { counter, exposition, type Family, histogram } from './exposition';

/** Counts what the service does. Labels come from the program alone: nobody outside can add to their values. */
export interface Metrics extends Tally {
  /** The same log, each request of which is counted, too. */
  counting(log: Log): Log;
  /** The same database, each statement and transaction of which is timed. */
  timing(database: Database): Database;
  /** All that was counted, and these, as text. */
  render(more: readonly Family[]): string;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ANSWER = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DATABASE = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const each = <Name extends string>(name: Name, values: readonly string[]) =>
  values.map((value) => ({ [name]: value }));

export function createMetrics(): Metrics {
  const requests = counter(
    'pwpush_http_requests_total',
    'Requests answered, by method, route and status; 429 and 503 are refusals for now.',
  );
  const durations = histogram(
    'pwpush_http_request_duration_seconds',
    'Time until the answer to a request began, by route.',
    ANSWER,
  );
  const created = counter(
    'pwpush_pushes_created_total',
    'Pushes created, by kind.',
    each('kind', kinds),
  );
  const views = counter(
    'pwpush_views_total',
    'Payloads handed out, by who looked; an owner takes no view.',
    each('by', ['viewer', 'owner']),
  );
  const missed = counter('pwpush_failed_views_total', 'Views that came too late.', [{}]);
  const expired = counter(
    'pwpush_pushes_expired_total',
    'Pushes whose secret was destroyed, by reason.',
    each('reason', ['views', 'time', 'deleted']),
  );
  const wrong = counter('pwpush_wrong_passphrases_total', 'Wrong passphrases that were tried.', [
    {},
  ]);
  const fileBytes = counter(
    'pwpush_file_bytes_total',
    'Bytes of files taken in and handed out.',
    each('direction', ['in', 'out']),
  );
  const database = histogram(
    'pwpush_database_duration_seconds',
    'Time that statements and transactions took, waiting included.',
    DATABASE,
  );
  const families = [
    ...[requests, durations, created, views, missed, expired, wrong, fileBytes, database],
  ];
  return {
    created: (kind) => created.add({ kind }),
    viewed: (by) => views.add({ by }),
    missed: () => missed.add(),
    expired: (reason, pushes) => expired.add({ reason }, pushes),
    wrongPassphrase: () => wrong.add(),
    fileBytes: (direction, bytes) => fileBytes.add({ direction }, bytes),
    timing: (timed) => {
      const observed = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
        const began = performance.now();
        try {
          return await work();
        } finally {
          database.observe((performance.now() - began) / 1000, { operation });
        }
      };
      const sql: Sql = (strings, ...values) =>
        observed('statement', () => timed.sql(strings, ...values));
      const transaction: Database['transaction'] = (work, how) =>
        observed('transaction', () => timed.transaction(work, how));
      const exclusively: Database['exclusively'] = (work) =>
        observed('transaction', () => timed.exclusively(work));
      return { ...timed, sql, transaction, exclusively };
    },
    counting: (log) => ({
      ...log,
      request(entry) {
        const { route, status, took } = entry;
        const method = METHODS.has(entry.method) ? entry.method : 'other';
        requests.add({ method, route, status: `${status}` });
        // The clock may be set back.
        durations.observe(Math.max(0, took) / 1000, { route });
        log.request(entry);
      },
    }),
    render: (more) => exposition([...families, ...more]),
  };
}
