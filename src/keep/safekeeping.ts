import { rmSync } from 'node:fs';
import { isArmored } from '../age/armored';
import { count, shellWord } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import { attempt, CliError, joinHints, savedTo } from '../platform/errors';
import { listed } from '../platform/listed';
import {
  isRetrievableAgain,
  type LostFiles,
  type LostText,
  retrievableAgain,
  type Safe,
  type Taking,
  whyGone,
} from '../take/taking';
import type { RescueContext } from './rescue';

/** A text or file that was to be kept: where it is, or why it is lost. */
interface Fate {
  readonly what: LostText['what'] | 'files';
  /** How messages name it, in place of `what`. */
  readonly called?: string | undefined;
  /** Parts of one secret have the same number. */
  readonly secret: number;
  /** Its path, or why it could not be saved. */
  readonly outcome: string | CliError;
  /** Whether it opens with a key that someone may have. */
  readonly sealed?: boolean;
}

/** All that was to be kept since the last failure. */
interface Fates {
  readonly saved: Fate[];
  /** Sentences about pushes that can be retrieved again. */
  readonly available: string[];
  /** Downloads that are left to `get --resume`, with the file for it. */
  readonly rests: { readonly files: LostFiles; readonly outcome: string | CliError }[];
}

const noFates = (): Fates => ({ saved: [], available: [], rests: [] });

/**
 * A safe in the state folder.
 * @param resumes whether a later run can go on: with the key, and with `get --resume` for files that could not be downloaded
 */
