import {
  away,
  type RefusalKind,
  refusalStatuses,
  ServiceError,
  ServiceRefusal,
} from '../service-errors';
import { type Database, sqlCode } from './sql';

/**
 * Warns when calls begin to fail with a `ServiceRefusal`, which clients get as 503 or 507, and when the database works
 * again. A refusal without a cause comes from `work`, not from the database.
 */
export function watched(database: Database, warn: (message: string) => void): Database {
  /** The times of the last failures (`performance.now`). */
  const outages = new Map<RefusalKind, number>();
  const refused = (error: unknown) => {
    if (!(error instanceof ServiceRefusal) || error.cause === undefined) return;
    if (!outages.has(error.kind))
      warn(`${whyOf(error)}; requests get ${refusalStatuses[error.kind]}`);
    outages.set(error.kind, performance.now());
  };
  const check = async () => {
    try {
      const checkedAt = await database.check();
      for (const [kind, failedAt] of outages) {
        // The service has the old instance key until it is started again.
        if (checkedAt < failedAt || kind === 'rekeyed') continue;
        outages.delete(kind);
        warn(recoveryOf[kind] ?? 'the database is available again');
      }
      return checkedAt;
    } catch (error) {
      refused(error instanceof ServiceRefusal ? error : away(error));
      throw error;
    }
  };
  let checking: Promise<unknown> | undefined;
  /** Checks after a call has succeeded during an outage, which proves little: it may have needed no space, or only read. */
  const checkAgain = () => {
    checking ??= check()
      .catch(() => undefined)
      .finally(() => {
        checking = undefined;
      });
  };
  const watch = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      const result = await call();
      if (outages.size > 0) checkAgain();
      return result;
    } catch (error) {
      refused(error);
      throw error;
    }
  };
  return {
    ...database,
    sql: (strings, ...values) => watch(() => database.sql(strings, ...values)),
    transaction: (work, options) => watch(() => database.transaction(work, options)),
    exclusively: (work) => watch(() => database.exclusively(work)),
    space: () => watch(() => database.space()),
    setAside: () => watch(() => database.setAside()),
    check,
    close: async () => {
      await checking;
      await database.close();
    },
  };
}

const recoveryOf: { readonly [kind in RefusalKind]?: string } = {
  busy: 'the database is no longer locked',
  full: 'the database has space again',
};

/** Describes the cause in our own words: of the text of a server or a library, only a code is repeated. */
function whyOf({ kind, cause }: ServiceRefusal): string {
  if (cause instanceof ServiceError) return cause.message;
  const code = sqlCode(cause);
  const because = /^\w+$/.test(code) ? ` (${code})` : '';
  if (kind === 'busy') return `the database is locked${because}`;
  if (kind === 'full') return `the database has no space${because}`;
  return because ? `the database is unavailable${because}` : 'the database does not respond';
}
