import type { Context } from 'hono';
import { type Env, type PartOptions, visitorOf } from '../http/parts';
import { baseOf, isOwnForm } from '../http/request-origin';
import { fileUrl } from '../http/responses';
import type { Visitor } from '../rules/access';
import type { OfferedFile } from '../rules/files';
import { notFound } from '../service-errors';
import { createLanguages } from './language';
import type { View } from './layout';
import { Forbidden } from './messages';

export class PageContext {
  private readonly wordsFor = createLanguages();

  constructor(readonly options: PartOptions) {}

  base(c: Context<Env>): string {
    return baseOf(c.req.raw, this.options.settings);
  }

  async view(c: Context<Env>): Promise<View> {
    const { now, settings } = this.options;
    return { words: await this.wordsFor(c.req.raw), site: settings.site, now: now().getTime() };
  }

  /** No owner, as pages take no API token. */
  visitor(c: Context<Env>): Visitor {
    return visitorOf(c, this.options.settings);
  }

  downloads(c: Context<Env>, files: readonly OfferedFile[]) {
    return files.map((file) => ({ ...file, url: fileUrl(file, this.base(c)) }));
  }

  /**
   * The token of the path.
   * @throws Refusal for anything else, and unless everybody may open links
   */
  token(c: Context<Env>): string {
    if (!this.options.settings.anonymous) throw new Forbidden('usersOnly');
    const token = c.req.param('token') ?? '';
    if (!/^[\w-]{1,128}$/.test(token)) throw notFound();
    return token;
  }

  /** @throws Refusal for a form of another site */
  checkForm(c: Context<Env>): void {
    if (!isOwnForm(c.req.raw, this.base(c))) throw new Forbidden('foreignForm');
  }
}

/** Passed to the rules: counts the memory that texts take. */
export function reserving(c: Context<Env>): (bytes: number) => void {
  return (bytes) => c.get('memory').add(bytes);
}
