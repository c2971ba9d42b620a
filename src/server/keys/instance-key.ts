import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { platform } from 'node:os';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { actAs, asRoot } from '../../platform/files/acting';
import { changeFile, dropDrafts, makeWhole } from '../../platform/files/atomic-file';
import { means } from '../../platform/files/file-error';
import { ServiceError, systemCode } from '../service-errors';
import { type DataLocation, keyFileOf } from '../store/database';
import { derive } from './primitives';

const BYTES = 32;

export interface InstanceKey {
  /** Identifies the key without revealing it. */
  readonly id: string;
  /** Seals data keys. */
  readonly wrapping: Uint8Array;
  /** Seals links to files. */
  readonly linking: Uint8Array;
}

export function instanceKey(bytes: Uint8Array): InstanceKey {
  return {
    id: derive(bytes, 'pwpush key id 1', 16).toString('hex'),
    wrapping: derive(bytes, 'pwpush wrapping 1'),
    linking: derive(bytes, 'pwpush file link 1'),
  };
}

export interface FileKey extends InstanceKey {
  readonly bytes: Uint8Array;
  /** The comment lines after the key: one for each database that a service opened with the key. */
  readonly notes: readonly string[];
}

/** The first note of a key that a service or `rekey` made: its notes are complete. Any other key may open more data. */
const COMPLETE = '# used by:';

/** Returns the notes for a new key that replaces a key for this data alone. */
export const notesFor = (dataId: string, { notes }: FileKey): string[] =>
  notes.filter((line) => line === COMPLETE || isNote(line, dataId));

const isNote = (line: string, dataId: string) => line.startsWith(`# ${dataId} `);

/** Returns the key with a note of the data, or without one if there is no `name`. */
export function noted(key: FileKey, dataId: string, name?: string): FileKey {
  const note = `# ${dataId} ${name?.replaceAll(/\s+/g, ' ')}`;
  if (key.notes.includes(note)) return key;
  const others = key.notes.filter((line) => !isNote(line, dataId));
  return { ...key, notes: name === undefined ? others : [...others, note] };
}

/** Stands for data without a note: its service cannot write the file, or another program made the key. */
const UNNOTED = 'data that is not noted there, as of services that cannot write the file';

