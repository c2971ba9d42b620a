import { randomBytes } from 'node:crypto';
import { type Kind, limits } from '../../contract/api';
import type { Secret } from '../keys/vault';
import type { Owner } from '../owners/owners';
import { DeferredWork } from '../queues';
import { abandoned, notFound, ServiceRefusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import * as listings from '../store/listing-rows';
import type { NewPushRow, PushRow, SecretRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { isOwn, notOwn, type RuleOptions, stateAt, type Visitor, whatIs } from './access';
import { endNow } from './ending';
import type { Files, Upload } from './files';
import { sealProof } from './key-proofs';
import { doOrReplay, type Field, type KeyedCall, keyedCall, keyedView } from './once';

export interface PushWithNote {
  readonly push: PushRow;
  readonly note: string;
}

type Derived =
  | 'lookup'
  | 'sealed_token'
  | 'link_key'
  | 'maker'
  | 'protected'
  | 'key_proof'
  | 'updated_at';

interface Texts extends Pick<Secret, 'payload' | 'note' | 'passphrase' | 'requestKey'> {
  /** The proof that readers of a push have to send (`ProofCheck`). */
  readonly keyProof?: string | null;
}

interface Creation {
  readonly call: 'create push' | 'create request';
  /** The fields as they were sent, to compare them with those of a repeated HTTP request. */
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

interface NewRecord {
  readonly row: NewPushRow;
  readonly secret: SecretRow;
  readonly upload: Upload | undefined;
  readonly urlToken: string;
}

const endsOfRequests = { views: 'read', time: 'expired', deleted: 'closed' } as const;

/** The common rules of pushes and requests, which are rows of the same table and are found by a link. */
export abstract class Records {
  protected abstract readonly what: 'push' | 'request';
  protected readonly deferred = new DeferredWork();

  constructor(protected readonly options: RuleOptions & { readonly files: Files }) {}

  /** Destroys the view that is kept for the visitor's `Idempotency-Key`. */
  async forget({ lookup }: PushRow, visitor: Visitor): Promise<void> {
    await keyedView(visitor, lookup)?.forget(this.options.database);
  }

  /** Begins the upload of files for `create`. The caller must call `discard`, also after success. */
  upload(visitor: Visitor): Upload {
    return this.options.files.upload(newUrlToken(), visitor);
  }

  /**
   * Returns the row without its secret; uses no view.
   * @throws ServiceRefusal when the token is unknown
   */
  async find(urlToken: string): Promise<PushRow> {
    const { database, vault } = this.options;
    const row = await store.findPush(database.sql, vault.keys.links.lookup(urlToken));
    return this.known(urlToken, row);
  }

  /** @throws ServiceRefusal when no row was found, or a row of another sort than `what` */
  protected known(urlToken: string, row: StoredPush | undefined): PushRow {
    if (!row || this.what !== whatIs(row)) throw notFound();
    return stateAt({ ...row, url_token: urlToken }, this.options.now());
  }

  /** Resolves when deferred audit entries are written and the requested deletions of files are done. */
  async finish(): Promise<void> {
    await this.deferred.finish();
    await this.options.files.settled();
  }

  /**
   * Returns a page of the audit log, oldest entry first.
   * @throws ServiceRefusal when the token is unknown, or the visitor is not the owner
   */
  async audit(urlToken: string, visitor: Visitor, page: number): Promise<audit.AuditRow[]> {
    const row = await this.find(urlToken);
    if (!isOwn(row, visitor)) throw notOwn(visitor, `That ${this.what} is not yours.`);
    return audit.listEvents(this.options.database.sql, row.id, pageOf(page));
  }

  /**
   * Returns the owner's rows, newest first; active rows have notes. A row that was changed by hand cannot be decrypted.
   * It is left out and reported.
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

  /** Creates a row, once for each `Idempotency-Key`. */
  protected async make(creation: Creation): Promise<PushWithNote> {
    const { database, now, vault } = this.options;
    const { call, sent, texts, visitor, upload } = creation;
    const key = keyedCall(visitor, [call], [...sent, ...(upload?.contents ?? [])]);
    const push = await doOrReplay(
      () => this.store(creation, key),
      async () => {
        const made = await key?.replay(database.sql, now());
        if (!made) return undefined;
        const row = await store.findById(database.sql, made.push_id);
        if (!row) throw notFound();
        return stateAt({ ...row, url_token: vault.keys.links.open(row) }, now());
      },
    );
    return { push, note: texts.note };
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
    await space.check(visitor, Buffer.byteLength(texts.payload + texts.note));
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
      maker: waiter.owner?.maker ?? null,
      protected: texts.passphrase !== '',
      key_proof: keyProof && sealProof(urlToken, { keyProof, bases: waiter.bases ?? [] }),
      updated_at: content.created_at,
    };
    const push = { ...row, url_token: urlToken };
    const secret = await vault.seal({ ...texts, key, push, waiter });
    return { row: { ...row, ...vault.keys.links.store(urlToken) }, secret, upload, urlToken };
  }

  /** Inserts a row, its files and its audit entry in the caller's transaction. */
  protected async insert(sql: Sql, { row, secret, upload }: NewRecord, from: Visitor) {
    const inserted = await store.insertPush(sql, row, secret);
    const creation = { pushId: inserted.id, kind: 'creation', from, at: row.created_at } as const;
    await audit.recordEvent(sql, creation);
    await upload?.attach(sql, inserted.id);
    return inserted;
  }

  /** @param may whether the visitor may end a row that is not overdue; see `endNow` */
  protected async end(row: PushRow, visitor: Visitor, may: boolean): Promise<void> {
    const end = (sql: Sql) => endNow(sql, row, this.options.now(), may ? visitor : undefined);
    const ended = await this.options.database.transaction(end, { frees: true });
    if (ended) await this.cleanUp(row);
    if (ended && ended !== 'files') this.countEnd(row, ended, visitor);
  }

  protected countEnd({ kind }: PushRow, reason: keyof typeof endsOfRequests, visitor: Visitor) {
    const { events } = this.options;
    if (kind === 'request') events.requestChanged(endsOfRequests[reason]);
    else events.expired(reason, 1, visitor.ip);
  }

  /** Removes the keys of an ended row from the logs of the database, and starts the deletion of its files. */
  protected async cleanUp(row: PushRow): Promise<void> {
    await this.options.database.scrub();
    if (mayHaveFiles(row)) this.options.files.drop();
  }
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

export function mayHaveFiles({ kind }: StoredPush): boolean {
  return kind === 'file' || kind === 'request' || kind === 'answer';
}
