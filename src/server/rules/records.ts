import { randomBytes } from 'node:crypto';
import { type Kind, limits } from '../../contract/api';
import type { Owner } from '../owners/owners';
import { DeferredWork } from '../queues';
import { abandoned, notFound, ServiceRefusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import { endFiles } from '../store/file-rows';
import { forgetViews, type KeptAnswer } from '../store/kept-rows';
import * as listings from '../store/listing-rows';
import type { NewPushRow, PushRow, SecretRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { isOwn, type RuleOptions, stateAt, type Visitor, whatIs } from './access';
import type { Files, Upload } from './files';
import { sealProof } from './key-proofs';
import { type Field, type KeyedCall, keyedCall, keyedView, retryOrThrow } from './once';

export interface PushWithNote {
  readonly push: PushRow;
  readonly note: string;
}

type Derived = 'lookup' | 'sealed_token' | 'link_key' | 'protected' | 'key_proof' | 'updated_at';

/** The texts of a new row, which are sealed. */
interface Texts {
  readonly payload: string;
  readonly note: string;
  readonly passphrase: string;
  /** What readers of a push have to prove (`ProofCheck`). */
  readonly keyProof?: string | null;
  /** The data key of the request that an answer is for. */
  readonly requestKey?: Uint8Array;
}

/** What a visitor creates. */
interface Creation {
  readonly call: 'create push' | 'create request';
  /** The fields that were sent, which are compared with those of a copy. */
  readonly sent: readonly Field[];
  readonly row: Omit<NewPushRow, Derived | 'kind' | 'owner_id' | 'created_at' | 'expires_at'> & {
    readonly kind: Kind | 'request';
  };
  /** Seconds. */
  readonly lifetime: number;
  readonly texts: Texts;
  readonly visitor: Visitor;
  readonly upload: Upload | undefined;
}

/** A row to insert, with its secret and its files. */
interface NewRecord {
  readonly row: NewPushRow;
  readonly secret: SecretRow;
  readonly upload: Upload | undefined;
  readonly urlToken: string;
}

const endsOfRequests = { views: 'read', time: 'expired', deleted: 'closed' } as const;

/** What the rules of pushes and of requests share: both are rows of the same table, found by a link. */
export abstract class Records {
  protected abstract readonly what: 'push' | 'request';
  protected readonly deferred = new DeferredWork();

  constructor(protected readonly options: RuleOptions & { readonly files: Files }) {}

  /** Destroys the view that is kept for a copy of the visitor's request. */
  async forget({ lookup }: PushRow, visitor: Visitor): Promise<void> {
    await keyedView(visitor, lookup)?.forget(this.options.database);
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

  /** What was found with a token. @throws ServiceRefusal when it is not `what` */
  protected known(urlToken: string, row: StoredPush | undefined): PushRow {
    if (!row || this.what !== whatIs(row)) throw notFound();
    return stateAt({ ...row, url_token: urlToken }, this.options.now());
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

  /** Stores what a visitor creates, once. */
  protected async make(creation: Creation): Promise<PushWithNote> {
    const { database, now } = this.options;
    const { call, sent, texts, visitor, upload } = creation;
    const key = keyedCall(visitor, [call], [...sent, ...(upload?.contents ?? [])]);
    const { note } = texts;
    for (let tries = 1; ; tries += 1) {
      try {
        return { push: await this.store(creation, key), note };
      } catch (error) {
        const made = await key?.replay(database.sql, now());
        if (made) return { push: await this.made(made), note };
        retryOrThrow(error, tries);
      }
    }
  }

  /** What a copy of the request has made. */
  private async made({ push_id }: KeptAnswer): Promise<PushRow> {
    const { database, now, vault } = this.options;
    const row = await store.findById(database.sql, push_id);
    if (!row) throw notFound();
    return stateAt({ ...row, url_token: vault.keys.links.open(row) }, now());
  }

  private async store(creation: Creation, key: KeyedCall | undefined): Promise<PushRow> {
    const { database, events, space } = this.options;
    const { texts, visitor, upload } = creation;
    const now = this.options.now();
    const row = {
      ...creation.row,
      owner_id: visitor.owner?.id ?? null,
      created_at: now,
      expires_at: now + creation.lifetime * 1000,
    };
    await space.check();
    const sealed = await this.seal(row, texts, visitor, upload);
    const sharing = upload?.fileCount ? {} : { key: sealed.row.lookup };
    const inserted = await database.transaction(async (sql) => {
      // A client that has disconnected will never receive the link, nor expire the push.
      if (visitor.signal?.aborted) throw abandoned();
      const inserted = await this.insert(sql, sealed, visitor);
      await key?.keep(sql, inserted, now);
      return inserted;
    }, sharing);
    const { kind } = creation.row;
    if (kind === 'request') events.requestChanged('created');
    else events.created(kind);
    return { ...inserted, url_token: sealed.urlToken };
  }

  /** A new row and its sealed secret. */
  protected async seal(
    content: Omit<NewPushRow, Derived>,
    texts: Texts,
    waiter: Visitor,
    upload: Upload | undefined,
  ): Promise<NewRecord> {
    const { vault } = this.options;
    const { keyProof = null } = texts;
    const { urlToken, key } = upload ?? { urlToken: newUrlToken(), key: undefined };
    const row = {
      ...content,
      protected: texts.passphrase !== '',
      key_proof: keyProof && sealProof(urlToken, { keyProof, bases: waiter.bases ?? [] }),
      updated_at: content.created_at,
    };
    const push = { ...row, url_token: urlToken };
    const secret = await vault.seal({ ...texts, key, push, waiter });
    return { row: { ...row, ...vault.keys.links.store(urlToken) }, secret, upload, urlToken };
  }

  /** Inserts a row with its files and its entry in the audit log, in the caller's transaction. */
  protected async insert(sql: Sql, { row, secret, upload }: NewRecord, from: Visitor) {
    const inserted = await store.insertPush(sql, row, secret);
    const creation = { pushId: inserted.id, kind: 'creation', from, at: row.created_at } as const;
    await audit.recordEvent(sql, creation);
    await upload?.attach(sql, inserted.id);
    return inserted;
  }

  /**
   * Ends a row for a visitor who may, and one whose time is over for anyone. Where a row has ended, it ends the files whose
   * links are still valid.
   */
  protected async end(row: PushRow, visitor: Visitor, may: boolean): Promise<void> {
    const end = async (sql: Sql) => {
      const now = this.options.now();
      if (row.expired_at !== null || row.expires_at <= now) {
        if (await endRecord(sql, row.id, row.expires_at, 0)) return 'time';
      } else if (may && (await endRecord(sql, row.id, now, 1))) {
        const kind = row.kind === 'request' ? 'close' : 'expire';
        await audit.recordEvent(sql, { pushId: row.id, kind, from: visitor, at: now });
        return 'deleted';
      }
      if (may) await forgetViews(sql, row.id);
      return may && (await endFiles(sql, row.answer_id ?? row.id)) ? 'files' : undefined;
    };
    const ended = await this.options.database.transaction(end, { frees: true });
    if (ended) await this.cleanUp(row);
    if (ended && ended !== 'files') this.countEnd(row, ended, visitor);
  }

  /** Counts the end of a push, or of a request, whose one view is its answer. */
  protected countEnd({ kind }: PushRow, reason: keyof typeof endsOfRequests, visitor: Visitor) {
    const { events } = this.options;
    if (kind === 'request') events.requestChanged(endsOfRequests[reason]);
    else events.expired(reason, 1, visitor.ip);
  }

  /** Cleans up after the end of a row: its key in the database's logs, and its files. */
  protected async cleanUp(row: PushRow): Promise<void> {
    await this.options.database.scrub();
    if (mayHaveFiles(row)) void this.options.files.drop();
  }
}

/** Ends a row and its answer, in this order as everything that writes both; undefined if it had ended. */
export async function endRecord(sql: Sql, id: number, at: number, deleted: 0 | 1) {
  const ended = await store.endPush(sql, id, at, deleted);
  if (ended?.answer_id != null) await store.endPush(sql, ended.answer_id, at, deleted);
  return ended;
}

function pageOf(number: number): listings.RowPage {
  return { number, rows: limits.rowsPerPage };
}

/** A token of 14 random bytes. It begins and ends with a letter or digit, as chat programs cut links at punctuation. */
export function newUrlToken(): string {
  for (;;) {
    const token = randomBytes(14).toString('base64url').toLowerCase();
    if (/^[a-z0-9].*[a-z0-9]$/.test(token)) return token;
  }
}

export function mayHaveFiles({ kind }: StoredPush): boolean {
  return kind === 'file' || kind === 'request' || kind === 'answer';
}
