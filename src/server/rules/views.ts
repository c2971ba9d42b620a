import { abandoned, ServiceRefusal } from '../service-errors';
import { recordEvent, recordRepeated } from '../store/audit-rows';
import { type FileRow, keepFilesUntil, listFiles } from '../store/file-rows';
import { forgetViews, type KeptView, keepSpent, readKept, sizeOfKept } from '../store/kept-rows';
import type { PushRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { LINK_TIME, stateAt, type Visitor, viewsAsOwner, viewsRemaining } from './access';
import { endRecord } from './ending';
import type { OfferedFile } from './files';
import { ProofCheck } from './key-proofs';
import { doOrReplay, type KeyedView, keyedView } from './once';
import { PassphraseCheck, possiblePassphrase } from './passphrase-check';
import { mayHaveFiles, Records } from './records';

export interface Opener {
  readonly urlToken: string;
  readonly visitor: Visitor;
  readonly passphrase: string;
  /** Called with the bytes of memory that the texts will take. If it throws, no view is used. */
  readonly reserve?: (bytes: number) => void;
}

/** A decrypted text and its files; null and no files when the secret is destroyed. */
export interface TextWithFiles {
  readonly text: string | null;
  readonly files: readonly OfferedFile[];
}

const NOTHING: TextWithFiles = { text: null, files: [] };

/** What a retrieval returns; a closed row has no content. Taking an answer ends the files of its question. */
export interface Viewed extends TextWithFiles {
  /** `taken` when this retrieval took the answer to a request, which closed the request. */
  readonly state: 'open' | 'taken' | 'closed';
  readonly row: PushRow;
  /** Whether this retrieval ended the row: by a last view, by taking the answer, or as it was overdue. */
  readonly ended: boolean;
  /** The answer to a request, empty unless `state` is `taken`. */
  readonly answer: TextWithFiles;
}

/** A retrieval after its key proof and passphrase were checked. */
interface Viewing extends Opener {
  readonly row: PushRow;
  readonly own: boolean;
  /** The key derived from the passphrase; undefined if the row has none. */
  readonly unlocked: Uint8Array | undefined;
  readonly key: KeyedView | undefined;
  /** Whether `reserve` was called. The transaction may run several times, but memory is reserved once. */
  reserved: boolean;
}

/** A row that this view opened, still active even if the view was the last, its sealed content, and its data key. */
interface Opened {
  readonly row: PushRow;
  readonly payload: Uint8Array | null;
  readonly files: readonly FileRow[];
  readonly key: Uint8Array;
  /** Whether this was the last view. */
  readonly isLast: boolean;
}

const TO_PUBLIC_KEY = 'This push is encrypted to a public key. No view was used.';

/** Retrieves the secrets of pushes and requests, destroys them with the last view, and returns kept views. */
export abstract class Views extends Records {
  protected readonly passphrases = new PassphraseCheck(this.options);
  protected readonly proofs = new ProofCheck(this.options);

  /** Records a visit to an ended row after the response, which must not take longer than one for an unknown token. */
  missed({ url_token }: PushRow, visitor: Visitor): void {
    const opener = { urlToken: url_token, visitor: { ...visitor, signal: undefined } };
    this.deferred.add(() => this.retrieve({ ...opener, passphrase: '' }));
  }

  /**
   * Returns the secret of a link. A retrieval uses a view unless the visitor owns the push. The last view deletes the
   * secret at once, and the files when their links or the push expire. The owner of a request takes its answer, which
   * closes the request; others may read the question any number of times. A repeated `Idempotency-Key` returns the same
   * content without a view.
   * @throws ServiceRefusal when there is no such row, or when the key proof or the passphrase is missing or wrong
   */
  async retrieve(opener: Opener): Promise<Viewed> {
    const { urlToken, visitor, passphrase } = opener;
    const { now, vault } = this.options;
    const { sql } = this.options.database;
    const lookup = vault.keys.links.lookup(urlToken);
    const key = keyedView(visitor, lookup, [possiblePassphrase(passphrase), visitor.keyProof]);
    const view = async () => {
      const row = await (key ? key.findRow(sql, now()) : store.findPush(sql, lookup));
      return this.viewOnce(this.known(urlToken, row), opener, key);
    };
    return doOrReplay(view, async () => {
      const kept = await key?.replay(sql, now());
      return key && kept && this.viewAgain(kept, key.keysOf(kept), opener);
    });
  }

  private async viewOnce(row: PushRow, opener: Opener, key: KeyedView | undefined) {
    const { visitor, passphrase } = opener;
    // The key is checked before the passphrase, so that passphrases cannot be guessed without the key.
    await this.proofs.check(row, visitor);
    if (visitor.withoutIdentity && row.sealed_with === 'recipient' && row.expired_at === null)
      throw new ServiceRefusal('identity', TO_PUBLIC_KEY);
    const own = viewsAsOwner(row, visitor);
    const unlocked = await this.passphrases.keyOf(row, visitor, passphrase);
    const viewing = { ...opener, row, own, unlocked, key, reserved: false };
    const isLast = row.kind === 'request' ? row.views > 0 : !own && viewsRemaining(row) <= 1;
    const viewed = await this.options.database.transaction((sql) => this.open(sql, viewing), {
      frees: row.expired_at !== null || isLast,
      key: row.lookup,
    });
    this.count(viewed, visitor);
    if (viewed.ended) await this.cleanUp(row);
    return viewed;
  }

  private count({ state, row, ended }: Viewed, visitor: Visitor): void {
    const { events } = this.options;
    const isClosed = state === 'closed';
    if (ended) this.countEnd(row, isClosed ? 'time' : 'views', visitor);
    if (row.kind === 'request') return;
    if (isClosed) events.missed();
    else events.viewed(viewsAsOwner(row, visitor) ? 'owner' : 'viewer', visitor.ip);
  }

  private async open(sql: Sql, viewing: Viewing): Promise<Viewed> {
    const { row, own, visitor, key } = viewing;
    if (visitor.signal?.aborted) throw abandoned();
    const now = this.options.now();
    // A push that was once reported as expired stays expired, even if the clock is set back.
    const claimed = row.expired_at === null ? await claim(sql, row, own, now) : undefined;
    // The claim waits for other views. If none was taken since the row was read, none has the same key.
    if (!claimed || claimed.views > row.views + 1) await key?.check(sql, now);
    const active = claimed && { ...claimed, url_token: row.url_token };
    const opened = active && (await this.unseal(sql, active, viewing.unlocked, now));
    if (!opened) return this.miss(sql, row, visitor, now);
    const answer = own ? await this.takeAnswer(sql, opened, now) : undefined;
    const all: [Opened, ...Opened[]] = answer ? [opened, answer] : [opened];
    if (!viewing.reserved)
      for (const { payload } of all) viewing.reserve?.(memoryFor(payload?.length));
    viewing.reserved = true;
    await this.record(sql, viewing, all, now);
    const content = this.contentOf(opened, now);
    if (answer) return takenOf(opened.row, content, this.contentOf(answer, now));
    return { state: 'open', row: opened.row, ended: opened.isLast, ...content, answer: NOTHING };
  }

  /**
   * Reads the secret of a claimed row; returns undefined if the secret is destroyed. A last view destroys the secret at
   * once, but the files only when their links expire: without the secret, the database cannot decrypt the files. The
   * statements are concurrent, as PostgreSQL then needs one round trip for all.
   */
  private async unseal(
    sql: Sql,
    claimed: PushRow,
    unlocked: Uint8Array | undefined,
    now: number,
  ): Promise<Opened | undefined> {
    const { id, expires_at, created_at } = claimed;
    const isLast = claimed.expired_at !== null;
    const row = isLast ? { ...claimed, expired_at: null, updated_at: created_at } : claimed;
    const hasFiles = mayHaveFiles(row);
    const [secret, files] = await Promise.all([
      isLast ? store.takeSecret(sql, row) : store.findSecret(sql, id),
      hasFiles ? listFiles(sql, id) : [],
      isLast && hasFiles && keepFilesUntil(sql, id, Math.min(now + LINK_TIME, expires_at)),
    ]);
    // Throws if the key is missing or the row was changed by hand; the rollback then gives the view back.
    const key = secret && this.options.vault.openKey(row, secret, unlocked);
    return key && { row, payload: secret.payload, files, key, isLast };
  }

  /** Takes the answer, if there is one, and closes the request. Files of the answer stay until their links expire. */
  private async takeAnswer(sql: Sql, { row: request, key }: Opened, now: number) {
    if (request.answer_id === null) return undefined;
    const active = await store.findActive(sql, { id: request.answer_id }, now);
    const taken = active && (await store.takeView(sql, active, now));
    const row = taken && { ...taken, url_token: this.options.vault.keys.links.open(taken) };
    const answer = row && (await this.unseal(sql, row, key, now));
    if (answer) await store.endPush(sql, request.id, now, 0);
    return answer;
  }

  /**
   * Records a retrieval in the audit log. If the visitor sent an `Idempotency-Key`, the entry also keeps the view for
   * repeated requests. A text that this view destroys is kept, sealed, for this key and the keys of earlier views.
   */
  private async record(
    sql: Sql,
    { own, visitor, key }: Viewing,
    all: readonly [Opened, ...Opened[]],
    now: number,
  ): Promise<void> {
    const [{ row, isLast }, answer] = all;
    const event = { pushId: row.id, from: visitor, at: now };
    // These have no limit, so the number of entries is limited.
    const unlimited = own ? 'owner_view' : row.kind === 'request' && 'request_view';
    if (unlimited && !answer)
      return recordRepeated(sql, { ...event, kind: unlimited }, this.options.maxFailures);
    const spent = (isLast || answer) && (key || row.expire_after_views > 1) ? all : [];
    const kind = answer ? 'response_view' : 'view';
    const keys = all.map((opened) => opened.key);
    await Promise.all([
      recordEvent(sql, { ...event, kind }, key?.keep(keys, row, now)),
      ...spent.map(({ row: { id }, payload }) =>
        keepSpent(sql, row.id, { id, payload }, key !== undefined),
      ),
    ]);
  }

  /** Records a retrieval of an ended row. Ends the row if it is overdue and no sweep has ended it. */
  private async miss(sql: Sql, before: PushRow, visitor: Visitor, now: number): Promise<Viewed> {
    const { id, expires_at } = before;
    const due = before.expired_at !== null || expires_at <= now;
    const ended = due && (await endRecord(sql, id, expires_at, 0)) !== undefined;
    // Kept views that are over are destroyed now, so that they stay over even if the clock is set back.
    await forgetViews(sql, id, now);
    const event = { pushId: id, kind: 'failed_view', from: visitor, at: now } as const;
    await recordRepeated(sql, event, this.options.maxFailures);
    const stored = (await store.findPush(sql, before.lookup)) as StoredPush;
    const row = stateAt({ ...stored, url_token: before.url_token }, now);
    return { state: 'closed', row, ended, ...NOTHING, answer: NOTHING };
  }

  /** Returns the same content and row as the kept view did; undefined when its text is destroyed. */
  private async viewAgain(
    kept: KeptView,
    [key, answerKey]: readonly Uint8Array[],
    opener: Opener,
  ): Promise<Viewed | undefined> {
    const { database, vault } = this.options;
    const stored = await store.findById(database.sql, kept.push_id);
    if (!stored || !key) return undefined;
    const row = {
      ...stored,
      url_token: opener.urlToken,
      views: kept.views,
      expired_at: null,
      deleted: 0 as const,
      updated_at: stored.created_at,
    };
    const content = await this.contentAgain(kept, row, key, opener);
    if (!content) return undefined;
    if (!answerKey) return { state: 'open', row, ended: false, ...content, answer: NOTHING };
    const answer = await store.findById(database.sql, stored.answer_id as number);
    const taken = answer && { ...answer, url_token: vault.keys.links.open(answer) };
    const answered = taken && (await this.contentAgain(kept, taken, answerKey, opener));
    return answered && takenOf({ ...row, updated_at: taken.created_at }, content, answered);
  }

  private async contentAgain(
    kept: KeptView,
    row: PushRow,
    key: Uint8Array,
    { reserve }: Opener,
  ): Promise<TextWithFiles | undefined> {
    const { sql } = this.options.database;
    const bytes = await sizeOfKept(sql, kept, row.id);
    if (bytes === undefined) return undefined;
    reserve?.(memoryFor(bytes));
    // Files are read first: if the text still exists afterwards, so did the files.
    const files = mayHaveFiles(row) ? await listFiles(sql, row.id) : [];
    const payload = await readKept(sql, kept, row.id);
    return payload && this.contentOf({ row, payload, key, files }, kept.kept_at);
  }

  /** Decrypts the text of an opened row, and makes links to its files that are valid from `now` on. */
  private contentOf(
    { row, payload, key, files }: Omit<Opened, 'isLast'>,
    now: number,
  ): TextWithFiles {
    return {
      text: this.options.vault.openPayload(row.url_token, payload, key),
      files: this.options.files.offer(row, { key, at: now }, files),
    };
  }
}

/**
 * Takes a view of an active push, or only finds an active request; returns undefined if the row has ended. For the
 * owner, locks the row instead, so that simultaneous retrievals and closings by the owner run one after the other.
 */
function claim(sql: Sql, row: PushRow, own: boolean, now: number): Promise<StoredPush | undefined> {
  if (own) return store.lockActive(sql, row, now);
  return row.kind === 'request' ? store.findActive(sql, row, now) : store.takeView(sql, row, now);
}

/** Returns the question without its files, which ended when the answer was taken. */
function takenOf(row: PushRow, { text }: TextWithFiles, answer: TextWithFiles): Viewed {
  return { state: 'taken', row, ended: true, text, files: [], answer };
}

/** Bytes of memory for a text. Twice its length, as the page of a push of kind url contains the text twice. */
function memoryFor(length = 0): number {
  return 2 * length;
}
