import { kinds } from '../../../contract';
import { counter, histogram } from './exposition';

const ANSWER = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DATABASE = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const each = (name: string, values: readonly string[]) =>
  values.map((value) => ({ [name]: value }));

/** The metrics that count what happens, each from 0. */
export function ownFamilies() {
  return {
    requests: counter(
      'pwpush_http_requests_total',
      'Requests answered, by method, route and status; 429 and 503 are refusals for now.',
    ),
    durations: histogram(
      'pwpush_http_request_duration_seconds',
      'Time until the answer to a request began, by route.',
      ANSWER,
    ),
    created: counter(
      'pwpush_pushes_created_total',
      'Pushes created, by kind.',
      each('kind', kinds),
    ),
    views: counter(
      'pwpush_views_total',
      'Payloads handed out, by who looked; an owner takes no view.',
      each('by', ['viewer', 'owner']),
    ),
    missed: counter('pwpush_failed_views_total', 'Views that came too late.', [{}]),
    expired: counter(
      'pwpush_pushes_expired_total',
      'Pushes whose secret was destroyed, by reason.',
      each('reason', ['views', 'time', 'deleted']),
    ),
    wrong: counter('pwpush_wrong_passphrases_total', 'Wrong passphrases that were tried.', [{}]),
    fileBytes: counter(
      'pwpush_file_bytes_total',
      'Bytes of files taken in and handed out.',
      each('direction', ['in', 'out']),
    ),
    database: histogram(
      'pwpush_database_duration_seconds',
      'Time that statements and transactions took, waiting included.',
      DATABASE,
    ),
  };
}
