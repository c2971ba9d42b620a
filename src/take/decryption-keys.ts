import type { Identity } from '../age/age';
import { explaining } from '../age/age-error';
import { placeOf, secretIn, textIn } from '../cli/source';
import { onRequest } from '../client/item';
import type { Preview } from '../contract/decode';
import { lazy } from '../contract/lazy';
import { requestKeys } from '../keep/load-request-keys';
import type { KeptKey } from '../keep/request-keys';
import type { Context } from '../platform/context';
import { attempt, CliError, phrase, usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import type { ConnectedItem } from '../profile/references';

export interface DecryptionKeys {
  /** A key or words, from a file or `PWPUSH_KEY`. */
  readonly text?: string | undefined;
  readonly identities: readonly Identity[];
  readonly decrypt: boolean;
  /** Says in messages where the keys come from, such as `PWPUSH_KEY has a key`. */
  readonly origin?: string | undefined;
  /**
   * What becomes of a push or an answer that is not encrypted, but should be by what this machine keeps of it. Without a
   * value, only a person at a terminal is warned: elsewhere nobody looks at a warning before the secret is used.
   */
  readonly inClear?: 'refuse' | 'warn';
}

/** The keys for the push or answer that a link names, which are known before a view is used. */
export interface ItemKeys extends DecryptionKeys {
  /** Whether a private key is missing, so that the instance uses no view of a push to public keys. */
  readonly withoutIdentity: boolean;
  /**
   * Finds the private key for an answer, if this machine has it.
   * @throws CliError (passphrase) if it is missing, and the link or the instance says that answers are encrypted
   */
  answerKey(): Promise<KeptKey | undefined>;
}

export interface KeySources {
  /** A file with a key or words; `-` is standard input. */
  readonly file: string | undefined;
  readonly identities: readonly string[];
  readonly decrypt: boolean;
  readonly option: string;
}

/** @throws CliError (usage) for a file that cannot be read, or a private key that cannot be used */
export async function readKeys(
  { file, identities: paths, decrypt, option }: KeySources,
  context: Context,
): Promise<DecryptionKeys> {
  const text =
    file === undefined
      ? readVariable(context.env, 'PWPUSH_KEY')
      : await secretIn(file, context, 'key');
  const identities: Identity[] = [];
  for (const path of paths) identities.push(...(await readIdentities(path, context)));
  const hasOption = file !== undefined || paths.length > 0;
  const source = hasOption ? option : text === undefined ? undefined : 'PWPUSH_KEY';
  return { text, identities, decrypt, origin: source && `${source} has a key` };
}

/**
 * Finds the keys for the push or answer that a link names, before it is retrieved.
 * @throws CliError as `answerKey` does, if the link has a public key; (rejected) if the instance has no requests
 */
export async function keysOf(
  context: Context,
  item: ConnectedItem,
  keys: DecryptionKeys,
): Promise<ItemKeys> {
  const isWithoutKeys = keys.decrypt && keys.identities.length === 0;
  const withoutIdentity = isWithoutKeys && item.key === undefined;
  const answerKey = lazy(() => keyForRequest(context, item, isWithoutKeys));
  if (item.publicKey !== undefined) await onRequest(item.api, answerKey);
  return { ...keys, withoutIdentity, answerKey };
}

/** @param isNeeded whether no other key can open the answer */
async function keyForRequest(
  context: Context,
  item: ConnectedItem,
  isNeeded: boolean,
): Promise<KeptKey | undefined> {
  const { keptKey, keyElsewhere } = await requestKeys();
  const kept = keptKey(context, item);
  if (kept || !isNeeded) return kept;
  const preview = await attempt(() => item.api.requests.preview(item.token));
  const isRefused = preview instanceof CliError;
  // An instance may refuse the preview, and still return the answer.
  if (isRefused && preview.code !== 'unauthorized' && preview.code !== 'forbidden') throw preview;
  const { state, public_key }: Partial<Preview> = isRefused ? {} : preview;
  const match = keptKey(context, item, public_key);
  const publicKey = item.publicKey ?? public_key;
  if (match || state === 'closed' || !publicKey) return match;
  const { path, base = '' } = keyElsewhere(context, item.token, publicKey) ?? {};
  const [fact, hints] =
    path === undefined
      ? [phrase('answer-key-missing'), phrase('give-answer-key')]
      : [phrase('answer-key-elsewhere', base), phrase('give-moved-key', item.target.base, path)];
  throw new CliError('passphrase', fact, { hints });
}

async function readIdentities(path: string, context: Context): Promise<Identity[]> {
  const { parseIdentities } = await import('../age/key-files');
  const text = await textIn(path, context, 'private key');
  return explaining(
    () => parseIdentities(text),
    ({ reason, message }) => {
      const failure = usageError(`${placeOf(path)}: ${message}; nothing was fetched`);
      const format = /BEGIN (?:ENCRYPTED )?PRIVATE KEY/.test(text) ? 'pkcs8' : 'ssh';
      return reason === 'key-passphrase'
        ? failure.advising(phrase('unlock-key', path, format, context.platform))
        : failure;
    },
  );
}
