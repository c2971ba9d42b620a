import { isWebAddress, LONGEST_LINK } from './address';
import { hasAtMost, type Kind, limits } from './api';

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`;

const faults: Readonly<Record<Kind, (text: string) => string | undefined>> = {
  text: () => undefined,
  file: () => undefined,
  url: (text) => {
    if (text.length > LONGEST_LINK) return tooLong(LONGEST_LINK);
    return isWebAddress(text) ? undefined : 'must be one http or https address';
  },
  qr: (text) => (hasAtMost(text, limits.qrCharacters) ? undefined : tooLong(limits.qrCharacters)),
};

/**
 * Returns why a text does not suit a kind of push; undefined if it does. The service asks this for a text in clear, the
 * client before it encrypts one, which no service can read.
 */
export function payloadFault(kind: Kind, text: string): string | undefined {
  return faults[kind](text);
}
