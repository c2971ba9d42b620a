import { rmSync } from 'node:fs';
import { isArmored } from '../age/sealed-with';
import { isGuarded } from '../cli/agent';
import { boundedWrite, breakLine } from '../cli/terminal/bounded-write';
import { forTerminal } from '../cli/terminal/safe';
import { count, left } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import type { Context, Output } from '../platform/context';
import { attempt, CliError, type Fact, phrase, type Step, savedTo } from '../platform/errors';
import { listed } from '../words/grammar';
import type { KeptDownload } from './interrupted-download';
import type { RescueContext } from './rescue';

/** Where everything goes that cannot be delivered, and what a failure then says of it. */
export interface Safe {
  /** Whether a later run can go on, such as with the rest of a download. */
  readonly resumes: boolean;
  /** Saves it; never throws. */
  keep(part: Lost): Promise<void>;
  /** Saves the text while it is being opened, for the run may end then; does nothing if it is held already. */
  hold(received: Received): Promise<void>;
  /** Removes what is held of it. */
  release(received: Received): Promise<void>;
  /**
   * Makes a new folder for files that cannot be saved where they belong.
   * @throws CliError (failed) if there is no place for it
   */
  folder(): Promise<string>;
  /** Adds to a failure what became of all that was to be kept since the one before. */
  explain(failure: CliError): CliError;
}

/** A push that was taken. */
interface Received {
  /** Decrypted, if it could be. */
  readonly push: Push;
  /** As it was received. */
  readonly sealed: Push;
}

type Lost = LostText | LostPush | LostRest;

export interface LostText {
  readonly what: 'link' | 'secret' | 'text' | 'response' | 'key';
  /** How messages name it, in place of `what`. */
  readonly called?: string;
  readonly bytes: string | Uint8Array;
  /** The push it is from: if that can be retrieved again, nothing is saved. */
  readonly push?: Push | undefined;
}

/** Text and files of a push; of one that can be retrieved again only what is held. */
export interface LostPush extends Received {
  readonly what: 'push';
  /** Which of several: `link 2`. */
  readonly subject?: string | undefined;
  /** Downloads its files into a folder. */
  saveFiles(folder: string, safe: Safe): Promise<SavedFiles>;
}

interface SavedFiles {
  readonly paths: readonly string[];
  /** Why not all could be saved. */
  readonly failure: CliError | undefined;
}

/** Files that could not be downloaded; nothing is done if they can be retrieved again. */
export interface LostRest {
  readonly what: 'rest';
  readonly push: Push;
  /** Why they are lost if they are not fetched now. */
  readonly gone: string;
  /** How many. */
  readonly missing: number;
  /** What a later run needs to fetch them. */
  readonly download: KeptDownload;
  /** A signal ended the download. */
  readonly interrupted: boolean;
}

/** Whether a push can be retrieved again, so that nothing of it is lost; false if that is not certain. */
export function isRetrievableAgain(push: Push): boolean {
  const { views_remaining: views, days_remaining: days, expired } = push;
  return typeof views === 'number' && views > 0 && days !== 0 && expired !== true;
}

/** Why one that cannot be retrieved again, or may not be, is lost if it is not saved now. */
export function whyGone(push: Push, isAnswer: boolean): string {
  if (isAnswer) return 'the answer was taken';
  return push.views_remaining === 0 ? 'no view is left' : 'the push may be gone';
}

/** A text or file that was to be kept: where it is, or why it is lost. */
interface Fate {
  readonly what: LostText['what'] | 'files';
  /** How messages name it, in place of `what`. */
  readonly called?: string | undefined;
  /** Parts of one secret have the same number. */
  readonly secret: number;
  /** Its path, or why it could not be saved. */
  readonly outcome: string | CliError;
  /** Where it was printed as it could not be saved. */
  readonly printed?: string | undefined;
  /** Whether it opens with a key that someone may have. */
  readonly sealed?: boolean;
}

/** All that was to be kept since the last failure. */
interface Fates {
  readonly saved: Fate[];
  /** Sentences about pushes that can be retrieved again. */
  readonly available: string[];
  /** Downloads that are left to another run, with the file for it. */
  readonly rests: { readonly lost: LostRest; readonly outcome: string | CliError }[];
}

const noFates = (): Fates => ({ saved: [], available: [], rests: [] });

export type SafeContext = RescueContext & Pick<Context, 'stderr' | 'signal' | 'guard'>;

