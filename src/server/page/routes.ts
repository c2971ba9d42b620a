import { type Context, Hono } from 'hono';
import { isArmored } from '../../age/armored';
import { isMultipart, readFields, readForm } from '../http/body';
import { baseOf, isOwnForm, isPrefetch } from '../http/caller';
import { typedText } from '../http/form-fields';
import { readMultipart } from '../http/multipart-push';
import { type Env, type PartOptions, visitorOf } from '../http/parts';
import { fileUrl, pushBody } from '../http/responses';
import { mayExpire } from '../rules/access';
import { notFound, Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { createdPage, type FormLimits, frontPage } from './front';
import { createLanguages } from './language';
import type { View } from './layout';
import { deletedPage, errorPage, Forbidden, gonePage, refusalPage } from './messages';
import { passphrasePage, passphraseProblem } from './passphrase-form';
import { plainDeleted, plainError, plainOffer, plainSecret, wantsText } from './plain';
import { addRequestPages } from './request-page-routes';
import { openPage, secretPage } from './secret';

/** The pages a recipient opens in a browser, and the form that creates a push. */
export function createPages(options: PartOptions): Hono<Env> {
  const { pushes, events, now, log, limited, settings } = options;
  const { anonymous, anonymousFiles, bounds, fileBytes, site } = settings;
  const wordsFor = createLanguages();
  const pages = new Hono<Env>();
  pages.use(limited);

  const base = (c: Context<Env>) => baseOf(c.req.raw, settings);
  const linkTo = (c: Context<Env>, push: PushRow) => pushBody(push, base(c), now()).html_url;
  const visitor = (c: Context<Env>) => visitorOf(c, settings);
  const viewOf = async (c: Context<Env>): Promise<View> => {
    return { words: await wordsFor(c.req.raw), site, now: now().getTime() };
  };

  /** @param open whether it is shown without a veil, after a button was pressed */
  async function show(
    c: Context<Env>,
    push: PushRow,
    passphrase: string,
    open: boolean,
  ): Promise<Response> {
    const caller = visitor(c);
    const reserve = (bytes: number) => c.get('memory').add(bytes);
    const seen = await pushes.retrieve(push.url_token, caller, passphrase, reserve);
    if (seen.text === null) throw notFound();
    const expirable = mayExpire(seen.push, caller);
    const files = seen.files.map((file) => ({ ...file, url: fileUrl(file, base(c)) }));
    if (wantsText(c.req.raw)) return plainSecret(seen.text, files);
    const view = await viewOf(c);
    return secretPage({ ...view, open }, { push: seen.push, payload: seen.text, files, expirable });
  }

  async function open(c: Context<Env>, step: boolean): Promise<Response> {
    const push = await find(c);
    const idle = c.req.method === 'HEAD' || isPrefetch(c.req.raw);
    if (push.expired_at === null && (step || idle || push.retrieval_step || push.protected)) {
      if (!idle) events.opened(visitor(c).ip);
      const offer = { push, link: linkTo(c, push) };
      return wantsText(c.req.raw) ? plainOffer(offer) : passphrasePage(await viewOf(c), offer);
    }
    if (push.expired_at === null) return show(c, push, '', false);
    if (!idle) pushes.missed(push, visitor(c));
    throw notFound();
  }

  async function submit(c: Context<Env>): Promise<Response> {
    checkForm(c);
    const form = await readForm(c.req.raw, c.env, c.get('memory'));
    // After the form has been checked, so that its errors do not show whether the push exists.
    const push = await find(c);
    if (push.expired_at !== null) {
      pushes.missed(push, visitor(c));
      throw notFound();
    }
    const asText = wantsText(c.req.raw);
    if (form.get('do') === 'expire') {
      await pushes.expire(push.url_token, visitor(c));
      return asText ? plainDeleted() : deletedPage(await viewOf(c));
    }
    const passphrase = form.get('passphrase') ?? '';
    return show(c, push, passphrase, true).catch(async (error: unknown) => {
      if (asText) throw error;
      const view = await viewOf(c);
      const problem = passphraseProblem(view, error, passphrase !== '');
      if (problem) return passphrasePage(view, { push, link: linkTo(c, push) }, problem);
      throw error;
    });
  }

  function checkForm(c: Context<Env>): void {
    if (!isOwnForm(c.req.raw, base(c))) throw new Forbidden('foreignForm');
  }

  function tokenOf(c: Context<Env>): string {
    if (!anonymous) throw new Forbidden('usersOnly');
    const token = c.req.param('token') ?? '';
    if (!/^[\w-]{1,128}$/.test(token)) throw notFound();
    return token;
  }

  async function find(c: Context<Env>): Promise<PushRow> {
    return pushes.find(tokenOf(c));
  }

  const form: FormLimits | undefined = anonymous
    ? { bounds, fileBytes: anonymousFiles ? fileBytes : undefined }
    : undefined;

  /** Creates a push from the form of the front page, by the rules of the API. */
  async function create(c: Context<Env>): Promise<Response> {
    checkForm(c);
    if (!form) throw new Forbidden('usersOnly');
    const fields: Record<string, string> = {};
    const upload = anonymousFiles ? pushes.upload() : undefined;
    try {
      await readForNew(c, fields, upload);
      const { push } = await pushes.create(fields, visitor(c), upload);
      const html_url = linkTo(c, push);
      const encrypted = isArmored(fields.payload ?? '');
      return createdPage(await viewOf(c), push, html_url, encrypted);
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.kind === 'abandoned') throw refusal;
      // The text is in the page again.
      c.get('memory').add(fields.payload?.length ?? 0);
      const refused = { fields, refusal, files: upload?.fileCount ?? 0 };
      return frontPage(await viewOf(c), { base: base(c), form, refused });
    } finally {
      // What cannot be discarded now is left to the sweep.
      await upload?.discard().catch(() => undefined);
    }
  }

  /** Reads the form into `fields`, which have what was read when a part is refused. */
  async function readForNew(
    c: Context<Env>,
    fields: Record<string, string>,
    upload: ReturnType<typeof pushes.upload> | undefined,
  ): Promise<void> {
    const memory = c.get('memory');
    const { raw } = c.req;
    if (isMultipart(raw))
      await readMultipart(
        raw,
        c.env,
        'push',
        upload && (async () => upload),
        { fileBytes, memory },
        fields,
      );
    else Object.assign(fields, await readFields(raw, c.env, memory));
    if (typeof fields.payload === 'string') fields.payload = typedText(fields.payload);
  }

  pages.get('/p/:token', (c) => open(c, false));
  pages.get('/p/:token/r', (c) => open(c, true));
  pages.post('/p/:token', submit);
  pages.post('/p/:token/r', submit);
  const openPush = (c: Context<Env>) => open(c, false);
  addRequestPages(pages, options, {
    ...{ base, viewOf, checkForm, tokenOf },
    ...{ openPush, submitPush: submit },
  });
  pages.get('/', async (c) => frontPage(await viewOf(c), { base: base(c), form }));
  pages.post('/', create);
  pages.get('/open', async (c) => openPage(await viewOf(c)));
  pages.all('*', async (c) => gonePage(await viewOf(c)));
  pages.onError(async (error, c) => {
    if (!(error instanceof Refusal)) log.failure(error);
    if (wantsText(c.req.raw)) return plainError(error);
    const view = await viewOf(c);
    if (!(error instanceof Refusal)) return errorPage(view);
    return error.kind === 'not_found' ? gonePage(view) : refusalPage(view, error);
  });
  return pages;
}
