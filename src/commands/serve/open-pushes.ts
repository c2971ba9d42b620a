import { filledText, list } from '../../cli/declare';
import { readAll } from '../../cli/source';
import { openPushList } from '../../cli/terminal/listings';
import type { Entry } from '../../cli/terminal/output';
import { printRows } from '../../cli/terminal/table';
import { count } from '../../cli/terminal/wording';
import { positive } from '../../cli/values';
import { parseReference } from '../../client/link';
import { printError } from '../../keep/print-error';
import type { Context } from '../../platform/context';
import { CliError, ExitWith, phrase, usageError } from '../../platform/errors';
import type { ServiceModule } from '../../profile/load-service';
import expireHelp from '../help/serve-expire.txt?raw';
import pushesHelp from '../help/serve-pushes.txt?raw';
import { command, type Invocation } from '../planned';
import { type DataOptions, type DataPlace, dataRows, onData, planWithData } from './serve-options';

export type OperatorData = Awaited<ReturnType<ServiceModule['openForOperator']>>;

/** @param create whether a missing database is created; undefined if it never is */
export function withData<T>(
  entry: Entry,
  { place, create }: { readonly place: DataPlace; readonly create?: boolean },
  work: (data: OperatorData) => Promise<T>,
): Promise<T> {
  return onData(entry, place, async ({ openForOperator }) => {
    const data = await openForOperator(place, entry.context, create);
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

const pushesRows = { ...dataRows(), user: filledText('--user <name>', 'all of this user') };

export const pushes = command({
  summary: 'list the open pushes and requests of all users',
  help: pushesHelp,
  rows: pushesRows,
  plan: planWithData,
  run: listPushes,
});

async function listPushes(entry: Entry, plan: DataOptions<typeof pushesRows>): Promise<void> {
  const printed = await withData(entry, plan, ({ operator }) =>
    printRows(operator.open(plan.user), openPushList, entry),
  );
  if (printed === 0) await entry.say.note('no open pushes or requests');
}

const expireRows = {
  ids: list('[id...]', 'numbers of serve pushes, links or their IDs; - is stdin')
    .readsStandardInput('the links')
    .conflicts(['user']),
  ...pushesRows,
};

export const expire = command({
  summary: 'expire pushes and close requests of any user',
  help: expireHelp,
  rows: expireRows,
  plan: async (options: DataOptions<typeof expireRows>, invocation: Invocation) => {
    const { ids: typed, user } = options;
    if (typed === undefined && user === undefined)
      throw usageError('missing ID or --user', 'pwpush serve pushes lists what is open');
    const named = [];
    for (const text of typed ?? [])
      named.push(...(text === '-' ? await linesOf(invocation.context) : [text]));
    return planWithData({ ...options, named: named.map(namedBy) }, invocation);
  },
  run: expirePushes,
});

async function linesOf({ stdin }: Context): Promise<string[]> {
  const text = (await readAll(stdin.bytes())).toString();
  return text.trim().split(/\s*\n\s*/);
}

/** The token of a link is longer than any number. The rest of a link, such as its key, is not used. */
const namedBy = (text: string): number | string =>
  /^\d{1,18}$/.test(text) ? positive(text, 'ID') : parseReference(text).token;

interface Expiry extends DataOptions<typeof expireRows> {
  readonly named: readonly (number | string)[];
}

/** An unknown ID does not stop the others. */
async function expirePushes(entry: Entry, plan: Expiry) {
  const { context, say } = entry;
  const { user, named } = plan;
  const unknown: CliError[] = [];
  const expired = await withData(entry, plan, async ({ operator }) => {
    if (user !== undefined) return operator.expireOf(user);
    const counts = { pushes: 0, requests: 0 };
    // All IDs are found first: nothing ends if the instance key, which links require, is missing.
    const found = [];
    for (const name of named)
      found.push({ name, id: typeof name === 'number' ? name : await operator.idOf(name) });
    for (const { name, id } of found) {
      const what = id === undefined ? undefined : await operator.expire(id);
      if (what === undefined)
        unknown.push(new CliError('not_found', phrase('number-unknown', `${name}`)));
      else if (what === 'nothing') await say.note(`${name} was expired already`);
      else counts[what] += 1;
    }
    return counts;
  });
  const [only] = unknown;
  if (only && named.length === 1) throw only;
  for (const error of unknown) await printError(context, error, say.manner);
  await say.print(expired, () => `${countsText(expired)} expired\n`);
  if (only) throw new ExitWith(only.exitStatus);
}
