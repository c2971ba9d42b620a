import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '../age/age';
import { explaining } from '../age/age-error';
import { newKeyPair, parseIdentities } from '../age/key-files';
import type { Terminal } from '../cli/terminal/output';
import { CliError, failedError, phrase } from '../platform/errors';
import { makeFile, nameFile } from '../platform/files/atomic-file';
import { means, whyUnreadable, whyUnwritable } from '../platform/files/file-error';
import { makeFolder, readOwn } from '../platform/private-folder';
import { checkStateFolder, findFolder, folderOf, stateRule } from '../profile/folders';
import type { LocatedItem } from '../profile/references';
import { type RescueContext, writeForSender } from './rescue';

export type NewKey = ReturnType<typeof newRequestKey>;

/**
 * Makes a key pair before the request is sent, so that a full disk is noticed in time. In the state folder, the file of
 * the private key is named after the public key until the request has a token.
 * @param question its beginning is kept, as listings of an instance may not have it
 * @param path a new file for the private key, in place of the state folder
 * @throws CliError (usage, failed) if it cannot be written
 */
export function newRequestKey(
  context: RescueContext,
  base: string,
  question: string,
  path?: string,
) {
  const { identity, recipient } = newKeyPair();
  const created = `# created: ${context.now().toISOString()}`;
  const head = `${instanceLine(base)}${created}\n# public key: ${recipient}\n`;
  if (path !== undefined) {
    writeForSender(path, `${head}${identity}\n`);
    return { recipient, path, keep: () => {}, remove: () => rmSync(path, { force: true }) };
  }
  const text = `${head}# question: ${beginning(question)}\n${identity}\n`;
  const folder = keyFolder(context);
  const draft = keyPath(context, recipient);
  writing(folder, () => {
    makeFolder(folder);
    checkStateFolder(context, folder);
    makeFile(draft, (file) => writeFileSync(file, text));
  });
  return {
    recipient,
    path,
    keep: (token: string) =>
      writing(folder, () => {
        const kept = keyPath(context, token);
        if (existsSync(kept)) throw failedError(phrase('key-there', kept));
        nameFile(draft, kept, true);
      }),
    remove: () => rmSync(draft, { force: true }),
  };
}

function writing(folder: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw failedError(phrase('key-unwritable', folder, whyUnwritable(error)), {
      hints: phrase('choose-identity-file'),
      cause: error,
    });
  }
}

const keyFolder = (context: RescueContext) => join(folderOf('state', context), 'requests');
/** @param name the token of the request, or the public key */
const keyPath = (context: RescueContext, name: string) => join(keyFolder(context), `${name}.key`);
const instanceLine = (base: string) => `# instance: ${base}\n`;
/** Enough to tell requests apart. */
const beginning = (question: string) => /\P{Cc}{1,80}/u.exec(question.trim())?.[0] ?? '';

export interface KeptKey {
  readonly identities: readonly Identity[];
  /** The address of the instance at which the request was made. */
  readonly base?: string | undefined;
  readonly recipient: string | undefined;
  /** The first words of the request. */
  readonly question?: string | undefined;
  /** Undefined for a key that is only in memory. */
  readonly path: string | undefined;
}

/**
 * Removes the private key for an answer that is safe, or will never come.
 * @param state asks for the state of the request: unless it is `closed`, the key may still be needed
 */
export async function forgetKey(
  { warn }: Pick<Terminal, 'warn'>,
  key: KeptKey | undefined,
  state: () => Promise<unknown>,
): Promise<void> {
  if (key?.path === undefined || (await state()) !== 'closed') return;
  try {
    rmSync(key.path, { force: true });
  } catch (error) {
    await warn(
      `cannot remove the private key "${key.path}" (${whyUnwritable(error)}): remove it yourself`,
    );
  }
}

/**
 * Finds the private key of a request, if this machine has it: under the address of the instance, by the ID or, if the
 * creation got no response, by the public key. At the address in use, to which the instance may have moved, a key of
 * another address counts if the link has its public key: an ID can be that of a request elsewhere.
 * @param responseKey the public key in a response
 * @throws CliError (failed) if its file is damaged; CliError (usage) if others can write to it
 */
export function keptKey(
  context: RescueContext,
  item: LocatedItem,
  responseKey?: unknown,
): KeptKey | undefined {
  const { target, base = target.base, publicKey } = item;
  const moved = target.inUse ? nameOf(publicKey) : undefined;
  // Another instance could choose the same token for its link, and have the key removed.
  return keyOf(
    context,
    [item.token, nameOf(publicKey), nameOf(responseKey)],
    (key) => key.base === base || (moved !== undefined && key.recipient === moved),
  );
}

/**
 * Finds the private key of a request that is filed under another address, for a message that names it.
 * @param publicKey that of the link or, without one, of a response
 * @throws CliError (failed) if its file is damaged; CliError (usage) if others can write to it
 */
export function keyElsewhere(context: RescueContext, token: string, publicKey: unknown) {
  const recipient = nameOf(publicKey);
  if (recipient === undefined) return undefined;
  return keyOf(context, [token, recipient], (key) => key.recipient === recipient);
}

const nameOf = (key: unknown) => /^age1[a-z0-9]+$/i.exec(`${key}`)?.[0].toLowerCase();

type Head = Pick<KeptKey, 'base' | 'recipient'>;

function keyOf(
  context: RescueContext,
  names: readonly (string | undefined)[],
  isMeant: (key: Head) => boolean,
): KeptKey | undefined {
  if (findFolder('state', context) === undefined) return undefined;
  for (const name of names) {
    const key = name && keyIn(context, name, isMeant);
    if (!key) continue;
    checkStateFolder(context, keyFolder(context));
    return key;
  }
  return undefined;
}

function keyIn(
  context: RescueContext,
  name: string,
  isMeant: (key: Head) => boolean,
): KeptKey | undefined {
  const path = keyPath(context, name);
  let text: string;
  try {
    text = readOwn(path, stateRule(context, 'the private key'));
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (means(error, 'missing')) return undefined;
    const why = whyUnreadable(error);
    throw failedError(phrase('key-unreadable', path, why), { cause: error });
  }
  const [, base] = /^# instance: (.+)\n/.exec(text) ?? [];
  const recipient = /^# public key: (age1\w+)$/m.exec(text)?.[1];
  const question = /^# question: (.+)$/m.exec(text)?.[1];
  if (!isMeant({ base, recipient })) return undefined;
  const identities = explaining(
    () => parseIdentities(text),
    (error) => failedError(phrase('key-unusable', path, error.message), { cause: error }),
  );
  return { identities, base, recipient, question, path };
}

/** Returns undefined for a damaged key file, as an answer that was taken must not be lost because of it. */
export function keyForAnswer(
  context: RescueContext,
  item: LocatedItem,
  publicKey: unknown,
): KeptKey | undefined {
  try {
    return keptKey(context, item, publicKey);
  } catch {
    return undefined;
  }
}
