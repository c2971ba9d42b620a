import { abandoned, busy, Refusal } from '../service-errors';
import { recordEvent, recordRepeated } from '../store/audit-rows';
import { endFiles, listFiles } from '../store/file-rows';
import type { PushRow, StoredPush } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { DAY, isOwn, LINK_TIME, stateAt, type Visitor } from './access';
import type { OfferedFile, Upload } from './files';
import { type ValidRequest, validateRequest, validateResponse } from './new-request';
import type { Owner } from './owners';
import { newUrlToken, type PushWithNote, pageOf, Records } from './records';

/** Open until it is answered, ready until its owner has read the answer, then closed; closed too when its time is over. */
export type RequestState = 'open' | 'ready' | 'closed';

export interface ReadRequest {
  readonly request: PushRow;
  /** null if the request is closed. */
  readonly question: string | null;
  readonly questionFiles: readonly OfferedFile[];
  /** null for anybody but the owner, and unless the request was ready. */
  readonly response: string | null;
  readonly files: readonly OfferedFile[];
}

export function requestState({ expired_at, views }: PushRow): RequestState {
  if (expired_at !== null) return 'closed';
  return views > 0 ? 'ready' : 'open';
}

/**
 * The rules of requests. A request is a row of `pushes` whose payload is the question and whose one view is the answer:
 * taking a view is atomic, so one answer wins. The answer is another such row, without a link, which ends with the view
 * of its owner. Its data key is sealed with that of the request too, so that a passphrase protects both.
 */
export class Requests extends Records {
  protected readonly what = 'request';
  /** Uploads for answers that have not arrived whole, by request. */
  private readonly arriving = new Map<number, Set<Upload>>();