export function newSafe(context: RescueContext, resumes = true): Safe {
  let fates = noFates();
  let secrets = 0;
  /** Paths of texts that are held, by what was received. */
  const held = new Map<Push, string>();

  const keepText = async ({ what, called, bytes, push }: LostText) => {
    const again = push && retrievableAgain(push, context.now());
    if (again !== undefined) return void fates.available.push(again);
    const outcome = await save(context, what, bytes);
    fates.saved.push({ what, called, secret: ++secrets, outcome });
  };
  const keepPush = async (taking: Taking, from: string) => {
    const { push, sealed } = taking.taken;
    const bytes = push.payload ?? '';
    const again = retrievableAgain(push, context.now());
    const path = held.get(sealed);
    const secret = ++secrets;
    if (again !== undefined) fates.available.push(`${from}${again}`);
    if (bytes !== '' && again === undefined) {
      const outcome = path ?? (await save(context, 'secret', bytes));
      const opens = resumes && isArmored(bytes);
      fates.saved.push({ what: 'secret', secret, outcome, sealed: opens });
    }
    if (again !== undefined) return;
    for (const outcome of await saveFiles({ ...taking, safe: newSafe(context, resumes) }))
      fates.saved.push({ what: 'files', secret, outcome });
  };
  const keepRest = async (files: LostFiles) => {
    if (!resumes || files.missing.length === 0) return;
    if (!isRetrievableAgain(files.taking.taken.push)) fates.rests.push(await rest(context, files));
  };

  return {
    resumes,
    keep: async (part) => {
      if (part.what === 'files') return keepRest(part);
      if (part.what !== 'pushes') return keepText(part);
      const { takings, links = takings.length } = part;
      for (const [at, taking] of takings.entries())
        await keepPush(taking, links > 1 ? `link ${at + 1}: ` : '');
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
    folder: async () => (await import('./rescue')).rescueFolder(context),
    /** Adds to message, hint, command and `remains` what became of the parts. */
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
}

async function rest(context: RescueContext, files: LostFiles): Promise<Fates['rests'][number]> {
  const { keepDownload } = await import('./interrupted-download');
  return { files, outcome: await attempt(() => keepDownload(context, files)) };
}

async function save(context: RescueContext, what: LostText['what'], bytes: LostText['bytes']) {
  // Loaded on demand: takes 6 ms, and is rarely needed.
  const { rescue } = await import('./rescue');
  return attempt(() => rescue(context, what, bytes));
}

/** Paths, and why not all could be saved. */
async function saveFiles(taking: Taking): Promise<(string | CliError)[]> {
  if ((taking.taken.push.files ?? []).length === 0) return [];
  const path = await attempt(taking.safe.folder);
  if (path instanceof CliError) return [path];
  const { fetchFiles } = await import('../deliver/download');
  const { saved, failure } = await fetchFiles(taking, { path, force: false, taken: new Set() });
  return [...saved.flatMap((file) => file?.path ?? []), ...(failure ? [failure] : [])];
}

/** Says where texts and files are, or that they are lost. */
function withParts(
  failure: CliError,
  parts: readonly Fate[],
  available: readonly string[],
): CliError {
  const paths = parts.flatMap(({ outcome }) => (outcome instanceof CliError ? [] : outcome));
  const lost = parts.flatMap(({ outcome }) => (outcome instanceof CliError ? outcome : []));
  const why = lost.map(({ message }) => message).join('; ');
  const nothing = paths.length + available.length === 0 && parts.length === 1;
  const text = nothing ? parts.find(({ what }) => what !== 'files') : undefined;
  const sentences = [
    failure.message,
    ...(paths.length > 0 ? [`${named(parts)} saved to ${listed(paths)}`] : []),
    ...available,
    ...(lost.length > 0 && !text ? [`NOT ALL IS SAVED: ${why}`] : []),
  ];
  // What is damaged or was exchanged does not open.
  const sealed = failure.code === 'failed' ? undefined : parts.find((part) => part.sealed)?.outcome;
  const opens =
    typeof sealed === 'string' ? `pwpush get --from-file ${shellWord(sealed)}` : undefined;
  const cleanUp = `delete the ${paths.length === 1 ? 'file' : 'files'} when done`;
  const unsealed = paths.length === 0 ? undefined : cleanUp;
  const next = opens === undefined ? unsealed : 'with the key, open what was saved';
  const remove = paths.length > 0 ? `rm ${paths.map(shellWord).join(' ')}` : undefined;
  const causes = [failure, ...lost];
  const command = causes.find((cause) => cause.command !== undefined)?.command;
  // The last hint is that of the command below it.
  const own = command === undefined ? [failure.hint, next] : [next, failure.hint];
  const hints = [...own, ...lost.map(({ hint }) => hint)];
  const remaining = [...paths, ...causes.flatMap(({ remains }) => remains?.saved_to ?? [])];
  return failure.with({
    message: `${sentences.join('; ')}${text ? `, and the ${text.called ?? text.what} is LOST: ${why}` : ''}`,
    hint: hints.reduce(joinHints, undefined),
    command: command ?? opens ?? remove,
    remains: { ...failure.remains, ...savedTo(remaining) },
  });
}

/** Such as `the text was`; files of a push are part of the secret. */
function named(parts: readonly Fate[]): string {
  const [first] = parts;
  if (parts.some(({ secret }) => secret !== first?.secret)) return 'the secrets were';
  if (first?.sealed) return 'the encrypted text was';
  return `the ${first?.called ?? (first?.what === 'files' ? 'secret' : first?.what)} was`;
}

/** Says how to get the rest of a download; of an interrupt, only what it left. */
function withRest(failure: CliError, { files, outcome }: Fates['rests'][number]): CliError {
  const { taken, signal } = files.taking;
  const gone = whyGone(taken);
  if (outcome instanceof CliError) {
    const lost = `${gone}: ${outcome.message}`;
    const message = signal.aborted ? lost : `${failure.message}; ${lost}`;
    return failure.with({ message, remains: {} });
  }
  const sealed = isArmored(taken.sealed.payload ?? '') && !taken.answer;
  const key = sealed ? '; give its key when asked, or add the link' : '';
  const message = `${gone}, and ${count(files.missing.length, 'file')} not saved`;
  return failure.with({
    message: signal.aborted ? message : failure.message,
    hint: joinHints(failure.hint, `get the rest within minutes${key}`),
    command: `pwpush get --resume ${shellWord(outcome)}`,
    remains: { saved_to: outcome },
  });
}

/** Says where the private key is that may open what was saved. */
function withKey(failure: CliError, { outcome }: Fate): CliError {
  const kept =
    outcome instanceof CliError
      ? `the private key is lost: ${outcome.message}`
      : `its private key was saved to ${outcome}: try age -d -i ${shellWord(outcome)}`;
  return failure.with({ hint: joinHints(kept, failure.hint) });
}
