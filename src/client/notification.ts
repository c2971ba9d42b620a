import { limits, type Notification } from '../contract';
import { usageError } from '../errors';

/**
 * The fields that make an instance e-mail a link.
 * @throws CliError (usage) for an invalid address or locale, or too many addresses
 */
export function notification(
  addresses: readonly string[],
  locale: string | undefined,
): Notification {
  const all = addresses.flatMap((one) => one.split(',')).map((one) => one.trim());
  const wrong = all.findIndex((one) => !/^[^\s,@<>"\p{C}]+@[^\s,@<>"\p{C}]+$/u.test(one));
  // Not quoted: after --notify, it may be the secret, meant as [text].
  if (wrong !== -1)
    throw usageError(
      `e-mail address ${wrong + 1} is invalid`,
      'all words after --notify are addresses; give each alone, such as ann@example.com',
    );
  const most = limits.notifiedAtOnce;
  if (all.length > most)
    throw usageError(`an instance e-mails ${most} people at most, not ${all.length}`);
  if (locale !== undefined && !/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(locale))
    throw usageError(`"${locale}" is not a language`, 'give it as de, or pt-BR');
  return {
    notify_emails_to: [...new Set(all)].join(','),
    ...(locale === undefined ? {} : { notify_emails_to_locale: locale }),
  };
}
