import { limits, type Notification } from '../contract/api';
import { phrase, usageError } from '../platform/errors';

/**
 * Checks the addresses of `--notify`. An error does not quote one: it may be a secret that was meant as [text].
 * @throws CliError (usage) for an invalid address, or too many addresses
 */
export function notification(
  addresses: readonly string[],
  locale: string | undefined,
): Notification {
  const all = addresses.flatMap((list) => list.split(',')).map((text) => text.trim());
  const wrong = all.findIndex((text) => !/^[^\s,@<>"\p{C}]+@[^\s,@<>"\p{C}]+$/u.test(text));
  if (wrong !== -1) throw usageError(phrase('no-email-address', wrong + 1), phrase('notify-words'));
  const most = limits.notifiedAtOnce;
  if (all.length > most) throw usageError(phrase('too-many-addresses', most, all.length));
  return {
    notify_emails_to: [...new Set(all)].join(','),
    ...(locale === undefined ? {} : { notify_emails_to_locale: locale }),
  };
}
