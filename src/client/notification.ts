import { limits, type Notification } from '../contract/api';
import { phrase, usageError } from '../platform/errors';

/**
 * @param quoted whether an error may quote an invalid address. After `push --notify`, the address may be a secret that
 * was meant as [text]
 * @throws CliError (usage) for an invalid address or locale, or too many addresses
 */
export function notification(
  addresses: readonly string[],
  locale: string | undefined,
  quoted = false,
): Notification {
  const all = addresses.flatMap((list) => list.split(',')).map((text) => text.trim());
  const wrong = all.findIndex((text) => !/^[^\s,@<>"\p{C}]+@[^\s,@<>"\p{C}]+$/u.test(text));
  if (wrong !== -1)
    throw quoted
      ? usageError(phrase('no-email-address', all[wrong] ?? ''))
      : usageError(phrase('no-email-address-at', wrong + 1), phrase('notify-words'));
  const most = limits.notifiedAtOnce;
  if (all.length > most) throw usageError(phrase('too-many-addresses', most, all.length));
  if (locale !== undefined && !/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(locale))
    throw usageError(phrase('no-language', locale), phrase('language-code'));
  return {
    notify_emails_to: [...new Set(all)].join(','),
    ...(locale === undefined ? {} : { notify_emails_to_locale: locale }),
  };
}
