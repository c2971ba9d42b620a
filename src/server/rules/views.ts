import { abandoned, ServiceRefusal } from '../service-errors';
import { recordEvent, recordRepeated } from '../store/audit-rows';
import { type FileRow, keepFilesUntil, listFiles } from '../store/file-rows';
import { forgetViews, type KeptView, keepSpent, readKept, sizeOfKept } from '../store/kept-rows';
import type { PushRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { isOwn, LINK_TIME, stateAt, type Visitor, viewsRemaining } from './access';
import type { OfferedFile } from './files';
import { ProofCheck } from './key-proofs';
import { type KeyedView, keyedView, retryOrThrow } from './once';
import { PassphraseCheck, possiblePassphrase } from './passphrase-check';
import { endRecord, mayHaveFiles, Records } from './records';

/** Who opens what, and with what. */
export interface Opener {
  readonly urlToken: string;
  readonly visitor: Visitor;
  readonly passphrase: string;
  /** Receives the bytes of memory that the texts take; when it throws, nothing is taken. */
  readonly reserve?: (bytes: number) => void;
}

/** A text with its files, opened; without either when it is gone. */
export interface TextWithFiles {
  readonly text: string | null;
  readonly files: readonly OfferedFile[];
}

const NOTHING: TextWithFiles = { text: null, files: [] };

/** A row as somebody reads it, with its content: none of a row that is closed. The files of a question end with the request. */
export interface Viewed extends TextWithFiles {
  /** `taken` when this reading took the answer to a request, which closed the request. */
  readonly state: 'open' | 'taken' | 'closed';
  readonly row: PushRow;
  /** Whether this reading ended the row: by its last view, by its answer, or as its time was over and no sweep had ended it yet. */
  readonly ended: boolean;
  /** The answer to a request; nothing unless it was taken. */
  readonly answer: TextWithFiles;
}

/** What is known of a reading before the secret is read. */
interface Viewing extends Opener {
  readonly row: PushRow;
  /** Whether the visitor is the owner. */
  readonly own: boolean;
  /** The key derived from the passphrase of a row that has one. */
  readonly unlocked: Uint8Array | undefined;
  readonly key: KeyedView | undefined;
  /** Whether memory was reserved, which is done once, as a transaction may run several times. */
  reserved: boolean;
}

/** A row, as it was before it was opened, its sealed content, and the data key, which opens it. */
interface Opened {
  readonly row: PushRow;
  readonly payload: Uint8Array | null;
  readonly files: readonly FileRow[];
  readonly key: Uint8Array;
  /** Whether its last view has destroyed it. */
  readonly isLast: boolean;
}

const TO_PUBLIC_KEY = 'This push is encrypted to a public key. No view was used.';

/** How the secrets of pushes and requests are read: who takes a view, what that destroys, and who may have it again. */
export abstract class Views extends Records {
  protected readonly passphrases = new PassphraseCheck(this.options);
  protected readonly proofs = new ProofCheck(this.options);

  /** Records a visit to one that has ended, later: the response must not take longer than for an unknown token. */
  missed({ url_token }: PushRow, visitor: Visitor): void {
    const opener = { urlToken: url_token, visitor: { ...visitor, signal: undefined } };
    this.deferred.add(() => this.retrieve({ ...opener, passphrase: '' }));
  }

  /**
   * Reads what a link opens, and takes a view of a push unless it is the visitor's own. The last view deletes the secret at
   * once, and the files when their links expire, but not later than the push's days. The owner of a request takes its answer, if
   * there is one, which closes the request; others read the question as often as they like. A copy of a request that took a
   * view, or an answer, gets the same, and takes none.
   * @throws ServiceRefusal when there is no such row, or for its key or its passphrase
   */
  async retrieve(opener: Opener): Promise<Viewed> {
    const { urlToken, visitor, passphrase } = opener;
    const { database, now, vault } = this.options;
    const lookup = vault.keys.links.lookup(urlToken);
    const key = keyedView(visitor, lookup, [possiblePassphrase(passphrase), visitor.keyProof]);
    for (let tries = 1; ; tries += 1) {
      try {
        const { sql } = database;
        const row = await (key ? key.findRow(sql, now()) : store.findPush(sql, lookup));
        return await this.viewOnce(this.known(urlToken, row), opener, key);
      } catch (error) {
        // A refusal is looked into, too: a copy may have used up what this request has not found.
        const kept = await key?.replay(database.sql, now());
        const viewed = key && kept && (await this.viewAgain(kept, key.keysOf(kept), opener));
        if (viewed) return viewed;
        retryOrThrow(error, tries);
      }
    }
  }

  private async viewOnce(row: PushRow, opener: Opener, key: KeyedView | undefined) {
    const { visitor, passphrase } = opener;
    // The key is checked before the passphrase: who has none cannot try any passphrase.
    await this.proofs.check(row, visitor);
    if (visitor.withoutIdentity && row.sealed_with === 'recipient' && row.expired_at === null)
      throw new ServiceRefusal('identity', TO_PUBLIC_KEY);
    const own = isOwn(row, visitor);
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
    else events.viewed(isOwn(row, visitor) ? 'owner' : 'viewer', visitor.ip);
  }

  /** Claims, opens and records a reading, in one transaction. */
  private async open(sql: Sql, viewing: Viewing): Promise<Viewed> {
    const { row, own, visitor, key } = viewing;
    if (visitor.signal?.aborted) throw abandoned();
    const now = this.options.now();
    // What was answered as expired stays expired if the clock is set back.
    const claimed = row.expired_at === null ? await claim(sql, row, own, now) : undefined;
    // The claim has waited for copies. None has used a view if nobody has since the row was read.
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
   * Opens what was claimed; undefined if the secret is gone. The last view, which has expired the row, destroys the secret at
   * once, and the files, which nothing in the database opens any more, when the links to them end. The statements are
   * concurrent, as PostgreSQL answers all in one round trip.
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
    // A secret that cannot be opened, for lack of a key or because the row was changed, takes no view.
    const key = secret && this.options.vault.openKey(row, secret, unlocked);
    return key && { row, payload: secret.payload, files, key, isLast };
  }

  /** Takes the answer to a request, if there is one, and closes the request; its files stay while their links are valid. */
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
   * Records a reading in the audit log. A view, and an answer that was taken, is kept there for who has sent a key. A text that
   * the reading destroyed is kept for them, and for those who have taken earlier views.
   */
  private async record(
    sql: Sql,
    { own, visitor, key }: Viewing,
    all: readonly [Opened, ...Opened[]],
    now: number,
  ): Promise<void> {
    const [{ row, isLast }, answer] = all;
    const event = { pushId: row.id, from: visitor, at: now };
    if (own && !answer) return recordEvent(sql, { ...event, kind: 'owner_view' });
    // The question is read as often as its link is opened: not each reading has an entry.
    if (row.kind === 'request' && !answer)
      return recordRepeated(sql, { ...event, kind: 'request_view' }, this.options.maxFailures);
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

  /** Records an opening of a row that has ended, and ends it if no sweep has done so yet. */
  private async miss(sql: Sql, before: PushRow, visitor: Visitor, now: number): Promise<Viewed> {
    const { id, expires_at } = before;
    const due = before.expired_at !== null || expires_at <= now;
    const ended = due && (await endRecord(sql, id, expires_at, 0)) !== undefined;
    // What was answered as expired stays expired if the clock is set back, also for those who repeat.
    await forgetViews(sql, id, now);
    const event = { pushId: id, kind: 'failed_view', from: visitor, at: now } as const;
    await recordRepeated(sql, event, this.options.maxFailures);
    const stored = (await store.findPush(sql, before.lookup)) as StoredPush;
    const row = stateAt({ ...stored, url_token: before.url_token }, now);
    return { state: 'closed', row, ended, ...NOTHING, answer: NOTHING };
  }

  /** Reads again what a kept view has opened, the row as it was then; undefined when the view is not kept any more. */
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
    // Files are read before the text, as they are there for as long as it is.
    const files = mayHaveFiles(row) ? await listFiles(sql, row.id) : [];
    const payload = await readKept(sql, kept, row.id);
    return payload && this.contentOf({ row, payload, key, files }, kept.kept_at);
  }

  /** The content of a row that was opened then, with a link to each file. */
  private contentOf(
    { row, payload, key, files }: Omit<Opened, 'isLast'>,
    now: number,
  ): TextWithFiles {
    return {
      text: this.options.vault.openPayload(row.url_token, { payload }, key),
      files: this.options.files.offer(row, { key, at: now }, files),
    };
  }
}

/**
 * Finds the row if it is active, or takes one of its views, the last of which expires it. An owner locks the row, so that two of
 * their readings at once, or a reading and a closing, follow one another.
 */
function claim(sql: Sql, row: PushRow, own: boolean, now: number): Promise<StoredPush | undefined> {
  if (own) return store.lockActive(sql, row, now);
  return row.kind === 'request' ? store.findActive(sql, row, now) : store.takeView(sql, row, now);
}

/** The answer was taken: the files of the question end with it. */
function takenOf(row: PushRow, { text }: TextWithFiles, answer: TextWithFiles): Viewed {
  return { state: 'taken', row, ended: true, text, files: [], answer };
}

/** Bytes of memory for a text of that length, twice: a page of kind url contains it twice. */
function memoryFor(length = 0): number {
  return 2 * length;
}
