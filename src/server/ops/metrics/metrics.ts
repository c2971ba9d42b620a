import type { PushEvents } from '../../push-events';
import type { Database } from '../../store/sql';
import type { Log, RequestEntry } from '../log';
import { exposition, type Family } from './exposition';
import { ownFamilies } from './families';
import { timed } from './timing';

/** Counts what the service does. Labels come from the program alone: nobody outside can add to their values. */
export interface Metrics extends PushEvents {
  /** The same log, each request of which is counted, too. */
  counting(log: Log): Log;
  /** The same database, each statement and transaction of which is timed. */
  timing(database: Database): Database;
  /** All that was counted, and these, as text. */
  render(more: readonly Family[]): string;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createMetrics(): Metrics {
  const own = ownFamilies();
  const count = ({ method, route, status, took }: RequestEntry) => {
    const label = METHODS.has(method) ? method : 'other';
    own.requests.add({ method: label, route, status: `${status}` });
    // The clock may be set back.
    own.durations.observe(Math.max(0, took) / 1000, { route });
  };
  return {
    opened: () => {},
    created: (kind) => own.created.add({ kind }),
    viewed: (by) => own.views.add({ by }),
    missed: () => own.missed.add(),
    expired: (reason, pushes) => own.expired.add({ reason }, pushes),
    wrongPassphrase: () => own.wrong.add(),
    fileBytes: (direction, bytes) => own.fileBytes.add({ direction }, bytes),
    counting: (log) => ({
      ...log,
      request(entry) {
        count(entry);
        log.request(entry);
      },
    }),
    timing: (database) => timed(database, own.database),
    render: (more) => exposition([...Object.values(own), ...more]),
  };
}
