import { DAY_SECONDS } from '../../contract/lifetime';
import type { Owner } from '../owners/owners';
import { sentOf } from '../pushes/new-push';
import { isOwn, type Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import { type KeyedCall, keyedCall, retryOrThrow } from '../rules/once';
import { possiblePassphrase, recordFailure } from '../rules/passphrase-check';
import { newUrlToken, type PushWithNote } from '../rules/records';
import { type Opener, Views } from '../rules/views';
import { busy, invalid, ServiceRefusal } from '../service-errors';
import { recordEvent } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import * as store from '../store/push-rows';
import { requestSchema, responseIn, validateRequest, validateResponse } from './new-request';

/** Who answers which request, and what. */
export interface NewAnswer extends Opener {
  readonly input: object;
  readonly upload: Upload | undefined;
}

const respondCall = (urlToken: string) => ['respond', urlToken];

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
export class Requests extends Views {
  protected readonly what = 'request';
  /** Uploads for answers that have not arrived whole, by request. */
  private readonly arriving = new Map<number, Set<Upload>>();

  /**
   * Validates and stores a new request with the files of its question.
   * @throws ServiceRefusal with messages by field
   */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    const { bounds } = this.options;
    const valid = validateRequest(input, bounds);
    const { request: payload, note, passphrase, close_after: lifetime, ...fields } = valid;
    const expire_after_days = Math.ceil(lifetime / DAY_SECONDS);
    // Not awaited, so that the input can be freed while the passphrase waits to be hashed.
    return this.make({
      call: 'create request',
      sent: sentOf(input, requestSchema(bounds)),
      row: { ...fields, kind: 'request', expire_after_days, expire_after_views: 1 },
      lifetime,
      texts: { payload, note, passphrase },
      visitor,
      upload,
    });
  }

  /**
   * Begins the upload of the files of an answer, which ends when another answer wins. The caller discards it in any case.
   * @throws ServiceRefusal when there is no request, it takes no files, was answered or is closed, too many answers are arriving,
   *   or for the passphrase
   */
  async uploadAnswer({ urlToken, visitor, passphrase }: Opener): Promise<Upload> {
    const { database, now } = this.options;
    const isAnswered = () =>
      keyedCall(visitor, respondCall(urlToken), [])?.isMade(database.sql, now());
    // The files of an answer that is sent again are only compared, also if the first came while they arrive.
    const find = async () => {
      const request = await this.find(urlToken);
      if (requestState(request) === 'open' || (await isAnswered())) return request;
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
    const { database, now } = this.options;
    const fields = [responseIn(input), possiblePassphrase(passphrase)];
    const body = [...fields, ...(upload?.contents ?? [])];
    const key = keyedCall(visitor, respondCall(urlToken), body);
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.respondOnce(answer, key);
      } catch (error) {
        if (await key?.replay(database.sql, now())) return this.find(urlToken);
        retryOrThrow(error, tries);
      }
    }
  }

  private async respondOnce(answer: NewAnswer, key: KeyedCall | undefined): Promise<PushRow> {
    const { database } = this.options;
    const { urlToken, visitor } = answer;
    const request = await this.find(urlToken);
    if (requestState(request) !== 'open') {
      await key?.check(database.sql, this.options.now());
      throw await this.late(request, visitor);
    }
    const sealed = await this.sealAnswer(request, answer);
    if (!sealed) throw await this.late(await this.find(urlToken), visitor);
    const { created_at: now } = sealed.row;
    const answered = await database.transaction(async (sql) => {
      if (!(await store.takeView(sql, request, now))) return key?.check(sql, now);
      await key?.keep(sql, request, now);
      const { id } = await this.insert(sql, sealed, visitor);
      await recordEvent(sql, { pushId: request.id, kind: 'response', from: visitor, at: now });
      return store.keepAnswer(sql, request.id, id, now);
    });
    if (!answered) throw await this.late(await this.find(urlToken), visitor);
    this.options.events.requestChanged('answered');
    await this.discardArriving(request);
    return { ...answered, url_token: urlToken };
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
    const kind = 'failed_response';
    await recordFailure(this.options, { pushId: request.id, kind, from: visitor });
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
    await this.end(request, visitor, may);
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