/**
 * A safe in the state folder. A text that cannot be saved is printed on the terminal, unless a coding agent would read it.
 * @param resumes whether a later run can go on: with the key, and with the rest of files that could not be downloaded
 * @param stdout for secrets that cannot be saved, where it is for secrets
 */
export function newSafe(context: SafeContext, resumes = true, stdout?: Output): Safe {
  let fates = noFates();
  let secrets = 0;
  /** Paths of texts that are held, by what was received. */
  const held = new Map<Push, string>();
  const again = (push: Push) =>
    isRetrievableAgain(push)
      ? `the push can be retrieved again (${left(push, context.now())})`
      : undefined;

  const saveOrPrint = async (what: LostText['what'], bytes: LostText['bytes']) => {
    const outcome = await save(context, what, bytes);
    if (!(outcome instanceof CliError)) return { outcome };
    const secret = what === 'secret' || what === 'response';
    return { outcome, printed: await print(context, bytes, secret ? stdout : undefined) };
  };
  const keepText = async ({ what, called, bytes, push }: LostText) => {
    const available = push && again(push);
    if (available !== undefined) return void fates.available.push(available);
    const kept = await saveOrPrint(what, bytes);
    fates.saved.push({ what, called, secret: ++secrets, ...kept });
  };
  const keepPush = async ({ push, sealed, subject, saveFiles }: LostPush) => {
    const bytes = push.payload ?? '';
    const available = again(push);
    const secret = ++secrets;
    if (available !== undefined)
      return void fates.available.push(subject ? `${subject}: ${available}` : available);
    if (bytes !== '') {
      const path = held.get(sealed);
      const kept = path ? { outcome: path } : await saveOrPrint('secret', bytes);
      const opens = resumes && isArmored(bytes);
      fates.saved.push({ what: 'secret', secret, ...kept, sealed: opens });
    }
    if ((push.files ?? []).length === 0) return;
    const path = await attempt(safe.folder);
    const { paths, failure } =
      path instanceof CliError
        ? { paths: [], failure: path }
        : await saveFiles(path, newSafe(context, resumes, stdout));
    for (const outcome of [...paths, ...(failure ? [failure] : [])])
      fates.saved.push({ what: 'files', secret, outcome });
  };
  const keepRest = async (lost: LostRest) => {
    if (!resumes || lost.missing === 0 || isRetrievableAgain(lost.push)) return;
    const { keepDownload } = await import('./interrupted-download');
    const outcome = await attempt(() => keepDownload(context, lost.download));
    fates.rests.push({ lost, outcome });
  };

  const safe: Safe = {
    resumes,
    keep: (part) => {
      if (part.what === 'rest') return keepRest(part);
      return part.what === 'push' ? keepPush(part) : keepText(part);
    },
    hold: async ({ push, sealed }) => {
      if (held.has(sealed) || isRetrievableAgain(push)) return;
      const path = await save(context, 'secret', sealed.payload ?? '');
      if (!(path instanceof CliError)) held.set(sealed, path);
    },
    release: async ({ sealed }) => {
      const path = held.get(sealed);
      held.delete(sealed);
      if (path !== undefined) await attempt(async () => rmSync(path, { force: true }));
    },
    folder: async () => (await rescues()).rescueFolder(context),
    explain: (failure) => {
      const { saved, available, rests } = fates;
      fates = noFates();
      const begun = rests.reduce(withRest, failure);
      const parts = saved.filter(({ what }) => what !== 'key');
      const keys = saved.filter(({ what }) => what === 'key');
      const any = parts.length + available.length > 0;
      return keys.reduce(withKey, any ? withParts(begun, parts, available) : begun);
    },
  };
  return safe;
}

/** 6 ms, and rarely needed. */
const rescues = () => import('./rescue');

async function save(context: RescueContext, what: LostText['what'], bytes: LostText['bytes']) {
  const { rescue } = await rescues();
  return attempt(() => rescue(context, what, bytes));
}

/** Prints what could not be saved, so that it is not lost. Returns where it is; undefined if it may be shown nowhere. */
async function print(
  context: SafeContext,
  bytes: LostText['bytes'],
  stdout: Output | undefined,
): Promise<string | undefined> {
  const { stderr, signal } = context;
  if (await isGuarded(context)) return undefined;
  const text = Buffer.from(bytes as Uint8Array).toString();
  for (const output of [stdout, stderr]) {
    if (!output || output.closed || (output === stderr && !stderr.isTTY)) continue;
    try {
      await boundedWrite(output, output.isTTY ? forTerminal(text) : bytes, signal);
      if (!output.isTTY && !text.endsWith('\n')) breakLine(stderr);
      return output.isTTY ? 'the terminal' : 'standard output';
    } catch {
      // As what was to be written there before.
    }
  }
  return undefined;
}

