import { randomBytes } from 'node:crypto';
import { limits } from '../../contract';
import { UnknownKey } from '../keys/aead';
import type { Vault } from '../keys/vault';
import type { PushEvents } from '../push-events';
import { abandoned, notFound, Refusal } from '../refusal';
import type { Bounds } from '../service-settings';
import * as audit from '../store/audit-rows';
import { upTo } from '../store/batch';
import { endFiles } from '../store/file-rows';
import type { PushRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Database, Sql } from '../store/sql';
import { claimView } from './claim';
import { DeferredWork } from './deferred';
import type { Upload } from './file-upload';
import type { Files, OfferedFile } from './files';
import { type NewPush, validatePush } from './new-push';
import type { Owner } from './owners';
import { PassphraseCheck } from './passphrase-check';
import { DAY, isOwn, mayExpire, stateAt, type Visitor, viewsRemaining } from './push-state';
import type { Space } from './space';

export interface RetrievedPush {
  readonly push: PushRow;
  /** null when the push has expired. */
  readonly payload: string | null;
  readonly files: readonly OfferedFile[];
}

export interface PushWithNote {
  readonly push: PushRow;
  readonly note: string;
}

/** What a sweep ends or deletes in one transaction, for which others wait: pushes, and bytes of their payloads. */
const BATCH = 50;
const BATCH_BYTES = 1024 * 1024;

export interface PushesOptions {
  readonly database: Database;
  readonly vault: Vault;
  readonly files: Files;
  readonly space: Space;
  readonly bounds: Bounds;
  /** Days that a push that has ended is kept with its log. */
  readonly keepDays: number;
  /** Failures that the log of a push has entries of their own for. */
  readonly maxFailures: number;
  readonly clock: () => Date;
  readonly events: PushEvents;
  /** Told of what could not be done, and of rows that were changed. */
  readonly report: (error: unknown) => void;
}

/** The rules of pushes: who may do what, what a view costs, when a secret goes. Knows no HTTP and no SQL. */
export class Pushes {
  private readonly deferred = new DeferredWork();
  private readonly database: Database;
  private readonly vault: Vault;
  private readonly files: Files;
  private readonly events: PushEvents;
  private readonly passphrases: PassphraseCheck;
  private halted = false;

  constructor(private readonly options: PushesOptions) {
    const { database, vault, files, events } = options;
    this.database = database;
    this.vault = vault;
    this.files = files;
    this.events = events;
    const { maxFailures } = options;
    const now = () => this.now();
    this.passphrases = new PassphraseCheck({ database, vault, events, maxFailures, now });
  }

  /** Begins to take in the files of a push that `create` gets later; discard it in any case. */
  upload(): Upload {
    return this.files.upload(newUrlToken());
  }

