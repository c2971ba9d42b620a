import { type Context, Hono } from 'hono';
import { readForm } from '../http/body';
import { baseOf, isOwnForm, isPrefetch } from '../http/caller';
import { type Env, type PartOptions, visitorOf } from '../http/parts';
import { fileUrl } from '../http/responses';
import { mayExpire } from '../rules/access';
import { notFound, Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import {
  deletedPage,
  errorPage,
  frontPage,
  gonePage,
  passphrasePage,
  passphraseProblem,
  refusalPage,
} from './messages';
import { secretPage } from './secret';

const FOREIGN_FORM =
  'This form was sent from another site. Open the link yourself, and press the button there.';

/** The pages a recipient opens in a browser. */
export function createPages(options: PartOptions): Hono<Env> {
  const { pushes, events, now, log, limited, settings } = options;
  const pages = new Hono<Env>();
  pages.use(limited);

  const time = () => now().getTime();
  const visitor = (c: Context<Env>) => visitorOf(c, settings);

  async function show(c: Context<Env>, push: PushRow, passphrase: string): Promise<Response> {
    const caller = visitor(c);
    const reserve = (bytes: number) => c.get('memory').add(bytes);
    const seen = await pushes.retrieve(push.url_token, caller, passphrase, reserve);
    if (seen.payload === null) return gonePage();
    const expirable = mayExpire(seen.push, caller);
    const base = baseOf(c.req.raw, settings);
    const files = seen.files.map((file) => ({ ...file, url: fileUrl(file, base) }));
    return secretPage({ ...seen, payload: seen.payload, files }, expirable, time());
  }

  async function open(c: Context<Env>, step: boolean): Promise<Response> {
    const push = await find(c);
    const idle = c.req.method === 'HEAD' || isPrefetch(c.req.raw);
    if (push.expired_at === null && (step || idle || push.retrieval_step || push.protected)) {
      if (!idle) events.opened(visitor(c).ip);
      return passphrasePage(push, time());
    }
    if (push.expired_at === null) return show(c, push, '');
    if (!idle) pushes.missed(push, visitor(c));
    return gonePage();
  }

  async function submit(c: Context<Env>): Promise<Response> {
    if (!isOwnForm(c.req.raw, baseOf(c.req.raw, settings))) {
      throw new Refusal('forbidden', FOREIGN_FORM);
    }
    const form = await readForm(c.req.raw, c.env, c.get('memory'));
    // After the form has been checked, so that its errors do not show whether the push exists.
    const push = await find(c);
    if (push.expired_at !== null) {
      pushes.missed(push, visitor(c));
      return gonePage();
    }
    if (form.get('do') === 'expire') {
      await pushes.expire(push.url_token, visitor(c));
      return deletedPage();
    }
    const passphrase = form.get('passphrase') ?? '';
    return show(c, push, passphrase).catch((error: unknown) => {
      const problem = passphraseProblem(error, passphrase !== '', time());
      if (problem) return passphrasePage(push, time(), problem);
      throw error;
    });
  }

  async function find(c: Context<Env>): Promise<PushRow> {
    if (!settings.anonymous)
      throw new Refusal('forbidden', 'This instance serves its own users only, through the API.');
    const token = c.req.param('token') ?? '';
    if (!/^[\w-]{1,128}$/.test(token)) throw notFound();
    return pushes.find(token);
  }

  pages.get('/p/:token', (c) => open(c, false));
  pages.get('/p/:token/r', (c) => open(c, true));
  pages.post('/p/:token', submit);
  pages.post('/p/:token/r', submit);
  pages.get('/', (c) => frontPage(baseOf(c.req.raw, settings), settings.anonymous));
  pages.all('*', () => gonePage());
  pages.onError((error) => {
    if (!(error instanceof Refusal)) {
      log.failure(error);
      return errorPage();
    }
    return error.kind === 'not_found' ? gonePage() : refusalPage(error, time());
  });
  return pages;
}
