import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import { ServiceError, systemCode } from './service-error';

const BYTES = 32;

/** Reads the key (base64) from `path`; nothing when there is no such file. */
export async function readInstanceKey(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw new ServiceError(`the instance key ${path} cannot be read`, { cause });
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === BYTES && key.toString('base64') === text.trim()) return key;
  throw new ServiceError(`${path} is not an instance key`, {
    hint: 'it holds 32 bytes in base64, 44 characters; restore it from a backup',
  });
}

/** Makes a key at `path`, 0600, on the disk before anything is sealed with it; never replaces one. */
export async function makeInstanceKey(path: string): Promise<Buffer> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeSynced(draft, `${randomBytes(BYTES).toString('base64')}\n`);
    // A link appears whole or not at all: a second program that starts now reads this key or makes the one.
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST') {
      throw new ServiceError(`the instance key ${path} cannot be written`, { cause });
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return (await readInstanceKey(path)) as Buffer;
}

/** Whether anybody but the file's owner may read it; Windows keeps that elsewhere. */
export async function isReadByOthers(path: string): Promise<boolean> {
  return platform() !== 'win32' && ((await stat(path)).mode & 0o077) !== 0;
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // Windows has no such thing.
  }
}
