import { filledText, flag, group, list, parsed, switchOff } from '../../cli/declare';
import {
  labelRows,
  linkRows,
  newPassphraseRows,
  notifyRows,
  type Options,
} from '../../cli/options';
import { closing, waitingTime } from '../../cli/values';
import { usageError } from '../../platform/errors';

export const rows = {
  ...group('Request:', {
    expire: parsed('--expire <time>', 'close after 15m to 3mo, such as 6h or 1w', closing),
    ...labelRows(),
    file: list('-f, --file <path...>', 'files to go with the question, up to 10'),
    allowFiles: flag('--allow-files', 'let the answer have files'),
    acceptLimits: flag('--accept-limits', 'keep the request even if looser limits were granted'),
  }),
  ...group('Protection:', {
    ...newPassphraseRows('page', 'question'),
    identityOut: filledText('--identity-out <file>', 'write the private key to a new file (0600)'),
    encrypt: switchOff('--no-encrypt', 'let the instance read the answer').conflicts(
      ['identityOut'],
      (one, other) => usageError(`${one} cannot be combined with ${other}`),
    ),
  }),
  ...group('Output:', {
    ...linkRows(),
    ...notifyRows(),
    wait: flag('--wait', 'wait until it is answered (0) or closed (6)'),
    // In place of the global one.
    timeout: parsed('--timeout <time>', 'with --wait: exit with 12 after this time', waitingTime),
  }),
};

/** The question, and the options. */
export type RequestOptions = Options<typeof rows> & { readonly text?: string | undefined };
