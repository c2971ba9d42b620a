import { fromHere } from '../cli/service-io';
import { toJson } from '../cli/terminal/output';
import { safe } from '../cli/terminal/safe';
import { linkIn, withKey } from '../client/link';
import type { HereEvent } from '../contract/here-event';
import { CliError, endedBy } from '../platform/errors';
import { aborted } from '../platform/files/abort';
import { scope } from '../platform/scope';
import type { Session } from '../profile/session';
import { createdObject, type Draft, preparePush, type ReadyPush, summaryOf } from './create-push';
import { type CreatedLink, deliverLink } from './deliver-link';

type HereService = Awaited<ReturnType<typeof start>>;

interface HerePlan {
  readonly draft: Draft;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** Language of the recipient's page. */
  readonly locale: string | undefined;
  readonly copy: boolean;
  readonly qr: boolean;
}

/**
 * Serves one push from the memory of this machine until all its views are taken, it expires, or a signal ends it: then it
 * is gone.
 * @throws CliError (expired) if nobody has viewed it
 */
export async function pushHere(session: Session, plan: HerePlan): Promise<void> {
  const { context } = session;
  const { ready, here } = await scope(async ({ undo }) => {
    const ready = await preparePush(plan.draft, session, undo);
    context.interrupts.enter({ mode: 'own' });
    return { ready, here: await start(session, plan, ready) };
  });
  const { signal: stop } = context;
  try {
    if (stop.aborted) throw endedBy(stop);
    await showLink(session, plan, createdLink(here, ready, plan.locale));
    const { notifying } = await import('../cli/terminal/desktop');
    await notifying(
      session,
      () => 'the push was viewed',
      () => untilViewed(session, here, stop),
    );
  } finally {
    await here.close();
  }
}

async function showLink(session: Session, plan: HerePlan, created: CreatedLink): Promise<void> {
  const { say, options } = session;
  const places = { json: options.json, copy: plan.copy, qr: plan.qr };
  if (!plan.qr) await (await import('../cli/terminal/qr')).drawServed(session, created.link);
  const failure = await deliverLink(session, places, created);
  if (failure) throw failure;
  if (plan.host === undefined)
    await say.remark('hint: use --host 0.0.0.0 to serve it to the whole LAN');
}

async function untilViewed({ say }: Session, here: HereService, stop: AbortSignal): Promise<void> {
  await say.remark('waiting for a view … (Ctrl-C expires the push)');
  const views = await Promise.race([here.ended, aborted(stop)]);
  if (views === undefined) {
    await say.note('the push was expired');
    throw endedBy(stop);
  }
  if (views === 0) throw new CliError('expired', 'the push expired without a view');
}

function start(session: Session, plan: HerePlan, { request: push, files = [] }: ReadyPush) {
  const { host = '127.0.0.1', port = 0, tlsCert, tlsKey } = plan;
  const views = push.expire_after_views ?? 1;
  const { context, say, options } = session;
  return fromHere(session, ({ serveHere }, io) =>
    serveHere({ host, port, tlsCert, tlsKey }, io, { push, files }, (event) => {
      const at = context.now().toISOString();
      if (options.json) void say.printText(`${toJson({ ...event, at })}\n`).catch(() => {});
      else void say.note(hereText(event, views, files.length));
    }),
  );
}

function createdLink(
  { push, exposed }: HereService,
  ready: ReadyPush,
  locale: string | undefined,
): CreatedLink {
  const open = 'plain http: anyone between here and the recipient can read it; see --tls-cert';
  return {
    object: createdObject(ready, push),
    link: withKey(linkIn(locale, push.html_url), ready.linkKey),
    warnings: exposed ? [open] : [],
    summary: summaryOf(ready, push, false),
  };
}

/** One line for a person who watches: `10.0.0.7 viewed it: 1 of 3`. */
function hereText({ event, ip, count = 0 }: HereEvent, views: number, files: number): string {
  const what = {
    opened: 'opened the page',
    viewed: `viewed it: ${count} of ${views}`,
    passphrase: 'entered no passphrase or a wrong one',
    fetched: files === 1 ? 'downloaded the file' : 'downloaded a file',
    deleted: 'deleted it',
    expired: 'the push has expired',
  }[event];
  return event === 'expired' ? what : `${safe(ip ?? 'someone')} ${what}`;
}
