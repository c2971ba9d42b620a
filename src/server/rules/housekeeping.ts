import { DAY_MS } from '../../contract/lifetime';
import type { Log } from '../ops/log';
import { deleteEnded } from '../owners/owner-rows';
import { ServiceRefusal } from '../service-errors';
import { deleteTries } from '../store/audit-rows';
import { deleteMade, forgetOver, forgetSpent, LONGEST, listSpent } from '../store/kept-rows';
import * as store from '../store/push-rows';
import { limitBytes, type Sql } from '../store/sql';
import type { RuleOptions } from './access';
import type { Files } from './files';

const SWEEP_EVERY = 60_000;

/** The most rows, and bytes of their payloads, that a sweep ends in one transaction: other writers wait for it. */
const BATCH = 50;
const BATCH_BYTES = 1024 * 1024;

/** The most kept views (`KeyedView`) that a sweep destroys in one transaction. */
const VIEWS = 500;

/** Ends rows whose time is over and deletes old data, without waiting for a visitor. */
export class Housekeeping {
  private halted = false;

  constructor(
    private readonly options: RuleOptions & {
      readonly files: Files;
      readonly setClock: () => Promise<boolean>;
    },
  ) {}

  /**
   * Destroys the secrets of overdue pushes and requests, and deletes other expired data. Returns the number of pushes
   * and requests that it ended. The next sweep tries again what failed. While the clock is wrong, a sweep does nothing.
   */
  async sweep(): Promise<number> {
    const { database, files, space, keepDays, report } = this.options;
    if (!(await this.options.setClock())) return 0;
    const now = this.options.now();
    const { pushes, requests } = await this.endDue(now);
    this.options.events.expired('time', pushes, null);
    this.options.events.requestChanged('expired', requests);
    const steps = [
      () => database.scrub(),
      () => database.setAside(),
      () => space.look(),
      () => files.abandonStale(),
      () => deleteTries(database.sql, now - 60_000, now + 60_000),
      () => deleteMade(database.sql, now),
      () => deleteEnded(database.sql, now),
      () => this.forgetViews(now),
      () => this.dropSpent(),
      // A push stays while its creation can be repeated.
      () => this.dropEndedBefore(now - Math.max(keepDays * DAY_MS, LONGEST)),
    ];
    // Each step runs even if another one fails.
    for (const step of steps) await step().catch(report);
    files.drop();
    return pushes + requests;
  }

  /** Stops sweeps and deletions of files after the current batch; the next start continues them. */
  halt(): void {
    this.halted = true;
    this.options.files.halt();
  }

  private async endDue(now: number): Promise<store.Counts> {
    const ended = { pushes: 0, requests: 0 };
    let after = { id: 0, expires_at: -1 };
    for (let more = true; more && !this.halted; ) {
      const due = await store.listDue(this.options.database.sql, now, after, BATCH);
      const batch = limitBytes(due, BATCH_BYTES);
      if (batch.length > 0) await this.endBatch(batch, ended);
      after = batch.at(-1) ?? after;
      more = batch.length < due.length || due.length === BATCH;
    }
    return ended;
  }

  /**
   * Ends rows in one transaction, or each in its own if that fails, and counts them. Answers are not counted, as each
   * ends with its request.
   */
  private async endBatch(batch: readonly store.DuePush[], ended: store.Counts): Promise<void> {
    const end = async (sql: Sql) => {
      // Concurrent, as PostgreSQL then needs two round trips for all. `allSettled`, as no statement may run after the
      // rollback that follows a failure.
      const outcomes = await Promise.allSettled(
        batch.map(
          async ({ id, expires_at, kind }) => (await store.endPush(sql, id, expires_at, 0)) && kind,
        ),
      );
      return outcomes.map((outcome) => {
        if (outcome.status === 'rejected') throw outcome.reason;
        return outcome.value;
      });
    };
    try {
      for (const kind of await this.options.database.transaction(end, { frees: true })) {
        if (kind === 'request') ended.requests += 1;
        else if (kind && kind !== 'answer') ended.pushes += 1;
      }
    } catch (error) {
      if (error instanceof ServiceRefusal && error.kind === 'away') throw error;
      if (batch.length === 1) this.options.report(error);
      else for (const push of batch) await this.endBatch([push], ended);
    }
  }

  /** Repeats a step, each time in a transaction of its own, until it returns false. */
  private async repeat(step: (sql: Sql) => Promise<boolean>): Promise<void> {
    for (let more = true; more && !this.halted; )
      more = await this.options.database.transaction(step, { frees: true });
  }

  private forgetViews(now: number): Promise<void> {
    return this.repeat(async (sql) => (await forgetOver(sql, now, VIEWS)) === VIEWS);
  }

  /** Deletes the sealed texts of last views that no kept view opens any more. */
  private async dropSpent(): Promise<void> {
    const { database } = this.options;
    let after = 0;
    for (let more = true; more && !this.halted; ) {
      const texts = await listSpent(database.sql, after, BATCH);
      const batch = limitBytes(texts, BATCH_BYTES);
      await database.transaction(
        async (sql) => {
          for (const { id } of batch) await forgetSpent(sql, id);
        },
        { frees: true },
      );
      after = batch.at(-1)?.id ?? after;
      more = batch.length > 0;
    }
    if (after > 0) await database.scrub();
  }

  /** Deletes pushes that ended before that time, with their audit logs. */
  private dropEndedBefore(before: number): Promise<void> {
    return this.repeat(async (sql) => {
      const ids = await store.listEndedBefore(sql, before, BATCH);
      let entries = 0;
      for (const id of ids) if (entries < 1000) entries += await store.dropPush(sql, id);
      return ids.length > 0;
    });
  }
}

/** Sweeps now and every minute. Returns a function that stops the sweeps and resolves after the current one. */
export function sweepRegularly(housekeeping: Housekeeping, log: Log): () => Promise<void> {
  const sweep = async () => {
    try {
      const expired = await housekeeping.sweep();
      if (expired > 0) log.event('sweep', { expired });
    } catch (error) {
      log.failure(error);
    }
  };
  let last = sweep();
  const timer = setInterval(() => {
    last = sweep();
  }, SWEEP_EVERY);
  timer.unref();
  return async () => {
    clearInterval(timer);
    housekeeping.halt();
    await last;
  };
}
