import type { Context } from 'hono';
import type { PartOptions } from '../app-options';
import { type Env, visitorOf } from '../http/env';
import { baseOf, isNavigation, isOwnForm, isPrefetch } from '../http/request-origin';
import { fileUrl } from '../http/responses';
import type { Visitor } from '../rules/access';
import type { OfferedFile } from '../rules/files';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { wordsFor } from './language';
import type { View } from './layout';
import { Forbidden } from './messages';
import { wantsText } from './plain';

export class PageContext {
  constructor(
    readonly c: Context<Env>,
    readonly options: PartOptions,
  ) {}

  get request(): Request {
    return this.c.req.raw;
  }

  get base(): string {
    return baseOf(this.request, this.options.settings);
  }

  async view(): Promise<View> {
    const { now, settings } = this.options;
    return { words: await wordsFor(this.request), site: settings.site, now: now().getTime() };
  }

  /** Returns a visitor without an owner, as pages take no API token. */
  visitor(): Visitor {
    return visitorOf(this.c, this.options.settings);
  }

  /**
   * Returns the visitor who sends a form. Its field `once` (`onceField`) replaces the `Idempotency-Key` header, its
   * field `key_proof` the header with the proof.
   */
  sender(once = '', proof = ''): Visitor {
    const visitor = this.visitor();
    const { idempotencyKey, keyProof } = visitor;
    return {
      ...visitor,
      idempotencyKey: /^[\w-]{22}$/.test(once) ? once : idempotencyKey,
      keyProof: proof || keyProof,
    };
  }

  downloads(files: readonly OfferedFile[]) {
    return files.map((file) => ({ ...file, url: fileUrl(file, this.base) }));
  }

  /** @throws ServiceRefusal for a form of another site */
  checkForm(): void {
    if (!isOwnForm(this.request, this.base)) throw new Forbidden('foreignForm');
  }

  /**
   * Logs and returns a refusal for the page of the form. Rethrows other errors, and `abandoned`: the client is gone.
   */
  refusalOf(error: unknown): ServiceRefusal {
    if (!(error instanceof ServiceRefusal) || error.kind === 'abandoned') throw error;
    this.options.log.failure(error);
    return error;
  }

  /** Whether a program or the script of the page sends the form, and shows the response itself. */
  get wantsJson(): boolean {
    return this.request.headers.get('accept') === 'application/json';
  }

  /** Whether nobody reads the page, so that it must not use a view. */
  get isIdle(): boolean {
    return this.request.method === 'HEAD' || isPrefetch(this.request);
  }

  /** Whether GET may use a view: a person opens the page, or a program asks for the text rather than for a page. */
  get mayView(): boolean {
    const { request, isIdle, wantsJson } = this;
    return !isIdle && (isNavigation(request) || wantsText(request) || wantsJson);
  }
}

/** Runs `work` once per form. A form that was changed after Back has the same `once`, but counts as another form. */
export async function doOnce<T>(sender: Visitor, work: (sender: Visitor) => Promise<T>) {
  try {
    return await work(sender);
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.kind !== 'reused') throw error;
    return work({ ...sender, idempotencyKey: undefined });
  }
}

/** Whether a view first takes a pressed button, the passphrase, or a proof of the key from a script. */
export function asksFirst(row: PushRow): boolean {
  return row.protected === 1 || row.retrieval_step === 1 || row.key_proof !== null;
}
