import { randomBytes } from 'node:crypto';
import { limits } from '../../contract/api';
import { UnknownKey } from '../keys/primitives';
import type { Secret } from '../keys/vault';
import { DeferredWork } from '../queues';
import { notFound, Refusal } from '../service-errors';
import * as audit from '../store/audit-rows';
import type { NewPushRow, PushRow, SecretRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { isOwn, type RuleOptions, stateAt, type Visitor, whatIs } from './access';
import type { Files, Upload } from './files';
import { PassphraseCheck } from './passphrase-check';

export interface PushWithNote {
  readonly push: PushRow;
  readonly note: string;
}

type NewRow = Omit<NewPushRow, 'lookup' | 'sealed_token' | 'link_key'>;

/** A row to insert, with its secret. */
export interface SealedRow {
  readonly row: NewPushRow;
  readonly secret: SecretRow;
  readonly urlToken: string;
}

/** What the rules of pushes and of requests share: both are rows of the same table, found by a link. */
export abstract class Records {
  protected readonly passphrases: PassphraseCheck;
  protected abstract readonly what: 'push' | 'request';
  private readonly deferred = new DeferredWork();

  constructor(protected readonly options: RuleOptions & { readonly files: Files }) {
    this.passphrases = new PassphraseCheck(options);
  }

  /** Begins the upload of files that `create` stores. The caller discards it in any case. */
  upload(): Upload {
    return this.options.files.upload(newUrlToken());
  }

  /**
   * The row without its secret; takes no view.
   * @throws Refusal when the token is unknown
   */
  async find(urlToken: string): Promise<PushRow> {
    const { database, vault, now } = this.options;
    const row = await store.findPush(database.sql, vault.keys.links.lookup(urlToken));
    if (!row || this.what !== whatIs(row)) throw notFound();
    return stateAt({ ...row, url_token: urlToken }, now());
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
   * @throws Refusal when the token is unknown, or it is not the visitor's
   */
  async audit(urlToken: string, visitor: Visitor, page: number): Promise<audit.AuditRow[]> {
    const row = await this.find(urlToken);
    if (!isOwn(row, visitor)) throw new Refusal('forbidden', `That ${this.what} is not yours.`);
    return audit.listEvents(this.options.database.sql, row.id, pageOf(page));
  }

  /** A new row and its sealed secret; to be called within `withKeys`. */
  protected async seal(
    row: NewRow,
    secret: Omit<Secret, 'push'>,
    urlToken: string,
  ): Promise<SealedRow> {
    const { vault } = this.options;
    const sealed = await vault.seal({ ...secret, push: { ...row, url_token: urlToken } });
    return { row: { ...row, ...vault.keys.links.store(urlToken) }, secret: sealed, urlToken };
  }

  /** Runs in the caller's transaction. */
  protected async insert(
    sql: Sql,
    { row, secret }: SealedRow,
    from: Visitor,
    upload: Upload | undefined,
  ): Promise<StoredPush> {
    const inserted = await store.insertPush(sql, row, secret);
    const creation = { pushId: inserted.id, kind: 'creation', from, at: row.created_at } as const;
    await audit.recordEvent(sql, creation);
    await upload?.attach(sql, inserted.id);
    return inserted;
  }

  /** Cleans up after the end of a push: its key in the database's logs, and its files. */
  protected async ended({ kind }: PushRow): Promise<void> {
    await this.options.database.scrub();
    if (kind === 'file' || kind === 'request') void this.options.files.drop();
  }

  /** The rows of a listing. One that was changed by hand is left out and reported. */
  protected listed<R extends StoredPush>(
    rows: readonly R[],
    noted: (row: R & PushRow) => PushWithNote,
  ): PushWithNote[] {
    return rows.flatMap((row) => {
      try {
        return noted({ ...row, url_token: this.options.vault.keys.links.open(row) });
      } catch (error) {
        if (error instanceof UnknownKey) throw error;
        this.options.report(error);
        return [];
      }
    });
  }
}

export function pageOf(number: number): store.Page {
  return { number, rows: limits.rowsPerPage };
}

/** 14 random bytes. Begins and ends with a letter or digit, as chat programs cut links at punctuation. */
export function newUrlToken(): string {
  for (;;) {
    const token = randomBytes(14).toString('base64url').toLowerCase();
    if (/^[a-z0-9].*[a-z0-9]$/.test(token)) return token;
  }
}