/** Returns the names of the other data that the key opens, or may open. */
export function otherUses({ notes }: FileKey, dataId: string): string[] {
  const others = notes.filter((line) => !isNote(line, dataId));
  const names = others.flatMap((line) => /^# [\da-f]{32} (.+)$/.exec(line)?.[1] ?? []);
  // The data of a service that has just made the key is not noted yet.
  const isComplete = notes[0] === COMPLETE && notes.length > 1;
  return isComplete ? names : [...names, UNNOTED];
}

/**
 * Reads the keys of the file (base64, one per line, comments after each), newest first; returns none without a file.
 * @throws ServiceError when the file cannot be read or is no key file
 */
export function readKeys(path: string): FileKey[] {
  const keys: (FileKey & { readonly notes: string[] })[] = [];
  for (const line of readText(path)?.trim().split(/\r?\n/) ?? []) {
    const [bytes, last] = [Buffer.from(line, 'base64'), keys.at(-1)];
    if (bytes.length === BYTES && bytes.toString('base64') === line)
      keys.push({ ...instanceKey(bytes), bytes, notes: [] });
    else if (last && line.startsWith('#')) last.notes.push(line);
    else
      throw new ServiceError(`"${path}" is not an instance key`, {
        hint: 'an instance key is 32 bytes in base64, 44 characters; restore it from a backup',
      });
  }
  return keys;
}

/** Root may read a key that the owner of the data may not read, as one that systemd hands to the service. */
function readText(path: string): string | undefined {
  try {
    return asRoot(() => readFileSync(path, 'utf8'));
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOTDIR') return undefined;
    if (code !== 'ENOENT')
      throw new ServiceError(`cannot read the instance key "${path}"`, { cause });
    if (!asRoot(() => lstatSync(path, { throwIfNoEntry: false }))?.isSymbolicLink())
      return undefined;
    // No new key is made, because the file of the link may be on a volume that is not mounted yet.
    throw new ServiceError(`the instance key "${path}" is a link to a file that does not exist`, {
      hint: 'mount the volume that it leads to, or remove the link',
      cause,
    });
  }
}

/** @throws ServiceError when the key file lacks the key with that id */
export function selectKey(id: string, available: readonly FileKey[], settings: DataLocation) {
  const key = available.find((candidate) => candidate.id === id);
  if (key) return key;
  const path = keyFileOf(settings);
  const isMissing = available.length === 0;
  const message = isMissing
    ? `the instance key "${path}" is missing`
    : `the instance key "${path}" is not the one that this data was encrypted with`;
  const hint =
    settings.database === undefined
      ? `name it with PWPUSH_INSTANCE_KEY_FILE, or restore ${isMissing ? 'it' : 'the key or the data'} from a backup`
      : 'instances on one database share one instance key: copy it from the first one, or restore it from a backup';
  throw new ServiceError(message, { hint });
}

/**
 * Creates a key at `path` (0600), synced to disk before it returns. An existing file is not replaced: its newest key
 * is returned.
 * @throws ServiceError when the file cannot be written
 */
export function makeInstanceKey(path: string): FileKey {
  try {
    // Of several programs that start at once, one makes the file, and the others read its key.
    makeWhole(path, textOf([newInstanceKey([COMPLETE])]), false, `${basename(path)}.`);
  } catch (cause) {
    // The program that made the key has removed the missing draft when it noted its data.
    if (!(means(cause, 'taken') || means(cause, 'missing')) || !existsSync(path))
      throw new ServiceError(`cannot write the instance key "${path}"`, { cause });
  }
  return (readKeys(path) as [FileKey])[0];
}

/** Writes the key with its notes to `path`, where there must be no file. */
export function copyKey(key: FileKey, path: string): void {
  makeWhole(path, textOf([key]), false, `${basename(path)}.`);
}

export function newInstanceKey(notes: readonly string[]): FileKey {
  const bytes = randomBytes(BYTES);
  return { ...instanceKey(bytes), bytes, notes };
}

/**
 * Atomically replaces the keys at `path` with those that `change` returns, newest first; the file is synced to disk
 * and keeps owner and mode. Programs that change the file at the same time wait for each other.
 * @throws ServiceError when the file cannot be read or written
 */
export async function changeKeys(
  path: string,
  change: (keys: readonly FileKey[]) => readonly FileKey[],
): Promise<void> {
  // The file is not written without a change, because a service may lack the permission.
  if (textOf(change(readKeys(path))) === readText(path)) return;
  const back = actAs(dirname(path));
  try {
    const file = realpathSync(path);
    await changeFile(file, { now: () => new Date(), sleep }, () => {
      dropDrafts(file);
      makeWhole(file, textOf(change(readKeys(path))), statSync(file), `${basename(file)}.`);
    });
  } catch (cause) {
    const code = systemCode(cause);
    throw new ServiceError(`cannot replace the instance key "${path}"${code && ` (${code})`}`, {
      hint: 'it is written next to the old one, and must belong to the same user',
      cause,
    });
  } finally {
    back();
  }
}

/**
 * False on Windows, where the mode does not say who may read the file. If the file belongs to root, as the secrets of
 * Kubernetes do, the service reads it as a member of its group.
 */
export function isReadByOthers(path: string): boolean {
  if (platform() === 'win32') return false;
  const { mode, uid } = statSync(path);
  return (mode & (uid === 0 ? 0o007 : 0o077)) !== 0;
}

function textOf(keys: readonly FileKey[]): string {
  return keys
    .flatMap(({ bytes, notes }) => [Buffer.from(bytes).toString('base64'), ...notes])
    .map((line) => `${line}\n`)
    .join('');
}
