import {
  choice,
  count,
  either,
  filledText,
  flag,
  group,
  list,
  optional,
  parsed,
  switchOff,
  text,
} from '../../cli/declare';
import {
  fileRows,
  hereRows,
  labelRows,
  linkRows,
  newPassphraseRows,
  notifyRows,
  type Options,
  revealRows,
  sourceRows,
} from '../../cli/options';
import { expiry } from '../../cli/values';
import { kinds } from '../../contract/api';
import { usageError } from '../../platform/errors';

/** Options that need an instance, which `--here` does without. */
export const INSTANCE_ONLY = [
  'url',
  'profile',
  'tokenFile',
  'name',
  'note',
  'notify',
  'dryRun',
  'into',
] as const;

export const rows = {
  ...group('Secret:', {
    ...sourceRows(),
    into: flag('--into', 'give it to the command after --, then push it')
      .requires('generate')
      .conflicts(['dryRun', 'each']),
    as: text('--as <name>', 'variable for that command, instead of its stdin').requires('into'),
    kind: choice('--kind <kind>', 'kind', kinds),
    ...labelRows(),
  }),
  ...group('Files:', fileRows()),
  ...group('Limits:', {
    days: count('-d, --days <n>', 'expire after N days').conflicts(['expire'], (days, expire) =>
      usageError(`${days} cannot be combined with ${expire}`, 'use only one of them'),
    ),
    expire: parsed(
      '-e, --expire <time>',
      'expire after 45m, 6h, 3d, 2w, 1mo, or at a time',
      expiry,
    ),
    views: count('-v, --views <n>', 'expire after N views'),
    deletable: either(
      '--deletable',
      'let the recipient delete the push',
      'do not let the recipient delete the push',
    ),
    retrievalStep: either(
      '--retrieval-step',
      'require a click, so that scanners use no view',
      'open without a click',
    ),
    acceptLimits: flag('--accept-limits', 'keep the push even if looser limits were granted'),
  }),
  ...group('Protection:', {
    ...newPassphraseRows('push', 'text'),
    // `true` if no mode is named.
    encrypt: optional(
      '--encrypt [mode]',
      'encrypt; the key goes into the link, or =words',
      encryptMode,
    ).orNot('do not encrypt, whatever the profile says'),
    keyOut: text('--key-out <file>', 'write the words to a new file (0600)'),
    to: list('--to <key>', 'encrypt to a public key: age1…, ssh-ed25519 …'),
    recipientsFile: list('-R, --recipients-file <file>', 'encrypt to the public keys in a file'),
  }),
  ...group('Output:', {
    ...linkRows(),
    ...notifyRows(),
    receipt: switchOff('--no-receipt', 'keep no receipt of the link (list --local)'),
    dryRun: flag('--dry-run', 'show what would be sent, secrets masked'),
    ...revealRows(),
  }),
  ...group('From this machine:', {
    here: flag('--here', 'serve the push from memory until it is viewed').conflicts(
      INSTANCE_ONLY,
      (here, other) => usageError(`${other} cannot be combined with ${here}`),
    ),
    host: filledText('--host <address>', '0.0.0.0 for the LAN (default: 127.0.0.1)').requires(
      'here',
    ),
    ...hereRows(),
  }),
  ...group('Many at once:', {
    each: flag('--each', 'push every line of stdin: secret or JSON object').conflicts(
      [
        ...(['env', 'generate', 'file', 'message', 'filename', 'raw'] as const),
        ...(['generatePassphrase', 'qr', 'copy', 'here'] as const),
      ],
      (each, other) => usageError(`${each} cannot be combined with ${other}`),
    ),
  }),
};

/** The text argument, the words of the command of `--into`, and the options. */
export type PushOptions = Options<typeof rows> & {
  readonly text?: string | undefined;
  readonly command?: readonly string[];
};

/** Takes no other value, so that `--encrypt hunter2` does not push something else than "hunter2". */
function encryptMode(value: string): 'link' | 'words' {
  if (value === 'link' || value === 'words') return value;
  throw usageError(
    '--encrypt is followed by link, by words or by nothing',
    'alone it puts the key into the link; a text comes before it, or after --',
  );
}
