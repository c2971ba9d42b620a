import { Command } from 'commander';
import { type PushProgress, pushPoller } from '../client/audit-log';
import type { Api } from '../client/client';
import type { Context } from '../context';
import type { AuditEntry } from '../contract';
import { CliError, usageError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf, seconds } from '../options';
import { connectTo } from '../session';
import { auditColumns } from '../terminal/listings';
import { type Terminal, terminal, toJson } from '../terminal/output';
import { printRows } from '../terminal/table';

interface WaitOptions extends GlobalOptions {
  readonly link: string;
  /** Seconds between two looks. */
  readonly interval: number;
  readonly thenExpire: boolean;
}

const EXAMPLES = `
Asks for the audit log, which takes no view. A view is a look by anybody but
the owner; one that happened before counts too. --timeout is for the whole
wait here. With --json each event is a line as it comes.

Examples:
  $ pwpush wait "$LINK" && echo "they have it"
  $ pwpush wait "$LINK" --timeout 3600 --then-expire || echo "status $?"`;

/** Seconds; a push lives for 90 days. */
const LONGEST = 90 * 86_400;

export function waitCommand(context: Context): Command {
  const command = new Command('wait')
    .description("Block until a push was viewed (0) or has expired (6). Needs its owner's token.")
    .argument('<link>', 'link or token of the push')
    .option('--interval <seconds>', 'look so often; 5', interval)
    .option(
      '--timeout <seconds>',
      'wait no longer than this, and end with 12 then',
      seconds('--timeout', LONGEST),
    )
    .option('--then-expire', 'expire the push after the first view')
    .addHelpText('after', EXAMPLES)
    .action((link: string) =>
      wait(context, { ...optionsOf(command, context.env, DEFAULTS), link }),
    );
  return addGlobalOptions(command);
}

const DEFAULTS = { interval: 5, thenExpire: false };

function interval(value: string): number {
  const parsed = seconds('--interval')(value);
  if (parsed >= 1) return parsed;
  throw usageError('--interval takes at least 1 second');
}

export async function wait(context: Context, options: WaitOptions): Promise<void> {
  const { timeout, ...rest } = options;
  const bounded = within(context, timeout);
  // One answer is waited for no longer than for the push.
  const global = timeout !== undefined && timeout < 30 ? options : rest;
  const { api, reference } = await connectTo(bounded, global, options.link);
  const say = terminal(context, options);
  const first = await seen(pushPoller(api, reference.token, context.now), bounded, options, say);
  if (!options.json) await printRows([[first]], auditColumns, context, options);
  if (options.thenExpire) await end(api, reference.token, say);
}

/** The same context, whose sleeps end with the time there is. */
function within(context: Context, timeout: number | undefined): Context {
  if (timeout === undefined) return context;
  const end = context.now().getTime() + timeout * 1000;
  const sleep = async (milliseconds: number) => {
    const left = end - context.now().getTime();
    await context.sleep(Math.max(0, Math.min(milliseconds, left)));
    if (left <= milliseconds)
      throw new CliError('timeout', `nobody has looked at the push within ${timeout} s`);
  };
  return { ...context, sleep };
}

/** Looks until somebody has looked, and returns that event. */
async function seen(
  poll: () => Promise<PushProgress>,
  context: Context,
  options: WaitOptions,
  say: Terminal,
): Promise<AuditEntry> {
  const look = patiently(poll, context, say);
  await say.remark('waiting for somebody to look at it; Control-C ends the waiting');
  for (let pause = options.interval; ; ) {
    const sighting = await look();
    for (const event of sighting?.events ?? [])
      if (options.json) await say.printText(`${toJson(event)}\n`);
    const view = sighting?.events.find(({ kind }) => kind === 'view');
    if (view) return view;
    if (sighting?.state === 'expired')
      throw new CliError('expired', 'the push has expired, and nobody has looked at it');
    pause = sighting ? options.interval : Math.min(pause * 2, Math.max(LONGEST_PAUSE, pause));
    await context.sleep(pause * 1000);
  }
}

/** Seconds between two looks while the instance cannot answer. */
const LONGEST_PAUSE = 60;
/** Milliseconds in which nothing but failures came, after which one is an error. */
const PATIENCE = 5 * 60_000;

/** Looks; once it has worked, what may pass is told once and answered with undefined. */
function patiently(
  poll: () => Promise<PushProgress>,
  context: Context,
  say: Terminal,
): () => Promise<PushProgress | undefined> {
  let worked: number | undefined;
  let failing = false;
  return async () => {
    try {
      const sighting = await poll();
      worked = context.now().getTime();
      failing = false;
      return sighting;
    } catch (error) {
      if (!mayPass(error) || worked === undefined) throw error;
      if (context.now().getTime() - worked > PATIENCE) throw error;
      if (!failing) await say.note(`${error.message}; still waiting`);
      failing = true;
      return undefined;
    }
  };
}

function mayPass(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { code, status = 0 } = error;
  return ['unreachable', 'unknown', 'rate_limited'].includes(code) || status >= 500;
}

async function end(api: Api, token: string, say: Terminal): Promise<void> {
  await api.expire(token);
  await say.remark(`${token} is expired`);
}
