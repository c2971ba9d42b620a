import { noKey, readPassphrase } from '../../cli/passphrase';
import { failureFields, worded } from '../../cli/report-error';
import { bytesFrom } from '../../cli/source';
import { toJson } from '../../cli/terminal/output';
import { inOrder } from '../../client/in-order';
import { AT_ONCE } from '../../client/pages';
import type { Edition } from '../../contract/lifetime';
import { printLink } from '../../deliver/deliver-link';
import { tellError } from '../../keep/tell-error';
import { CliError, ExitWith, endedBy, failedError, usageError } from '../../platform/errors';
import { whyUnwritable } from '../../platform/files/file-error';
import { lazy } from '../../platform/files/lazy';
import { accountOf, type Instance } from '../../profile/connect';
import type { Session } from '../../profile/session';
import { defaultsOf, type Target } from '../../profile/target';
import {
  type BatchEntry,
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
  keepReceipts,
  type Sealing,
  shownPush,
} from '../../send/create-push';
import { dryRunText } from '../../send/dry-run';
import { editionOf, toldExpiry } from '../../send/expiry';
import type { PushOptions } from './push-flags';
import {
  askedExpiry,
  checkEncryptable,
  checkPushOptions,
  encryptMode,
  fieldsOf,
  keepsReceipts,
  sealingIn,
} from './push-options';

/** Bytes of a line: the longest text that the reference takes, with room for JSON escapes. */
const LONGEST = 8 * 1024 * 1024;

/**
 * Creates a push for each line, several at once. Prints one line for each on stdout, in their order, so that it can be
 * pasted beside the input. A line that fails is reported and does not stop the others; the highest status is the exit
 * code. Once results cannot be written any more, no further line is begun.
 */
export async function pushEach(session: Session, options: PushOptions): Promise<void> {
  const { context } = session;
  checkPushOptions(options, context);
  const target = await session.target();
  const mode = encryptMode(options, defaultsOf(target));
  const sealing = await sealingIn(mode, options, context);
  const passphrase = await readPassphrase(options, context, true);
  context.asked();
  const connected = lazy(() => session.connect(AT_ONCE));
  const instance = options.dryRun ? undefined : await connected();
  const account = instance && accountOf(instance.target);
  const edition = editionOf(target.edition, connected, options.dryRun);
  const printer = linePrinter(session, options, keepsReceipts(options, defaultsOf(target)));
  const push = pushLine(
    session,
    { options, target, instance, account, passphrase, sealing, edition },
    printer,
  );
  const goesOn = () => !printer.stopped && !context.signal.aborted;
  const lines = linesOf(bytesFrom(options.from ?? '-', context), LONGEST);
  await inOrder(linesWhile(lines, goesOn), push, (print) => print());
  if (printer.worst > 0) throw new ExitWith(printer.worst);
}

interface Batch {
  readonly options: PushOptions;
  readonly target: Target;
  readonly instance: Instance | undefined;
  readonly passphrase: string | undefined;
  readonly sealing: Sealing | undefined;
  readonly account: number | undefined;
  readonly edition: (seconds: number) => Promise<Edition>;
}

/** Returns what makes a push of one line, or with `--dry-run` a request, and returns what prints it. */
function pushLine(session: Session, batch: Batch, printer: ReturnType<typeof linePrinter>) {
  const { context, say } = session;
  const { options, target, instance, account, passphrase, sealing, edition } = batch;
  const profile = defaultsOf(target);
  const warn = clearFieldsWarning(say);
  /** The first line decides. */
  let format: BatchFormat | undefined;
  return async (line: BatchLine): Promise<() => Promise<void>> => {
    format ??= formatOf(line.bytes);
    if (context.signal.aborted) throw endedBy(context.signal);
    try {
      if (!line.bytes) throw usageError('longer than 8 MiB', 'attach it with --file');
      const { passphrase: named, payload, ...limits } = readEntry(line.bytes, format);
      const own = named === undefined ? passphrase : await noKey(named);
      // Of many lines, most have no limits of their own.
      const merged = format === 'text' ? options : { ...withoutExpiry(options, limits), ...limits };
      const told = await toldExpiry(askedExpiry(merged, profile), context.now(), edition);
      if (sealing) {
        checkEncryptable(merged.kind);
        await warn(merged.name, merged.note);
      }
      const draft = {
        ...{ text: payload, files: undefined, passphrase: { text: own }, sealing },
        ...{ generated: false, ...fieldsOf(merged, profile, told.fields) },
      };
      if (!instance) {
        const { request } = await shownPush(draft);
        const look = { json: options.json, encryption: sealing?.mode };
        return async () => say.printText(await dryRunText(target, request, look));
      }
      const { acceptLimits, locale } = options;
      const plan = { draft, account, acceptLimits, locale };
      const created = await createPush(session, instance, plan);
      const warnings = [...(told.shorter === undefined ? [] : [told.shorter]), ...created.warnings];
      return () => printer.link(line, { ...created, warnings });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return () => printer.failure(line, error);
    }
  };
}

/** The options, without an expiry if a line has one of its own. */
function withoutExpiry(options: PushOptions, line: Partial<BatchEntry>): PushOptions {
  if (line.days === undefined && line.expire === undefined) return options;
  const { days: _days, expire: _expire, ...rest } = options;
  return rest;
}

/** Prints what became of lines, and keeps what went wrong. */
function linePrinter(session: Session, options: PushOptions, receipts: boolean) {
  const { context, say } = session;
  let lastHint: string | undefined;
  const tell = async (line: BatchLine, error: CliError) => {
    const failure = error.with({ subject: `line ${line.number}`, line: line.number });
    printer.worst = Math.max(printer.worst, failure.exitStatus);
    await tellError(context, failure, { ...options, hinted: lastHint });
    lastHint = worded(failure).hint;
    return failure;
  };
  const printer = {
    /** The highest exit status so far. */
    worst: 0,
    /** Results cannot be written any more. */
    stopped: false,
    link: async (line: BatchLine, created: CreatedPush) => {
      const failure = await printLink(session, options, created);
      if (receipts) await keepReceipts(session, [created]);
      for (const warning of created.warnings) await say.warn(`line ${line.number}: ${warning}`);
      if (failure === undefined) return;
      // Reported once; later only if the link is not on stderr either.
      const isNews = failure.remains !== undefined || !printer.stopped;
      printer.stopped = true;
      if (isNews) await tell(line, failure);
    },
    /** Its place on stdout is empty, or has the error as JSON. */
    failure: async (line: BatchLine, error: CliError) => {
      const { line: number, ...fields } = failureFields(await tell(line, error));
      const text = options.json ? toJson({ line: number, error: fields }) : '';
      await say.printText(`${text}\n`).catch(async ({ code }) => {
        if (printer.stopped) return;
        printer.stopped = true;
        await tell(line, failedError(`cannot write to standard output (${whyUnwritable(code)})`));
      });
    },
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
