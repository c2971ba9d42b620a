import { lstatSync, rmdirSync, type Stats, statSync } from 'node:fs';
import { refuseToPrint } from '../cli/agent';
import type { Entry } from '../cli/terminal/output';
import { attempt, phrase, usageError } from '../platform/errors';
import { isGarbled, NOT_UTF8 } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { foldersMissing, makeFolder } from '../platform/private-folder';
import type { HintName } from '../words/hints';
import type { JobEntry } from './ci-job';
import type { Destination } from './destination';
import type { Folder } from './safe-name';
import type { PlaceKind } from './ways';

export type PlacePlan = {
  readonly force: boolean;
} & (
  | { readonly to: 'stream' | 'qr' | 'clipboard' }
  /** Standard output takes the text, and also a file if there is only one. */
  | { readonly to: 'dash' }
  /** A file or folder, whichever exists. */
  | { readonly to: 'path'; readonly path: string }
  | { readonly to: 'job'; readonly entries: readonly JobEntry[] }
  /** An interrupted run delivered the text, and saved files to this folder. */
  | { readonly to: 'rest'; readonly folder: Folder }
);

export interface Place {
  readonly plan: PlacePlan;
  readonly kind: PlaceKind;
  /** Undefined if the text goes to standard output. */
  readonly text: Destination | undefined;
  discard(): Promise<void>;
}

/** Standard output does not need this module, which takes 3 ms to load. */
const destinations = () => import('./destination');

interface Wanted {
  readonly files: boolean;
  /** The text was delivered before. */
  readonly onlyFiles?: boolean;
  /** Tells what to do where an agent would read the text. */
  readonly instead: HintName;
}

/** @throws CliError (usage) if the place is not available, or an agent would read it */
export async function reservePlace(entry: Entry, plan: PlacePlan, wanted: Wanted): Promise<Place> {
  await refuseSeen(entry, plan, wanted);
  const { context, say } = entry;
  switch (plan.to) {
    case 'job': {
      const { ciDestination } = await import('./ci-job');
      return placeOf('job', plan, await ciDestination(entry, plan.entries));
    }
    case 'clipboard': {
      const { clipboardDestination } = await import('./clipboard-destination');
      return placeOf('clipboard', plan, await clipboardDestination(entry));
    }
    case 'path':
      return reservePath(plan, say.manner.json || wanted.onlyFiles === true, context.uid);
    case 'rest':
      return placeOf('file-folder', plan);
    case 'dash':
      return placeOf(context.stdout.isTTY ? 'dash-terminal' : 'dash', plan);
    default:
      return placeOf('stdout', plan);
  }
}

function placeOf(kind: PlaceKind, plan: PlacePlan, text?: Destination): Place {
  return { kind, plan, text, discard: async () => text?.discard() };
}

/**
 * Refuses places where an agent would read a text: standard output, terminals, open files, and the log of a job, as
 * masking prints the text. `clipboardDestination` judges a clipboard.
 * @throws CliError (usage)
 */
async function refuseSeen(
  { context, say }: Entry,
  plan: PlacePlan,
  { files, onlyFiles, instead }: Wanted,
): Promise<void> {
  if ((await context.guard?.()) === undefined) return;
  if (plan.to === 'clipboard' || plan.to === 'rest') return;
  if (onlyFiles && (plan.to === 'stream' || plan.to === 'qr')) return;
  const { isStream } = await destinations();
  if (plan.to !== 'path' || isStream(plan.path, context.uid))
    return refuseToPrint(context, 'the secret', instead);
  if (!say.manner.json || onlyFiles) return;
  // With a folder, the JSON object goes to standard output; for a push with files, the path becomes a folder.
  const isFolder = statOf(plan.path)?.isDirectory();
  if (files || isFolder || /[/\\]$/.test(plan.path))
    await refuseToPrint(context, 'the secret', 'remove-json');
}

/**
 * Reserves a folder for text and files, made if it is missing, or a file for the text.
 * @param whole no text goes to a folder: a JSON object goes to standard output, or there is no text
 */
async function reservePath(
  plan: PlacePlan & { readonly to: 'path' },
  whole: boolean,
  user: User,
): Promise<Place> {
  const { path, force } = plan;
  if (isGarbled(path) && !statOf(path))
    throw usageError(
      `cannot write "${path}": ${NOT_UTF8}; nothing was fetched`,
      phrase('save-by-shell'),
    );
  const { linkTarget, reserveFile, reserveText } = await destinations();
  const made = makeOutputFolder(path);
  if (!made) {
    const there = lstatSync(path, { throwIfNoEntry: false });
    // A symbolic link stays, and its target is replaced.
    const kind = !there ? 'new-path' : there.isFile() ? 'old-file' : 'special-file';
    return placeOf(kind, plan, await reserveFile(path, force, user));
  }
  linkTarget(path, user);
  const text = whole ? undefined : await reserveText({ path, force, taken: new Set() });
  const discard = async () => {
    await text?.discard();
    // A folder that is no longer empty stays.
    for (const folder of made) await attempt(async () => rmdirSync(folder));
  };
  return { kind: text ? 'folder' : 'file-folder', plan, text, discard };
}

/** Creates the missing folders of `path/` and returns those, innermost first; undefined if `path` names a file. */
function makeOutputFolder(path: string): readonly string[] | undefined {
  const stats = statOf(path);
  if (stats || !/[/\\]$/.test(path)) return stats?.isDirectory() ? [] : undefined;
  const missing = foldersMissing(path);
  makeFolder(path);
  return missing;
}

/** Returns undefined also for an unreachable path: the error of a later write says why. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
