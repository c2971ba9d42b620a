import { noKey, readPassphrase } from '../../cli/passphrase';
import { failureFields, worded } from '../../cli/report-error';
import { bytesFrom, placeOf } from '../../cli/source';
import type { Entry } from '../../cli/terminal/output';
import { toJson } from '../../cli/terminal/output';
import { checkEncryptable } from '../../cli/values';
import { inOrder } from '../../client/in-order';
import { AT_ONCE } from '../../client/pages';
import { printLinks } from '../../deliver/deliver-link';
import { tellError } from '../../keep/tell-error';
import {
  CliError,
  ExitWith,
  endedBy,
  failedError,
  phrase,
  usageError,
} from '../../platform/errors';
import { whyUnwritable } from '../../platform/files/file-error';
import { lazy } from '../../platform/files/lazy';
import { accountOf } from '../../profile/connect';
import type { Session } from '../../profile/session';
import {
  type BatchFormat,
  type BatchLine,
  formatOf,
  linesOf,
  readEntry,
} from '../../send/batch-lines';
import {
  type CreatedPush,
  clearFieldsWarning,
  createPush,
  type Draft,
  keepReceipts,
  sealingFor,
  shownPush,
} from '../../send/create-push';
import { dryRunText } from '../../send/dry-run';
import { editionOf, sayExpiry, toldExpiry } from '../../send/expiry';
import type { EachPlan } from './run';

/** Bytes of a line: the longest text that the reference takes, with room for JSON escapes. */
const LONGEST = 8 * 1024 * 1024;

/**
 * Creates a push for each line, several at once. Prints one line for each on stdout, in their order, so that it can be
 * pasted beside the input. A line that fails is reported and does not stop the others; the highest status is the exit
 * code. Once results cannot be written any more, no further line is begun.
 */
export async function run(session: Session, plan: EachPlan): Promise<void> {
  const { context } = session;
  const printer = linePrinter(session, plan.receipt);
  const push = await linePusher(session, plan, printer);
  const goesOn = () => !printer.stopped && !context.signal.aborted;
  const lines = linesOf(bytesFrom(plan.lines, context), LONGEST, placeOf(plan.lines));
  await inOrder(linesWhile(lines, goesOn), push, printer.take);
  if (!plan.dryRun) await printer.sum();
  if (printer.worst > 0) throw new ExitWith(printer.worst);
}

/** What was made of a line: a push, or what prints another outcome. */
type Outcome = Made | (() => Promise<void>);

interface Made {
  readonly line: BatchLine;
  readonly created: CreatedPush;
}

/** Returns what makes a push of one line, or with `--dry-run` a request. */
async function linePusher(
  session: Session,
  plan: EachPlan,
  printer: ReturnType<typeof linePrinter>,
) {
  const { context, say } = session;
  const { acceptLimits, locale, seal } = plan;
  const sealing = seal && (await sealingFor(seal, session));
  const passphrase = await readPassphrase(plan.passphrase, context, true);
  context.asked();
  const connected = lazy(() => session.connect(AT_ONCE));
  const instance = plan.dryRun ? undefined : await connected();
  const account = instance && accountOf(instance.target);
  const edition = editionOf(session, connected, plan.dryRun);
  await sayExpiry(plan.expiry, 'expires', say);
  const warn = clearFieldsWarning(say);
  /** The first line decides. */
  let format: BatchFormat | undefined;
  const make = async (line: BatchLine): Promise<Outcome> => {
    if (!line.bytes) throw usageError('longer than 8 MiB', phrase('attach'));
    const entry = readEntry(line.bytes, format ?? 'text');
    const own = entry.passphrase === undefined ? passphrase : await noKey(entry.passphrase);
    const told = await toldExpiry(entry.expiry ?? plan.expiry, context.now(), edition);
    const limits = { ...plan.limits, ...entry.limits };
    const details = { ...plan.details, ...entry.details };
    if (sealing) {
      checkEncryptable(limits.kind);
      await warn(details);
    }
    const draft: Draft = {
      ...{ text: entry.payload, files: undefined, passphrase: { text: own }, sealing, details },
      ...{ generated: false, limits: { ...limits, ...told.fields } },
    };
    if (!instance) {
      const { request } = await shownPush(draft);
      const look = { json: say.manner.json, encryption: sealing?.mode };
      return async () => say.printText(await dryRunText(session.target(), request, look));
    }
    const expiryOption = entry.expiry ? undefined : plan.expiryOption;
    const wanted = { draft, account, acceptLimits, locale, expiryOption, byDate: false };
    const created = await createPush(session, instance, wanted);
    const warnings = [...(told.shorter === undefined ? [] : [told.shorter]), ...created.warnings];
    return { line, created: { ...created, warnings } };
  };
  return async (line: BatchLine): Promise<Outcome> => {
    format ??= formatOf(line.bytes);
    if (context.signal.aborted) throw endedBy(context.signal);
    try {
      return await make(line);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return () => printer.failure(line, error);
    }
  };
}

