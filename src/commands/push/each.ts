import { concurrentMap } from '../../client/concurrent-map';
import { AT_ONCE } from '../../client/pages';
import type { Context } from '../../context';
import type { NewPush } from '../../contract';
import { CliError, ExitWith, usageError } from '../../errors';
import { type Entry, type Format, formatOf, readEntry } from '../../input/batch-entry';
import { type Line, linesOf } from '../../input/batch-lines';
import { checkPassphrase, readPassphrase } from '../../input/passphrase';
import { bytesFrom, checkStandardInput } from '../../input/source';
import type { Target } from '../../profile/target';
import { tellFailure } from '../../report-error';
import { type Connection, connect, targetOf, wishesOf } from '../../session';
import { dryRunText } from '../../terminal/dry-run';
import { failureFields } from '../../terminal/error-message';
import { terminal, toJson } from '../../terminal/output';
import type { PushOptions } from '../push';
import { checkCompanions, requestOf } from './request';
import { type Made, settle, tell } from './result';

/** Bytes of one line: what the reference takes as a text, and room for JSON to escape all of it. */
const LONGEST = 8 * 1024 * 1024;

/** What became of a line: a push, what would be sent for one, or why there is none. */
type Outcome =
  | { readonly line: Line; readonly made: Made }
  | { readonly line: Line; readonly request: NewPush }
  | { readonly line: Line; readonly failure: CliError };

/**
 * One push a line, several at once. Standard output gets one line for each, in their order, so that it can be pasted
 * beside the input. A line that fails is told and does not keep the others from it; the worst status counts. When
 * results cannot be written any more no further line is begun.
 */
export async function pushEach(context: Context, options: PushOptions): Promise<void> {
  checkOptions(context, options);
  const { concurrency = AT_ONCE } = options;
  const target = await targetOf(context, wishesOf(context, options));
  const passphrase = await readPassphrase(options, context, true);
  context.asked();
  const connection = options.dryRun
    ? undefined
    : await connect(context, options, target, concurrency);
  const outcome = outcomes(options, target, connection, passphrase);
  const telling = teller(context, options, target);
  const goesOn = () => !telling.stopped && !context.signal.aborted;
  const lines = formatted(linesOf(bytesFrom(options.from ?? '-', context), LONGEST), goesOn);
  for await (const one of concurrentMap(lines, outcome, concurrency)) await telling.tell(one);
  if (telling.worst > 0) throw new ExitWith(telling.worst);
}

function checkOptions(context: Context, options: PushOptions): void {
  const { text, env, generate, file, message, filename, raw, qr, copy, from = '-' } = options;
  const misplaced = {
    'a text': text !== undefined && text !== '-',
    '--env': env !== undefined,
    '--generate': generate !== undefined,
    '--file': file !== undefined,
    '--message': message !== undefined,
    '--filename': filename !== undefined,
    '--kind file': options.kind === 'file',
    '--raw': raw,
    '--generate-passphrase': options.generatePassphrase,
    '--qr': qr,
    '--copy': copy,
    '--here': options.here,
  };
  const wrong = Object.entries(misplaced).find(([, given]) => given)?.[0];
  if (wrong !== undefined) throw usageError(`--each does not go with ${wrong}`);
  if (from === '-' && context.stdin.isTTY)
    throw usageError('--each reads lines, and nothing is piped in', 'or name a file with --from');
  checkStandardInput(options, from === '-' ? 'the secrets' : undefined);
  checkPassphrase(options, context);
  checkCompanions(options);
}

/** Makes what pushes one line. */
function outcomes(
  options: PushOptions,
  target: Target,
  connection: Connection | undefined,
  passphrase: string | undefined,
) {
  return async ({ line, format }: FormattedLine): Promise<Outcome> => {
    try {
      const { passphrase: own = passphrase, payload, ...wishes } = entryOf(line, format);
      const request = requestOf(
        payload,
        own,
        { ...options, ...wishes, passphrase: false },
        target.defaults,
      );
      if (!connection) return { line, request };
      const created = await connection.api.create(request);
      return { line, made: await settle(connection, request, created, options) };
    } catch (error) {
      if (error instanceof CliError) return { line, failure: about(error, line) };
      throw error;
    }
  };
}

/** Tells outcomes, and remembers what went wrong with them. */
function teller(context: Context, options: PushOptions, target: Target) {
  const say = terminal(context, options);
  return {
    worst: 0,
    /** Results cannot be written any more. */
    stopped: false,
    hinted: undefined as string | undefined,
    async tell(outcome: Outcome): Promise<void> {
      const { number } = outcome.line;
      if ('failure' in outcome) {
        await this.fail(outcome.failure);
        return this.skip(outcome.line, outcome.failure);
      }
      if ('request' in outcome)
        return say.printText(dryRunText(target, outcome.request, options.json));
      const warnings = outcome.made.warnings.map((warning) => `line ${number}: ${warning}`);
      const { created, link } = outcome.made;
      const trouble = await tell(context, options, say, { created, link, warnings });
      if (trouble === undefined) return;
      // A link that is on stderr by now needs no second word.
      const isNews = trouble.remains !== undefined || !this.stopped;
      this.stopped = true;
      if (isNews) await this.fail(about(trouble, outcome.line));
    },
    /** Leaves a failed line's place on standard output empty, or fills it with the error as JSON. */
    async skip(line: Line, failure: CliError): Promise<void> {
      const { line: number, ...error } = failureFields(failure);
      const place = options.json ? toJson({ line: number, error }) : '';
      await say.printText(`${place}\n`).catch(async ({ code }) => {
        if (this.stopped) return;
        this.stopped = true;
        const trouble = new CliError('failed', `standard output cannot be written (${code})`);
        await this.fail(about(trouble, line));
      });
    },
    async fail(failure: CliError): Promise<void> {
      const { hinted } = this;
      this.worst = Math.max(this.worst, failure.exitStatus);
      this.hinted = failure.hint;
      await tellFailure(context, failure, { ...options, hinted });
    },
  };
}

interface FormattedLine {
  readonly line: Line;
  readonly format: Format;
}

/** Each line with what the first one says of all. */
async function* formatted(
  lines: AsyncIterable<Line>,
  goesOn: () => boolean,
): AsyncGenerator<FormattedLine> {
  let format: Format | undefined;
  for await (const line of lines) {
    if (!goesOn()) return;
    format ??= formatOf(line.bytes);
    yield { line, format };
  }
  if (format === undefined) throw usageError('there are no lines: there is nothing to push');
}

function entryOf({ bytes }: Line, format: Format): Entry {
  if (bytes === undefined) throw usageError('it is longer than 8 MiB', 'attach it with --file');
  return readEntry(bytes, format);
}

/** The same failure, naming the line. */
function about(error: CliError, { number }: Line): CliError {
  const { code, message, hint, status, remains, cause } = error;
  const details = { hint, status, remains, cause, line: number };
  return new CliError(code, `line ${number}: ${message}`, details);
}
