import { timingSafeEqual } from 'node:crypto';
import { abandoned, Refusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import { endFiles } from '../store/file-rows';
import type { PushRow } from '../store/push-rows';
import * as store from '../store/push-rows';
import { limitBytes, type Sql } from '../store/sql';
import { claimView, DAY, isOwn, mayExpire, stateAt, type Visitor, viewsRemaining } from './access';
import type { OfferedFile, Upload } from './files';
import { type ValidPush, validatePush } from './new-push';
import type { Owner } from './owners';
import { newUrlToken, type PushWithNote, pageOf, Records } from './records';

export interface RetrievedPush {
  readonly push: PushRow;
  /** null if the push has expired. */
  readonly payload: string | null;
  readonly files: readonly OfferedFile[];
}

/** Pushes, and bytes of their payloads, that a sweep ends in one transaction, while others wait. */
const BATCH = 50;
const BATCH_BYTES = 1024 * 1024;

/** What a sweep ended; an answer ends with its request. */
interface Ended {
  pushes: number;
  requests: number;
}

function add(sum: Ended, { pushes, requests }: Ended): void {
  sum.pushes += pushes;
  sum.requests += requests;
}

/** The rules of pushes: permissions, views, expiry. Knows no HTTP and no SQL. */
export class Pushes extends Records {
  protected readonly what = 'push';
  private halted = false;

  /**
   * Validates and stores a new push with its files.
   * @throws Refusal with messages by field
   */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    // In a call of its own, so that the input can be freed while the passphrase waits to be hashed.
    return this.store(validatePush(input, this.options.bounds, upload?.fileCount), visitor, upload);
  }

  private async store(
    creation: ValidPush,
    visitor: Visitor,
    upload?: Upload,
  ): Promise<PushWithNote> {
    await this.options.space.check();
    const { payload, note, passphrase, lifetime, ...rest } = creation;
    const { urlToken, key } = upload ?? { urlToken: newUrlToken() };
    const { database, vault, events } = this.options;
    const push = await vault.keys.withKeys(async () => {
      const now = this.options.now();
      const row = {
        ...rest,
        owner_id: visitor.owner?.id ?? null,
        deletable_by_viewer: Number(rest.deletable_by_viewer),
        retrieval_step: Number(rest.retrieval_step),
        protected: Number(passphrase !== ''),
        created_at: now,
        expires_at: now + lifetime * 1000,
      };
      const sealed = await this.seal(
        row,
        { key, payload, note, passphrase, waiter: visitor },
        urlToken,
      );
      const inserted = await database.transaction(async (sql) => {
        // The client will never receive the link, nor expire the push.
        if (visitor.signal?.aborted) throw abandoned();
        return this.insert(sql, sealed, visitor, upload);
      });
      return { ...inserted, url_token: urlToken };
    });
    events.created(creation.kind);
    return { push, note };
  }

  /** What lets the creator of an anonymous push read its audit log and expire it. */
  managementToken(urlToken: string): string {
    return this.options.vault.keys.links.managementToken(urlToken);
  }

  /** Whether that is the management token of the push, in constant time. */
  isManagedBy(token: string, urlToken: string): boolean {
    const [expected, given] = [this.managementToken(urlToken), token].map((text) =>
      Buffer.from(text),
    ) as [Buffer, Buffer];
    return expected.length === given.length && timingSafeEqual(expected, given);
  }

  protected record({ url_token }: PushRow, visitor: Visitor): Promise<unknown> {
    return this.retrieve(url_token, visitor, '');
  }

  /**
   * Takes a view, unless the visitor is the owner, and returns the payload and the links to the files. The last view
   * deletes the secret at once, and the files when the links expire. An expired push is returned without either.
   * @param reserve receives the bytes of memory that the payload takes; when it throws, no view is used
   * @throws Refusal when there is no push, or for the passphrase
   */
  async retrieve(
    urlToken: string,
    visitor: Visitor,
    passphrase: string,
    reserve: (bytes: number) => void = () => {},
  ): Promise<RetrievedPush> {
    const push = await this.find(urlToken);
    const { database, vault, events, maxFailures } = this.options;
    const { key, claimed, secret, files, ended } = await vault.keys.withKeys(async () => {
      const unlocked = await this.passphrases.keyOf(push, visitor, passphrase);
      return database.transaction(
        async (sql) => {
          if (visitor.signal?.aborted) throw abandoned();
          const claim = await claimView(sql, {
            push,
            visitor,
            now: this.options.now(),
            maxFailures,
          });
          // A secret that cannot be opened, for lack of a key or because the row was changed, takes no view.
          const key = claim.secret && vault.openKey(claim.claimed, claim.secret, unlocked);
          // Twice: a page of kind url contains it twice.
          if (claim.secret?.payload) reserve(2 * claim.secret.payload.length);
          return { ...claim, key };
        },
        { frees: push.expired_at !== null || viewsRemaining(push) <= 1 },
      );
    });
    if (ended) events.expired(secret ? 'views' : 'time', 1, visitor.ip);
    if (secret) events.viewed(isOwn(push, visitor) ? 'owner' : 'viewer', visitor.ip);
    else events.missed();
    if (ended) await this.ended(push);
    if (!secret || !key)
      return { push: stateAt(claimed, this.options.now()), payload: null, files: [] };
    return {
      push: claimed,
      payload: vault.openPayload(urlToken, secret, key),
      files: this.options.files.offer(urlToken, key, files),
    };
  }

  /**
   * Expires a push and destroys its secret; an expired push stays as it is.
   * @throws Refusal when there is no push, or the visitor may not expire it
   */
  async expire(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const push = await this.find(urlToken);
    if (push.expired_at !== null) await this.endIfDue(push, visitor);
    if (!mayExpire(push, visitor)) {
      throw new Refusal('forbidden', 'That push is not deletable by viewers.');
    }
    if (push.expired_at !== null) {
      // The files whose links are still valid after the last view.
      const end = (sql: Sql) => endFiles(sql, push.id);
      if (await this.options.database.transaction(end, { frees: true })) await this.ended(push);
      return push;
    }
    const ended = await this.options.database.transaction(
      async (sql) => {
        const now = this.options.now();
        const row = await store.endPush(sql, push.id, now, 1);
        if (row)
          await audit.recordEvent(sql, { pushId: push.id, kind: 'expire', from: visitor, at: now });
        return row;
      },
      { frees: true },
    );
    if (ended) this.options.events.expired('deleted', 1, visitor.ip);
    await this.ended(push);
    return ended ? { ...ended, url_token: urlToken } : this.find(urlToken);
  }

  /** The owner's active pushes with their notes, newest first. */
  async listActive(owner: Owner, page: number): Promise<PushWithNote[]> {
    return this.options.vault.keys.withKeys(async () => {
      const rows = await store.listActive(
        this.options.database.sql,
        owner.id,
        this.options.now(),
        pageOf(page),
      );
      return this.listed(rows, ({ key_id, note_key, note, ...push }) => ({
        push,
        note: this.options.vault.openNote(push, { key_id, note_key, note }),
      }));
    });
  }

  /** The owner's expired pushes, newest first, without notes, which have been deleted. */
  async listExpired(owner: Owner, page: number): Promise<PushWithNote[]> {
    return this.options.vault.keys.withKeys(async () => {
      const now = this.options.now();
      const rows = await store.listExpired(this.options.database.sql, owner.id, now, pageOf(page));
      return this.listed(rows, (push) => ({ push: stateAt(push, now), note: '' }));
    });
  }

  /** The numbers of active pushes and requests, read from an index: 30 ms for a million. */
  countActive(): Promise<store.ActiveCounts> {
    return store.countActive(this.options.database.sql, this.options.now());
  }

  /**
   * Destroys the secrets of overdue pushes and requests, deletes other expired data, and looks for new instance keys.
   * Returns the number of pushes and requests that it ended. Failures are reported and left to the next sweep.
   */
  async sweep(): Promise<number> {
    const { database, files, vault, keepDays, report } = this.options;
    const now = this.options.now();
    const { pushes, requests } = await this.endDue(now);
    this.options.events.expired('time', pushes, null);
    this.options.events.requestChanged('expired', requests);
    const steps = [
      () => database.scrub(),
      () => database.setAside(),
      () => vault.keys.refresh(),
      () => files.abandonStale(),
      () => audit.deleteTriesBefore(database.sql, now - 60_000),
      () => audit.deleteTriesAfter(database.sql, now + 60_000),
      () => this.dropEndedBefore(now - keepDays * DAY),
    ];
    // Each step runs even if another one fails.
    for (const step of steps) await step().catch(report);
    void files.drop();
    return pushes + requests;
  }

  /** Makes sweeps and deletions of files end soon; the next start continues them. */
  halt(): void {
    this.halted = true;
    this.options.files.halt();
  }

  private async endDue(now: number): Promise<Ended> {
    const ended = { pushes: 0, requests: 0 };
    let after = { id: 0, expires_at: -1 };
    for (let more = true; more && !this.halted; ) {
      const due = await store.listDue(this.options.database.sql, now, after, BATCH);
      const batch = limitBytes(due, BATCH_BYTES);
      add(ended, await this.endBatch(batch));
      after = batch.at(-1) ?? after;
      more = batch.length < due.length || due.length === BATCH;
    }
    return ended;
  }

  /** Ends the pushes in one transaction, or each in its own if that fails. */
  private async endBatch(batch: readonly store.DuePush[]): Promise<Ended> {
    const ended = { pushes: 0, requests: 0 };
    if (batch.length === 0) return ended;
    const end = async (sql: Sql) => {
      const ended = { pushes: 0, requests: 0 };
      for (const { id, expires_at, kind } of batch) {
        if (!(await store.endPush(sql, id, expires_at, 0))) continue;
        if (kind === 'request') ended.requests += 1;
        else if (kind !== 'answer') ended.pushes += 1;
      }
      return ended;
    };
    try {
      return await this.options.database.transaction(end, { frees: true });
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'away') throw error;
      if (batch.length === 1) this.options.report(error);
      if (batch.length > 1) for (const push of batch) add(ended, await this.endBatch([push]));
      return ended;
    }
  }

  /** Deletes pushes that ended before that time, with their audit logs. */
  private async dropEndedBefore(before: number): Promise<void> {
    const { database } = this.options;
    for (let more = true; more && !this.halted; ) {
      const ids = await store.listEndedBefore(database.sql, before, BATCH);
      await database.transaction(
        async (sql) => {
          let entries = 0;
          for (const id of ids) if (entries < 1000) entries += await store.dropPush(sql, id);
        },
        { frees: true },
      );
      more = ids.length > 0;
    }
  }

  /** Destroys the secret of an overdue push that no sweep has ended yet. */
  private async endIfDue(push: PushRow, { ip }: Visitor): Promise<void> {
    const { id, expires_at } = push;
    const end = (sql: Sql) => store.endPush(sql, id, expires_at, 0);
    if (!(await this.options.database.transaction(end, { frees: true }))) return;
    this.options.events.expired('time', 1, ip);
    await this.ended(push);
  }
}
