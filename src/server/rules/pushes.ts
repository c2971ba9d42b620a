import { randomBytes } from 'node:crypto';
import { limits } from '../../contract';
import { UnknownKey } from '../keys/aead';
import type { Vault } from '../keys/vault';
import { abandoned, notFound, Refusal } from '../refusal';
import * as audit from '../store/audit-rows';
import { endFiles } from '../store/file-rows';
import type { PushRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import { type Database, limitBytes, type Sql } from '../store/sql';
import { claim } from './claim';
import { Aside } from './deferred';
import type { Tally } from './events';
import type { Upload } from './file-upload';
import type { Files, OfferedFile } from './files';
import { type Bounds, type Creation, readCreation } from './new-push';
import type { Owner } from './owners';
import { unlock } from './passphrase-check';
import type { Space } from './space';

export type { PushRow };

/** Who asks, and from where. */
export interface Visitor extends audit.Origin {
  readonly owner: Owner | undefined;
  /** Ends when they have left. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the passphrase checks they take; nothing without shares. */
  readonly client?: string | undefined;
}

export interface Retrieved {
  readonly push: PushRow;
  /** null when the push has expired. */
  readonly payload: string | null;
  readonly files: readonly OfferedFile[];
}

export interface Noted {
  readonly push: PushRow;
  readonly note: string;
}

const DAY = 86_400_000;
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
  readonly tally: Tally;
  /** Told of what could not be done, and of rows that were changed. */
  readonly report: (error: unknown) => void;
}

/** The rules of pushes: who may do what, what a view costs, when a secret goes. Knows no HTTP and no SQL. */
export class Pushes {
  private readonly aside = new Aside();
  private readonly database: Database;
  private readonly vault: Vault;
  private readonly files: Files;
  private readonly tally: Tally;
  private halted = false;

  constructor(private readonly options: PushesOptions) {
    const { database, vault, files, tally } = options;
    this.database = database;
    this.vault = vault;
    this.files = files;
    this.tally = tally;
  }

  /** Begins to take in the files of a push that `create` gets later; discard it in any case. */
  upload(): Upload {
    return this.files.upload(newUrlToken());
  }

  /** Checks and keeps a new push with its files; throws a `Refusal` with messages by field. */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<Noted> {
    // Apart, so that nothing holds the input while the passphrase waits.
    return this.keep(readCreation(input, this.options.bounds, upload?.fileCount), visitor, upload);
  }

  private async keep(creation: Creation, visitor: Visitor, upload?: Upload): Promise<Noted> {
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
    this.tally.created(push.kind);
    return { push, note };
  }

  /** The push as it is, without its secret; takes no view. */
  async find(urlToken: string): Promise<PushRow> {
    const row = await store.findPush(this.database.sql, this.vault.keys.links.lookup(urlToken));
    if (!row) throw notFound();
    return settled({ ...row, url_token: urlToken }, this.now());
  }

  /** Notes a look at a push that has expired, a moment later: the answer must not take longer than for one that never was. */
  missed({ url_token }: PushRow, visitor: Visitor): void {
    this.aside.do(() => this.retrieve(url_token, { ...visitor, signal: undefined }, ''));
  }

  /** Resolves when what was to be noted is noted, and what was to be deleted is deleted. */
  async finish(): Promise<void> {
    await this.aside.finish();
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
    hold: (bytes: number) => void = () => {},
  ): Promise<Retrieved> {
    const push = await this.find(urlToken);
    const { database, vault, tally } = this;
    const { maxFailures } = this.options;
    const now = () => this.now();
    const { key, claimed, secret, files, ended, own } = await vault.keys.withKeys(async () => {
      const unlocked = await unlock(
        { database, vault, now, tally, maxFailures },
        push,
        visitor,
        passphrase,
      );
      return database.transaction(
        async (sql) => {
          if (visitor.signal?.aborted) throw abandoned();
          const taken = await claim(sql, push, visitor, now(), maxFailures);
          // What cannot be opened, for lack of a key or because the row was changed, takes no view.
          const key = taken.secret && vault.openKey(taken.claimed, taken.secret, unlocked);
          // A link stands twice in its page.
          if (taken.secret?.payload) hold(2 * taken.secret.payload.length);
          return { ...taken, key };
        },
        { frees: push.expired_at !== null || viewsRemaining(push) <= 1 },
      );
    });
    if (ended) tally.expired(secret ? 'views' : 'time');
    if (secret) tally.viewed(own ? 'owner' : 'viewer');
    else tally.missed();
    if (ended) await this.ended(push);
    if (!secret || !key) return { push: settled(claimed, now()), payload: null, files: [] };
    return {
      push: claimed,
      payload: vault.openPayload(urlToken, secret, key),
      files: this.files.offer(urlToken, key, files),
    };
  }

  /** Ends a push and destroys its secret; one that has ended stays as it is. */
  async expire(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const push = await this.find(urlToken);
    if (push.expired_at !== null) await this.endIfDue(push);
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
    if (ended) this.tally.expired('deleted');
    await this.ended(push);
    return ended ? { ...ended, url_token: urlToken } : this.find(urlToken);
  }

  /** An owner's active pushes with their notes, newest first. */
  async listActive(owner: Owner, page: number): Promise<Noted[]> {
    return this.vault.keys.withKeys(async () => {
      const rows = await store.listActive(this.database.sql, owner.id, this.now(), pageOf(page));
      return this.listed(rows, ({ key_id, note_key, note, ...push }) => ({
        push,
        note: this.vault.openNote(push, { key_id, note_key, note }),
      }));
    });
  }

  /** An owner's expired pushes, newest first; their notes are gone. */
  async listExpired(owner: Owner, page: number): Promise<Noted[]> {
    return this.vault.keys.withKeys(async () => {
      const now = this.now();
      const rows = await store.listExpired(this.database.sql, owner.id, now, pageOf(page));
      return this.listed(rows, (push) => ({ push: settled(push, now), note: '' }));
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
    this.tally.expired('time', ended);
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
      const batch = limitBytes(due, BATCH_BYTES);
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
  private async endIfDue(push: PushRow): Promise<void> {
    const { id, expires_at } = push;
    const end = (sql: Sql) => store.endPush(sql, id, expires_at, 0);
    if (!(await this.database.transaction(end, { frees: true }))) return;
    this.tally.expired('time');
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
    noted: (row: R & PushRow) => Noted,
  ): Noted[] {
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

/** Whether this visitor may end the push; a viewer may never end a URL push. */
export function mayExpire(push: PushRow, { owner }: Visitor): boolean {
  if (owner && push.owner_id === owner.id) return true;
  return push.kind !== 'url' && push.deletable_by_viewer === 1;
}

/** Days, begun ones whole; never below 0. */
export function daysRemaining(push: PushRow, now: number): number {
  return Math.max(0, Math.ceil((push.expires_at - now) / DAY));
}

export function viewsRemaining(push: PushRow): number {
  return Math.max(0, push.expire_after_views - push.views);
}

/** A push whose time has passed reads as expired, whether or not the sweep has come by. */
function settled(push: PushRow, now: number): PushRow {
  if (push.expired_at !== null || push.expires_at > now) return push;
  return { ...push, expired_at: push.expires_at, updated_at: push.expires_at };
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
