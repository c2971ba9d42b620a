import { randomBytes } from 'node:crypto';
import { limits } from '../../contract/api';
import type { Owner } from '../owners/owners';
import { DeferredWork } from '../queues';
import { abandoned, notFound, ServiceRefusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import { endFiles, listFiles } from '../store/file-rows';
import { forgetViews, readKept, sizeOfKept } from '../store/kept-views';
import * as listings from '../store/listing-rows';
import type { NewPushRow, PushRow, SecretRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { isOwn, type RuleOptions, stateAt, type Visitor, whatIs } from './access';
import type { Files, Upload } from './files';
import { sealProof } from './key-proofs';
import { type KeptView, type MakeOnce, Once, type ViewOnce } from './once';
import { mayHaveFiles, memoryFor, type Opened, sealedContent, type TextWithFiles } from './opened';
import { PassphraseCheck } from './passphrase-check';

export interface PushWithNote {
  readonly push: PushRow;
  readonly note: string;
}

type Derived = 'lookup' | 'sealed_token' | 'link_key' | 'protected' | 'key_proof' | 'updated_at';

/** What is sealed of a new row. */
interface Texts {
  readonly payload: string;
  readonly note: string;
  readonly passphrase: string;
  /** What readers of a push have to prove (`ProofCheck`). */
  readonly keyProof?: string | null;
  /** Of an answer: the data key of its request. */
  readonly requestKey?: Uint8Array;
}

/** A row to insert, with its secret and its files. */
interface NewRecord {
  readonly row: NewPushRow;
  readonly secret: SecretRow;
  readonly upload: Upload | undefined;
  readonly urlToken: string;
}

/** Who opens what, and with what. */
export interface Opener {
  readonly urlToken: string;
  readonly visitor: Visitor;
  readonly passphrase: string;
  /** Receives the bytes of memory that the texts take; when it throws, nothing is taken. */
  readonly reserve?: (bytes: number) => void;
}

/** How it is opened. */
interface Opening extends Opener {
  /** Whether it may be the last view, which frees space. */
  readonly frees: boolean;
  /** Finds the row if it is active, or takes one of its views, the last of which expires it. */
  readonly claim: (sql: Sql, found: PushRow, now: number) => Promise<StoredPush | undefined>;
  /** Of what is done once. */
  readonly done: Pick<ViewOnce, 'check'>;
  /** What the audit log has of an opening, if that is known before the secret is read. */
  readonly event?: audit.AuditEvent['kind'] | undefined;
}

/** An opening of a row that has ended. */
interface Missed {
  readonly state: 'closed';
  readonly row: PushRow;
  /** Whether the opening ended it, as its time was over and no sweep had ended it yet. */
  readonly ended: boolean;
}

/** What the rules of pushes and of requests share: both are rows of the same table, found by a link. */
export abstract class Records {
  protected readonly passphrases: PassphraseCheck;
  protected readonly once: Once;
  protected abstract readonly what: 'push' | 'request';
  private readonly deferred = new DeferredWork();

  constructor(protected readonly options: RuleOptions & { readonly files: Files }) {
    this.passphrases = new PassphraseCheck(options);
    this.once = new Once(options);
  }

  /** Destroys what is kept for the visitor's request. */
  forget({ lookup }: PushRow, visitor: Visitor): Promise<void> {
    return this.once.forget(visitor, lookup);
  }

  /** What a visitor has made before, by the id of its row. */
  protected async made(id: number): Promise<PushRow> {
    const row = await store.findById(this.options.database.sql, id);
    if (!row) throw notFound();
    const push = { ...row, url_token: this.options.vault.keys.links.open(row) };
    return stateAt(push, this.options.now());
  }

  /** Begins the upload of files that `create` stores. The caller discards it in any case. */
  upload(): Upload {
    return this.options.files.upload(newUrlToken());
  }

  /**
   * The row without its secret; takes no view.
   * @throws ServiceRefusal when the token is unknown
   */
  async find(urlToken: string): Promise<PushRow> {
    const { database, vault } = this.options;
    return this.known(
      urlToken,
      await store.findPush(database.sql, vault.keys.links.lookup(urlToken)),
    );
  }

  /** What was found with a token. @throws ServiceRefusal when that is none of these */
  protected known(urlToken: string, row: StoredPush | undefined): PushRow {
    if (!row || this.what !== whatIs(row)) throw notFound();
    return stateAt({ ...row, url_token: urlToken }, this.options.now());
  }

  /** Records a visit to one that has ended. */
  protected abstract record(row: PushRow, visitor: Visitor): Promise<unknown>;

  /** Records a visit to one that has ended, later: the response must not take longer than for an unknown token. */
  missed(row: PushRow, visitor: Visitor): void {
    this.deferred.add(() => this.record(row, { ...visitor, signal: undefined }));
  }

  /** Resolves when deferred records are written and requested deletions done. */
  async finish(): Promise<void> {
    await this.deferred.finish();
    await this.options.files.settled();
  }

  /**
   * The audit log of the visitor's push or request, oldest first.
   * @throws ServiceRefusal when the token is unknown, or it is not the visitor's
   */
  async audit(urlToken: string, visitor: Visitor, page: number): Promise<audit.AuditRow[]> {
    const row = await this.find(urlToken);
    if (!isOwn(row, visitor))
      throw new ServiceRefusal('forbidden', `That ${this.what} is not yours.`);
    return audit.listEvents(this.options.database.sql, row.id, pageOf(page));
  }

  /**
   * A page of the owner's rows, newest first, with the notes of active ones. One that was changed by hand is left out and
   * reported.
   */
  protected async listRecords(
    { id: ownerId }: Owner,
    which: { readonly listed: listings.Listed; readonly ended: boolean },
    page: number,
  ): Promise<PushWithNote[]> {
    const { database, vault, report } = this.options;
    const now = this.options.now();
    const rows = await listings.listRecords(database.sql, { ownerId, ...which }, now, pageOf(page));
    return rows.flatMap((row) => {
      try {
        const push = stateAt({ ...row, url_token: vault.keys.links.open(row) }, now);
        return { push, note: vault.openNote(push, row) };
      } catch (error) {
        if (error instanceof ServiceRefusal) throw error;
        report(error);
        return [];
      }
    });
  }

  /** The times of a new row that is to live for that many seconds. */
  protected lasting(seconds: number): Pick<NewPushRow, 'created_at' | 'expires_at'> {
    const now = this.options.now();
    return { created_at: now, expires_at: now + seconds * 1000 };
  }

  /** Stores what a visitor creates. */
  protected async store(
    row: Omit<NewPushRow, Derived>,
    texts: Texts,
    visitor: Visitor,
    upload: Upload | undefined,
    done: MakeOnce,
  ): Promise<PushRow> {
    const { database, space } = this.options;
    await space.check();
    const sealed = await this.seal(row, texts, visitor, upload);
    const sharing = upload?.fileCount ? {} : { key: sealed.row.lookup };
    const inserted = await database.transaction(async (sql) => {
      // The client will never receive the link, nor expire the push.
      if (visitor.signal?.aborted) throw abandoned();
      const inserted = await this.insert(sql, sealed, visitor);
      await done.keep(sql, inserted, row.created_at);
      return inserted;
    }, sharing);
    return { ...inserted, url_token: sealed.urlToken };
  }

  /** A new row and its sealed secret. */
  protected async seal(
    said: Omit<NewPushRow, Derived>,
    texts: Texts,
    waiter: Visitor,
    upload: Upload | undefined,
  ): Promise<NewRecord> {
    const { vault } = this.options;
    const { keyProof = null } = texts;
    const { urlToken, key } = upload ?? { urlToken: newUrlToken(), key: undefined };
    const row = {
      ...said,
      protected: texts.passphrase !== '',
      key_proof: keyProof && sealProof(urlToken, { keyProof, bases: waiter.bases ?? [] }),
      updated_at: said.created_at,
    };
    const push = { ...row, url_token: urlToken };
    const secret = await vault.seal({ ...texts, key, push, waiter });
    return { row: { ...row, ...vault.keys.links.store(urlToken) }, secret, upload, urlToken };
  }

  /** Runs in the caller's transaction. */
  protected async insert(sql: Sql, { row, secret, upload }: NewRecord, from: Visitor) {
    const inserted = await store.insertPush(sql, row, secret);
    const creation = { pushId: inserted.id, kind: 'creation', from, at: row.created_at } as const;
    await audit.recordEvent(sql, creation);
    await upload?.attach(sql, inserted.id);
    return inserted;
  }

  /**
   * Opens a row and calls `take`, in the same transaction. When it has ended, that is recorded instead.
   * @throws ServiceRefusal for the passphrase
   */
  protected async open<T>(
    found: PushRow,
    { visitor, passphrase, reserve, frees, claim, done, event }: Opening,
    take: (sql: Sql, opened: Opened, now: number) => Promise<T>,
  ): Promise<T | Missed> {
    const { database, vault } = this.options;
    const unlocked = await this.passphrases.keyOf(found, visitor, passphrase);
    let reserved = false;
    return database.transaction(
      async (sql) => {
        if (visitor.signal?.aborted) throw abandoned();
        const now = this.options.now();
        // What was answered as expired stays expired if the clock is set back.
        const claimed = found.expired_at === null ? await claim(sql, found, now) : undefined;
        // The claim has waited for copies. None has used a view if nobody has since the row was found.
        if (!claimed || claimed.views > found.views + 1) await done.check(sql, now);
        if (!claimed) return this.miss(sql, found, visitor, now);
        const pushId = found.id;
        const [sealed] = await Promise.all([
          sealedContent(sql, { ...claimed, url_token: found.url_token }, now),
          event && audit.recordEvent(sql, { pushId, kind: event, from: visitor, at: now }),
        ]);
        if (!sealed) return this.miss(sql, found, visitor, now);
        const { row } = sealed;
        // A secret that cannot be opened, for lack of a key or because the row was changed, takes no view.
        const opened = { ...sealed, key: vault.openKey(row, sealed.secret, unlocked) };
        // Once, as the transaction may run several times.
        if (!reserved) reserve?.(memoryFor(sealed.secret.payload?.length));
        reserved = true;
        return take(sql, opened, now);
      },
      { frees, key: found.lookup },
    );
  }

  /** Records an opening of a row that has ended, and ends it if no sweep has done so yet. */
  private async miss(sql: Sql, found: PushRow, visitor: Visitor, now: number): Promise<Missed> {
    const due = found.expired_at !== null || found.expires_at <= now;
    const ended = due && (await endRecord(sql, found.id, found.expires_at, 0)) !== undefined;
    // What was answered as expired stays expired if the clock is set back, also for those who repeat.
    await forgetViews(sql, found.id, now);
    await this.recordLate(sql, 'failed_view', found, visitor);
    const row = (await store.findPush(sql, found.lookup)) as StoredPush;
    return {
      state: 'closed',
      row: stateAt({ ...row, url_token: found.url_token }, now),
      ended,
    };
  }

  protected recordLate(
    sql: Sql,
    kind: 'failed_view' | 'failed_response',
    { id }: PushRow,
    from: Visitor,
  ): Promise<void> {
    const { maxFailures, now } = this.options;
    return audit.recordRepeated(sql, { pushId: id, kind, from, at: now() }, maxFailures);
  }

  /** The content of a row that was opened then, with a link to each file. */
  protected contentOf({ row, secret, key, files }: Opened, now: number): TextWithFiles {
    return {
      text: this.options.vault.openPayload(row.url_token, secret, key),
      files: this.options.files.offer(row, { key, at: now }, files),
    };
  }

  /**
   * The content that a kept view has opened, read again.
   * @param nth which of its data keys opens the row
   * @returns undefined when the view is not kept any more
   */
  protected async contentAgain(
    kept: KeptView,
    row: PushRow,
    { reserve }: Opener,
    nth = 0,
  ): Promise<TextWithFiles | undefined> {
    const { sql } = this.options.database;
    const { id, url_token } = row;
    const bytes = await sizeOfKept(sql, kept, id);
    if (bytes === undefined) return undefined;
    reserve?.(memoryFor(bytes));
    // Before the text: files are there for as long as it is.
    const files = mayHaveFiles(row) ? await listFiles(sql, id) : [];
    const found = await readKept(sql, kept, id);
    const key = found && kept.keysOf(found.sealed)[nth];
    if (!found?.payload || !key) return undefined;
    return {
      text: this.options.vault.openPayload(url_token, found, key),
      files: this.options.files.offer(row, { key, at: kept.kept_at }, files),
    };
  }

  /**
   * Ends a row for a visitor who may, and one whose time is over for any; of a row that has ended, the files whose links
   * are still valid. Returns what ended it, if this call did.
   */
  protected async end(row: PushRow, kind: 'expire' | 'close', visitor: Visitor, may: boolean) {
    const end = async (sql: Sql) => {
      const now = this.options.now();
      if (row.expired_at !== null || row.expires_at <= now) {
        if (await endRecord(sql, row.id, row.expires_at, 0)) return 'time';
      } else if (may && (await endRecord(sql, row.id, now, 1))) {
        await audit.recordEvent(sql, { pushId: row.id, kind, from: visitor, at: now });
        return 'deleted';
      }
      if (may) await forgetViews(sql, row.id);
      return may && (await endFiles(sql, row.answer_id ?? row.id)) ? 'files' : undefined;
    };
    const ended = await this.options.database.transaction(end, { frees: true });
    if (ended) await this.cleanUp(row);
    return ended === 'files' ? undefined : ended;
  }

  /** Cleans up after the end of a row: its key in the database's logs, and its files. */
  protected async cleanUp(row: PushRow): Promise<void> {
    await this.options.database.scrub();
    if (mayHaveFiles(row)) void this.options.files.drop();
  }
}

/** Ends a row and its answer, in this order as everything that writes both; undefined if it had ended. */
async function endRecord(sql: Sql, id: number, at: number, deleted: 0 | 1) {
  const ended = await store.endPush(sql, id, at, deleted);
  if (ended?.answer_id != null) await store.endPush(sql, ended.answer_id, at, deleted);
  return ended;
}

function pageOf(number: number): listings.RowPage {
  return { number, rows: limits.rowsPerPage };
}

/** 14 random bytes. Begins and ends with a letter or digit, as chat programs cut links at punctuation. */
export function newUrlToken(): string {
  for (;;) {
    const token = randomBytes(14).toString('base64url').toLowerCase();
    if (/^[a-z0-9].*[a-z0-9]$/.test(token)) return token;
  }
}
