import { noKey, readPassphrase } from '../../cli/passphrase';
import { failureFields } from '../../cli/report-error';
import { bytesFrom } from '../../cli/source';
import { toJson } from '../../cli/terminal/output';
import { concurrentBatches } from '../../client/concurrent-map';
import { AT_ONCE } from '../../client/pages';
import type { NewPush } from '../../contract/api';
import type { Edition } from '../../contract/lifetime';
import { tellError } from '../../open/tell-error';
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
} from '../../share/batch-lines';
import {
  type CreatedPush,
  clearFieldsWarning,
  createPush,
  keepReceipts,
  type Sealing,
  shownPush,
} from '../../share/create-push';
import { printLinks } from '../../share/deliver-link';
import { dryRunText } from '../../share/dry-run';
import { editionOf, toldExpiry } from '../../share/expiry';
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

/** A line was made a push, with `--dry-run` a request, or neither. */
type Outcome =
  | CreatedLine
  | { readonly line: BatchLine; readonly request: NewPush }
  | { readonly line: BatchLine; readonly failure: CliError };

interface CreatedLine {
  readonly line: BatchLine;
  readonly created: CreatedPush;
}

/**
 * Creates a push for each line, several at once. Prints one line for each on stdout, in their order, so that it can be
 * pasted beside the input. A line that fails is reported and does not stop the others; the highest status is the exit
 * code. Once results cannot be written any more, no further line is begun.
 */
export async function pushEach(session: Session, options: PushOptions): Promise<void> {
  const { context } = session;
  checkPushOptions(options, context);
  const { concurrency = AT_ONCE } = options;
  const target = await session.target();
  const mode = encryptMode(options, defaultsOf(target));
  const sealing = await sealingIn(mode, options, context);
  const passphrase = await readPassphrase(options, context, true);
  context.asked();
  const connected = lazy(() => session.connect(concurrency));
  const instance = options.dryRun ? undefined : await connected();
  const account = instance && (await accountOf(instance));
  const edition = editionOf(target.edition, connected, options.dryRun);
  const batch = { options, target, instance, account, passphrase, sealing, edition };
  const work = pushLine(session, batch);
  const reporter = outcomeReporter(session, batch);
  const goesOn = () => !reporter.stopped && !context.signal.aborted;
  const lines = formatted(linesOf(bytesFrom(options.from ?? '-', context), LONGEST), goesOn);
  for await (const outcomes of concurrentBatches(lines, work, concurrency))
    await reporter.report(outcomes);
  if (reporter.worst > 0) throw new ExitWith(reporter.worst);
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

/** Returns what pushes one line. */
function pushLine(session: Session, batch: Batch) {
  const { context, say } = session;
  const { options, target, instance, account, passphrase, sealing, edition } = batch;
  const profile = defaultsOf(target);
  const warn = clearFieldsWarning(say);
  return async ({ line, format }: FormattedLine): Promise<Outcome> => {
    if (context.signal.aborted) throw endedBy(context.signal);
    try {
      const { passphrase: named, payload, ...limits } = entryOf(line, format);
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
      if (!instance) return { line, request: (await shownPush(draft)).request };
      const { acceptLimits, locale } = options;
      const plan = { draft, account, acceptLimits, locale, search: false };
      const created = await createPush(session, instance, plan);
      const shorter = told.shorter === undefined ? [] : [told.shorter];
      return { line, created: { ...created, warnings: [...shorter, ...created.warnings] } };
    } catch (error) {
      if (error instanceof CliError) return { line, failure: aboutLine(error, line) };
      throw error;
    }
  };
}

/** The options, without an expiry if a line has one of its own. */
function withoutExpiry(options: PushOptions, line: Partial<BatchEntry>): PushOptions {
  if (line.days === undefined && line.expire === undefined) return options;
  const { days: _days, expire: _expire, ...rest } = options;
  return rest;
}

function failureJson(failure: CliError): string {
  const { line, ...error } = failureFields(failure);
  return toJson({ line, error });
}

/** Prints outcomes, and keeps what went wrong. */
function outcomeReporter(session: Session, { options, target, sealing }: Batch) {
  const { context, say } = session;
  const look = { json: options.json, encryption: sealing?.mode };
  let lastHint: string | undefined;
  const fail = async (failure: CliError) => {
    state.worst = Math.max(state.worst, failure.exitStatus);
    await tellError(context, failure, { ...options, hinted: lastHint });
    lastHint = failure.hint;
  };
  /** The line on stdout of a line that failed: empty, or the error as JSON. */
  const placeholder = async (line: BatchLine, failure: CliError) => {
    const text = options.json ? failureJson(failure) : '';
    await say.printText(`${text}\n`).catch(async ({ code }) => {
      if (state.stopped) return;
      state.stopped = true;
      const unwritable = failedError(`cannot write to standard output (${whyUnwritable(code)})`);
      await fail(aboutLine(unwritable, line));
    });
  };
  const state = {
    /** The highest exit status so far. */
    worst: 0,
    /** Results cannot be written any more. */
    stopped: false,
    /** Links that follow each other are written together. */
    async report(outcomes: readonly Outcome[]): Promise<void> {
      const links: CreatedLine[] = [];
      for (const outcome of outcomes) {
        if ('created' in outcome) {
          links.push(outcome);
          continue;
        }
        await deliver(links.splice(0));
        if ('failure' in outcome) {
          await fail(outcome.failure);
          await placeholder(outcome.line, outcome.failure);
        } else {
          await say.printText(await dryRunText(target, outcome.request, look));
        }
      }
      await deliver(links);
    },
  };
  const deliver = async (links: readonly CreatedLine[]) => {
    if (links.length === 0) return;
    const pushes = links.map(({ created }) => created);
    const failures = await printLinks(session, options, pushes);
    if (keepsReceipts(options, defaultsOf(target))) await keepReceipts(session, pushes);
    for (const [at, { line, created }] of links.entries()) {
      for (const warning of created.warnings) await say.warn(`line ${line.number}: ${warning}`);
      const failure = failures[at];
      if (failure === undefined) continue;
      // Reported once; later only if the link is not on stderr either.
      const isNews = failure.remains !== undefined || !state.stopped;
      state.stopped = true;
      if (isNews) await fail(aboutLine(failure, line));
    }
  };
  return state;
}

interface FormattedLine {
  readonly line: BatchLine;
  readonly format: BatchFormat;
}

/** Each line with the format, which the first line decides. */
async function* formatted(
  lines: AsyncIterable<BatchLine>,
  goesOn: () => boolean,
): AsyncGenerator<FormattedLine> {
  let format: BatchFormat | undefined;
  for await (const line of lines) {
    if (!goesOn()) return;
    format ??= formatOf(line.bytes);
    yield { line, format };
  }
  if (format === undefined) throw usageError('no lines to push');
}

function entryOf({ bytes }: BatchLine, format: BatchFormat): BatchEntry {
  if (bytes === undefined) throw usageError('longer than 8 MiB', 'attach it with --file');
  return readEntry(bytes, format);
}

function aboutLine(error: CliError, { number }: BatchLine): CliError {
  return error.with({ message: `line ${number}: ${error.message}`, line: number });
}
