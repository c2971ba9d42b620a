import type { Context } from 'hono';
import type { PartOptions } from '../app-options';
import { type Env, visitorOf } from '../http/env';
import { baseOf, isOwnForm, isPrefetch } from '../http/request-origin';
import { fileUrl } from '../http/responses';
import type { Visitor } from '../rules/access';
import type { OfferedFile } from '../rules/files';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { wordsFor } from './language';
import type { View } from './layout';
import { Forbidden } from './messages';

/** A request for a page, and what it takes to answer it. */
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

  /** A visitor without an owner, as pages take no API token. */
  visitor(): Visitor {
    return visitorOf(this.c, this.options.settings);
  }

  /**
   * Who sends a form, with the value of its field `once` (`onceField`) as `Idempotency-Key`, and that of `key_proof`, which
   * its script fills in.
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

  /** Logs why a form was refused, which its page then says. Throws what no page can say, or nobody reads any more. */
  refusalOf(error: unknown): ServiceRefusal {
    if (!(error instanceof ServiceRefusal) || error.kind === 'abandoned') throw error;
    this.options.log.failure(error);
    return error;
  }

  /** Whether a program sends the form, or the script of the page: both show what comes back themselves. */
  get wantsJson(): boolean {
    return this.request.headers.get('accept') === 'application/json';
  }

  /** Whether nobody reads the page: a view may not be used. */
  get isIdle(): boolean {
    return this.request.method === 'HEAD' || isPrefetch(this.request);
  }
}

/** Does what a form asks for once. A form that was changed before it was sent again, after Back, is another form. */
export async function doOnce<T>(sender: Visitor, work: (sender: Visitor) => Promise<T>) {
  try {
    return await work(sender);
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.kind !== 'reused') throw error;
    return work({ ...sender, idempotencyKey: undefined });
  }
}

/** Whether a person has to press a button, or enter the passphrase, first: also where a script has to prove the key. */
export function asksFirst(row: PushRow): boolean {
  return row.protected === 1 || row.retrieval_step === 1 || row.key_proof !== null;
}
