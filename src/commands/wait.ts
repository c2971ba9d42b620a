import { flag, parsed } from '../cli/declare';
import { type Options, pushRow } from '../cli/options';
import { auditLog } from '../cli/terminal/listings';
import type { Entry } from '../cli/terminal/output';
import { printRows } from '../cli/terminal/table';
import { seconds, waitingTime } from '../cli/values';
import { onItem } from '../client/item';
import { pushPoller } from '../client/progress';
import { CliError, phrase, usageError } from '../platform/errors';
import { clientOf, connect } from '../profile/connect';
import { readReceipts } from '../profile/receipts';
import { accountOfPush, type ConnectedItem, itemOf } from '../profile/references';
import { DEFAULT_INTERVAL, timeLimit, waitForAnswer, waitUntil } from '../take/waiting';
import help from './help/wait.txt?raw';
import { command } from './planned';

const rows = {
  link: pushRow(),
  interval: parsed('--interval <time>', 'seconds, or 2m, between checks', interval).or(
    DEFAULT_INTERVAL,
  ),
  for: parsed('--for <time>', 'wait at most this long (12): seconds, 45m, 6h', waitingTime),
  thenExpire: flag('--then-expire', 'expire the push after the first view'),
};

export default command({
  description: "Wait until a push is viewed (0) or expires (6). Requires the owner's token.",
  help,
  rows,
  plan: planOf,
  run: wait,
});

type WaitPlan = ReturnType<typeof planOf>;

function planOf(options: Options<typeof rows>, entry: Entry) {
  const { link, interval, for: most, thenExpire } = options;
  return { item: itemOf(entry, options, link), interval, most, thenExpire };
}

function interval(value: string, name: string): number {
  const parsed = seconds(value, name);
  if (parsed >= 1) return parsed;
  throw usageError(`${name} must be at least 1 second`);
}

async function wait(entry: Entry, plan: WaitPlan): Promise<void> {
  const { target } = plan.item;
  const limit = timeLimit(entry, plan.most, target);
  const viewed = await limit.ending('view', async () => {
    const item = await connect(limit.entry, { ...plan.item, target: limit.target });
    return onItem(item, ({ kind }) =>
      kind === 'push'
        ? waitForView(limit.entry, plan, item)
        : limit.ending('answer', async () => {
            if (plan.thenExpire)
              throw usageError('--then-expire would delete the answer', 'remove --then-expire');
            await waitForAnswer(limit.entry, plan, item);
            return undefined;
          }),
    );
  });
  if (!viewed || !plan.thenExpire) return;
  // The time limit ends the connection of the wait, so the expiry uses a new one.
  const { expire } = await clientOf(entry, target);
  await expire(viewed.token);
  await readReceipts(entry.context).end([viewed]);
  await entry.say.remark(`expired ${viewed.token}`);
}

async function waitForView(
  entry: Entry,
  { interval, most }: WaitPlan,
  push: ConnectedItem,
): Promise<ConnectedItem> {
  const { context, say } = entry;
  const { json } = say.manner;
  const account = accountOfPush(context, push);
  const poll = pushPoller(push.api, push.token, context.now, account);
  const what = 'waiting for a view … (Ctrl-C stops waiting, the push stays)';
  const first = waitUntil(entry, { interval, what, most }, poll, async ({ events, state }) => {
    for (const event of events) if (json) await say.print(event, () => '');
    const view = events.find(({ kind }) => kind === 'view');
    if (view === undefined && state === 'expired') throw new CliError('expired', phrase('no-view'));
    return view;
  });
  const view = await first.catch(async (error) => {
    if (error instanceof CliError && error.code === 'expired')
      await readReceipts(context).end([push]);
    throw error;
  });
  if (!json) await printRows([[view]], auditLog, entry);
  return push;
}
