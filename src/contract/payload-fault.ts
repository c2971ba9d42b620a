import { isWebAddress, LONGEST_LINK } from './address';
import { hasAtMost, type Kind, limits } from './api';

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`;

/** Returns why a text does not suit a kind of push. The client asks before it encrypts what no service can read. */
export function payloadFault(kind: Kind, text: string): string | undefined {
  if (kind === 'url' && text.length > LONGEST_LINK) return tooLong(LONGEST_LINK);
  if (kind === 'url' && !isWebAddress(text)) return 'must be one http or https address';
  if (kind === 'qr' && !hasAtMost(text, limits.qrCharacters)) return tooLong(limits.qrCharacters);
  return undefined;
}
