import { type Context, Hono } from 'hono';
import { refusalHead } from '../answer';
import type { Env, PartOptions } from '../app';
import { readForm } from '../body';
import { baseOf, isOwnForm, isPrefetch, originOf } from '../caller';
import { fileUrl } from '../download';
import type { PushRow, Visitor } from '../pushes';
import { mayExpire } from '../pushes';
import { notFound, Refusal } from '../refusal';
import { page } from './layout';
import { markup } from './markup';
import { askPage, endedPage, gonePage, secretPage } from './views';

/** The pages a recipient opens in a browser. */
export function createPages({ pushes, now, limited, settings }: PartOptions): Hono<Env> {
  const pages = new Hono<Env>();
  pages.use(limited);

  const visitor = (c: Context<Env>): Visitor => ({
    ...originOf(c.req.raw, c.env, settings),
    owner: undefined,
    signal: c.req.raw.signal,
  });

  async function show(c: Context<Env>, push: PushRow, passphrase: string): Promise<Response> {
    const caller = visitor(c);
    const seen = await pushes.retrieve(push.url_token, caller, passphrase);
    if (seen.payload === null) return gonePage();
    const expirable = mayExpire(seen.push, caller);
    const base = baseOf(c.req.raw, settings);
    const files = seen.files.map((file) => ({ ...file, url: fileUrl(file, base) }));
    return secretPage({ ...seen, payload: seen.payload, files }, expirable, now().getTime());
  }

  async function open(c: Context<Env>, step: boolean): Promise<Response> {
    const push = await find(c);
    const idle = c.req.method === 'HEAD' || isPrefetch(c.req.raw);
    if (push.expired_at === null && (step || idle || push.retrieval_step || push.protected)) {
      return askPage(push, now().getTime());
    }
    return idle ? gonePage() : show(c, push, '');
  }

  async function submit(c: Context<Env>): Promise<Response> {
    if (!isOwnForm(c.req.raw, baseOf(c.req.raw, settings))) {
      throw new Refusal('forbidden', 'This form was sent from another site.');
    }
    const form = await readForm(c.req.raw, c.env);
    // Not before: what is said of the form must not tell whether there is, or was, a push.
    const push = await find(c);
    const expire = form.get('do') === 'expire' && push.expired_at === null;
    if (!expire) return await show(c, push, form.get('passphrase') ?? '');
    await pushes.expire(push.url_token, visitor(c));
    return endedPage();
  }

  /** Asks again where the passphrase was the trouble. */
  async function answered(c: Context<Env>, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.kind === 'not_found') return gonePage();
      if (error.kind !== 'passphrase') return refusalPage(error);
      const { status } = refusalHead(error);
      return askPage(await find(c), now().getTime(), 'That passphrase is not right.', status);
    }
  }

  async function find(c: Context<Env>): Promise<PushRow> {
    if (!settings.anonymous)
      throw new Refusal('forbidden', 'This instance serves its own users only, through the API.');
    const token = c.req.param('token') ?? '';
    if (!/^[\w-]{1,128}$/.test(token)) throw notFound();
    return pushes.find(token);
  }

  pages.get('/p/:token', (c) => answered(c, () => open(c, false)));
  pages.get('/p/:token/r', (c) => answered(c, () => open(c, true)));
  pages.post('/p/:token', (c) => answered(c, () => submit(c)));
  pages.post('/p/:token/r', (c) => answered(c, () => submit(c)));
  pages.get('/', () =>
    page(
      'pwpush',
      markup`<p>This is a Password Pusher instance. It hands over secrets as links that stop working.</p>`,
    ),
  );
  pages.all('*', () => gonePage());
  pages.onError((error) => {
    if (!(error instanceof Refusal)) throw error;
    return refusalPage(error);
  });
  return pages;
}

function refusalPage(refusal: Refusal): Response {
  const { status, headers } = refusalHead(refusal);
  return page('That did not work', markup`<p>${refusal.message}</p>`, status, headers);
}