  /**
   * Validates and stores a new request with the files of its question.
   * @throws Refusal with messages by field
   */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    return this.store(validateRequest(input, this.options.bounds), visitor, upload);
  }

  private async store(
    creation: ValidRequest,
    visitor: Visitor,
    upload: Upload | undefined,
  ): Promise<PushWithNote> {
    await this.options.space.check();
    const { request: payload, note, passphrase, close_after, name, public_key } = creation;
    const { urlToken, key } = upload ?? { urlToken: newUrlToken() };
    const { database, vault, events } = this.options;
    const push = await vault.keys.withKeys(async () => {
      const now = this.options.now();
      const row = {
        owner_id: visitor.owner?.id ?? null,
        kind: 'request' as const,
        name,
        expire_after_days: Math.ceil((close_after * 1000) / DAY),
        expire_after_views: 1,
        deletable_by_viewer: 0,
        retrieval_step: Number(creation.retrieval_step),
        protected: Number(passphrase !== ''),
        created_at: now,
        expires_at: now + close_after * 1000,
        public_key,
        include_requestor: Number(creation.include_requestor),
        response_file_attachments: Number(creation.response_file_attachments),
      };
      const secret = { key, payload, note, passphrase, waiter: visitor };
      const sealed = await this.seal(row, secret, urlToken);
      const inserted = await database.transaction(async (sql) => {
        if (visitor.signal?.aborted) throw abandoned();
        return this.insert(sql, sealed, visitor, upload);
      });
      return { ...inserted, url_token: urlToken };
    });
    events.requestChanged('created');
    return { push, note };
  }

  protected record({ url_token }: PushRow, visitor: Visitor): Promise<unknown> {
    return this.read(url_token, visitor, '');
  }

  /**
   * Returns the question, and to the owner the answer, if there is one, which closes the request. The links to its files
   * stay valid for a while.
   * @param reserve receives the bytes of memory that the texts take; when it throws, the answer is not taken
   * @throws Refusal when there is no request, or for the passphrase
   */
  async read(
    urlToken: string,
    visitor: Visitor,
    passphrase: string,
    reserve: (bytes: number) => void = () => {},
  ): Promise<ReadRequest> {
    const request = await this.find(urlToken);
    const { database, vault, files } = this.options;
    const found = await vault.keys.withKeys(async () => {
      const unlocked = await this.passphrases.keyOf(request, visitor, passphrase);
      return database.transaction(
        async (sql) => {
          if (visitor.signal?.aborted) throw abandoned();
          const own = isOwn(request, visitor);
          // So that an owner's two readings at once, or a reading and a closing, follow one another.
          if (own) await store.lockPush(sql, request.id);
          const now = this.options.now();
          // A request that was answered as closed stays closed if the clock is set back.
          const current =
            request.expired_at === null ? await store.findActive(sql, request.id, now) : undefined;
          const secret = current && (await store.findSecret(sql, request.id));
          if (!current || !secret) return this.miss(sql, request, visitor);
          const row = { ...current, url_token: urlToken };
          const key = vault.openKey(row, secret, unlocked);
          reserve(secret.payload?.length ?? 0);
          const question = {
            text: vault.openPayload(urlToken, secret, key),
            files: files.offer(urlToken, key, await listFiles(sql, request.id)),
          };
          const answer = own && (await this.takeAnswer(sql, row, key, now, reserve));
          if (!answer) await this.recordReading(sql, row, visitor, now);
          else
            await recordEvent(sql, {
              pushId: request.id,
              kind: 'response_view',
              from: visitor,
              at: now,
            });
          return { row, question, answer: answer || undefined, ended: answer !== false };
        },
        { frees: request.expired_at !== null || request.views > 0 },
      );
    });
    const { row, question, answer, ended } = found;
    if (answer) this.options.events.requestChanged('read');
    else if (ended) this.options.events.requestChanged('expired');
    if (ended) await this.ended(request);
    return {
      request: row,
      question: question?.text ?? null,
      // They end with the request.
      questionFiles: (!answer && question?.files) || [],
      response: answer?.text ?? null,
      files: answer?.files ?? [],
    };
  }

  /** Records a reading of a request that is closed, and ends it if no sweep has done so yet. */
  private async miss(sql: Sql, request: PushRow, visitor: Visitor) {
    const now = this.options.now();
    const due = request.expires_at <= now;
    const ended = due && (await endRequest(sql, request.id, request.expires_at, 0)) !== undefined;
    await this.recordLate(sql, 'failed_view', request, visitor);
    const row = (await store.findPush(sql, request.lookup)) as StoredPush;
    const closed = stateAt({ ...row, url_token: request.url_token }, now);
    return { row: closed, question: undefined, answer: undefined, ended };
  }

  /** The question is read as often as its link is opened, by its owner too: not each reading has an entry. */
  private recordReading(sql: Sql, request: PushRow, visitor: Visitor, at: number): Promise<void> {
    const event = { pushId: request.id, from: visitor, at };
    if (isOwn(request, visitor)) return recordEvent(sql, { ...event, kind: 'owner_view' });
    return recordRepeated(sql, { ...event, kind: 'request_view' }, this.options.maxFailures);
  }

  /** Takes the answer, if there is one, and closes the request; the files stay for as long as their links are valid. */
  private async takeAnswer(
    sql: Sql,
    request: PushRow,
    requestKey: Uint8Array,
    now: number,
    reserve: (bytes: number) => void,
  ) {
    const { vault, files } = this.options;
    if (request.answer_id === null) return false;
    const taken = await store.takeView(sql, request.answer_id, now);
    const secret = taken && (await store.findSecret(sql, taken.id));
    if (!taken || !secret) return false;
    const answer = { ...taken, url_token: vault.keys.links.open(taken) };
    const key = vault.openKey(answer, secret, requestKey);
    reserve(secret.payload?.length ?? 0);
    const rows = await listFiles(sql, answer.id);
    await store.endPush(sql, request.id, now, 0);
    const filesUntil = Math.min(now + LINK_TIME, answer.expires_at);
    await store.endWithView(sql, answer.id, now, filesUntil);
    return {
      text: vault.openPayload(answer.url_token, secret, key),
      files: files.offer(answer.url_token, key, rows),
    };
  }

  /**
   * Begins the upload of the files of an answer, which ends when another answer wins. The caller ends it with
   * `discardAnswer` in any case.
   * @throws Refusal when there is no request, it was answered or is closed, too many answers are arriving, or for the
   *   passphrase
   */
  async uploadAnswer(urlToken: string, visitor: Visitor, passphrase: string): Promise<Upload> {
    const request = await this.findOpen(urlToken, visitor);
    await this.passphrases.keyOf(request, visitor, passphrase);
    const uploads = this.arriving.get(request.id) ?? new Set();
    if (uploads.size >= this.options.uploadsPerRequest)
      throw busy('Other answers with files are being sent. Try again later.');
    const check = async () => void (await this.findOpen(urlToken, visitor));
    const upload = this.options.files.upload(newUrlToken(), check);
    this.arriving.set(request.id, uploads.add(upload));
    return upload;
  }

  /** Discards the upload, unless its answer has won. */
  async discardAnswer({ id }: PushRow, upload: Upload): Promise<void> {
    const uploads = this.arriving.get(id);
    uploads?.delete(upload);
    if (uploads?.size === 0) this.arriving.delete(id);
    await upload.discard();
  }

  /** Deletes what has arrived of other answers to a request that takes none any more; their senders learn why. */
  private async discardArriving({ id }: PushRow): Promise<void> {
    const uploads = [...(this.arriving.get(id) ?? [])];
    // What cannot be discarded now is left to the sweep.
    await Promise.allSettled(uploads.map((upload) => upload.discard()));
  }

  private async findOpen(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const request = await this.find(urlToken);
    if (requestState(request) !== 'open') throw await this.late(request, visitor);
    return request;
  }

  /**
   * Stores the answer to a request. Of several, the first wins. The answer of a client that has disconnected counts: the
   * owner waits for it.
   * @throws Refusal with messages by field; when there is no request, it was answered or is closed; for the passphrase
   */
  async respond(
    urlToken: string,
    input: object,
    visitor: Visitor,
    passphrase: string,
    upload?: Upload,
  ): Promise<PushRow> {
    const { database, vault, events, space } = this.options;
    const request = await this.findOpen(urlToken, visitor);
    const payload = validateResponse(input, upload?.fileCount ?? 0);
    await space.check();
    const answered = await vault.keys.withKeys(async () => {
      const unlocked = await this.passphrases.keyOf(request, visitor, passphrase);
      const secret = await store.findSecret(database.sql, request.id);
      if (!secret) return undefined;
      const requestKey = vault.openKey(request, secret, unlocked);
      const now = this.options.now();
      const { urlToken: answerToken, key } = upload ?? { urlToken: newUrlToken() };
      const row = {
        owner_id: request.owner_id,
        kind: 'answer' as const,
        name: '',
        expire_after_days: request.expire_after_days,
        expire_after_views: 1,
        deletable_by_viewer: 0,
        retrieval_step: 0,
        protected: 0,
        created_at: now,
        expires_at: request.expires_at,
      };
      const texts = { key, payload, note: '', passphrase: '', requestKey };
      const sealed = await this.seal(row, texts, answerToken);
      return database.transaction(async (sql) => {
        if (!(await store.takeView(sql, request.id, now))) return undefined;
        const answer = await this.insert(sql, sealed, visitor, upload);
        await recordEvent(sql, { pushId: request.id, kind: 'response', from: visitor, at: now });
        return store.keepAnswer(sql, request.id, answer.id, now);
      });
    });
    if (!answered) throw await this.late(await this.find(urlToken), visitor);
    events.requestChanged('answered');
    await this.discardArriving(request);
    return { ...answered, url_token: urlToken };
  }

  /** The refusal of an answer that comes too late, which is recorded. */
  private async late(request: PushRow, visitor: Visitor): Promise<Refusal> {
    await this.recordLate(this.options.database.sql, 'failed_response', request, visitor);
    return request.views > 0
      ? new Refusal('answered', 'That request was answered.')
      : new Refusal('closed', 'That request is closed.');
  }

  private recordLate(
    sql: Sql,
    kind: 'failed_view' | 'failed_response',
    { id }: PushRow,
    from: Visitor,
  ): Promise<void> {
    const { maxFailures, now } = this.options;
    return recordRepeated(sql, { pushId: id, kind, from, at: now() }, maxFailures);
  }

  /**
   * Closes the owner's request and destroys its answer; a closed request stays as it is.
   * @throws Refusal when there is no request, or it belongs to another owner
   */
  async close(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const request = await this.find(urlToken);
    if (!isOwn(request, visitor)) throw new Refusal('forbidden', 'That request is not yours.');
    const closed = await this.options.database.transaction(
      async (sql) => {
        const now = this.options.now();
        const due = request.expires_at <= now;
        const row = await endRequest(sql, request.id, due ? request.expires_at : now, due ? 0 : 1);
        // The files whose links are still valid after the owner's reading.
        if (!row && request.answer_id !== null) await endFiles(sql, request.answer_id);
        if (row && !due)
          await recordEvent(sql, { pushId: request.id, kind: 'close', from: visitor, at: now });
        return row && { row, due };
      },
      { frees: true },
    );
    if (closed) this.options.events.requestChanged(closed.due ? 'expired' : 'closed');
    await this.discardArriving(request);
    await this.ended(request);
    return this.find(urlToken);
  }

  /** The owner's requests in that state with their notes, newest first; `active` are open and ready ones. */
  async list(owner: Owner, state: RequestState | 'active', page: number): Promise<PushWithNote[]> {
    const { database, vault } = this.options;
    return vault.keys.withKeys(async () => {
      const now = this.options.now();
      if (state === 'closed') {
        const rows = await store.listClosedRequests(database.sql, owner.id, now, pageOf(page));
        return this.listed(rows, (push) => ({ push: stateAt(push, now), note: '' }));
      }
      const views = { from: Number(state === 'ready'), to: Number(state !== 'open') };
      const rows = await store.listOpenRequests(database.sql, owner.id, views, now, pageOf(page));
      return this.listed(rows, ({ key_id, note_key, note, ...push }) => ({
        push,
        note: vault.openNote(push, { key_id, note_key, note }),
      }));
    });
  }
}

/** Ends a request and its answer, in this order as everything that writes both; undefined if it had ended. */
async function endRequest(sql: Sql, id: number, at: number, deleted: 0 | 1) {
  const ended = await store.endPush(sql, id, at, deleted);
  if (ended?.answer_id != null) await store.endPush(sql, ended.answer_id, at, deleted);
  return ended;
}
