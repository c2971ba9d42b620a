import { flag, operand, parsed } from '../cli/declare';
import { auditLog } from '../cli/terminal/listings';
import { printRows } from '../cli/terminal/table';
import { seconds, waitingTime } from '../cli/values';
import { onItem } from '../client/item';
import { pushPoller } from '../client/progress';
import { CliError, phrase, usageError } from '../platform/errors';
import { accountOf } from '../profile/connect';
import {
  accountOfPush,
  another,
  type Named,
  type NamedItem,
  type Session,
} from '../profile/session';
import { DEFAULT_INTERVAL, timeLimit, waitForAnswer, waitUntil } from '../take/waiting';
import help from './help/wait.txt?raw';
import { command } from './planned';

/** What to wait for, and what then. */
interface WaitPlan {
  readonly named: Named;
  /** Seconds between two looks. */
  readonly interval: number;
  /** Seconds to wait at most. */
  readonly most: number | undefined;
  readonly thenExpire: boolean;
}

export default command({
  description: "Wait until a push is viewed (0) or expires (6). Requires the owner's token.",
  help,
  rows: {
    link: operand('<link>', 'link or ID of the push, or last'),
    interval: parsed('--interval <time>', 'seconds, or 2m, between checks', interval).or(
      DEFAULT_INTERVAL,
    ),
    for: parsed('--for <time>', 'wait at most this long (12): seconds, 45m, 6h', waitingTime),
    thenExpire: flag('--then-expire', 'expire the push after the first view'),
  },
  plan: ({ link, interval, for: most, thenExpire }, { reference }): WaitPlan => ({
    ...{ named: reference(link), interval, most, thenExpire },
  }),
  run: wait,
});

function interval(value: string, name: string): number {
  const parsed = seconds(value, name);
  if (parsed >= 1) return parsed;
  throw usageError(`${name} must be at least 1 second`);
}

async function wait(session: Session, plan: WaitPlan): Promise<void> {
  const { context, given } = session;
  const limit = timeLimit(context, plan.most, given.timeout);
  const limited = another(session, { context: limit.context, timeout: limit.timeout });
  const viewed = await limit.ending('view', async () => {
    const named = await limited.connectTo(plan.named);
    return onItem(named, ({ kind }) =>
      kind === 'push'
        ? waitForView(limited, plan, named)
        : limit.ending('answer', async () => {
            if (plan.thenExpire)
              throw usageError('--then-expire would delete the answer', 'remove --then-expire');
            const account = accountOf(named.target);
            await waitForAnswer(limited, plan, named.api, named.token, account);
            return undefined;
          }),
    );
  });
  if (viewed && plan.thenExpire) await expireViewed(session, viewed);
}

async function waitForView(
  session: Session,
  { interval, most }: WaitPlan,
  push: NamedItem,
): Promise<NamedItem> {
  const { context, say } = session;
  const { json } = say.manner;
  const account = accountOfPush(session, push);
  const poll = pushPoller(push.api, push.token, context.now, account);
  const what = 'waiting for a view … (Ctrl-C stops waiting, the push stays)';
  const first = waitUntil(session, { interval, what, most }, poll, async ({ events, state }) => {
    for (const event of events) if (json) await say.print(event, () => '');
    const view = events.find(({ kind }) => kind === 'view');
    if (view === undefined && state === 'expired') throw new CliError('expired', phrase('no-view'));
    return view;
  });
  const view = await first.catch(async (error) => {
    if (error instanceof CliError && error.code === 'expired') await session.receipts().end([push]);
    throw error;
  });
  if (!json) await printRows([[view]], auditLog, session);
  return push;
}

/** After the wait, whose time limit is not that of the expiry. */
async function expireViewed(session: Session, push: NamedItem): Promise<void> {
  const { token, target } = push;
  await (await session.clientAt(target)).expire(token);
  await session.receipts().end([push]);
  await session.say.remark(`expired ${token}`);
}