/** Says where texts and files are, or that they are lost. */
function withParts(
  failure: CliError,
  parts: readonly Fate[],
  available: readonly string[],
): CliError {
  const paths = parts.flatMap(({ outcome }) => (outcome instanceof CliError ? [] : outcome));
  const unsaved = parts.filter(({ outcome }) => outcome instanceof CliError);
  const shown = unsaved.filter(({ printed }) => printed !== undefined);
  const lost = unsaved.flatMap(({ outcome, printed }) => (printed ? [] : (outcome as CliError)));
  const causes = [failure, ...lost];
  const remaining = [...paths, ...causes.flatMap(({ remains }) => remains?.saved_to ?? [])];
  return failure.with({
    facts: [
      ...failure.facts,
      ...(paths.length > 0 ? [`${whatWas(parts)} saved to ${listed(paths)}`] : []),
      ...available,
      ...shown.map((part) => printedAs(part)),
      ...lossOf(parts, lost, parts.length > lost.length || available.length > 0),
    ],
    // Of several commands the first is printed: what is still to be fetched matters most.
    steps: [
      ...failure.steps,
      ...lost.flatMap((one) => one.steps),
      ...nextSteps(failure, parts, paths),
    ],
    remains: { ...failure.remains, ...savedTo(remaining) },
  });
}

function printedAs(part: Fate): Fact {
  const why = part.outcome instanceof CliError ? part.outcome.facts : [];
  return phrase('detailed', `${whatWas([part])} printed to ${part.printed}`, ...why);
}

/** @param something whether anything else is saved or can be retrieved */
function lossOf(parts: readonly Fate[], lost: readonly CliError[], something: boolean): Fact[] {
  if (lost.length === 0) return [];
  const [first] = parts;
  const whole = !something && parts.length === 1 && first?.what !== 'files';
  const what = whole ? `the ${first?.called ?? first?.what} is LOST` : 'NOT ALL IS SAVED';
  const [why, ...others] = lost.flatMap(({ facts }) => facts);
  return [phrase('detailed', what, ...(why ? [why] : [])), ...others];
}

/** How to open what was saved, or to delete it. */
function nextSteps({ code }: CliError, parts: readonly Fate[], paths: readonly string[]): Step[] {
  // What is damaged or was exchanged does not open.
  const sealed = code === 'failed' ? undefined : parts.find((part) => part.sealed)?.outcome;
  if (typeof sealed === 'string') return [phrase('open-saved', sealed)];
  return paths.length === 0 ? [] : [phrase('delete-saved', ...paths)];
}

/** Such as `the text was`; files of a push are part of the secret. */
function whatWas(parts: readonly Fate[]): string {
  const [first] = parts;
  if (parts.some(({ secret }) => secret !== first?.secret)) return 'the secrets were';
  if (first?.sealed) return 'the encrypted text was';
  return `the ${first?.called ?? (first?.what === 'files' ? 'secret' : first?.what)} was`;
}

/** Says how to get the rest of a download; of an interrupt, only what it left. */
function withRest(failure: CliError, { lost, outcome }: Fates['rests'][number]): CliError {
  const { gone, missing, interrupted, download } = lost;
  const begun = interrupted ? [] : failure.facts;
  if (outcome instanceof CliError)
    return failure.with({
      facts: [...begun, phrase('detailed', gone, ...outcome.facts)],
      remains: {},
    });
  const sealed = isArmored(download.push.payload ?? '') && !download.answer;
  return failure.with({
    facts: interrupted ? [`${gone}, and ${count(missing, 'file')} not saved`] : failure.facts,
    steps: [...failure.steps, phrase('resume-soon', outcome, sealed ? 'with key' : '')],
    remains: { saved_to: outcome },
  });
}

/** Says where the private key is that may open what was saved. */
function withKey(failure: CliError, { outcome, printed }: Fate): CliError {
  const kept =
    outcome instanceof CliError
      ? phrase('know-of-key', printed ?? '', ...outcome.facts)
      : phrase('try-saved-key', outcome);
  return failure.with({ steps: [kept, ...failure.steps] });
}
