import { DAY_SECONDS } from '../../contract/lifetime';
import type { Owner } from '../owners/owners';
import { sentOf } from '../pushes/new-push';
import { isOwn, type Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import type { KeptView } from '../rules/once';
import {
  memoryFor,
  NOTHING,
  type Opened,
  sealedContent,
  type TextWithFiles,
  takenOf,
} from '../rules/opened';
import { possiblePassphrase } from '../rules/passphrase-check';
import { newUrlToken, type Opener, type PushWithNote, Records } from '../rules/records';
import { busy, invalid, ServiceRefusal } from '../service-errors';
import { recordEvent, recordRepeated } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import * as store from '../store/push-rows';
import type { Sql } from '../store/sql';
import { requestSchema, responseIn, validateRequest, validateResponse } from './new-request';

/** A request as someone reads it. */
export interface Reading {
  /** `taken` when this reading took the answer, which closed the request. */
  readonly state: 'open' | 'taken' | 'closed';
  readonly request: PushRow;
  /** Nothing of a closed request; its files end with the request. */
  readonly question: TextWithFiles;
  /** Nothing unless it was taken. */
  readonly answer: TextWithFiles;
}

/** Who answers which request, and what. */
export interface NewAnswer extends Opener {
  readonly input: object;
  readonly upload: Upload | undefined;
}

const respondCall = (urlToken: string) => ['respond', urlToken];

/** A reading that took the answer. The files of the question end with it. */
function readingOf(request: PushRow, question: TextWithFiles, answer: TextWithFiles) {
  return { state: 'taken' as const, request, question: { ...question, files: [] }, answer };
}

/** Open until it is answered, ready until its owner has read the answer, then closed; closed too when its time is over. */
export function requestState({ expired_at, views }: PushRow): 'open' | 'ready' | 'closed' {
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
   * @throws ServiceRefusal with messages by field
   */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    const valid = validateRequest(input, this.options.bounds);
    const { request: payload, note, passphrase, close_after, ...fields } = valid;
    const sent = sentOf(input, requestSchema(this.options.bounds));
    const body = [...sent, ...(upload?.contents ?? [])];
    const asked = { visitor, call: ['create request'], body };
    const again = async (id: number) => ({ push: await this.made(id), note });
    // Without the input, as that of `Pushes`.
    return this.once.make(asked, again, async (done) => {
      const row = {
        ...fields,
        kind: 'request' as const,
        owner_id: visitor.owner?.id ?? null,
        expire_after_days: Math.ceil(close_after / DAY_SECONDS),
        expire_after_views: 1,
        ...this.lasting(close_after),
      };
      const push = await this.store(row, { payload, note, passphrase }, visitor, upload, done);
      this.options.events.requestChanged('created');
      return { push, note };
    });
  }

  protected record({ url_token }: PushRow, visitor: Visitor): Promise<unknown> {
    return this.read({ urlToken: url_token, visitor, passphrase: '' });
  }

  /**
   * Returns the question, and to the owner the answer, if there is one, which closes the request. The links to its files
   * stay valid for a while.
   * @throws ServiceRefusal when there is no request, or for the passphrase
   */
  async read(opener: Opener): Promise<Reading> {
    const { urlToken, visitor, passphrase } = opener;
    const lookup = this.options.vault.keys.links.lookup(urlToken);
    const asked = { visitor, lookup, body: [possiblePassphrase(passphrase)] };
    const again = (kept: KeptView) => this.readAgain(kept, opener);
    return this.once.take<Reading>(asked, again, async (done) => {
      const found = this.known(urlToken, await done.find(this.options.database.sql));
      const own = isOwn(found, visitor);
      // So that an owner's two readings at once, or a reading and a closing, follow one another.
      const claim = own ? store.lockActive : store.findActive;
      const frees = found.expired_at !== null || found.views > 0;
      const opening = { ...opener, claim, frees, done };
      const reading = await this.open(found, opening, async (sql, opened, now) => {
        const { row: request } = opened;
        const question = this.contentOf(opened, now);
        const taken = own ? await this.takeAnswer(sql, opened, now, opener) : undefined;
        if (!taken) {
          await this.recordReading(sql, request, visitor, now);
          return { state: 'open' as const, request, question, answer: NOTHING };
        }
        const kind = 'response_view' as const;
        const event = { pushId: request.id, kind, from: visitor, at: now };
        if (!done.records) await recordEvent(sql, event);
        await done.keep(sql, request, event, takenOf([opened, taken], true));
        const answer = this.contentOf(taken, now);
        return readingOf(request, question, answer);
      });
      if (reading.state === 'closed') {
        const { row: request, ended } = reading;
        if (ended) await this.ended(request, 'expired');
        return { state: 'closed', request, question: NOTHING, answer: NOTHING };
      }
      if (reading.state === 'taken') await this.ended(reading.request, 'read');
      return reading;
    });
  }

  /** Reads the answer again that was taken, and the question. */
  private async readAgain(kept: KeptView, opener: Opener): Promise<Reading | undefined> {
    const { database, vault } = this.options;
    const closed = await store.findById(database.sql, kept.push_id);
    const row = closed && (await store.findById(database.sql, closed.answer_id as number));
    if (!row) return undefined;
    // As it was before it was closed.
    const told = { ...closed, url_token: opener.urlToken, expired_at: null };
    const request = { ...told, views: kept.views, updated_at: row.created_at };
    const question = await this.contentAgain(kept, request, opener);
    const taken = { ...row, url_token: vault.keys.links.open(row) };
    const answer = question && (await this.contentAgain(kept, taken, opener, 1));
    return answer && readingOf(request, question, answer);
  }

  private async ended(request: PushRow, how: 'expired' | 'read'): Promise<void> {
    this.options.events.requestChanged(how);
    await this.cleanUp(request);
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
    { row: request, key: requestKey }: Opened,
    now: number,
    { reserve }: Opener,
  ): Promise<Opened | undefined> {
    const { vault } = this.options;
    if (request.answer_id === null) return undefined;
    const found = await store.findActive(sql, { id: request.answer_id }, now);
    const taken = found && (await store.takeView(sql, found, now));
    const row = taken && { ...taken, url_token: vault.keys.links.open(taken) };
    const sealed = row && (await sealedContent(sql, row, now));
    if (!sealed) return undefined;
    const opened = { ...sealed, key: vault.openKey(sealed.row, sealed.secret, requestKey) };
    reserve?.(memoryFor(opened.secret.payload?.length));
    await store.endPush(sql, request.id, now, 0);
    return opened;
  }

  /**
   * Begins the upload of the files of an answer, which ends when another answer wins. The caller discards it in any case.
   * @throws ServiceRefusal when there is no request, it takes no files, was answered or is closed, too many answers are arriving,
   *   or for the passphrase
   */
  async uploadAnswer({ urlToken, visitor, passphrase }: Opener): Promise<Upload> {
    // The files of an answer that is sent again are only compared, also if the first came while they arrive.
    const find = async () => {
      const request = await this.find(urlToken);
      const calling = { visitor, call: respondCall(urlToken) };
      if (requestState(request) === 'open' || (await this.once.isMade(calling))) return request;
      throw await this.late(request, visitor);
    };
    const request = await find();
    if (!request.response_file_attachments)
      throw invalid({ files: ['This request accepts no files.'] });
    await this.passphrases.keyOf(request, visitor, passphrase);
    const { id } = request;
    const uploads = this.arriving.get(id) ?? new Set();
    if (uploads.size >= this.options.uploadsPerRequest)
      throw busy('Other answers with files are being sent. Try again later.');
    const upload = this.options.files.upload(newUrlToken(), {
      check: async () => void (await find()),
      discarded: () => {
        uploads.delete(upload);
        if (uploads.size === 0 && this.arriving.get(id) === uploads) this.arriving.delete(id);
      },
    });
    this.arriving.set(id, uploads.add(upload));
    return upload;
  }

  /** Deletes what has arrived of other answers to a request that takes none any more; their senders learn why. */
  private async discardArriving({ id }: PushRow): Promise<void> {
    await Promise.all([...(this.arriving.get(id) ?? [])].map((upload) => upload.discard()));
  }

  /**
   * Stores the answer to a request. Of several, the first wins. The answer of a client that has disconnected counts: the
   * owner waits for it.
   * @throws ServiceRefusal with messages by field; when there is no request, it was answered or is closed; for the passphrase
   */
  async respond(answer: NewAnswer): Promise<PushRow> {
    const { urlToken, visitor, passphrase, input, upload } = answer;
    const fields = [responseIn(input), possiblePassphrase(passphrase)];
    const body = [...fields, ...(upload?.contents ?? [])];
    const asked = { visitor, call: respondCall(urlToken), body };
    const again = () => this.find(urlToken);
    return this.once.make(asked, again, async (done) => {
      const { database } = this.options;
      const request = await this.find(urlToken);
      if (requestState(request) !== 'open') {
        await done.check(database.sql);
        throw await this.late(request, visitor);
      }
      const sealed = await this.sealAnswer(request, answer);
      if (!sealed) throw await this.late(await this.find(urlToken), visitor);
      const { created_at: now } = sealed.row;
      const answered = await database.transaction(async (sql) => {
        if (!(await store.takeView(sql, request, now))) return done.check(sql, now);
        await done.keep(sql, request, now);
        const { id } = await this.insert(sql, sealed, visitor);
        await recordEvent(sql, { pushId: request.id, kind: 'response', from: visitor, at: now });
        return store.keepAnswer(sql, request.id, id, now);
      });
      if (!answered) throw await this.late(await this.find(urlToken), visitor);
      this.options.events.requestChanged('answered');
      await this.discardArriving(request);
      return { ...answered, url_token: urlToken };
    });
  }

  /** Undefined when the request has lost its secret meanwhile. */
  private async sealAnswer(request: PushRow, { input, visitor, passphrase, upload }: NewAnswer) {
    const { database, vault, space } = this.options;
    const payload = validateResponse(input, upload?.fileCount ?? 0);
    await space.check();
    const unlocked = await this.passphrases.keyOf(request, visitor, passphrase);
    const secret = await store.findSecret(database.sql, request.id);
    if (!secret) return undefined;
    const requestKey = vault.openKey(request, secret, unlocked);
    const row = {
      kind: 'answer' as const,
      owner_id: request.owner_id,
      expire_after_days: request.expire_after_days,
      expire_after_views: 1,
      created_at: this.options.now(),
      expires_at: request.expires_at,
    };
    const texts = { payload, note: '', passphrase: '', requestKey };
    return this.seal(row, texts, visitor, upload);
  }

  /** The refusal of an answer that comes too late, which is recorded. */
  private async late(request: PushRow, visitor: Visitor): Promise<ServiceRefusal> {
    await this.options.database.transaction((sql) =>
      this.recordLate(sql, 'failed_response', request, visitor),
    );
    return request.views > 0
      ? new ServiceRefusal('answered', 'That request was answered.')
      : new ServiceRefusal('closed', 'That request is closed.');
  }

  /**
   * Closes the owner's request and destroys its answer; a closed request stays as it is.
   * @throws ServiceRefusal when there is no request, or it belongs to another owner
   */
  async close(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const request = await this.find(urlToken);
    const may = isOwn(request, visitor);
    const reason = await this.end(request, 'close', visitor, may);
    if (reason) this.options.events.requestChanged(reason === 'time' ? 'expired' : 'closed');
    if (!may) throw new ServiceRefusal('forbidden', 'That request is not yours.');
    await this.discardArriving(request);
    return this.find(urlToken);
  }

  /** The owner's requests in that state with their notes, newest first; `active` are open and ready ones. */
  list(
    owner: Owner,
    state: ReturnType<typeof requestState> | 'active',
    page: number,
  ): Promise<PushWithNote[]> {
    const ended = state === 'closed';
    const listed = state === 'open' || state === 'ready' ? state : 'request';
    return this.listRecords(owner, { listed, ended }, page);
  }
}
