import { toJson } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import type { HereEvent } from '../../contract/here-event';
import { CliError } from '../../platform/errors';
import type { Instance } from '../../profile/connect';
import { LOST, withHere } from '../../profile/here';
import type { Session } from '../../profile/session';
import type { Draft } from '../../send/create-push';
import type { PushOptions } from './push-flags';

/**
 * Serves a push from the memory of this machine until all its views are taken, it expires, or a signal ends it: then it is
 * gone.
 * @param create creates it at an instance and prints its link
 * @throws CliError (expired) if nobody has viewed it
 */
export async function pushHere(
  session: Session,
  { host, port = 0, json }: PushOptions,
  { files = [], limits }: Draft,
  create: (instance: Instance) => Promise<void>,
): Promise<void> {
  const { context, say } = session;
  const report = (event: HereEvent) => {
    const at = context.now().toISOString();
    if (json) void say.printText(`${toJson({ ...event, at })}\n`).catch(() => {});
    else
      void say[event.event === 'lost' ? 'warn' : 'note'](
        hereText(event, limits.expire_after_views ?? 1, files.length),
      );
  };
  const settings = { kind: 'push', host: host ?? '127.0.0.1', port, files: files.length } as const;
  await withHere(session, settings, report, async (here) => {
    if (here.exposed)
      await say.warn('plain http: anyone between here and the recipient can read it');
    await create(here);
    if (host === undefined)
      await say.remark('hint: use --host 0.0.0.0 to serve it to the whole LAN');
    await say.remark('waiting for a view … (Ctrl-C expires the push)');
    const views = await here.ended().catch(async (stopped) => {
      await say.note('the push was expired');
      throw stopped;
    });
    if (views === 0) throw new CliError('expired', 'the push expired without a view');
    await here.settled();
  });
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
    lost: LOST,
  }[event];
  return event === 'expired' ? what : `${safe(ip ?? 'someone')} ${what}`;
}
