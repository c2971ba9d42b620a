import { filledText, list } from '../../cli/declare';
import { openPushList } from '../../cli/terminal/listings';
import type { Entry } from '../../cli/terminal/output';
import { printRows } from '../../cli/terminal/table';
import { count } from '../../cli/terminal/wording';
import { positive } from '../../cli/values';
import { printError } from '../../keep/print-error';
import type { Context } from '../../platform/context';
import { CliError, ExitWith, phrase, usageError } from '../../platform/errors';
import { type ServiceModule, withService } from '../../profile/load-service';
import expireHelp from '../help/serve-expire.txt?raw';
import pushesHelp from '../help/serve-pushes.txt?raw';
import { command, type Invocation } from '../planned';
import { type DataOptions, type DataPlace, dataRows, planWithData } from './serve-options';

export type OperatorData = Awaited<ReturnType<ServiceModule['openForOperator']>>;

/** @param create whether a missing database is created; undefined if it never is */
export function withData<T>(
  context: Context,
  { place, create }: { readonly place: DataPlace; readonly create?: boolean },
  work: (data: OperatorData) => Promise<T>,
): Promise<T> {
  return withService(async ({ openForOperator }) => {
    const data = await openForOperator(place, context, create);
    return work(data).finally(() => data.close());
  });
}

type Counts = Awaited<ReturnType<OperatorData['operator']['expireOf']>>;

/** Returns `2 pushes and 1 request`, or `1 push`; `nothing` for none. */
export function countsText({ pushes, requests }: Counts): string {
  const parts = [
    ...(pushes > 0 ? [count(pushes, 'push', 'pushes')] : []),
    ...(requests > 0 ? [count(requests, 'request')] : []),
  ];
  return parts.join(' and ') || 'nothing';
}

const userRow = filledText('--user <name>', 'all of this user');

const pushesRows = { ...dataRows(), user: userRow };

export const pushes = command({
  summary: 'list the open pushes and requests of all users',
  help: pushesHelp,
  rows: pushesRows,
  plan: planWithData,
  run: listPushes,
});

async function listPushes(entry: Entry, plan: DataOptions<typeof pushesRows>): Promise<void> {
  const printed = await withData(entry.context, plan, ({ operator }) =>
    printRows(operator.open(plan.user), openPushList, entry),
  );
  if (printed === 0) await entry.say.note('no open pushes or requests');
}

const expireRows = {
  ids: list('[id...]', 'of a push or request, as serve pushes lists it', (text, name) => [
    positive(text, name),
  ]).conflicts(['user']),
  ...pushesRows,
};

export const expire = command({
  summary: 'expire pushes and close requests of any user',
  help: expireHelp,
  rows: expireRows,
  plan: (options: DataOptions<typeof expireRows>, invocation: Invocation) => {
    if (options.ids === undefined && options.user === undefined)
      throw usageError('missing ID or --user', 'pwpush serve pushes lists what is open');
    return planWithData(options, invocation);
  },
  run: expirePushes,
});

/** An unknown ID does not stop the others. */
async function expirePushes({ context, say }: Entry, plan: DataOptions<typeof expireRows>) {
  const { user, ids = [] } = plan;
  const unknown: CliError[] = [];
  const expired = await withData(context, plan, async ({ operator }) => {
    if (user !== undefined) return operator.expireOf(user);
    const counts = { pushes: 0, requests: 0 };
    for (const id of ids) {
      const what = await operator.expire(id);
      if (what === undefined)
        unknown.push(new CliError('not_found', phrase('number-unknown', `${id}`)));
      else if (what === 'nothing') await say.note(`${id} was expired already`);
      else counts[what] += 1;
    }
    return counts;
  });
  const [only] = unknown;
  if (only && ids.length === 1) throw only;
  for (const error of unknown) await printError(context, error, say.manner);
  await say.print(expired, () => `${countsText(expired)} expired\n`);
  if (only) throw new ExitWith(only.exitStatus);
}
