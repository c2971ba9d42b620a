import { filledText, flag, group, parsed, text } from '../../cli/declare';
import { type Options, passphraseRows, tlsRows } from '../../cli/options';
import { closing, port } from '../../cli/values';

export const rows = {
  ...group('Request:', {
    expire: parsed('--expire <time>', 'end after 15m to 3mo, such as 6h (default: 7d)', closing),
    allowFiles: flag('--allow-files', 'let the answer have files'),
  }),
  ...group('Output:', {
    output: text('-o, --output <path>', 'write to a new file (0600) or into a folder'),
    force: flag('--force', 'overwrite existing files'),
    copy: flag('-c, --copy', 'also copy the link to the clipboard'),
  }),
  ...group('From this machine:', {
    host: filledText('--host <address>', 'address to listen on').or('0.0.0.0'),
    port: parsed('--port <n>', 'port to listen on (default: any free one)', port),
    ...tlsRows(),
  }),
  ...passphraseRows,
};

/** The question, and the options. */
export type ReceiveOptions = Options<typeof rows> & { readonly question?: string };