  /** Checks and keeps a new push with its files; throws a `Refusal` with messages by field. */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    // Apart, so that nothing holds the input while the passphrase waits.
    return this.keep(validatePush(input, this.options.bounds, upload?.fileCount), visitor, upload);
  }

  private async keep(creation: NewPush, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    await this.options.space.check();
    const { payload, note, passphrase, ...rest } = creation;
    const { urlToken: url_token, key } = upload ?? { urlToken: newUrlToken() };
    const { vault } = this;
    const push = await vault.keys.withKeys(async () => {
      const now = this.now();
      const row = {
        ...rest,
        owner_id: visitor.owner?.id ?? null,
        deletable_by_viewer: Number(rest.deletable_by_viewer),
        retrieval_step: Number(rest.retrieval_step),
        protected: Number(passphrase !== ''),
        created_at: now,
        expires_at: now + rest.expire_after_days * DAY,
      };
      const terms = { ...row, url_token };
      const secret = await vault.seal({
        push: terms,
        key,
        payload,
        note,
        passphrase,
        waiter: visitor,
      });
      const token = vault.keys.links.store(url_token);
      return { ...(await this.insert({ ...row, ...token }, secret, visitor, upload)), url_token };
    });
    this.events.created(push.kind);
    return { push, note };
  }

  /** The push as it is, without its secret; takes no view. */
  async find(urlToken: string): Promise<PushRow> {
    const row = await store.findPush(this.database.sql, this.vault.keys.links.lookup(urlToken));
    if (!row) throw notFound();
    return stateAt({ ...row, url_token: urlToken }, this.now());
  }

  /** Notes a look at a push that has expired, a moment later: the answer must not take longer than for one that never was. */
  missed({ url_token }: PushRow, visitor: Visitor): void {
    this.deferred.add(() => this.retrieve(url_token, { ...visitor, signal: undefined }, ''));
  }

  /** Resolves when what was to be noted is noted, and what was to be deleted is deleted. */
  async finish(): Promise<void> {
    await this.deferred.finish();
    await this.files.settled();
  }

  /**
   * Takes a view, unless the owner looks, and answers the payload and where the files are; after the last view the
   * secret is gone, and the files when the links have run out. A push that has expired is answered without either.
   * `hold` is told how many bytes the payload takes in memory; when it throws, no view is taken. Throws a `Refusal`
   * for the passphrase.
   */
  async retrieve(
    urlToken: string,
    visitor: Visitor,
    passphrase: string,
    reserve: (bytes: number) => void = () => {},
  ): Promise<RetrievedPush> {
    const push = await this.find(urlToken);
    const { database, vault, events, passphrases } = this;
    const { maxFailures } = this.options;
    const { key, claimed, secret, files, ended } = await vault.keys.withKeys(async () => {
      const unlocked = await passphrases.keyOf(push, visitor, passphrase);
      return database.transaction(
        async (sql) => {
          if (visitor.signal?.aborted) throw abandoned();
          const claim = await claimView(sql, { push, visitor, now: this.now(), maxFailures });
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
    if (!secret || !key) return { push: stateAt(claimed, this.now()), payload: null, files: [] };
    return {
      push: claimed,
      payload: vault.openPayload(urlToken, secret, key),
      files: this.files.offer(urlToken, key, files),
    };
  }

  /** Ends a push and destroys its secret; one that has ended stays as it is. */
  async expire(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const push = await this.find(urlToken);
    if (push.expired_at !== null) await this.endIfDue(push, visitor);
    if (!mayExpire(push, visitor)) {
      throw new Refusal('forbidden', 'That push is not deletable by viewers.');
    }
    if (push.expired_at !== null) {
      // What the last view left behind; anything else has gone.
      const end = (sql: Sql) => endFiles(sql, push.id);
      if (await this.database.transaction(end, { frees: true })) await this.ended(push);
      return push;
    }
    const ended = await this.database.transaction(
      async (sql) => {
        const now = this.now();
        const row = await store.endPush(sql, push.id, now, 1);
        if (row) await audit.recordEvent(sql, push.id, 'expire', visitor, now);
        return row;
      },
      { frees: true },
    );
    if (ended) this.events.expired('deleted', 1, visitor.ip);
    await this.ended(push);
    return ended ? { ...ended, url_token: urlToken } : this.find(urlToken);
  }

  /** An owner's active pushes with their notes, newest first. */
  async listActive(owner: Owner, page: number): Promise<PushWithNote[]> {
    return this.vault.keys.withKeys(async () => {
      const rows = await store.listActive(this.database.sql, owner.id, this.now(), pageOf(page));
      return this.listed(rows, ({ key_id, note_key, note, ...push }) => ({
        push,
        note: this.vault.openNote(push, { key_id, note_key, note }),
      }));
    });
  }

  /** An owner's expired pushes, newest first; their notes are gone. */
  async listExpired(owner: Owner, page: number): Promise<PushWithNote[]> {
    return this.vault.keys.withKeys(async () => {
      const now = this.now();
      const rows = await store.listExpired(this.database.sql, owner.id, now, pageOf(page));
      return this.listed(rows, (push) => ({ push: stateAt(push, now), note: '' }));
    });
  }

  /** What happened to an owner's push, oldest first. */
  async audit(urlToken: string, owner: Owner, page: number): Promise<audit.AuditRow[]> {
    const push = await this.find(urlToken);
    if (push.owner_id !== owner.id) throw new Refusal('forbidden', 'That push is not yours.');
    return audit.listEvents(this.database.sql, push.id, pageOf(page));
  }

  /** How many pushes are active; reads an index, 30 ms for a million. */
  countActive(): Promise<number> {
    return store.countActive(this.database.sql, this.now());
  }

  /**
   * Destroys the secrets of pushes whose time has passed, has the rest of what is over deleted, and answers how many
   * pushes it ended. What fails is reported and left for the next time. Hears of new instance keys.
   */
  async sweep(): Promise<number> {
    const { database, files, vault } = this;
    const now = this.now();
    const ended = await this.endDue(now);
    this.events.expired('time', ended, null);
    const steps = [
      () => database.scrub(),
      () => database.setAside(),
      () => vault.keys.refresh(),
      () => files.abandonStale(),
      () => audit.deleteTriesBefore(database.sql, now - 60_000),
      () => audit.deleteTriesAfter(database.sql, now + 60_000),
      () => this.dropKept(now - this.options.keepDays * DAY),
    ];
    // What one of them fails at keeps no other from being done.
    for (const step of steps) await step().catch(this.options.report);
    void files.drop();
    return ended;
  }

  /** Has sweeps and deletions of files end soon: the next start goes on with them. */
  halt(): void {
    this.halted = true;
    this.files.halt();
  }

  private async endDue(now: number): Promise<number> {
    let ended = 0;
    let after = { id: 0, expires_at: -1 };
    for (let more = true; more && !this.halted; ) {
      const due = await store.listDue(this.database.sql, now, after, BATCH);
      const batch = upTo(BATCH_BYTES, due);
      ended += await this.endBatch(batch);
      after = batch.at(-1) ?? after;
      more = batch.length < due.length || due.length === BATCH;
    }
    return ended;
  }

  /** One by one where together they fail. */
  private async endBatch(batch: readonly store.DuePush[]): Promise<number> {
    if (batch.length === 0) return 0;
    const end = async (sql: Sql) => {
      let ended = 0;
      for (const { id, expires_at } of batch) {
        if (await store.endPush(sql, id, expires_at, 0)) ended += 1;
      }
      return ended;
    };
    try {
      return await this.database.transaction(end, { frees: true });
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'away') throw error;
      if (batch.length === 1) this.options.report(error);
      let ended = 0;
      if (batch.length > 1) for (const push of batch) ended += await this.endBatch([push]);
      return ended;
    }
  }

  /** Deletes pushes that ended by then, with their logs. */
  private async dropKept(before: number): Promise<void> {
    const { database } = this;
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

  /** A push that reads as expired may still have its secret, until the sweep or somebody comes by. */
  private async endIfDue(push: PushRow, { ip }: Visitor): Promise<void> {
    const { id, expires_at } = push;
    const end = (sql: Sql) => store.endPush(sql, id, expires_at, 0);
    if (!(await this.database.transaction(end, { frees: true }))) return;
    this.events.expired('time', 1, ip);
    await this.ended(push);
  }

  /** After a push has ended: nothing of its key stays in a log, and its files are deleted. */
  private async ended({ kind }: PushRow): Promise<void> {
    await this.database.scrub();
    if (kind === 'file') void this.files.drop();
  }

  /** The rows of a listing; one that was changed by hand is left out, and reported. */
  private listed<R extends StoredPush>(
    rows: readonly R[],
    noted: (row: R & PushRow) => PushWithNote,
  ): PushWithNote[] {
    return rows.flatMap((row) => {
      try {
        return noted({ ...row, url_token: this.vault.keys.links.open(row) });
      } catch (error) {
        if (error instanceof UnknownKey) throw error;
        this.options.report(error);
        return [];
      }
    });
  }

  private insert(
    row: store.NewPushRow,
    secret: store.SecretRow,
    visitor: Visitor,
    upload: Upload | undefined,
  ): Promise<StoredPush> {
    return this.database.transaction(async (sql) => {
      // Nobody would ever learn of this push, nor expire it.
      if (visitor.signal?.aborted) throw abandoned();
      const inserted = await store.insertPush(sql, row, secret);
      await audit.recordEvent(sql, inserted.id, 'creation', visitor, row.created_at);
      await upload?.keep(sql, inserted.id);
      return inserted;
    });
  }

  private now(): number {
    return this.options.clock().getTime();
  }
}

function pageOf(number: number): store.Page {
  return { number, rows: limits.rowsPerPage };
}

/** 14 random bytes; begins and ends with a letter or digit, as chat programs cut links at punctuation. */
function newUrlToken(): string {
  for (;;) {
    const token = randomBytes(14).toString('base64url').toLowerCase();
    if (/^[a-z0-9].*[a-z0-9]$/.test(token)) return token;
  }
}
