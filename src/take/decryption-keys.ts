import type { Identity } from '../age/age';
import { explaining } from '../age/age-error';
import { placeOf, secretIn, textIn } from '../cli/source';
import type { Context } from '../platform/context';
import { phrase, usageError } from '../platform/errors';

/** Keys that open encrypted pushes, besides those in links. */
export interface DecryptionKeys {
  /** A key or words, from a file or `PWPUSH_KEY`. */
  readonly text?: string | undefined;
  readonly identities: readonly Identity[];
  readonly decrypt: boolean;
  /** What gave them, for messages, such as `PWPUSH_KEY has a key`; undefined if nothing did. */
  readonly givenBy?: string | undefined;
}

export interface PushKeys extends DecryptionKeys {
  /** The key in its link, which may be damaged. */
  readonly linkKey?: string | undefined;
  /** Refuse an answer that is not encrypted though its key was kept: nobody looks at a warning before it is used. */
  readonly strict?: boolean;
}

export interface KeySources {
  /** A file with a key or words; `-` is standard input. */
  readonly file: string | undefined;
  readonly identities: readonly string[];
  readonly decrypt: boolean;
  /** How messages name what gave a key. */
  readonly named: string;
}

/**
 * Reads keys, before anything is fetched.
 * @throws CliError (usage) for a file that cannot be read, or a private key that cannot be used
 */
export async function readKeys(
  { file, identities: paths, decrypt, named }: KeySources,
  context: Context,
): Promise<DecryptionKeys> {
  const text = await readKey(file, context);
  const identities: Identity[] = [];
  for (const path of paths) identities.push(...(await readIdentities(path, context)));
  const given = file !== undefined || paths.length > 0;
  const source = given ? named : text === undefined ? undefined : 'PWPUSH_KEY';
  return { text, identities, decrypt, givenBy: source && `${source} has a key` };
}

async function readKey(path: string | undefined, context: Context): Promise<string | undefined> {
  if (path === undefined) return context.env.PWPUSH_KEY || undefined;
  return secretIn(path, context, 'key');
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
