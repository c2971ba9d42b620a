import { fromHere } from '../../cli/service-io';
import { toJson } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { linkIn, withKey } from '../../client/link';
import type { HereEvent } from '../../contract/here-event';
import { CliError, endedBy } from '../../platform/errors';
import { aborted } from '../../platform/files/abort';
import type { Session } from '../../profile/session';
import { type CreatedLink, deliverLink } from '../../share/deliver-link';
import type { PushOptions } from './push-options';
import { type Draft, type ReadyPush, readyPush } from './ready';
import { createdObject, summaryOf } from './result';

type HereService = Awaited<ReturnType<typeof start>>;

/**
 * Serves one push from the memory of this machine until all its views are taken, it expires, or a signal ends it: then it
 * is gone.
 * @throws CliError (expired) if nobody has viewed it
 */
export async function pushHere(
  session: Session,
  options: PushOptions,
  draft: Draft,
): Promise<void> {
  const { context } = session;
  const ready = await readyPush(draft, options, context);
  context.interrupts.enter({ mode: 'own' });
  const { signal: stop } = context;
  const here = await start(session, options, ready).catch(async (error) => {
    await ready.withdraw(error);
    throw error;
  });
  try {
    if (stop.aborted) throw endedBy(stop);
    await showLink(session, options, createdLink(here, ready, options.locale));
    await untilViewed(session, here, stop);
  } finally {
    await here.close();
  }
}

async function showLink(
  session: Session,
  options: PushOptions,
  created: CreatedLink,
): Promise<void> {
  const { context, say } = session;
  const drawn = context.stderr.isTTY && !options.quiet && !options.json;
  const failure = await deliverLink(session, { ...options, qr: options.qr || drawn }, created);
  if (failure) throw failure;
  if (options.host === undefined)
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

function start(session: Session, options: PushOptions, { request: push, files = [] }: ReadyPush) {
  const { host = '127.0.0.1', port = 0, tlsCert, tlsKey } = options;
  const views = options.views ?? 1;
  const { context, say } = session;
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