/** Prints what became of lines, and keeps what went wrong. */
function linePrinter(session: Entry, receipts: boolean) {
  const { context, say } = session;
  let lastHint: string | undefined;
  let pushed = 0;
  let failed = 0;
  const of = (line: BatchLine, error: CliError) => {
    const failure = error.with({ subject: `line ${line.number}`, line: line.number });
    printer.worst = Math.max(printer.worst, failure.exitStatus);
    return failure;
  };
  const tell = async (failure: CliError) => {
    await tellError(context, failure, { ...say.manner, hinted: lastHint });
    lastHint = worded(failure).hint;
  };
  const links = async (made: readonly Made[]) => {
    if (made.length === 0) return;
    pushed += made.length;
    const all = made.map(({ created }) => created);
    const failures = await printLinks(session, all);
    if (receipts) await keepReceipts(session, all);
    for (const [at, { line, created }] of made.entries()) {
      for (const warning of created.warnings) await say.warn(`line ${line.number}: ${warning}`);
      const failure = failures[at];
      if (failure === undefined) continue;
      // Reported once; later only if the link is not on stderr either.
      const isNews = failure.remains !== undefined || !printer.stopped;
      printer.stopped = true;
      const told = of(line, failure);
      if (isNews) await tell(told);
    }
  };
  const printer = {
    /** The highest exit status so far. */
    worst: 0,
    /** Results cannot be written any more. */
    stopped: false,
    /** Links that follow each other are written together, and their receipts: system calls take long. */
    take: async (outcomes: readonly Outcome[]) => {
      const made: Made[] = [];
      for (const outcome of outcomes) {
        if (typeof outcome !== 'function') {
          made.push(outcome);
          continue;
        }
        await links(made.splice(0));
        await outcome();
      }
      await links(made);
    },
    /** Its place in a pipe is empty, or has the error as JSON, which then stands nowhere else. */
    failure: async (line: BatchLine, error: CliError) => {
      failed++;
      const { json } = say.manner;
      const failure = of(line, error);
      if (!json) await tell(failure);
      if (!json && context.stdout.isTTY) return;
      const { line: number, ...fields } = failureFields(failure);
      const text = json ? toJson({ line: number, error: fields }) : '';
      await say.printText(`${text}\n`).catch(async ({ code }) => {
        if (json) await tell(failure);
        if (printer.stopped) return;
        printer.stopped = true;
        const reason = `cannot write to standard output (${whyUnwritable(code)})`;
        await tell(of(line, failedError(reason)));
      });
    },
    /** Says on a terminal what became of all. */
    sum: () => say.remark(`${pushed} pushed${failed === 0 ? '' : `, ${failed} failed`}`),
  };
  return printer;
}

async function* linesWhile(lines: AsyncIterable<BatchLine>, goesOn: () => boolean) {
  let none = true;
  for await (const line of lines) {
    if (!goesOn()) return;
    none = false;
    yield line;
  }
  if (none) throw usageError('no lines to push');
}
