import { Command } from 'commander';
import { flag, parsed } from '../cli/declare';
import { type Options, withOptions } from '../cli/options';
import { auditLog } from '../cli/terminal/listings';
import { printRows } from '../cli/terminal/table';
import { seconds, waitingTime } from '../cli/values';
import { onItem } from '../client/item';
import { pushPoller } from '../client/progress';
import type { Context } from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import { accountOf, clientFor } from '../profile/connect';
import { accountOfPush, createSession, type NamedItem, type Session } from '../profile/session';
import { DEFAULT_INTERVAL, timeLimit, waitForAnswer, waitUntil } from '../take/waiting';

export { default as help } from './help/wait.txt?raw';

const rows = {
  interval: parsed('--interval <seconds>', 'seconds between checks', interval).or(DEFAULT_INTERVAL),
  for: parsed('--for <time>', 'wait at most this long (12), such as 6h', waitingTime),
  thenExpire: flag('--then-expire', 'expire the push after the first view'),
};

type WaitOptions = Options<typeof rows>;

export function define(context: Context): Command {
  const command = new Command('wait')
    .description("Wait until a push is viewed (0) or expires (6). Requires the owner's token.")
    .argument('<link>', 'link or ID of the push, or last');
  return withOptions(command, context, rows, (options, link: string) =>
    wait(context, options, link),
  );
}

function interval(value: string, name: string): number {
  const parsed = seconds(value, name);
  if (parsed >= 1) return parsed;
  throw usageError(`${name} must be at least 1 second`);
}

async function wait(context: Context, options: WaitOptions, link: string): Promise<void> {
  const limit = timeLimit(context, options);
  const session = createSession(limit.context, limit.options);
  const viewed = await limit.ending('view', async () => {
    const named = await session.connectTo(link);
    return onItem(named, ({ kind }) =>
      kind === 'push'
        ? waitForView(session, options, named)
        : limit.ending('answer', async () => {
            if (options.thenExpire)
              throw usageError('--then-expire would delete the answer', 'remove --then-expire');
            const account = accountOf(named.target);
            await waitForAnswer(session, options, named.api, named.token, account);
            return undefined;
          }),
    );
  });
  if (viewed && options.thenExpire) await expireViewed({ ...session, context }, options, viewed);
}

async function waitForView(
  session: Session,
  options: WaitOptions,
  push: NamedItem,
): Promise<NamedItem> {
  const { context } = session;
  const account = await accountOfPush(session, push);
  const poll = pushPoller(push.api, push.token, context.now, account);
  const what = 'waiting for a view … (Ctrl-C stops waiting, the push stays)';
  const first = waitUntil(session, { ...options, what }, poll, async ({ events, state }) => {
    for (const event of events) if (options.json) await session.say.print(event, () => '');
    const view = events.find(({ kind }) => kind === 'view');
    if (view === undefined && state === 'expired')
      throw new CliError('expired', 'the push expired without a view');
    return view;
  });
  const view = await first.catch(async (error) => {
    if (error instanceof CliError && error.code === 'expired') await session.receipts().end([push]);
    throw error;
  });
  if (!options.json) await printRows([[view]], auditLog, context, options);
  return push;
}

/** After the wait, whose time limit is not that of the expiry. */
async function expireViewed(run: Session, options: WaitOptions, push: NamedItem): Promise<void> {
  const { token, target } = push;
  const api = options.for === undefined ? push.api : await clientFor({ ...run, options }, target);
  await api.expire(token);
  await run.receipts().end([push]);
  await run.say.remark(`expired ${token}`);
}
