import { checkPassphrase } from '../../cli/passphrase';
import { checkStandardInput } from '../../cli/source';
import { notifyFields } from '../../client/notification';
import type { Kind } from '../../contract/api';
import { DAY_SECONDS, type Expiry, type ExpiryFields } from '../../contract/lifetime';
import type { Context } from '../../platform/context';
import { usageError } from '../../platform/errors';
import type { Profile } from '../../profile/settings';
import { checkFiles } from '../../send/content';
import { askedFor } from '../../send/create';
import type { Draft, Sealing } from '../../send/create-push';
import type { EncryptMode } from '../../send/encryption';
import { INSTANCE_ONLY, type PushOptions } from './push-flags';

/**
 * How a push is encrypted, by options or the profile; undefined if it is not.
 * @throws CliError (usage) for options that do not go with that
 */
export function encryptMode(
  options: PushOptions,
  profile: Profile | undefined,
): EncryptMode | undefined {
  const { encrypt = profile?.encrypt, to, recipientsFile, keyOut, kind } = options;
  const toKeys = to !== undefined || recipientsFile !== undefined;
  const mode = toKeys ? 'keys' : encrypt === true ? 'link' : encrypt || undefined;
  if (keyOut !== undefined && mode !== 'words')
    throw usageError('--key-out requires --encrypt=words');
  if (mode === undefined) return undefined;
  checkEncryptable(kind);
  if (mode === 'words' && options.each)
    throw usageError(
      '--each cannot be combined with --encrypt=words',
      'use --encrypt, or --to KEY',
    );
  if (mode === 'link' && options.notify)
    throw usageError(
      '--notify cannot be combined with --encrypt: the instance would e-mail the link without its key',
      'send the link yourself, or use --encrypt=words or --to KEY',
    );
  return mode;
}

/**
 * How a push is encrypted in that mode; reads the public keys, if it encrypts to them.
 * @throws CliError (usage) for a public key that cannot be used
 */
export async function sealingIn(
  mode: EncryptMode | undefined,
  options: PushOptions,
  context: Context,
): Promise<Sealing | undefined> {
  if (mode === undefined) return undefined;
  const { sealerFor } = await import('../../send/encryption');
  return { mode, seal: await sealerFor(mode, options, context), wordsFile: options.keyOut };
}

/** @throws CliError (usage) for a kind that an instance has to understand */
export function checkEncryptable(kind: Kind | undefined): void {
  if (kind !== 'url' && kind !== 'qr') return;
  throw usageError(
    `--kind ${kind} cannot be encrypted: the instance must read it`,
    'remove --kind, or push it with --no-encrypt',
  );
}

function checkEncryption({ encrypt, to, recipientsFile, keyOut }: PushOptions): void {
  const keys = to ? '--to' : recipientsFile ? '--recipients-file' : undefined;
  if (keys !== undefined && typeof encrypt === 'string')
    throw usageError(
      `${keys} cannot be combined with --encrypt=${encrypt}`,
      'use only one of them',
    );
  const other = keys ?? (keyOut === undefined ? undefined : '--key-out');
  if (encrypt === false && other !== undefined)
    throw usageError(`--no-encrypt cannot be combined with ${other}`, 'use only one of them');
}

/** When a push is to expire, by options or the profile. */
export function askedExpiry(
  { days, expire }: Pick<PushOptions, 'days' | 'expire'>,
  profile: Profile | undefined,
): Expiry | undefined {
  if (expire) return expire;
  const wholeDays = days ?? profile?.days;
  return wholeDays === undefined ? undefined : { after: wholeDays * DAY_SECONDS };
}

/**
 * The fields of a push by options or the profile.
 * @param expiry when it expires, as the instance takes it
 */
export function fieldsOf(
  options: PushOptions,
  profile: Profile | undefined,
  expiry: ExpiryFields,
): Pick<Draft, 'limits' | 'details'> {
  const { kind, name, note } = options;
  return {
    limits: askedFor({
      kind,
      ...expiry,
      expire_after_views: options.views ?? profile?.views,
      deletable_by_viewer: options.deletable ?? profile?.deletable,
      retrieval_step: options.retrievalStep ?? profile?.['retrieval-step'],
    }),
    details: { ...askedFor({ name, note }), ...notifyFields(options) },
  };
}

/** @throws CliError (usage) for options that do not go together, and for invalid addresses */
export function checkPushOptions(options: PushOptions, context: Context): void {
  if (options.each) checkEach(options, context);
  checkPassphrase(options, context);
  notifyFields(options);
  checkEncryption(options);
  if (!options.each) checkPushFiles(options);
}

function checkEach(options: PushOptions, context: Context): void {
  const { text, kind, from = '-' } = options;
  const other = (text ?? '-') !== '-' ? 'a text' : kind === 'file' ? '--kind file' : undefined;
  if (other !== undefined) throw usageError(`--each cannot be combined with ${other}`);
  if (from === '-' && context.stdin.isTTY)
    throw usageError(
      '--each reads lines, but nothing is piped in',
      'pipe them in, or use --from FILE',
    );
  checkStandardInput(options, from === '-' ? 'the secrets' : undefined);
}

function checkPushFiles(options: PushOptions): void {
  const { file, kind } = options;
  if (file !== undefined && kind !== undefined && kind !== 'file')
    throw usageError(`--kind ${kind} cannot be combined with --file`, 'use only one of them');
  if (file === undefined && kind === 'file')
    throw usageError('--kind file requires files', 'attach them with --file PATH');
  checkFiles(options);
}

export function needsInstance(options: PushOptions): boolean {
  return INSTANCE_ONLY.some((name) => options[name] !== undefined && options[name] !== false);
}

export function keepsReceipts({ receipt }: PushOptions, profile: Profile | undefined): boolean {
  return receipt && profile?.receipts !== false;
}
