import { isWebAddress, LONGEST_LINK } from './address';
import { hasAtMost, type Kind, limits } from './api';

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`;

/**
 * Returns why a text does not suit a kind of push; undefined if it does. The service asks this for a text in clear, the
 * client before it encrypts one, which no service can read.
 */
export function payloadFault(kind: Kind, text: string): string | undefined {
  if (kind === 'url' && text.length > LONGEST_LINK) return tooLong(LONGEST_LINK);
  if (kind === 'url' && !isWebAddress(text)) return 'must be one http or https address';
  if (kind === 'qr' && !hasAtMost(text, limits.qrCharacters)) return tooLong(limits.qrCharacters);
  return undefined;
}
