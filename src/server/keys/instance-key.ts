import { randomBytes } from 'node:crypto';
import {
  fchmodSync,
  fchownSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeFile, nameFile } from '../../system/atomic-file';
import { ServiceError, systemCode } from '../service-error';

const BYTES = 32;

/** Reads the keys (base64, one a line, newest first) from `path`; nothing when there is no such file. */
export async function readInstanceKeys(path: string): Promise<Buffer[] | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw new ServiceError(`the instance key ${path} cannot be read`, { cause });
  });
  if (text === undefined) return undefined;
  const lines = text.trim().split(/\r?\n/);
  const keys = lines.map((line) => Buffer.from(line, 'base64'));
  const whole = (key: Buffer, i: number) =>
    key.length === BYTES && key.toString('base64') === lines[i];
  if (keys.every(whole)) return keys;
  throw new ServiceError(`${path} is not an instance key`, {
    hint: 'it holds 32 bytes in base64, 44 characters; restore it from a backup',
  });
}

/** Makes a key at `path`, 0600, on the disk before anything is sealed with it; never replaces one. */
export async function makeInstanceKey(path: string): Promise<Buffer> {
  const draft = draftOf(path);
  try {
    writeKeys(draft, [newInstanceKey()]);
    // A second program that starts now reads this key or makes the one.
    nameFile(draft, path, false);
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST') {
      throw new ServiceError(`the instance key ${path} cannot be written`, { cause });
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return ((await readInstanceKeys(path)) as [Buffer])[0];
}

export function newInstanceKey(): Buffer {
  return randomBytes(BYTES);
}

/**
 * Puts these keys, newest first, in place of those at `path`: whole or not at all, on the disk when it returns, and
 * for the same readers. One program at a time; what an earlier one left behind when it was killed is removed.
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
    throw new ServiceError(`the instance key ${path} cannot be replaced${code && ` (${code})`}`, {
      hint: 'it is written beside the old one, and has to belong to the same user',
      cause,
    });
  }
}

/** Whether anybody but the file's owner may read it; Windows keeps that elsewhere. */
export async function isReadByOthers(path: string): Promise<boolean> {
  return platform() !== 'win32' && ((await stat(path)).mode & 0o077) !== 0;
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
    writeSync(file, text);
    if (like) takeAfter(file, like);
  });
}

/** The service may be another user, or of a group that may read the key. */
function takeAfter(file: number, { uid, gid, mode }: Stats): void {
  if (platform() === 'win32') return;
  fchownSync(file, uid, gid);
  fchmodSync(file, mode & 0o777);
}
