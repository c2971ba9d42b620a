import type { RequestState } from '../../contract/api';
import { DAY_SECONDS } from '../../contract/lifetime';
import type { Owner } from '../owners/owners';
import { sentOf } from '../pushes/new-push';
import { isOwn, notOwn, type Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import { doOrReplay, type KeyedCall, keyedCall } from '../rules/once';
import { possiblePassphrase, recordFailure } from '../rules/passphrase-check';
import { newUrlToken, type PushWithNote } from '../rules/records';
import { type Opener, Views } from '../rules/views';
import { busy, invalid, ServiceRefusal } from '../service-errors';
import { countOf } from '../shares';
import { recordEvent } from '../store/audit-rows';
import type { PushRow } from '../store/push-rows';
import * as store from '../store/push-rows';
import { requestSchema, responseIn, validateRequest, validateResponse } from './new-request';

export interface NewAnswer extends Opener {
  readonly input: object;
  readonly upload: Upload | undefined;
}

/** Milliseconds after which an upload shows how fast it is. */
const SLOW_AFTER = 10_000;

const respondCall = (urlToken: string) => ['respond', urlToken];

/** `open` until the request is answered, `ready` until the owner reads the answer, `closed` after that or on expiry. */
export function requestState({ expired_at, views }: PushRow): RequestState {
  if (expired_at !== null) return 'closed';
  return views > 0 ? 'ready' : 'open';
}

/**
 * The rules of requests. A request is a row of `pushes` whose payload is the question. Answering takes the one view of
 * the row, which is atomic, so that only one answer is stored. The answer is another row, without a link, and ends when
 * the owner reads it. Its data key is also sealed with that of the request, so that one passphrase protects both rows.
 */
export class Requests extends Views {
  protected readonly what = 'request';
  /** Unfinished uploads of files for answers, by the id of the request. */
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
   * Begins the upload of the files of an answer. It ends when another answer is stored; the caller must always
   * `discard` it.
   * @throws ServiceRefusal when there is no request, it takes no files, was answered or is closed, when the passphrase
   *   is missing or wrong, or when too many answers are arriving
   */
  async uploadAnswer({ urlToken, visitor, passphrase }: Opener): Promise<Upload> {
    const { database, now } = this.options;
    const isAnswered = () =>
      keyedCall(visitor, respondCall(urlToken), [])?.isMade(database.sql, now());
    // Files are also read for an answer that is sent again with the same key, to compare them with those of the first.
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
    this.makeRoom(uploads, visitor);
    const upload = this.options.files.upload(newUrlToken(), visitor, {
      check: async () => requestState(await find()) !== 'open',
      discarded: () => {
        uploads.delete(upload);
        if (uploads.size === 0 && this.arriving.get(id) === uploads) this.arriving.delete(id);
      },
    });
    this.arriving.set(id, uploads.add(upload));
    return upload;
  }

  /**
   * One client sends one answer at a time, so that no stranger takes the places of all. Of those of others, the slowest
   * makes room, if it had time to show that it is slow.
   * @throws ServiceRefusal (busy)
   */
  private makeRoom(uploads: ReadonlySet<Upload>, { client }: Visitor): void {
    const refusal = () => busy('Other answers with files are being sent. Try again later.');
    if (countOf(client, [...uploads]) >= 1) throw refusal();
    if (uploads.size < this.options.uploadsPerRequest) return;
    const now = this.options.now();
    const [slowest] = [...uploads]
      .filter(({ begun }) => now - begun >= SLOW_AFTER)
      .sort((one, other) => one.rate(now) - other.rate(now));
    if (!slowest) throw refusal();
    // Not awaited: `discard` frees the place before its first await.
    slowest.discard().catch(this.options.report);
  }

  /** Discards unfinished uploads after a request was answered or closed; `Upload.touch` tells the senders why. */
  private async discardArriving({ id }: PushRow): Promise<void> {
    await Promise.all([...(this.arriving.get(id) ?? [])].map((upload) => upload.discard()));
  }

  /**
   * Stores the answer, unless another one was first. An answer is stored even if its client has disconnected, as the
   * owner waits for it.
   * @throws ServiceRefusal with messages by field; when there is no request, or it was answered or is closed; when the
   *   passphrase is missing or wrong
   */
  async respond(answer: NewAnswer): Promise<PushRow> {
    const { urlToken, visitor, passphrase, input, upload } = answer;
    const { database, now } = this.options;
    const fields = [responseIn(input), possiblePassphrase(passphrase)];
    const body = [...fields, ...(upload?.contents ?? [])];
    const key = keyedCall(visitor, respondCall(urlToken), body);
    return doOrReplay(
      () => this.respondOnce(answer, key),
      async () => ((await key?.replay(database.sql, now())) ? this.find(urlToken) : undefined),
    );
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

  /** Returns undefined when the request has ended and its secret is destroyed. */
  private async sealAnswer(request: PushRow, { input, visitor, passphrase, upload }: NewAnswer) {
    const { database, vault, space } = this.options;
    const payload = validateResponse(input, upload?.fileCount ?? 0);
    await space.check(visitor, Buffer.byteLength(payload));
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

  /** Records that an answer came too late, and returns the refusal. */
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
    if (!may) throw notOwn(visitor, 'That request is not yours.');
    await this.discardArriving(request);
    return this.find(urlToken);
  }

  /** Returns requests newest first, with the notes of those not closed; `active` means open or ready. */
  list(owner: Owner, state: RequestState | 'active', page: number): Promise<PushWithNote[]> {
    const ended = state === 'closed';
    const listed = state === 'open' || state === 'ready' ? state : 'request';
    return this.listRecords(owner, { listed, ended }, page);
  }
}
