import { setImmediate as nextRound } from 'node:timers/promises';
import { type NewPassphraseSource, noKey, readPassphrase } from '../../cli/passphrase';
import { failureFields, worded, wordsOf } from '../../cli/report-error';
import { bytesFrom, placeOf } from '../../cli/source';
import { type Entry, toJson } from '../../cli/terminal/output';
import { inOrder } from '../../client/in-order';
import { AT_ONCE } from '../../client/pages';
import { lazy } from '../../contract/lazy';
import { printLink } from '../../deliver/deliver-link';
import { printResult } from '../../deliver/print-result';
import { printError } from '../../keep/print-error';
import {
  attempt,
  CliError,
  ExitWith,
  endedBy,
  type Fact,
  phrase,
  usageError,
} from '../../platform/errors';
import { accountOf, connect } from '../../profile/connect';
import type { Target } from '../../profile/target';
import {
  areObjects,
  type BatchEntry,
  type BatchLine,
  linesOf,
  readEntry,
} from '../../send/batch-lines';
import { type CreatedPush, createPush, inClear, keepReceipts } from '../../send/create';
import { type DraftPlan, draftOf, type PushDetails, readKeys, remarkClear } from '../../send/draft';
import { editionOf, reportExpiry } from '../../send/expiry';
import { labelsOf } from '../../send/judge';
import { dryRunText } from './dry-run';

export interface EachPlan extends Pick<DraftPlan, 'limits' | 'result'> {
  /** A path; `-` is standard input. */
  readonly lines: string;
  readonly details: PushDetails;
  readonly seal: DraftPlan['seal'] & { readonly passphrase: NewPassphraseSource };
  readonly target: Target;
  readonly dryRun: boolean;
}

/** In bytes: the longest text that the reference accepts, with room for JSON escapes. */
const LONGEST = 8 * 1024 * 1024;

/**
 * Creates a push for each input line, several at once. Prints one output line for each, in the same order, so that the
 * output can be pasted beside the input. A line that fails is reported and does not stop the others; the exit code is
 * the highest status. Once stdout cannot be written, no further line is begun.
 */
export async function run(entry: Entry, plan: EachPlan): Promise<void> {
  const { context, say } = entry;
  const { json } = say.manner;
  let [pushed, failed, worst] = [0, 0, 0];
  let isStopped = false;
  let hinted: string | undefined;
  const report = async (failure: CliError) => {
    await printError(context, failure, { ...say.manner, hinted });
    hinted = worded(failure).hint;
  };
  const goesOn = () => !isStopped && !context.signal.aborted;
  const receipts = receiptsOf(entry);
  try {
    for await (const { line, result } of await outcomes(entry, plan, goesOn)) {
      const counted = (error: CliError) => {
        worst = Math.max(worst, error.exitStatus);
        return error.with({ subject: `line ${line.number}`, line: line.number });
      };
      let unprinted: CliError | undefined;
      if (result instanceof CliError) {
        failed++;
        const failure = counted(result);
        if (!json) await report(failure);
        unprinted = await printFailure(entry, failure);
        if (json && unprinted) await report(failure);
      } else if (typeof result === 'string') await say.printText(result);
      else {
        pushed++;
        unprinted = await printLink(entry, result);
        if (plan.result.receipt) receipts.keep(result);
        for (const warning of result.warnings) await say.warn(`line ${line.number}: ${warning}`);
      }
      if (!unprinted) continue;
      const failure = counted(unprinted);
      // A failure of standard output is reported once, and later only if it contains a link that would be lost.
      if (!isStopped || failure.remains !== undefined) await report(failure);
      isStopped = true;
    }
  } finally {
    await receipts.kept();
  }
  if (!plan.dryRun) {
    const counts = `${pushed} pushed${failed === 0 ? '' : `, ${failed} failed`}`;
    await say.remark(
      plan.seal.encryption || pushed === 0 ? counts : `${counts} · ${inClear('them')}`,
    );
  }
  if (worst > 0) throw new ExitWith(worst);
}

/** Saves those together that come in one round of the event loop, as one takes as long as its push. */
function receiptsOf(entry: Entry) {
  const pushes: CreatedPush[] = [];
  let saving = Promise.resolve();
  return {
    keep: (push: CreatedPush) => {
      if (pushes.push(push) > 1) return;
      saving = saving.then(nextRound).then(() => keepReceipts(entry, pushes.splice(0)));
    },
    kept: () => saving,
  };
}

async function outcomes(entry: Entry, plan: EachPlan, goesOn: () => boolean) {
  const { context, say } = entry;
  const seal = await readKeys(plan.seal, entry);
  const passphrase = await readPassphrase(plan.seal.passphrase, context, true);
  context.releaseTerminal();
  const connected = lazy(() => connect(entry, { target: plan.target }, AT_ONCE));
  const instance = plan.dryRun ? undefined : await connected();
  // Throws once for an account at an instance without accounts, because each line would fail.
  if (instance) accountOf(plan.target);
  const edition = editionOf(plan.target, connected, plan.dryRun);
  await reportExpiry(plan.limits.expiry, 'expires', say);
  let isRemarked = false;
  let ofObjects: boolean | undefined;
  const make = async (line: BatchLine): Promise<CreatedPush | string> => {
    ofObjects ??= areObjects(line.bytes);
    if (context.signal.aborted) throw endedBy(context.signal);
    if (!line.bytes) throw usageError('longer than 8 MiB', phrase('attach'));
    const own = readEntry(line.bytes, ofObjects);
    const text = own.passphrase === undefined ? passphrase : await noKey(own.passphrase);
    const planned = planOfLine(plan, { ...seal, passphrase: { text } }, own);
    if (seal.encryption && !isRemarked) {
      const labels = labelsOf(planned.content.details);
      isRemarked = labels.length > 0;
      await remarkClear(labels, say);
    }
    const warnings: string[] = [];
    const collecting = {
      ...say,
      warn: async (what: Fact | CliError) => void warnings.push(wordsOf(what)),
    };
    const draft = await draftOf(planned, { context, say: collecting }, edition);
    if (!instance) return dryRunText(draft, plan.target, say.manner.json);
    const created = await createPush(draft, instance, entry);
    return { ...created, warnings: [...warnings, ...created.warnings] };
  };
  const lines = linesOf(bytesFrom(plan.lines, context), LONGEST, placeOf(plan.lines));
  return inOrder(linesWhile(lines, goesOn), async (line) => ({
    line,
    result: await attempt(() => make(line)),
  }));
}

function planOfLine(
  { details, limits, result }: EachPlan,
  seal: DraftPlan['seal'],
  line: BatchEntry,
): DraftPlan {
  const fields = { ...limits.fields, ...line.limits };
  const { expiry } = line;
  return {
    content: {
      text: { from: { name: 'text', value: line.payload }, raw: false },
      details: { ...details, ...line.details },
    },
    limits: { ...limits, fields, ...(expiry && { expiry, expiryOption: undefined }) },
    seal,
    result,
  };
}

/**
 * Prints an empty line in place of the result of a line that failed, or with `--json` its error, which is then not on
 * standard error too. Returns an error if standard output cannot be written.
 */
async function printFailure(
  { context, say }: Entry,
  failure: CliError,
): Promise<CliError | undefined> {
  const { json } = say.manner;
  if (!json && context.stdout.isTTY) return undefined;
  const { line, ...error } = failureFields(failure);
  return printResult(context, json ? `${toJson({ line, error })}\n` : '\n');
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
