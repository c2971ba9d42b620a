import { filledText, flag, group, list, parsed, switchOff, text } from '../../cli/declare';
import {
  hereRows,
  labelRows,
  linkRows,
  newPassphraseRows,
  notifyRows,
  type Options,
  revealRows,
} from '../../cli/options';
import { closing, waitingTime } from '../../cli/values';
import { usageError } from '../../platform/errors';

/** Options that need an instance, or a key that is kept, which `--here` does without. */
const NOT_HERE = [
  ...(['url', 'profile', 'tokenFile', 'account', 'name', 'note', 'file', 'acceptLimits'] as const),
  ...(['generatePassphrase', 'identityOut', 'encrypt', 'notify', 'wait'] as const),
] as const;

export const rows = {
  ...group('Request:', {
    expire: parsed('--expire <time>', 'close after 15m to 3mo, such as 6h or 1w', closing),
    ...labelRows(),
    file: list('-f, --file <path...>', 'files to go with the question, up to 10'),
    allowFiles: flag('--allow-files', 'allow files in the answer'),
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
    for: parsed('--for <time>', 'wait at most this long (12), such as 6h', waitingTime).requires(
      'wait',
    ),
    ...revealRows(),
  }),
  ...group('From this machine:', {
    here: flag('--here', 'serve the question from memory until it is answered').conflicts(
      NOT_HERE,
      (here, other) => usageError(`${other} cannot be combined with ${here}`),
    ),
    output: text('-o, --output <path>', 'write the answer to a new file or a folder').requires(
      'here',
    ),
    force: flag('--force', 'overwrite existing files').requires('here'),
    host: filledText('--host <address>', 'address to listen on (default: 0.0.0.0)').requires(
      'here',
    ),
    ...hereRows(),
  }),
};

export type RequestOptions = Options<typeof rows> & { readonly text?: string | undefined };
