import { Command } from 'commander';
import { type PushProgress, pushPoller } from '../client/audit-log';
import type { Context } from '../context';
import type { AuditEntry } from '../contract';
import { CliError, usageError } from '../errors';
import { addGlobalOptions, duration, type GlobalOptions, optionsOf, seconds } from '../options';
import { removeReceipt } from '../profile/receipts';
import { createSession, type Session } from '../session';
import { auditColumns } from '../terminal/listings';
import { type Terminal, toJson } from '../terminal/output';
import { printRows } from '../terminal/table';

interface WaitOptions extends GlobalOptions {
  readonly link: string;
  /** Seconds between two looks. */
  readonly interval: number;
  readonly thenExpire: boolean;
}

const EXAMPLES = `
Polls the audit log, which uses no view. A view is a look by anybody but the
owner, including one before the wait. With --json each event is printed as a
line when it happens.

Examples:
  $ pwpush wait "$LINK" && echo "they have it"
  $ pwpush wait "$LINK" --timeout 1h --then-expire || echo "status $?"`;

/** Seconds; a push lives for 90 days. */
const LONGEST = 90 * 86_400;

export function define(context: Context): Command {
  const command = new Command('wait')
    .description("Wait until a push is viewed (0) or expires (6). Requires the owner's token.")
    .argument('<link>', 'link or token of the push')
    .option('--interval <seconds>', 'seconds between checks (default: 5)', interval)
    .option('--timeout <time>', 'exit with 12 after 6h, or seconds', duration('--timeout', LONGEST))
    .option('--then-expire', 'expire the push after the first view')
    .addHelpText('after', EXAMPLES)
    .action((link: string) => {
      const options: WaitOptions = { ...optionsOf(command, context.env, DEFAULTS), link };
      return wait(sessionFor(context, options), options);
    });
  return addGlobalOptions(command);
}

const DEFAULTS = { interval: 5, thenExpire: false };

function interval(value: string): number {
  const parsed = seconds('--interval')(value);
  if (parsed >= 1) return parsed;
  throw usageError('--interval must be at least 1 second');
}

/** `--timeout` limits the whole wait; a response is not waited for longer than that either. */
function sessionFor(context: Context, options: WaitOptions): Session {
  const { timeout, ...others } = options;
  if (timeout === undefined) return createSession(context, options);
  return createSession(withDeadline(context, timeout), timeout < 30 ? options : others);
}

async function wait(session: Session, options: WaitOptions): Promise<void> {
  const { context, say } = session;
  const { api, reference, target } = await session.connectTo(options.link);
  const gone = () => removeReceipt(context, reference, target.base);
  const poll = pushPoller(api, reference.token, context.now);
  const view = await firstView(session, options, poll).catch(async (error) => {
    if (error instanceof CliError && error.code === 'expired') await gone();
    throw error;
  });
  if (!options.json) await printRows([[view]], auditColumns, context, options);
  if (!options.thenExpire) return;
  await api.expire(reference.token);
  await gone();
  await say.remark(`expired ${reference.token}`);
}

/** The same context, whose sleeps end when the time is over. */
function withDeadline(context: Context, timeout: number): Context {
  const end = context.now().getTime() + timeout * 1000;
  const sleep = async (milliseconds: number) => {
    const left = end - context.now().getTime();
    await context.sleep(Math.max(0, Math.min(milliseconds, left)));
    if (left <= milliseconds) throw new CliError('timeout', `no view within ${timeout} s`);
  };
  return { ...context, sleep };
}

/** Looks until the push was viewed, and returns that event. */
async function firstView(
  { context, say }: Session,
  options: WaitOptions,
  poll: () => Promise<PushProgress>,
): Promise<AuditEntry> {
  const look = toleratingFailures(poll, context, say);
  await say.remark('waiting for a view … (Ctrl-C stops waiting, the push stays)');
  for (let pause = options.interval; ; ) {
    const progress = await look();
    for (const event of progress?.events ?? [])
      if (options.json) await say.printText(`${toJson(event)}\n`);
    const view = progress?.events.find(({ kind }) => kind === 'view');
    if (view) return view;
    if (progress?.state === 'expired')
      throw new CliError('expired', 'the push expired without a view');
    pause = progress ? options.interval : Math.min(pause * 2, Math.max(LONGEST_PAUSE, pause));
    await context.sleep(pause * 1000);
  }
}

/** Seconds between two looks while the instance fails. */
const LONGEST_PAUSE = 60;
/** Failures alone for this long are an error, in milliseconds. */
const TOLERANCE = 5 * 60_000;

/** Looks; after a first success, a temporary failure is noted once and returns undefined. */
function toleratingFailures(
  poll: () => Promise<PushProgress>,
  context: Context,
  say: Terminal,
): () => Promise<PushProgress | undefined> {
  let worked: number | undefined;
  let failing = false;
  return async () => {
    try {
      const progress = await poll();
      worked = context.now().getTime();
      failing = false;
      return progress;
    } catch (error) {
      if (!isTemporary(error) || worked === undefined) throw error;
      if (context.now().getTime() - worked > TOLERANCE) throw error;
      if (!failing) await say.note(`${error.message}; still waiting`);
      failing = true;
      return undefined;
    }
  };
}

function isTemporary(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { code, status = 0 } = error;
  return ['unreachable', 'unknown', 'rate_limited'].includes(code) || status >= 500;
}
