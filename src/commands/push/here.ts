import type { Attachment } from '../../client/form';
import type { Context } from '../../context';
import type { NewPush } from '../../contract';
import { CliError, endedBy } from '../../errors';
import { withService } from '../../service-errors';
import { hereText } from '../../terminal/here-events';
import { terminal, toJson } from '../../terminal/output';
import { granted } from '../../terminal/push-text';
import type { PushOptions } from '../push';
import { type Made, tell } from './result';

type Here = Awaited<ReturnType<Awaited<ReturnType<Context['service']>>['serveHere']>>;

/**
 * Serves one push from this machine, from memory, until all its views were taken, it has expired, or a signal
 * ends it: then it is gone.
 * @throws CliError (expired) when nobody has seen it
 */
export async function pushHere(
  context: Context,
  options: PushOptions,
  asked: (passphrase?: string) => NewPush,
  files: readonly Attachment[],
): Promise<void> {
  const generated = options.generatePassphrase
    ? await (await import('./new-passphrase')).newPassphrase(context, options)
    : undefined;
  const stop = context.takeSignals();
  const request = asked(generated?.passphrase);
  const here = await starting(context, options, request, files).catch(async (error) => {
    await generated?.withdraw(error);
    throw error;
  });
  try {
    await untilSeen(context, options, stop, here, madeOf(here, request));
  } finally {
    await here.close();
  }
}

async function untilSeen(
  context: Context,
  options: PushOptions,
  stop: AbortSignal,
  here: Here,
  made: Made,
): Promise<void> {
  if (stop.aborted) throw endedBy(stop);
  const say = terminal(context, options);
  const drawn = context.stderr.isTTY && !options.quiet && !options.json;
  const trouble = await tell(context, { ...options, qr: options.qr || drawn }, say, made);
  if (trouble) throw trouble;
  if (options.host === undefined)
    await say.remark('hint: --host 0.0.0.0 serves it to the whole LAN');
  await say.remark('waiting for it to be seen; Control-C expires it');
  const views = await Promise.race([here.ended, aborted(stop)]);
  if (views === undefined) {
    await say.note('it is expired');
    throw endedBy(stop);
  }
  if (views === 0)
    throw new CliError('expired', 'the push has expired, and nobody has looked at it');
}

function starting(
  context: Context,
  options: PushOptions,
  push: NewPush,
  files: readonly Attachment[],
): Promise<Here> {
  const { host = '127.0.0.1', port = 0, tlsCert, tlsKey } = options;
  const say = terminal(context, options);
  const views = options.views ?? 1;
  return withService(context, ({ serveHere }) =>
    serveHere(
      { host, port, tlsCert, tlsKey },
      {
        // What happens is told below; of the log only what went wrong.
        log: (line, level) => void (level === 'error' && say.warn(line)),
        warn: (line) => void say.warn(line),
        now: context.now,
        env: context.env,
        version: context.version,
        quietly: context.quietly,
      },
      { push, files },
      (event) => {
        const at = context.now().toISOString();
        if (options.json) void say.printText(`${toJson({ ...event, at })}\n`).catch(() => {});
        else void say.note(hereText(event, views, files.length));
      },
    ),
  );
}

function madeOf({ push, exposed }: Here, { passphrase }: NewPush): Made {
  const open = 'plain http: whoever is between here and the recipient can read it; see --tls-cert';
  return {
    created: push,
    link: push.html_url,
    warnings: exposed ? [open] : [],
    summary: granted(push, passphrase !== undefined, false),
  };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
