import { type RefusalKind, refusalStatuses, ServiceError, ServiceRefusal } from '../service-errors';
import { type Database, isRead, sqlCode } from './sql';

/** What a call uses. A success ends only the outages of its part, except that a write also ends those of reading. */
type Part = 'writing' | 'reading' | 'disk';

interface Outage {
  readonly part: Part;
  /** Time of the last failure (`performance.now`). */
  failedAt: number;
}

/**
 * Warns when calls begin to fail with a `ServiceRefusal`, which clients get as 503 or 507, and when they succeed again. A
 * refusal without a cause comes from `work`, not from the database.
 */
export function watched(database: Database, warn: (message: string) => void): Database {
  const outages = new Map<RefusalKind, Outage>();
  const refused = (error: unknown, part: Part) => {
    if (!(error instanceof ServiceRefusal) || error.cause === undefined) return;
    const known = outages.get(error.kind);
    if (!known) warn(`${whyOf(error)}; requests get ${refusalStatuses[error.kind]}`);
    outages.set(error.kind, { part: known?.part ?? part, failedAt: performance.now() });
  };
  /** @param began start of the call: a call that began before the last failure ends no outage */
  const worked = (part: Part, began: number) => {
    for (const [kind, outage] of outages) {
      const says = outage.part === part || (outage.part === 'reading' && part === 'writing');
      // The service has the old instance key until it is started again.
      if (!says || began < outage.failedAt || kind === 'rekeyed') continue;
      outages.delete(kind);
      warn(recoveryOf[kind] ?? 'the database is available again');
    }
  };
  const watch = async <T>(part: Part, call: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    try {
      const result = await call();
      worked(part, began);
      return result;
    } catch (error) {
      refused(error, part);
      throw error;
    }
  };
  const partOf = (strings: TemplateStringsArray) =>
    isRead(strings) === false ? 'writing' : 'reading';
  return {
    ...database,
    sql: (strings, ...values) => watch(partOf(strings), () => database.sql(strings, ...values)),
    transaction: (work, options) => watch('writing', () => database.transaction(work, options)),
    exclusively: (work) => watch('writing', () => database.exclusively(work)),
    space: () => watch('disk', () => database.space()),
    setAside: () => watch('disk', () => database.setAside()),
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
