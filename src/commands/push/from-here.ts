import { type Entry, toJson } from '../../cli/terminal/output';
import { safe } from '../../cli/terminal/safe';
import { limits } from '../../contract/api';
import { size } from '../../contract/byte-size';
import type { HereEvent } from '../../contract/here-event';
import { isForPhones, ONLY_HERE, printCreated, reachNote } from '../../deliver/deliver-link';
import { CliError, phrase, usageError } from '../../platform/errors';
import { checkListening, LOST, withEphemeral } from '../../profile/ephemeral';
import { createPush } from '../../send/create';
import type { Draft, DraftPlan } from '../../send/draft';
import { prepare } from './run';

export interface EphemeralPlan extends DraftPlan {
  readonly place: {
    readonly kind: 'ephemeral';
    readonly host: string | undefined;
    readonly port: number;
  };
}

/**
 * Serves a push from the memory of this machine until all its views are used, it expires, or a signal ends the run;
 * then the push is gone.
 * @throws CliError (expired) if nobody has viewed it
 */
export async function run(entry: Entry, plan: EphemeralPlan): Promise<void> {
  const { place, result } = plan;
  const { host = '127.0.0.1', port } = place;
  await checkListening(host, port);
  const draft = await prepare(plan, entry, async () => 'pwpush');
  try {
    refuseLarge(draft);
    const settings = { kind: 'push', host, port, files: draft.files?.length ?? 0 } as const;
    await withEphemeral(entry, settings, reporter(draft, entry), async (instance) => {
      const made = await createPush(draft, instance, entry);
      const warnings = instance.exposed ? [...made.warnings, openly(plan)] : made.warnings;
      const reached =
        place.host === undefined
          ? [`${ONLY_HERE} (--host 0.0.0.0: the whole LAN)`]
          : reachNote(made.link);
      const last = [...reached, 'waiting for a view … (Ctrl-C expires the push)'];
      const shown = { ...result, qr: result.qr || isForPhones(entry, made.link) };
      const failure = await printCreated(entry, { ...made, warnings }, shown, last);
      if (failure) throw failure;
      const views = await instance.ended().catch(async (stopped) => {
        await entry.say.note('the push was expired');
        throw stopped;
      });
      if (views === 0) throw new CliError('expired', phrase('no-view'));
      await instance.settled();
    });
  } finally {
    await draft.close();
  }
}

function reporter({ files = [], plan }: Draft, { context, say }: Entry) {
  return (event: HereEvent): void => {
    const at = context.now().toISOString();
    if (say.manner.json) void say.printText(`${toJson({ ...event, at })}\n`).catch(() => {});
    else {
      const views = plan.limits.fields.expire_after_views ?? 1;
      void say[event.event === 'lost' ? 'warn' : 'note'](eventText(event, views, files.length));
    }
  };
}

function openly({ seal }: DraftPlan): string {
  const onTheWay = 'plain http: anyone on the way could';
  return seal.encryption
    ? `${onTheWay} change the page, which decrypts`
    : `${onTheWay} read it; safer with --encrypt`;
}

/** Refuses a large file before it is read, because encrypting it would take a while. */
function refuseLarge({ files = [] }: Draft): void {
  const large = files.find((file) => file.size > limits.bytesPerFile);
  if (large)
    throw usageError(
      `${large.name} is ${size(large.size)}; the limit is ${size(limits.bytesPerFile)} a file`,
      'pwpush serve --max-file-size has another limit',
    );
}

/** Describes what a visitor did, such as `10.0.0.7 viewed it: 1 of 3`. */
function eventText({ event, ip, count = 0 }: HereEvent, views: number, files: number): string {
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
