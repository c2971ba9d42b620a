import { randomBytes } from 'node:crypto';
import {
  fchmodSync,
  fchownSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { lstat, readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeFile, nameFile } from '../../platform/files/atomic-file';
import { ServiceError, systemCode } from '../service-errors';
import { type DataLocation, keyFileOf } from '../store/database';
import { derive } from './primitives';

const BYTES = 32;

/** An instance key, as the keys derived from it. */
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

interface FileKey extends InstanceKey {
  readonly bytes: Uint8Array;
}

/**
 * The keys of the file (base64, one per line), newest first; none when there is no file.
 * @throws ServiceError when the file cannot be read or is no key file
 */
export async function readKeys(path: string): Promise<FileKey[]> {
  const text = await readFile(path, 'utf8').catch(async (cause: unknown) => {
    if (!['ENOENT', 'ENOTDIR'].includes(systemCode(cause)))
      throw new ServiceError(`cannot read the instance key "${path}"`, { cause });
    const link = await lstat(path).catch(() => undefined);
    if (!link?.isSymbolicLink()) return undefined;
    // A new key would be of no use: the one that it is to lead to may be on a volume that is not mounted yet.
    throw new ServiceError(`the instance key "${path}" is a link to a file that does not exist`, {
      hint: 'mount the volume that it leads to, or remove the link',
      cause,
    });
  });
  if (text === undefined) return [];
  return text
    .trim()
    .split(/\r?\n/)
    .map((line) => {
      const bytes = Buffer.from(line, 'base64');
      if (bytes.length === BYTES && bytes.toString('base64') === line)
        return { ...instanceKey(bytes), bytes };
      throw new ServiceError(`"${path}" is not an instance key`, {
        hint: 'an instance key is 32 bytes in base64, 44 characters; restore it from a backup',
      });
    });
}

/**
 * The key with that id.
 * @throws ServiceError when the key file lacks it
 */
export function selectKey(id: string, available: readonly FileKey[], settings: DataLocation) {
  const key = available.find((one) => one.id === id);
  if (key) return key;
  const path = keyFileOf(settings);
  const isMissing = available.length === 0;
  const message = isMissing
    ? `the instance key "${path}" is missing`
    : `the instance key "${path}" is not the one that this data was encrypted with`;
  const hint =
    settings.database === undefined
      ? `restore ${isMissing ? 'it' : 'the key or the data'} from a backup`
      : 'instances on one database share one instance key: copy it from the first one, or restore it from a backup';
  throw new ServiceError(message, { hint });
}

/**
 * Creates a key at `path` (0600), synced to disk before it returns. Never replaces a file: returns the newest key of the
 * one that exists.
 * @throws ServiceError when it cannot be written
 */
export async function makeInstanceKey(path: string): Promise<FileKey> {
  const draft = draftOf(path);
  try {
    writeKeys(draft, [newInstanceKey()]);
    // A second program that starts now reads this key or makes the one.
    nameFile(draft, path, false);
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST')
      throw new ServiceError(`cannot write the instance key "${path}"`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
  return ((await readKeys(path)) as [FileKey])[0];
}

export function newInstanceKey(): Buffer {
  return randomBytes(BYTES);
}

/**
 * Atomically replaces the keys at `path` with these, newest first; the file is synced to disk and keeps owner and mode.
 * Call it under the database's exclusive lock: it removes temporary files that killed runs left.
 * @throws ServiceError when it cannot be written
 */
export function replaceInstanceKeys(path: string, keys: readonly Uint8Array[]): void {
  try {
    const file = realpathSync(path);
    dropDrafts(file);
    const draft = draftOf(file);
    try {
      writeKeys(draft, keys, statSync(file));
      nameFile(draft, file, true);
    } finally {
      rmSync(draft, { force: true });
    }
  } catch (cause) {
    const code = systemCode(cause);
    throw new ServiceError(`cannot replace the instance key "${path}"${code && ` (${code})`}`, {
      hint: 'it is written next to the old one, and must belong to the same user',
      cause,
    });
  }
}

/**
 * Whether others than the service may read the file; always false on Windows, where the mode does not say. If the file
 * belongs to root, as the secrets of Kubernetes do, the service reads it as a member of its group.
 */
export async function isReadByOthers(path: string): Promise<boolean> {
  if (platform() === 'win32') return false;
  const { mode, uid } = await stat(path);
  return (mode & (uid === 0 ? 0o007 : 0o077)) !== 0;
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}`;
}

function dropDrafts(path: string): void {
  const name = basename(path);
  for (const other of readdirSync(dirname(path))) {
    const isDraft =
      other.startsWith(`${name}.`) && /^[\da-f]{12}$/.test(other.slice(name.length + 1));
    if (isDraft) rmSync(join(dirname(path), other), { force: true });
  }
}

function writeKeys(path: string, keys: readonly Uint8Array[], like?: Stats): void {
  const text = keys.map((key) => `${Buffer.from(key).toString('base64')}\n`).join('');
  makeFile(path, (file) => {
    writeFileSync(file, text);
    if (like) takeAfter(file, like);
  });
}

/** The service may be another user, or of a group that may read the key. */
function takeAfter(file: number, { uid, gid, mode }: Stats): void {
  if (platform() === 'win32') return;
  fchownSync(file, uid, gid);
  fchmodSync(file, mode & 0o777);
}
